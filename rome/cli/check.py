"""Pass or fail: exit 1 where there are more mistakes than allowed, with the segments that hold them.

A gate for continuous integration. Without a limit no critical error is allowed.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from rome.cli.metric import MakeMetric, add_metric_arguments, add_output_arguments
from rome.cli.pairs import add_pair_arguments, checked_blocks, names_texts
from rome.exceptions import InputError
from rome.results.gate import Limits, check_limits
from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.results import SegmentScore

    Named = tuple[list[str], list[SegmentScore]]

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome check`."""
    add_pair_arguments(parser)
    parser.add_argument(
        "--scores",
        metavar="FILE",
        help="in place of texts, what `rome score --format jsonl --evidence` wrote; no model is needed",
    )
    limits = parser.add_argument_group("limits", "of all segments together; by default --max-critical 0")
    for severity in ("critical", "major", "minor"):
        limits.add_argument(f"--max-{severity}", type=int, metavar="N", help=f"the most {severity} errors")
    limits.add_argument("--min-score", type=float, metavar="SCORE", help="the least score of every segment, 0 to 1")
    limits.add_argument(
        "--baseline",
        metavar="FILE",
        help="what `rome score --format jsonl --evidence` wrote for the same segments before: its errors are not counted again",
    )
    add_metric_arguments(parser)
    output = parser.add_argument_group("output", "the segments that are to blame go to standard output")
    output.add_argument("--junit", metavar="FILE", help="write JUnit's XML too, one test case a segment")
    output.add_argument("--markdown", metavar="FILE", help="write a summary in Markdown too, such as for a pull request")
    add_output_arguments(output, "text", "json")
    output.add_argument(
        "--quiet", "-q", action="store_true", help="print nothing: the exit code says it; with --output the file is written"
    )


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Score or read, check, write; 1 where a limit is exceeded."""
    from rome.reports.gate import gate_junit, gate_markdown, gate_text
    from rome.results.corpus import iter_scores

    limits = Limits(options.max_critical, options.max_major, options.max_minor, options.min_score)
    if limits == Limits():
        limits = Limits(critical=0)
    baseline = None if options.baseline is None else [score for _, score in iter_scores(options.baseline)]
    names, segments = _read(options) if options.scores is not None else _scored(options, metric)
    result = check_limits(segments, limits, names=names, baseline=baseline)
    for path, written in ((options.junit, gate_junit), (options.markdown, gate_markdown)):
        if path is not None:
            with open_output(path) as stream:
                stream.write(written(result))
    if options.output is not None or not options.quiet:
        shown = json.dumps(result.to_dict(), ensure_ascii=False, indent=1) if options.format == "json" else gate_text(result)
        with open_output(options.output) as stream:
            stream.write(f"{shown}\n")
    return 0 if result.passed else FAILED


def _read(options: argparse.Namespace) -> Named:
    """The names and the stored scores of all segments."""
    from rome.results.corpus import iter_scores

    if names_texts(options):
        raise InputError("--scores holds the texts already: name either texts or --scores")
    stored = list(iter_scores(options.scores))
    return [str(n) if name is None else name for n, (name, _) in enumerate(stored)], [score for _, score in stored]


def _scored(options: argparse.Namespace, metric: MakeMetric) -> Named:
    """The names and the scores of all segments."""
    names: list[str] = []
    segments: list[SegmentScore] = []
    with checked_blocks(options) as (_, blocks):
        made = metric(options)
        for block in blocks:
            names += [id or str(pair.segment) for pair, id in zip(block.pairs, block.ids, strict=True)]
            segments += made.score_pairs(block.pairs)
    return names, segments
