"""Explain one pair: alignment, trees, edit operations, error spans, and where the points went."""

from __future__ import annotations

import argparse
import os
from heapq import nsmallest
from typing import TYPE_CHECKING

from rome.cli.formats import write_documents
from rome.cli.options import MakeMetric, add_metric_arguments, add_output_arguments, load_at_once, positive
from rome.cli.pairs import example_pairs
from rome.exceptions import InputError
from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.results import SegmentScore


WAYS = "one pair by --reference TEXT with --hypothesis TEXT, or --example N, or --from FILE with --row ID or --worst N"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome explain`."""
    parser.set_defaults(ways=WAYS)
    group = parser.add_argument_group("texts", WAYS)
    group.add_argument("--reference", action="append", type=_text, metavar="TEXT", help="may be given several times")
    group.add_argument("--hypothesis", type=_text, metavar="TEXT")
    group.add_argument("--example", type=int, metavar="N", help="the example pair with this segment number")
    scores = "a segment of what `rome score --format jsonl --evidence` wrote; no model is needed"
    group.add_argument("--from", dest="scores", metavar="FILE", help=scores)
    group.add_argument("--row", metavar="ID", help="with --from: the segment's id, or its number from 0")
    group.add_argument("--worst", type=positive, metavar="N", help="with --from: the N segments with the lowest scores")
    add_metric_arguments(parser)
    note = ", with colours on a terminal unless NO_COLOR is set; html is a page of its own"
    add_output_arguments(parser.add_argument_group("output"), "text", "json", "html", note=note)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Score the one pair, or read stored scores, and write the explanation."""
    from rome.reports.segment import segment_document

    if (options.row is not None) + (options.worst is not None) != (options.scores is not None):
        raise InputError("--from FILE needs --row ID or --worst N: name the segments and the file that holds them")
    if options.scores is not None:
        segments = _stored(options)
    else:
        references, hypothesis = _pair(options)
        made = metric(options)
        load_at_once(made, options)
        segments = list(made.score(references=[references], hypotheses=[hypothesis]))
    values = [segment.to_dict() for segment in segments]
    value = values if len(values) > 1 else values[0]
    with open_output(options.output) as stream:
        write_documents(stream, options.format, list(map(segment_document, segments)), value)
    return 0


def _text(word: str) -> str:
    """Return a text of the command line; one that the locale could not decode is UTF-8."""
    undecoded = any("\udc80" <= character <= "\udcff" for character in word)
    return os.fsencode(word).decode("utf-8", "surrogateescape") if undecoded else word


def _stored(options: argparse.Namespace) -> list[SegmentScore]:
    """Return the segments of a file of scores that the options name."""
    from rome.results.corpus import iter_scores

    stored = iter_scores(options.scores)
    if options.worst is not None:
        worst = nsmallest(options.worst, (score for _, score in stored), key=lambda segment: segment.score)
        if not worst:
            raise InputError(f"{options.scores} holds no segment: give at least one")
        return worst
    count = 0
    for count, (name, segment) in enumerate(stored, 1):
        if options.row in (name, str(count - 1)):
            return [segment]
    raise InputError(f"{options.scores} has no segment {options.row}: it has {count}, with their ids or numbers from 0")


def _pair(options: argparse.Namespace) -> tuple[list[str], str]:
    """Return the references and the hypothesis that the options name."""
    given = [options.reference is not None, options.hypothesis is not None, options.example is not None]
    if given == [True, True, False]:
        return options.reference, options.hypothesis
    if given != [False, False, True]:
        raise InputError(f"name {WAYS}")
    rows = example_pairs()
    if not 0 <= options.example < len(rows):
        raise InputError(f"there is no example {options.example}: choose 0 to {len(rows) - 1}")
    return rows[options.example].references, rows[options.example].hypothesis
