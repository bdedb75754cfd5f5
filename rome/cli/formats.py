"""How `rome score` writes: lines of a block that any worker can make, and the output that is made of all of them.

Each format keeps one line a segment until the end. Where that line is not yet what a user reads (the columns of a table are as wide as
their widest cell, a JSON object begins with the mean), `finished` reads the lines twice.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from rome.batch.blocks import Block, BlockScorer, Checked
from rome.cli.metric import positive
from rome.cli.pairs import report_line
from rome.combining.signature import labels
from rome.features.values import FEATURES
from rome.reports.tables import RIGHT, corpus_footer, corpus_header, corpus_means, corpus_row
from rome.results.corpus import stored_line
from rome.storage.files import STANDARD_INPUT
from rome.text_table import aligned_row, fitted, fixed, rule, shorten, widest

if TYPE_CHECKING:
    from rome.metric import RoMe
    from rome.results import SegmentScore

FORMATS = ("table", "tsv", "json", "jsonl")
STREAMED = ("tsv", "jsonl")
"""Formats whose lines can be written as soon as they are there."""
FEWEST = (16, 8)
"""Columns of a text in a table on a terminal: first until the names of numbers are cut, then in the end."""
BLANKS = {ord(character): " " for character in "\t\n\r"}
Lines = Callable[[], Iterator[str]]


class Means:
    """Means of the score and the components, from exact sums; of the rows that are given, and of those that are added."""

    def __init__(self, rows: Iterable[Sequence[float]] = ()) -> None:
        self.count = 0
        self._sums = [Fraction()] * (1 + len(FEATURES))
        for row in rows:
            self.add(row)

    def add(self, numbers: Sequence[float]) -> None:
        """Take in the numbers of one segment."""
        self.count += 1
        self._sums = [total + Fraction(number) for total, number in zip(self._sums, numbers, strict=True)]

    @property
    def values(self) -> list[float]:
        """The means; nan without segments."""
        return [float(total / self.count) if self.count else float("nan") for total in self._sums]


class LineScorer:
    """Scores blocks and gives the lines of each.

    Parameters
    ----------
    make
        Makes the metric.
    name
        One of FORMATS.
    evidence
        With json and jsonl, the evidence too.
    """

    def __init__(self, make: Callable[[], RoMe], name: str, evidence: bool, found: Checked) -> None:
        self.score = BlockScorer(make, found.shared)
        self.line: Callable[..., str] = {
            "table": partial(_cells, notes=found.notes),
            "tsv": partial(_tsv, ids=found.ids),
        }.get(name, partial(_object, ids=found.ids, evidence=evidence))

    def __call__(self, block: Block) -> list[str]:
        """The lines of a block, each behind its score."""
        result = self.score(block)
        lines = map(partial(self.line, signature=result.signature), result.segments, block.ids, block.notes)
        return [f"{segment.score!r}\t{line}" for segment, line in zip(result.segments, lines, strict=True)]


class MeanScore:
    """The mean of the scores of what passes through."""

    def __init__(self) -> None:
        self.count, self._sum = 0, Fraction()

    def add(self, score: float) -> None:
        """Take in the score of one segment."""
        self.count += 1
        self._sum += Fraction(score)

    def of(self, lines: Iterable[str]) -> Iterator[str]:
        """Lines of LineScorer without their scores; the mean is that of the last lines asked for."""
        self.count, self._sum = 0, Fraction()
        for line in lines:
            score, _, rest = line.partition("\t")
            self.add(float(score))
            yield rest

    @property
    def value(self) -> float:
        """The mean; nan without lines."""
        return float(self._sum / self.count) if self.count else float("nan")


def add_mean_arguments(group: argparse._ActionsContainer) -> None:
    """What is printed of the mean."""
    group.add_argument(
        "--quiet", "-q", action="store_true", help="print the mean alone; with --output the file is written, too"
    )
    group.add_argument("--width", "-w", type=positive, default=4, metavar="N", help="decimals of the mean (default: 4)")


def shown_output(options: argparse.Namespace) -> str | None:
    """Where the output goes: nowhere when the mean alone is to be printed."""
    return os.devnull if options.quiet and options.output in (None, STANDARD_INPUT) else options.output


def say_mean(options: argparse.Namespace, mean: MeanScore) -> None:
    """Print the mean when it was asked for; else, of what went to a file, the mean and where it is, on standard error."""
    told = f"{mean.value:.{options.width}f}"
    if options.quiet:
        print(told)
    elif options.output not in (None, STANDARD_INPUT):
        report_line(f"mean {told} of {mean.count} segments: {options.output}")


def columns(signature: str, *, ids: bool = False) -> list[str]:
    """The columns of tab-separated scores, those of `rome rescore` too: a supervised net adds ``scorer``, names add ``id``."""
    numbers = ["score", *FEATURES, *(f"{feature}_contribution" for feature in FEATURES)]
    label = ["scorer"] if labels(signature) else []
    return ["segment", *(["id"] if ids else []), *numbers, "reference", "flags", *label]


def _tsv(segment: SegmentScore, id: str, _: str, *, signature: str, ids: bool) -> str:
    """Tab-separated numbers; no texts. A supervised score says so in the column scorer."""
    values = [segment.score, *(part.value for part in segment.components), *segment.contributions]
    name = [id.translate(BLANKS)] if ids else []
    cells = [str(segment.segment), *name, *(fixed(value, 6) for value in values), str(segment.reference_index)]
    label = labels(signature)
    return "\t".join([*cells, ",".join(segment.flags), *([label["scorer"]] if label else [])])


def _object(segment: SegmentScore, id: str, _: str, *, signature: str, ids: bool, evidence: bool) -> str:
    """One JSON object."""
    return stored_line(segment, name=id if ids else None, evidence=evidence)


def _cells(segment: SegmentScore, _: str, note: str, *, signature: str, notes: bool) -> str:
    """The cells of a table's row, and the numbers that its means are made of."""
    numbers = [segment.score, *(part.value for part in segment.components)]
    return json.dumps([corpus_row(segment, note if notes else None, whole=True), numbers], ensure_ascii=False)


