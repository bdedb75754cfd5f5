"""Combine stored features into scores, without any model but the net of the set that measured them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TextIO

from rome.cli.formats import Means
from rome.cli.metric import MakeMetric, add_net_arguments, named_net
from rome.combining.provenance import labels, supervision_note
from rome.features.values import FEATURES
from rome.files import open_output

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner

__all__ = ["add_arguments", "run"]

COLUMNS = ("segment", "score", *FEATURES, *(f"{name}_contribution" for name in FEATURES), "reference", "flags")

BATCH = 1 << 17
"""Rows of the table that are in memory at a time."""
Rows = Callable[[], Iterator[list[Any]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome rescore`."""
    parser.add_argument("features", metavar="FILE.parquet", help="a table of features, made by `rome features`")
    add_net_arguments(parser)
    parser.add_argument("--format", choices=tuple(WRITERS), default="table", help="default: table")
    parser.add_argument("--output", metavar="FILE", help="write here, all or nothing (default: standard output)")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Read batch by batch, combine, write one row a segment, the best reference of each; memory does not grow with the table.

    Where means or widths of columns are needed beforehand, the rows wait in a temporary file.
    """
    combiner = named_net(options) or _matching(options)
    rows = partial(_rows, options.features, combiner)
    with open_output(options.output) as stream, TemporaryFile("w+", encoding="utf-8") as held:
        if options.format in ("table", "json"):
            held.writelines(f"{json.dumps(row)}\n" for row in rows())
            rows = partial(_held, held)
        for line in WRITERS[options.format](rows, combiner.signature):
            stream.write(f"{line}\n")
    return 0


def _held(file: TextIO) -> Iterator[list[Any]]:
    """The rows from the first one on."""
    file.seek(0)
    return map(json.loads, file)


def _matching(options: argparse.Namespace) -> Combiner:
    """The net of the model set that measured the features, of the kind that the options name."""
    from rome.combining.combiner import Combiner
    from rome.combining.table import FeatureTable

    first = next(FeatureTable.iter_batches(options.features, 1), None)
    return Combiner.matching("" if first is None else first.signature, scorer=options.scorer)


def _rows(path: str, combiner: Combiner) -> Iterator[list[Any]]:
    """The values of COLUMNS for every segment of a stored table."""
    from rome.combining.table import FeatureTable

    for table in FeatureTable.iter_batches(path, BATCH):
        best = combiner.combine(table)
        chosen = table[best.row]
        contributions = combiner.contributions(chosen)
        for row in range(len(best)):
            numbers = [float(best.score[row]), *chosen.values[row].tolist(), *contributions[row].tolist()]
            yield [int(best.segment[row]), *numbers, int(best.reference[row]), ",".join(chosen.flags_of(row))]


def _table(rows: Rows, signature: str) -> Iterator[str]:
    """Score and components for people, then their means, and whether the score is supervised."""
    from rome.text_table import aligned_row, rule, widest

    header, means, right = ["segment", "score", *FEATURES, "flags"], Means(), [True] * 6 + [False]

    def shown() -> Iterator[list[str]]:
        yield header
        for row in rows():
            yield [str(row[0]), *(f"{value:.3f}" for value in row[1:6]), row[-1]]

    for row in rows():
        means.add(row[1:6])
    last = ["mean", *(f"{mean:.3f}" for mean in means.values), ""] if means.count else header
    widths = widest(chain(shown(), [last]))
    for number, cells in enumerate(shown()):
        yield aligned_row(cells, widths, right)
        if number in (0, means.count):
            yield rule(widths)
    if means.count:
        yield aligned_row(last, widths, right)
    note = supervision_note(signature)
    if note:
        yield f"\n{note}"


def _tsv(rows: Rows, signature: str) -> Iterator[str]:
    """Tab-separated, with a header; a supervised net adds the column scorer."""
    from rome.text_table import fixed

    label = labels(signature)
    yield "\t".join([*COLUMNS, *(["scorer"] if label else [])])
    for row in rows():
        cells = [fixed(cell, 6) if isinstance(cell, float) else str(cell) for cell in row]
        yield "\t".join([*cells, *([label["scorer"]] if label else [])])


def _jsonl(rows: Rows, signature: str) -> Iterator[str]:
    """One object a segment."""
    for row in rows():
        yield json.dumps(dict(zip(COLUMNS, row, strict=True)) | labels(signature))


def _json(rows: Rows, signature: str) -> Iterator[str]:
    """One object: the mean score and all segments."""
    means = Means()
    for row in rows():
        means.add(row[1:6])
    head = {"score": means.values[0] if means.count else None, **labels(signature)}
    yield json.dumps(head, indent=1).removesuffix("\n}") + ',\n "segments": [' + ("" if means.count else "]\n}")
    for number, row in enumerate(rows(), start=1):
        text = json.dumps(dict(zip(COLUMNS, row, strict=True)) | labels(signature), indent=1).replace("\n", "\n  ")
        yield f"  {text}" + ("," if number < means.count else "\n ]\n}")


Writer = Callable[[Rows, str], Iterator[str]]
WRITERS: dict[str, Writer] = {"table": _table, "tsv": _tsv, "json": _json, "jsonl": _jsonl}
