"""Pass or fail: exit 1 where there are more mistakes than allowed, with the segments that hold them.

A gate for continuous integration. Without a limit no critical error is allowed.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from rome.cli.options import MakeMetric, add_metric_arguments, add_output_arguments
from rome.cli.pairs import add_pair_arguments, checked_blocks, names_texts
from rome.exceptions import InputError
from rome.results.gate import LEAST, MOST, Limits, check_limits
from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.results import SegmentScore

    Named = list[tuple[str, SegmentScore]]

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome check`."""
    add_pair_arguments(parser)
    scores = "instead of texts, what `rome score --format jsonl --evidence` wrote; no model is needed"
    parser.add_argument("--scores", metavar="FILE", help=scores)
    limits = parser.add_argument_group("limits", "of all segments together; by default --max-critical 0")
    for name in MOST:
        limits.add_argument(f"--max-{name}", type=int, metavar="N", help=f"the most {name} errors")
    limits.add_argument(
        "--max-type", action="append", default=[], metavar="TYPE=N", help="the most errors of a type, such as number=0"
    )
    for name in LEAST:
        limits.add_argument(f"--min-{name}", type=float, metavar="SHARE", help=f"the least {name} of every segment, 0 to 1")
    ignore = "severities, types, added or missing: neither counted nor shown, such as casing punctuation style"
    limits.add_argument("--ignore", nargs="+", action="extend", default=[], metavar="NAME", help=ignore)
    baseline = "a file as for --scores, of an earlier version of the same segments: its errors are not counted"
    limits.add_argument("--baseline", metavar="FILE", help=baseline)
    add_metric_arguments(parser)
    output = parser.add_argument_group("output", "the segments that exceed a limit are written to standard output")
    output.add_argument("--junit", metavar="FILE", help="also write JUnit's XML, one test case per segment")
    output.add_argument("--markdown", metavar="FILE", help="also write a summary in Markdown, such as for a pull request")
    add_output_arguments(output, "text", "json")
    output.add_argument("--quiet", "-q", action="store_true", help="print nothing; with --output the file is written")


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Score or read, check, write; return 1 where a limit is exceeded."""
    from rome.reports.gate import gate_junit, gate_markdown, gate_text

    numbers = {name: getattr(options, f"{end}_{name}") for end, names in (("max", MOST), ("min", LEAST)) for name in names}
    limits = Limits(**numbers, type=dict(map(_type_limit, options.max_type)), ignore=options.ignore)
    if not (limits.most or limits.least):
        limits = replace(limits, critical=0)
    baseline = None if options.baseline is None else [segment for _, segment in _read(options.baseline)]
    if options.scores is not None and names_texts(options):
        raise InputError("--scores holds the texts already: name either texts or --scores")
    named = _scored(options, metric) if options.scores is None else _read(options.scores)
    names, segments = [name for name, _ in named], [segment for _, segment in named]
    result = check_limits(segments, limits, names=names, baseline=baseline)
    shown = json.dumps(result.to_dict(), ensure_ascii=False, indent=1) if options.format == "json" else gate_text(result)
    for path, text in ((options.junit, gate_junit(result)), (options.markdown, gate_markdown(result))):
        if path is not None:
            with open_output(path) as stream:
                stream.write(text)
    if options.output is not None or not options.quiet:
        with open_output(options.output) as stream:
            stream.write(f"{shown}\n")
    return 0 if result.passed else FAILED


def _type_limit(given: str) -> tuple[str, int]:
    """Return type and number of ``TYPE=N``. Raises InputError for another form."""
    name, _, number = given.partition("=")
    if not number.isdecimal():
        raise InputError(f"--max-type must be TYPE=N, such as number=0, got {given!r}")
    return name, int(number)


def _read(path: str) -> Named:
    """Return the stored scores of all segments with their names."""
    from rome.results.corpus import iter_scores

    return [(str(n) if name is None else name, segment) for n, (name, segment) in enumerate(iter_scores(path))]


def _scored(options: argparse.Namespace, metric: MakeMetric) -> Named:
    """Return the scores of all segments with their names."""
    named: Named = []
    with checked_blocks(options) as (_, blocks):
        made = metric(options)
        for block in blocks:
            names = [id or str(pair.segment) for pair, id in zip(block.pairs, block.ids, strict=True)]
            named += zip(names, made.score_pairs(block.pairs), strict=True)
    return named