def finished(name: str, lines: Lines, found: Checked, signature: str, width: int | None = None) -> Iterator[str]:
    """The output, line by line, from the lines that all blocks made; ``lines`` gives them from the first on whenever it is called.

    Parameters
    ----------
    width
        The columns that a table may take.
    """
    if name == "table":
        return _table(lines, found, signature, width)
    if name == "json":
        return _json(lines, signature)
    header = ["\t".join(columns(signature, ids=found.ids))] if name == "tsv" else []
    rest = lines()
    first = next(rest)  # nothing is written before something is there
    return chain(header, [first], rest)


def _table(lines: Lines, found: Checked, signature: str, width: int | None) -> Iterator[str]:
    """The table for people, as `rome.reports.tables.corpus_table` makes it of results in memory, but with texts as far as they fit."""
    means = yield from table_lines(corpus_header(found.notes), lambda: map(json.loads, lines()), width)
    yield ""
    yield corpus_footer(means.count, means.values[0], signature)


def table_lines(
    header: list[str], rows: Callable[[], Iterable[tuple[list[str], list[float]]]], width: int | None = None
) -> Generator[str, None, Means]:
    """An aligned table whose rows need not be in memory, with their means below, which it returns.

    Parameters
    ----------
    rows
        Gives the cells of each row, and the numbers that go into the means, from the first on whenever it is called.
    width
        The columns of a terminal: texts are cut to fit, and before they get short the names of numbers are.
    """
    means, right = Means(), RIGHT + [False] * (len(header) - len(RIGHT))

    def cells() -> Iterator[list[str]]:
        for row, numbers in rows():
            means.add(numbers)
            yield row

    filled = widest(cells())
    last = [corpus_means(means.values, len(header))] if means.count else []
    filled = widest([["-" * column for column in filled], *last])
    widths = widest([header, ["-" * column for column in filled]]) if filled else widest([header])
    if width is not None:
        for text in FEWEST:
            least = [own if to_right else min(own, text) for own, to_right in zip(filled, right, strict=True)]
            widths = fitted(widths, least, width)
        header = list(map(shorten, header, widths))
    yield aligned_row(header, widths, right)
    yield rule(widths)
    for row, _ in rows():
        yield aligned_row(row if width is None else list(map(shorten, row, widths)), widths, right)
    for row in last:
        yield rule(widths)
        yield aligned_row(row, widths, right)
    return means


def _json(lines: Lines, signature: str) -> Iterator[str]:
    """One JSON object for everything: means, signature, then the segments."""
    rows = map(json.loads, lines())
    means = Means([row["score"], *(row["components"][name]["value"] for name in FEATURES)] for row in rows)
    score, *components = means.values
    head = {"score": score, "components": dict(zip(FEATURES, components, strict=True)), "signature": signature}
    yield from json_lines(head | labels(signature), map(json.loads, lines()), means.count)


def json_lines(head: dict[str, Any], segments: Iterable[dict[str, Any]], count: int) -> Iterator[str]:
    """One JSON object, whose last value are the segments, none of which need be in memory.

    Parameters
    ----------
    count
        How many there are.
    """
    begun = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
    yield f'{begun},\n "segments": [' + ("" if count else "]\n}")
    for number, segment in enumerate(segments, start=1):
        text = json.dumps(segment, ensure_ascii=False, indent=1).replace("\n", "\n  ")
        yield f"  {text}" + ("," if number < count else "\n ]\n}")
