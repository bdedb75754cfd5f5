"""Score pairs: one line a segment with score, components and worst errors, then the means."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.cli.pairs import add_pair_arguments, at_its_place, read_named_pairs
from rome.files import open_output
from rome.supervision import labels

if TYPE_CHECKING:
    from rome.pair_files import PairTexts
    from rome.results import CorpusScore

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome score`."""
    add_pair_arguments(parser)
    add_metric_arguments(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=tuple(WRITERS), default="table", help="default: table")
    group.add_argument("--evidence", action="store_true", help="with json and jsonl: the evidence behind every number too")
    group.add_argument("--output", metavar="FILE", help="write here, all or nothing (default: standard output)")


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Read, score, write; the output is opened before anything is computed."""
    texts = read_named_pairs(options)
    with open_output(options.output) as stream:
        result = at_its_place(texts, metric(options).score)
        for line in WRITERS[options.format](result, texts, options.evidence):
            stream.write(f"{line}\n")
    return 0


def _table(result: CorpusScore, texts: PairTexts, _: bool) -> Iterator[str]:
    """The table for people."""
    from rome.text_report import corpus_table

    yield corpus_table(result, texts.notes)


def _tsv(result: CorpusScore, texts: PairTexts, _: bool) -> Iterator[str]:
    """Tab-separated numbers with a header; no texts. A supervised score adds the column scorer."""
    from rome.features.values import FEATURES

    numbers = ["score", *FEATURES, *(f"{name}_contribution" for name in FEATURES), "baseline"]
    label = labels(result.signature)
    yield "\t".join(["segment", *(["id"] if texts.ids else []), *numbers, "reference", "flags", *(["scorer"] if label else [])])
    for number, segment in enumerate(result):
        values = [segment.score, *(part.value for part in segment.components), *segment.contributions, segment.baseline]
        name = [texts.ids[number]] if texts.ids else []
        cells = [str(segment.segment), *name, *(f"{value:.6f}" for value in values), str(segment.reference_index)]
        yield "\t".join([*cells, ",".join(segment.flags), *([label["scorer"]] if label else [])])


def _json(result: CorpusScore, texts: PairTexts, evidence: bool) -> Iterator[str]:
    """One JSON object for everything."""
    row = result.to_dict(evidence=evidence)
    row["segments"] = [_named(segment, texts, number) for number, segment in enumerate(row["segments"])]
    yield json.dumps(row, ensure_ascii=False, indent=1)


def _jsonl(result: CorpusScore, texts: PairTexts, evidence: bool) -> Iterator[str]:
    """One JSON object a segment."""
    for number, segment in enumerate(result):
        yield json.dumps(_named(segment.to_dict(evidence=evidence), texts, number), ensure_ascii=False)


def _named(row: dict[str, Any], texts: PairTexts, number: int) -> dict[str, Any]:
    """The segment with its id, where the input had one."""
    return {"id": texts.ids[number], **row} if texts.ids else row


WRITERS: dict[str, Callable[[CorpusScore, PairTexts, bool], Iterator[str]]] = {
    "table": _table,
    "tsv": _tsv,
    "json": _json,
    "jsonl": _jsonl,
}
