"""Write one self-contained HTML page: leaderboard, distributions, and every segment with its explanation; or print the leaderboard."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rome.checks import SegmentError
from rome.cli.formats import write_documents
from rome.cli.options import MakeMetric, add_metric_arguments, add_output_arguments, positive
from rome.cli.pairs import add_column_arguments, named_columns
from rome.exceptions import InputError
from rome.reports.model import Table
from rome.storage.files import STANDARD_INPUT, open_output

if TYPE_CHECKING:
    from rome.results import SegmentScore
    from rome.results.systems import SystemTexts

    Rows = Iterator[tuple[str, Sequence[SegmentScore]]]

BLOCK = 500
"""Segments that are scored together: their evidence is in memory at once."""
WAYS = "the texts by --references with --hypotheses, or --pairs, or --scores"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome report`."""
    parser.set_defaults(ways=WAYS)
    group = parser.add_argument_group("texts", WAYS)
    group.add_argument("--references", nargs="+", metavar="FILE", help="text files, one segment per line")
    group.add_argument("--hypotheses", nargs="+", metavar="SYSTEM=FILE", help="a text file of each system, one segment per line")
    pairs = "a table (TSV, CSV, JSON, JSON lines, Parquet) with the columns system, reference, hypothesis, id"
    group.add_argument("--pairs", metavar="FILE", help=pairs)
    add_column_arguments(group)
    scores = "what `rome score --format jsonl --evidence` wrote for each system; no model is needed"
    group.add_argument("--scores", nargs="+", metavar="SYSTEM=FILE", help=scores)
    add_metric_arguments(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--title", default="RoMe report", metavar="TEXT", help="heading of the page (default: RoMe report)")
    resamples = "of the intervals and tests (default: 2000)"
    output.add_argument("--resamples", type=positive, default=2000, metavar="N", help=resamples)
    output.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same intervals (default: 0)")
    note = ": the page, which needs --output; the others are its leaderboard"
    add_output_arguments(output, "html", "text", "tsv", "json", note=note)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Read, score block by block unless scores are given, write; the output is opened before anything is computed."""
    from rome.evaluation.findings import table_rows
    from rome.reports.page import leaderboard_document, write_page
    from rome.results.displayed import plain
    from rome.results.systems import Systems

    names, rows = _rows(options, metric)
    systems = Systems(names)
    sampling = {"resamples": options.resamples, "seed": options.seed}
    with open_output(options.output) as stream:
        if options.format == "html":
            write_page(stream, systems, rows, title=options.title, **sampling)
        else:
            document = leaderboard_document(systems, rows, **sampling)
            standings = [row for table in document.parts if isinstance(table, Table) for row in table_rows(table)]
            write_documents(stream, options.format, [document], plain({"systems": standings, "signature": document.signature}))
    return 0


def _rows(options: argparse.Namespace, metric: MakeMetric) -> tuple[Sequence[str], Rows]:
    """Return the systems that the options name, and their scores segment by segment."""
    from rome.results.systems import iter_systems, named_files, read_system_pairs, read_systems

    parallel = [options.references is not None, options.hypotheses is not None]
    if any(parallel) + (options.pairs is not None) + (options.scores is not None) != 1:
        raise InputError(f"name {WAYS}, in one way")
    if options.format == "html" and options.output in (None, STANDARD_INPUT):
        raise InputError("a page is a file: name it, `--output report.html`, or print the leaderboard, `--format text`")
    if options.scores is not None:
        files = named_files(options.scores, "--scores")
        return [name for name, _ in files], iter_systems(files)
    if options.pairs is not None:
        texts = read_system_pairs(options.pairs, named_columns(options))
    elif not all(parallel):
        raise InputError("--references and --hypotheses belong together: give both")
    else:
        texts = read_systems(options.references, named_files(options.hypotheses, "--hypotheses"))
    return texts.names, _scored(texts, options, metric)


def _scored(texts: SystemTexts, options: argparse.Namespace, metric: MakeMetric) -> Rows:
    """Score a block of segments of all systems at a time: each reference is analysed once, and evidence does not accumulate.

    With ``--idf references`` the word weights depend on all references of a call, so everything is scored in one.
    """
    scorer, count = metric(options), len(texts.rows[0])
    block = count if options.idf == "references" else BLOCK
    for start in range(0, count, block):
        held = [rows[n] for n in range(start, min(start + block, count)) for rows in texts.rows]
        try:
            result = scorer.score(references=[row.references for row in held], hypotheses=[row.hypothesis for row in held])
        except SegmentError as error:
            raise InputError(f"{held[error.segment].place}: {error.in_words}") from error
        for first in range(0, len(held), len(texts.names)):
            name = held[first].id if texts.ids else str(start + first // len(texts.names))
            yield name, result[first : first + len(texts.names)]
