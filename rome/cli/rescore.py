"""Combine stored features into scores, without any model but the net of the set that measured them."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from rome.cli.formats import Means, MeanScore, add_mean_arguments, columns, json_lines, say_mean, shown_output, table_lines
from rome.cli.metric import MakeMetric, add_options, add_output_arguments, named_net
from rome.combining.signature import labels, supervision_note
from rome.features.values import FEATURES
from rome.storage.files import open_output
from rome.text_table import fixed, terminal_width

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner

BATCH = 1 << 17
"""Rows of the table that are in memory at a time."""
NUMBERS = slice(1, 2 + len(FEATURES))
"""Where a row has the score and the four features."""
Row = list[Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome rescore`."""
    parser.add_argument("features", metavar="FILE.parquet", help="a table of features, made by `rome features`")
    add_options(parser, "net", "scorer")
    add_output_arguments(parser, *WRITERS)
    add_mean_arguments(parser)


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Read batch by batch, combine, write one row a segment, the best reference of each; memory does not grow with the table."""
    combiner = named_net(options) or _matching(options)
    mean = MeanScore()
    rows = _counted(_rows(options.features, combiner), mean)
    writers: dict[str, Writer] = {**WRITERS, "table": partial(_table, width=terminal_width(options.output))}
    with open_output(shown_output(options)) as stream:
        stream.writelines(f"{line}\n" for line in writers[options.format](rows, combiner.signature))
    say_mean(options, mean)
    return 0


def _counted(rows: Iterable[Row], mean: MeanScore) -> Iterator[Row]:
    """The rows, whose scores go into the mean."""
    for row in rows:
        mean.add(row[1])
        yield row


def _matching(options: argparse.Namespace) -> Combiner:
    """The net of the model set that measured the features, of the kind that the options name."""
    from rome.combining.combiner import Combiner
    from rome.combining.table import FeatureTable

    first = next(FeatureTable.iter_batches(options.features, 1), None)
    return Combiner.matching("" if first is None else first.signature, scorer=options.scorer)


def _rows(path: str, combiner: Combiner) -> Iterator[Row]:
    """The values of `columns`, but for the scorer, for every segment of a stored table."""
    from rome.combining.table import FeatureTable

    for table in FeatureTable.iter_batches(path, BATCH):
        best = combiner.combine(table)
        chosen = table[best.row]
        contributions = combiner.contributions(chosen)
        for row in range(len(best)):
            numbers = [float(best.score[row]), *chosen.values[row].tolist(), *contributions[row].tolist()]
            yield [int(best.segment[row]), *numbers, int(best.reference[row]), ",".join(chosen.flags_of(row))]


@contextmanager
def _kept(rows: Iterable[Row]) -> Iterator[Callable[[], Iterator[Row]]]:
    """Rows in a temporary file, as a function that reads them from the first on whenever it is called."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)

        def again() -> Iterator[Row]:
            file.seek(0)
            return map(json.loads, file)

        yield again


def _table(rows: Iterable[Row], signature: str, width: int | None = None) -> Iterator[str]:
    """Score and components for people, then their means, and whether the score is supervised."""
    with _kept(rows) as again:

        def cells() -> Iterator[tuple[list[str], list[float]]]:
            return (([str(row[0]), *(f"{value:.3f}" for value in row[NUMBERS]), row[-1]], row[NUMBERS]) for row in again())

        yield from table_lines(["segment", "score", *FEATURES, "flags"], cells, width)
    note = supervision_note(signature)
    if note:
        yield f"\n{note}"


def _tsv(rows: Iterable[Row], signature: str) -> Iterator[str]:
    """Tab-separated, with a header, in the columns of `rome score`."""
    names = columns(signature)
    yield "\t".join(names)
    label = ["supervised"] if names[-1] == "scorer" else []
    for row in rows:
        yield "\t".join([*(fixed(cell, 6) if isinstance(cell, float) else str(cell) for cell in row), *label])


def _objects(rows: Iterable[Row], signature: str) -> Iterator[dict[str, Any]]:
    """Each segment by the names of its columns."""
    names, label = columns(""), labels(signature)
    return (dict(zip(names, row, strict=True)) | label for row in rows)


def _jsonl(rows: Iterable[Row], signature: str) -> Iterator[str]:
    """One object a segment."""
    return map(json.dumps, _objects(rows, signature))


def _json(rows: Iterable[Row], signature: str) -> Iterator[str]:
    """One object: the mean score and all segments."""
    with _kept(rows) as again:
        means = Means(row[NUMBERS] for row in again())
        head = {"score": means.values[0] if means.count else None, **labels(signature)}
        yield from json_lines(head, _objects(again(), signature), means.count)


Writer = Callable[[Iterable[Row], str], Iterator[str]]
WRITERS: dict[str, Writer] = {"table": _table, "tsv": _tsv, "json": _json, "jsonl": _jsonl}
