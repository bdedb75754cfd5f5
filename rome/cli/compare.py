"""Compare two stored results: means with intervals, the segments that decide, and which mistakes went and came."""

from __future__ import annotations

import argparse
from pathlib import Path

from rome.cli.formats import write_documents
from rome.cli.options import MakeMetric, add_output_arguments, positive
from rome.exceptions import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome compare`."""
    group = parser.add_argument_group("results", "what `rome score --format jsonl --evidence` wrote for the same segments")
    group.add_argument("old", metavar="OLD", help="the result to compare with")
    group.add_argument("new", metavar="NEW", help="the result that is compared: every difference is NEW minus OLD")
    group.add_argument("--names", nargs=2, metavar=("OLD", "NEW"), help="names of the two (default: the files' names)")
    output = parser.add_argument_group("output")
    add_output_arguments(output, "text", "json", "html", note="; html is a page of its own")
    resamples = "of the intervals and tests (default: 2000)"
    output.add_argument("--resamples", type=positive, default=2000, metavar="N", help=resamples)
    output.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same intervals (default: 0)")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Read both, compare, write; no model is needed."""
    from rome.reports.summaries import comparison_document
    from rome.results import CorpusScore
    from rome.results.comparison import compare

    paths = (options.old, options.new)
    names = options.names or [Path(path).name.removesuffix(".gz").removesuffix(".jsonl") for path in paths]
    if names[0] == names[1]:
        names = paths
    if options.old == options.new:
        raise InputError(f"{options.old} was given twice: name two results")
    old, new = map(CorpusScore.load, paths)
    comparison = compare(new, old, names=(names[1], names[0]), resamples=options.resamples, seed=options.seed)
    write_documents(options, [comparison_document(comparison)], comparison.to_dict())
    return 0
