"""Explain one pair: alignment, trees, edit operations, error spans, and where the points went."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, TextIO

from rome.cli.metric import MakeMetric, add_metric_arguments, add_output_arguments
from rome.cli.pairs import example_pairs
from rome.exceptions import InputError
from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.results import SegmentScore

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome explain`."""
    group = parser.add_argument_group("texts", "--reference with --hypothesis, or --example")
    group.add_argument("--reference", action="append", metavar="TEXT", help="may be given several times")
    group.add_argument("--hypothesis", metavar="TEXT")
    group.add_argument("--example", type=int, metavar="N", help="the example pair with this segment number")
    add_metric_arguments(parser)
    said = ", with colours on a terminal unless NO_COLOR is set; html is a page for itself"
    add_output_arguments(parser.add_argument_group("output"), "text", "json", "html", said=said)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Score the one pair and write everything that is known of it."""
    references, hypothesis = _pair(options)
    with open_output(options.output) as stream:
        (segment,) = metric(options).score(references=[references], hypotheses=[hypothesis])
        stream.write(_written(segment, options.format, stream))
    return 0


def _written(segment: SegmentScore, form: str, stream: TextIO) -> str:
    """The explanation in the form that was asked for, its last line ended."""
    from rome.reports.segment import segment_document

    if form == "html":
        from rome.reports.html import document_page

        return document_page(segment_document(segment))
    if form == "json":
        return json.dumps(segment.to_dict(), ensure_ascii=False, indent=1) + "\n"
    from rome.reports.text import terminal_text

    return terminal_text(segment_document(segment), stream) + "\n"


def _pair(options: argparse.Namespace) -> tuple[list[str], str]:
    """The texts that the options name."""
    given = options.reference is not None or options.hypothesis is not None
    if given == (options.example is not None) or (given and (options.reference is None or options.hypothesis is None)):
        raise InputError("name one pair: --reference TEXT with --hypothesis TEXT, or --example N")
    if given:
        return options.reference, options.hypothesis
    rows = example_pairs()
    if not 0 <= options.example < len(rows):
        raise InputError(f"there is no example {options.example}: choose 0 to {len(rows) - 1}")
    return rows[options.example].references, rows[options.example].hypothesis
