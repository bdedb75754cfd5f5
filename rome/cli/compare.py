"""Compare two stored results, second minus first: means with intervals, the segments that decide, and the changed mistakes."""

from __future__ import annotations

import argparse
from pathlib import Path

from rome.cli.formats import write_documents
from rome.cli.options import MakeMetric, add_output_arguments, positive
from rome.exceptions import InputError
from rome.storage.files import open_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome compare`."""
    group = parser.add_argument_group("results", "what `rome score --format jsonl --evidence` wrote for the same segments")
    group.add_argument("first", metavar="FIRST", help="the result to compare with, such as that of the old system")
    group.add_argument("second", metavar="SECOND", help="the result that is compared: every difference is SECOND minus FIRST")
    group.add_argument("--names", nargs=2, metavar=("FIRST", "SECOND"), help="names of the two (default: the files' names)")
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

    paths = (options.first, options.second)
    names = options.names or [Path(path).name.removesuffix(".gz").removesuffix(".jsonl") for path in paths]
    if names[0] == names[1]:
        names = paths
    if options.first == options.second:
        raise InputError(f"{options.first} was given twice: name two results")
    comparison = compare(*map(CorpusScore.load, paths), names=names, resamples=options.resamples, seed=options.seed)
    with open_output(options.output) as stream:
        write_documents(stream, options.format, [comparison_document(comparison)], comparison.to_dict())
    return 0
