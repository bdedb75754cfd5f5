"""Explain one pair: alignment, trees, edit operations, error spans, and where the points went."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING, TextIO

from rome.cli.metric import MakeMetric, add_metric_arguments, add_output_arguments, load_at_once, positive
from rome.cli.pairs import example_pairs
from rome.exceptions import InputError
from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.results import SegmentScore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome explain`."""
    group = parser.add_argument_group("texts", "--reference with --hypothesis, or --example, or --from with --row or --worst")
    group.add_argument("--reference", action="append", metavar="TEXT", help="may be given several times")
    group.add_argument("--hypothesis", metavar="TEXT")
    group.add_argument("--example", type=int, metavar="N", help="the example pair with this segment number")
    group.add_argument(
        "--from",
        dest="scores",
        metavar="FILE",
        help="a segment of what `rome score --format jsonl --evidence` wrote; no model is needed",
    )
    group.add_argument("--row", metavar="ID", help="with --from: the segment's id, or its number from 0")
    group.add_argument("--worst", type=positive, metavar="N", help="with --from: the N segments with the lowest scores")
    add_metric_arguments(parser)
    said = ", with colours on a terminal unless NO_COLOR is set; html is a page for itself"
    add_output_arguments(parser.add_argument_group("output"), "text", "json", "html", said=said)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Score the one pair, or read what was scored, and write everything that is known of it."""
    if (options.row is not None) + (options.worst is not None) != (options.scores is not None):
        raise InputError("--from FILE goes with --row ID or with --worst N: name the segments and the file that holds them")
    given = _pair(options) if options.scores is None else None
    with open_output(options.output) as stream:
        if given is None:
            segments = _stored(options)
        else:
            made = metric(options)
            load_at_once(made, options)
            segments = list(made.score(references=[given[0]], hypotheses=[given[1]]))
        stream.write(_written(segments, options.format, stream))
    return 0


def _stored(options: argparse.Namespace) -> list[SegmentScore]:
    """The segments of a file of scores that the options name."""
    from rome.results.corpus import iter_scores

    stored = iter_scores(options.scores)
    if options.worst is not None:
        found = nsmallest(options.worst, (score for _, score in stored), key=lambda segment: segment.score)
        if not found:
            raise InputError(f"{options.scores} holds no segment: give at least one")
        return found
    count = 0
    for count, (name, segment) in enumerate(stored, 1):
        if options.row in (name, str(count - 1)):
            return [segment]
    raise InputError(f"{options.scores} has no segment {options.row}: it has {count}, called by their ids or by numbers from 0")


def _written(segments: Sequence[SegmentScore], form: str, stream: TextIO) -> str:
    """The explanations in the form that was asked for, the last line ended."""
    from rome.reports.segment import segment_document

    if form == "json":
        rows = [segment.to_dict() for segment in segments]
        return json.dumps(rows if len(rows) > 1 else rows[0], ensure_ascii=False, indent=1) + "\n"
    documents = [segment_document(segment) for segment in segments]
    if form == "html":
        from rome.reports.html import document_page

        return document_page(*documents)
    from rome.reports.text import terminal_text

    return "\n\n".join(terminal_text(document, stream) for document in documents) + "\n"


def _pair(options: argparse.Namespace) -> tuple[list[str], str]:
    """The texts that the options name."""
    given = options.reference is not None or options.hypothesis is not None
    if given == (options.example is not None) or (given and (options.reference is None or options.hypothesis is None)):
        raise InputError("name one pair: --reference TEXT with --hypothesis TEXT, --example N, or --from FILE with --row ID")
    if given:
        return options.reference, options.hypothesis
    rows = example_pairs()
    if not 0 <= options.example < len(rows):
        raise InputError(f"there is no example {options.example}: choose 0 to {len(rows) - 1}")
    return rows[options.example].references, rows[options.example].hypothesis
