"""Compare two stored results: means with intervals, the segments that decide, and which mistakes went and came."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rome.cli.metric import MakeMetric, add_output_arguments, positive
from rome.exceptions import InputError
from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.results.comparison import Comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome compare`."""
    group = parser.add_argument_group("results", "what `rome score --format jsonl --evidence` wrote for the same segments")
    group.add_argument("old", metavar="OLD", help="the result to compare with")
    group.add_argument("new", metavar="NEW", help="the result that is compared: every difference is NEW minus OLD")
    group.add_argument("--names", nargs=2, metavar=("OLD", "NEW"), help="what the two are called (default: the files' names)")
    output = parser.add_argument_group("output")
    add_output_arguments(output, "text", "json", "html", said="; html is a page for itself")
    output.add_argument(
        "--segments", type=positive, default=10, metavar="N", help="with json: segments that decide (default: 10)"
    )
    output.add_argument(
        "--resamples", type=positive, default=2000, metavar="N", help="of the intervals and tests (default: 2000)"
    )
    output.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same intervals (default: 0)")


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Read both, compare, write; no model is needed."""
    from rome.results import CorpusScore
    from rome.results.comparison import compare
    from rome.results.systems import iter_systems

    names = options.names or [Path(path).name.removesuffix(".gz").removesuffix(".jsonl") for path in (options.old, options.new)]
    if names[0] == names[1]:
        names = [options.old, options.new]
    if options.old == options.new:
        raise InputError(f"{options.old} was given twice: name two results")
    rows = [scores for _, scores in iter_systems([(names[0], options.old), (names[1], options.new)])]
    if not rows:
        raise InputError(f"{options.old} and {options.new} hold no segment: give at least one")
    old, new = (CorpusScore(segments, segments[0].signature) for segments in zip(*rows, strict=True))
    found = compare(new, old, names=(names[1], names[0]), resamples=options.resamples, seed=options.seed)
    with open_output(options.output) as stream:
        stream.write(_written(found, options, stream))
    return 0


def _written(found: Comparison, options: argparse.Namespace, stream: TextIO) -> str:
    """The comparison in the form that was asked for."""
    from rome.reports.summaries import comparison_document

    if options.format == "json":
        return json.dumps(found.to_dict(segments=options.segments), ensure_ascii=False, indent=1) + "\n"
    if options.format == "html":
        from rome.reports.html import document_page

        return document_page(comparison_document(found))
    from rome.reports.text import terminal_text

    return terminal_text(comparison_document(found), stream) + "\n"
