"""Combine stored features into scores, without any model."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rome.cli.metric import MakeMetric, add_net_arguments, named_net
from rome.features.values import FEATURES
from rome.files import open_output
from rome.supervision import labels, supervision_note

if TYPE_CHECKING:
    from rome.combiner import Combiner

__all__ = ["add_arguments", "run"]

COLUMNS = ("segment", "reference", "score", *FEATURES, *(f"{name}_contribution" for name in FEATURES), "baseline", "flags")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome rescore`."""
    parser.add_argument("features", metavar="FILE.parquet", help="a table of features, made by `rome features`")
    add_net_arguments(parser)
    parser.add_argument("--format", choices=tuple(WRITERS), default="table", help="default: table")
    parser.add_argument("--output", metavar="FILE", help="write here, all or nothing (default: standard output)")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Read batch by batch, combine, write one row a segment, the best reference of each."""
    from rome.combiner import Combiner

    combiner = named_net(options) or Combiner.load()
    with open_output(options.output) as stream:
        for line in WRITERS[options.format](_rows(options.features, combiner), combiner.signature):
            stream.write(f"{line}\n")
    return 0


def _rows(path: str, combiner: Combiner) -> Iterator[list[Any]]:
    """The values of COLUMNS for every segment of a stored table."""
    from rome.table import FeatureTable

    baseline = combiner.baseline_score
    for table in FeatureTable.iter_batches(path):
        best = combiner.combine(table)
        chosen = table[best.row]
        contributions = combiner.contributions(chosen)
        for row in range(len(best)):
            numbers = [float(best.score[row]), *chosen.values[row].tolist(), *contributions[row].tolist(), baseline]
            yield [int(best.segment[row]), int(best.reference[row]), *numbers, ",".join(chosen.flags_of(row))]


def _table(rows: Iterable[list[Any]], signature: str) -> Iterator[str]:
    """Score and components for people, then their means, and whether the score is supervised."""
    from rome.text_table import aligned

    shown = [["segment", "score", *FEATURES, "flags"]]
    totals, count = [0.0] * 5, 0
    for row in rows:
        shown.append([str(row[0]), *(f"{value:.3f}" for value in row[2:7]), row[-1]])
        totals, count = [total + value for total, value in zip(totals, row[2:7], strict=True)], count + 1
    if count:
        shown.append(["mean", *(f"{total / count:.3f}" for total in totals), ""])
    yield aligned(shown, [True] * 6 + [False], rule_after=(0, len(shown) - 2) if count else (0,))
    note = supervision_note(signature)
    if note:
        yield f"\n{note}"


def _tsv(rows: Iterable[list[Any]], signature: str) -> Iterator[str]:
    """Tab-separated, with a header; a supervised net adds the column scorer."""
    label = labels(signature)
    yield "\t".join([*COLUMNS, *(["scorer"] if label else [])])
    for row in rows:
        cells = [f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in row]
        yield "\t".join([*cells, *([label["scorer"]] if label else [])])


def _jsonl(rows: Iterable[list[Any]], signature: str) -> Iterator[str]:
    """One object a segment."""
    for row in rows:
        yield json.dumps(dict(zip(COLUMNS, row, strict=True)) | labels(signature))


def _json(rows: Iterable[list[Any]], signature: str) -> Iterator[str]:
    """One object: the mean score and all segments."""
    segments = [dict(zip(COLUMNS, row, strict=True)) | labels(signature) for row in rows]
    mean = sum(segment["score"] for segment in segments) / len(segments) if segments else None
    yield json.dumps({"score": mean, **labels(signature), "segments": segments}, indent=1)


Writer = Callable[[Iterable[list[Any]], str], Iterator[str]]
WRITERS: dict[str, Writer] = {"table": _table, "tsv": _tsv, "json": _json, "jsonl": _jsonl}
