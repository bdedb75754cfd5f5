"""Explain, check and compare scores, those of texts or stored ones."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING

from rome.cli.formats import write_documents
from rome.cli.options import MakeMetric, add_metric_arguments, add_output_arguments, load_at_once, positive
from rome.cli.pairs import add_pair_arguments, checked_blocks, example_pairs, names_texts
from rome.exceptions import InputError
from rome.results.gate import LEAST, MOST, Limits, check_limits
from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.results import SegmentScore

    Named = list[tuple[str, SegmentScore]]

WAYS = "one pair by --reference TEXT with --hypothesis TEXT, or --example N, or --from FILE with --row ID or --worst N"
FAILED = 1


def add_explain_arguments(parser: argparse.ArgumentParser) -> None:
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


def run_explain(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Explain one pair: alignment, trees, edit operations, error spans, and where the points went."""
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


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome check`."""
    add_pair_arguments(parser)
    scores = "instead of texts, what `rome score --format jsonl --evidence` wrote; no model is needed"
    parser.add_argument("--scores", metavar="FILE", help=scores)
    limits = parser.add_argument_group("limits", "of all segments together; by default --max-critical 0")
    for name in MOST:
        limits.add_argument(f"--max-{name}", type=int, metavar="N", help=f"the most {name} errors")
    most = "the most errors of a type, such as number=0"
    limits.add_argument("--max-type", action="append", default=[], metavar="TYPE=N", help=most)
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


def run_check(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Pass or fail: exit 1 where there are more mistakes than allowed, with the segments that hold them.

    A gate for continuous integration. Without a limit no critical error is allowed.
    """
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


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
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


def run_compare(options: argparse.Namespace, _: MakeMetric) -> int:
    """Compare two stored results, second minus first: means with intervals, the segments that decide, and the changed mistakes."""
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
