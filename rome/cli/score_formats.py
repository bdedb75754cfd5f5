"""How `rome score` writes: lines of a block that any worker can make, and the output that is made of all of them.

Each format keeps one line a segment until the end. Where that line is not yet what a user reads (the columns of a table are as wide as
their widest cell, a JSON object begins with the mean), `finished` reads the lines twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from rome.cli.means import Means
from rome.features.values import FEATURES
from rome.reports.score_table import RIGHT, corpus_footer, corpus_header, corpus_means, corpus_row
from rome.streaming import Block, BlockScorer, Checked, Metric
from rome.supervision import labels
from rome.text_table import aligned_row, fixed, rule, widest

if TYPE_CHECKING:
    from rome.results import CorpusScore, SegmentScore

__all__ = ["FORMATS", "STREAMED", "LineScorer", "finished"]

FORMATS = ("table", "tsv", "json", "jsonl")
STREAMED = ("tsv", "jsonl")
"""Formats whose lines can be written as soon as they are there."""
BLANKS = {ord(character): " " for character in "\t\n\r"}
Lines = Callable[[], Iterator[str]]


class LineScorer:
    """Scores blocks and gives the lines of each; before the first one, the line that says what all have in common.

    make : makes the metric. name : one of FORMATS. evidence : with json and jsonl, the evidence too.
    """

    def __init__(self, make: Callable[[], Metric], name: str, evidence: bool, found: Checked) -> None:
        self.score = BlockScorer(make, found.shared)
        self.line: Callable[..., str] = {
            "table": partial(_cells, notes=found.notes),
            "tsv": partial(_tsv, ids=found.ids),
        }.get(name, partial(_object, ids=found.ids, evidence=evidence))
        self.head = partial(_head, name, found)

    def __call__(self, block: Block) -> list[str]:
        """The lines of a block, after the head line where the block is the first one."""
        result = self.score(block)
        head = [self.head(result)] if block.start == 0 else []
        line = partial(self.line, signature=result.signature)
        return [*head, *map(line, result.segments, block.ids, block.notes)]


def _head(name: str, found: Checked, result: CorpusScore) -> str:
    """The header of a TSV file; what the other formats need to know of the whole."""
    if name != "tsv":
        return json.dumps(result.signature)
    numbers = ["score", *FEATURES, *(f"{feature}_contribution" for feature in FEATURES)]
    label = ["scorer"] if labels(result.signature) else []
    return "\t".join(["segment", *(["id"] if found.ids else []), *numbers, "reference", "flags", *label])


def _tsv(segment: SegmentScore, id: str, _: str, *, signature: str, ids: bool) -> str:
    """Tab-separated numbers; no texts. A supervised score says so in the column scorer."""
    values = [segment.score, *(part.value for part in segment.components), *segment.contributions]
    name = [id.translate(BLANKS)] if ids else []
    cells = [str(segment.segment), *name, *(fixed(value, 6) for value in values), str(segment.reference_index)]
    label = labels(signature)
    return "\t".join([*cells, ",".join(segment.flags), *([label["scorer"]] if label else [])])


def _object(segment: SegmentScore, id: str, _: str, *, signature: str, ids: bool, evidence: bool) -> str:
    """One JSON object."""
    row: dict[str, Any] = {"id": id} if ids else {}
    return json.dumps(row | segment.to_dict(evidence=evidence), ensure_ascii=False)


def _cells(segment: SegmentScore, _: str, note: str, *, signature: str, notes: bool) -> str:
    """The cells of a table's row, and the numbers that its means are made of."""
    numbers = [segment.score, *(part.value for part in segment.components)]
    return json.dumps([corpus_row(segment, note if notes else None), numbers], ensure_ascii=False)


def finished(name: str, lines: Lines, found: Checked) -> Iterator[str]:
    """The output, line by line, from the lines that all blocks made; ``lines`` gives them from the first on whenever it is called."""
    if name == "table":
        return _table(lines, found)
    if name == "json":
        return _json(lines)
    return lines() if name == "tsv" else _after_head(lines)


def _after_head(lines: Lines) -> Iterator[str]:
    rest = lines()
    next(rest, None)
    return rest


def _table(lines: Lines, found: Checked) -> Iterator[str]:
    """The table for people, as `rome.reports.score_table.corpus_table` makes it of results in memory."""
    signature, header, means = json.loads(next(lines(), '""')), corpus_header(found.notes), Means()

    def rows() -> Iterator[list[str]]:
        return (json.loads(line)[0] for line in _after_head(lines))

    for line in _after_head(lines):
        means.add(json.loads(line)[1])
    last = [corpus_means(means.values, len(header))] if means.count else []
    widths, right = widest([header, *last]), RIGHT + [False] * (len(header) - len(RIGHT))
    widths = [max(pair) for pair in zip(widths, widest(rows()) or widths, strict=True)]
    yield aligned_row(header, widths, right)
    yield rule(widths)
    yield from (aligned_row(row, widths, right) for row in rows())
    if last:
        yield rule(widths)
        yield aligned_row(last[0], widths, right)
    yield ""
    yield corpus_footer(means.count, means.values[0], signature)


def _json(lines: Lines) -> Iterator[str]:
    """One JSON object for everything: means, signature, then the segments."""
    signature, means = json.loads(next(lines(), '""')), Means()
    for line in _after_head(lines):
        row = json.loads(line)
        means.add([row["score"], *(row["components"][name]["value"] for name in FEATURES)])
    score, *components = means.values
    head = {"score": score, "components": dict(zip(FEATURES, components, strict=True)), "signature": signature} | labels(
        signature
    )
    begun = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
    yield f'{begun},\n "segments": [' + ("" if means.count else "]\n}")
    for number, line in enumerate(_after_head(lines), start=1):
        text = json.dumps(json.loads(line), ensure_ascii=False, indent=1).replace("\n", "\n  ")
        yield f"  {text}" + ("," if number < means.count else "\n ]\n}")
