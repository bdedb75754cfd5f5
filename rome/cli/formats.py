"""Write scores: one line per segment as soon as it is there, then the means."""

from __future__ import annotations

import argparse
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import fsum, nan
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from rome.batch.blocks import Block, Checked
from rome.cli.options import positive
from rome.cli.pairs import report_line
from rome.combining.combiner import MEASURES
from rome.combining.signature import labels
from rome.evaluation.metrics.peers import lexical
from rome.features.values import FEATURES
from rome.reports.model import Document, Table
from rome.reports.segment import SEVERITIES
from rome.reports.tables import NUMBERS, corpus_footer, corpus_means, corpus_row, table_tsv
from rome.results.corpus import stored_line
from rome.results.displayed import plain
from rome.storage.files import STANDARD_INPUT, open_output
from rome.text_table import aligned, fixed, terminal_width

if TYPE_CHECKING:
    from rome.metric import RoMe
    from rome.results import SegmentScore

FORMATS = ("table", "tsv", "json", "jsonl")
BLANKS = {ord(character): " " for character in "\t\n\r"}
Line = tuple[Sequence[float], str]
"""The numbers of a segment in the order of MEASURES, and its line."""


class Means:
    """Collect the numbers of all segments: ``measures`` by name, then the scores of other ``metrics`` (name -> signature)."""

    def __init__(self, metrics: Mapping[str, str] = {}, measures: Sequence[str] = MEASURES) -> None:
        self.measures, self.metrics, self._numbers = measures, metrics, array("d")
        self._width = len(measures) + len(metrics)

    def of(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield the text of each line and take in its numbers."""
        for numbers, text in lines:
            self._numbers.extend(numbers)
            yield text

    @property
    def count(self) -> int:
        """Return the number of segments."""
        return len(self._numbers) // self._width

    @property
    def values(self) -> list[float]:
        """Return the means from exact sums, nan without segments."""
        return [fsum(self._numbers[n :: self._width]) / self.count if self.count else nan for n in range(self._width)]


class LineScorer:
    """Score blocks and return the lines of each, as the options of `rome score` ask."""

    def __init__(self, make: Callable[[], RoMe], options: argparse.Namespace, metrics: Sequence[str], found: Checked) -> None:
        self.metric, self.options, self.metrics, self.found = make(), options, metrics, found

    def __call__(self, block: Block) -> list[Line]:
        """Return the lines of a block."""
        texts = [pair.references for pair in block.pairs], [pair.hypothesis for pair in block.pairs]
        scores = np.array([lexical(name, progress=False).score(*texts) for name in self.metrics])
        others = scores.reshape(-1, len(block.pairs)).T.tolist()
        rows = zip(self.metric.score_pairs(block.pairs), block.ids, block.notes, others, strict=True)
        return [([*segment.measures, *more], self._text(segment, id, note, more)) for segment, id, note, more in rows]

    def _text(self, segment: SegmentScore, id: str, note: str, others: list[float]) -> str:
        """Return the line of one segment; for a table, its cells as JSON."""
        options, reference = self.options, "reference" in self.options.show
        if options.format == "table":
            row = corpus_row(segment, note if self.found.notes else None, whole=True, more=others, reference=reference)
            return json.dumps(row, ensure_ascii=False)
        if options.format == "tsv":
            name = [id.translate(BLANKS)] if self.found.ids else []
            counts = (segment.error_counts.get(severity, "") for severity in SEVERITIES)
            numbers = [*segment.measures, *others, *segment.contributions, *counts, segment.reference_index]
            texts = [segment.reference.translate(BLANKS)] if reference else []
            cells = [segment.segment, *name, *numbers, ",".join(segment.flags), *texts]
            return tsv_line(cells, segment.signature)
        more = {"metrics": dict(zip(self.metrics, others, strict=True))} if others else {}
        return stored_line(segment, name=id if self.found.ids else None, evidence=options.evidence, **more)


def tsv_line(cells: Iterable[Any], signature: str) -> str:
    """Return tab-separated cells; a supervised score adds the cell ``scorer``."""
    values = [fixed(cell, 6) if isinstance(cell, float) else str(cell) for cell in cells]
    return "\t".join([*values, *(["supervised"] if labels(signature) else [])])


def columns(
    signature: str, ids: bool = False, measures: Sequence[str] = MEASURES, metrics: Iterable[str] = (), show: Iterable[str] = ()
) -> list[str]:
    """Return the names of tab-separated columns: ``id`` where pairs have ids, ``scorer`` for supervised scores."""
    contributions = (f"{feature}_contribution" for feature in FEATURES)
    counts = [f"{severity}_count" for severity in SEVERITIES] if measures == MEASURES else []
    label = ["scorer"] if labels(signature) else []
    numbers = (*measures, *metrics, *contributions, *counts)
    return ["segment", *(["id"] if ids else []), *numbers, "reference", "flags", *(f"{side}_text" for side in show), *label]


def write_lines(
    options: argparse.Namespace, lines: Iterable[Line], means: Means, signature: str, header: Sequence[str], tsv: Sequence[str]
) -> None:
    """Write the output, none before the first segment is there, each line at once where a person or a program may wait for it.

    Then print the mean with --quiet; otherwise report the mean and the file, if there is one, on standard error.

    Parameters
    ----------
    means
        Takes in every segment.
    header, tsv
        Names of the columns of a table, and of tab-separated lines.
    """
    is_unseen, at_once = options.quiet and options.output in (None, STANDARD_INPUT), not is_file(options.output)
    with open_output(os.devnull if is_unseen else options.output) as stream:
        rest = means.of(lines)
        rows: Iterator[str] = chain(list(islice(rest, 1)), rest)
        if options.format == "table":
            rows = _table(rows, means, signature, header, terminal_width(options.output))
        elif options.format == "json":
            rows = _json(rows, means, signature)
        elif options.format == "tsv":
            rows = chain(["\t".join(tsv)], rows)
        for line in rows:
            print(line, file=stream, flush=at_once)
    mean = f"{means.values[0]:.{options.width}f}"
    if options.quiet:
        print(mean)
    elif options.output not in (None, STANDARD_INPUT):
        report_line(f"mean {mean} of {means.count} segments: {options.output}")


def is_file(output: str | None) -> bool:
    """Return True for an ordinary file, where a later run can continue."""
    return output not in (None, STANDARD_INPUT) and (os.path.isfile(output) or not os.path.exists(output))


def _table(rows: Iterable[str], means: Means, signature: str, header: Sequence[str], room: int | None) -> Iterator[str]:
    """Yield an aligned table, within the columns of a terminal, then the mean and the signatures."""
    right = [name in (*NUMBERS, *means.metrics) for name in header]
    yield from aligned(header, map(json.loads, rows), right, room, lambda: corpus_means(means.values, len(header)))
    yield from ("", corpus_footer(means.count, means.values[0], signature))
    yield from (f"{metric}: {choices}" for metric, choices in means.metrics.items())


def _json(texts: Iterable[str], means: Means, signature: str) -> Iterator[str]:
    """Yield one JSON object: the segments, one per line, then the means and the signature."""
    yield '{"segments": ['
    comma = " "
    for text in texts:
        yield f"{comma}{text}"
        comma = ","
    found = dict(zip((*means.measures, *means.metrics), means.values, strict=True))
    components = {name: found.pop(name) for name in FEATURES}
    others = {name: {"score": found.pop(name), "signature": choices} for name, choices in means.metrics.items()}
    row = {"score": found.pop("score"), "components": components, **found} | ({"metrics": others} if others else {})
    tail = json.dumps(plain(row | {"signature": signature} | labels(signature)), ensure_ascii=False)
    yield f"],\n {tail[1:]}"


def add_mean_arguments(group: Any) -> None:
    """Add --quiet and --width."""
    group.add_argument("--quiet", "-q", action="store_true", help="print the mean alone; with --output the file is written")
    group.add_argument("--width", "-w", type=positive, default=3, metavar="N", help="decimals of the mean (default: 3)")


def write_documents(stream: TextIO, form: str, documents: Sequence[Document], value: Any) -> None:
    """Write documents as text, as a page, or as the tab-separated lines of their tables; or their value as JSON."""
    from rome.reports.html import document_page
    from rome.reports.text import terminal_text

    if form == "json":
        stream.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    elif form == "html":
        stream.write(document_page(*documents))
    elif form == "tsv":
        stream.writelines(table_tsv(part) for document in documents for part in document.parts if isinstance(part, Table))
    else:
        stream.write("\n\n".join(terminal_text(document, stream) for document in documents) + "\n")
