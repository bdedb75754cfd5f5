"""Score pairs: one line per segment with score, components and worst errors, then the means.

Pairs are read, scored and written block by block, so memory does not grow with their number. With --output, finished blocks are kept in the
folder FILE.partial until all are done. The same command continues there after an interruption and writes the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from importlib.metadata import version
from itertools import chain, count, islice

from rome.batch.blocks import Block, Checked
from rome.batch.checkpoint import Checkpoint
from rome.cli.formats import FORMATS, Line, LineScorer, Means, add_mean_arguments, columns, is_file, report_mean, write_lines
from rome.cli.options import MakeMetric, completes_files, load_at_once
from rome.cli.pairs import add_block_arguments, block_metric, checked_blocks, ended_by_signal, report_line, run_blocks
from rome.evaluation.metrics.peers import LEXICAL, lexical
from rome.reports.tables import corpus_header

Work = Callable[[], LineScorer]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome score`."""
    add_block_arguments(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--format", "-f", choices=FORMATS, default="table", help="default: table, as wide as the terminal")
    group.add_argument("--evidence", action="store_true", help="with json and jsonl: the evidence behind every number too")
    output = "write a whole file or none (default: standard output), and report the mean; finished work is kept in FILE.partial"
    completes_files(group.add_argument("--output", "-o", metavar="FILE", help=f"{output}, where the same command continues"))
    metrics = f"scores of other metrics too, of the best reference: {', '.join(LEXICAL)} (ter and cer negated)"
    group.add_argument("--metrics", nargs="+", metavar="METRIC", default=[], help=metrics)
    shown = "with table and tsv: the text of the reference too"
    group.add_argument("--show", nargs="+", choices=("reference",), default=[], help=shown)
    add_mean_arguments(group)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Check all pairs, then score and write block by block."""
    means = Means({name: lexical(name).signature for name in options.metrics})
    with ended_by_signal(), ExitStack() as stack:
        kept = None
        if is_file(options.output):
            kept = Checkpoint(f"{os.path.realpath(options.output)}.partial", "jsonl")
            stack.enter_context(kept.alone())
        found, blocks = stack.enter_context(checked_blocks(options))
        make = block_metric(options, metric, found)
        made = make()
        load_at_once(made, options)
        work = partial(LineScorer, make if options.workers > 1 else lambda: made, options, tuple(means.metrics), found)
        if kept is None:
            blockwise: Iterator[list[Line]] = stack.enter_context(closing(run_blocks(options, work, blocks, found.count)))
        else:
            parts = range(_keep(options, work, blocks, found, kept, made.signature))
            blockwise = (json.loads(kept.read(kept.name(number))) for number in parts)
        header = corpus_header(found.notes, metrics=tuple(means.metrics), texts=(*options.show, "hypothesis"))
        names = columns(made.signature, ids=found.ids, metrics=means.metrics, texts=options.show)
        write_lines(options, chain.from_iterable(blockwise), means, made.signature, header, names)
        if kept is not None:
            shutil.rmtree(kept.path, ignore_errors=True)
    report_mean(options, means)
    return 0


def _keep(
    options: argparse.Namespace, work: Work, blocks: Iterator[Block], found: Checked, kept: Checkpoint, signature: str
) -> int:
    """Score and keep every block that is not kept yet, and return the number of blocks."""
    run_of = {"version": version("rome-metric"), "pairs": found.digest, "signature": signature}
    finished = kept.begin(run_of | {name: getattr(options, name) for name in ("format", "evidence", "metrics", "show")})
    parts = next(number for number in count() if number not in finished)
    ready = sum(len(block.pairs) for block in islice(blocks, parts))
    if parts:
        report_line(f"{ready} of {found.count} segments are in {kept.path} already: continuing after them")
    with closing(run_blocks(options, work, blocks, found.count, ready)) as done:
        for lines in done:
            kept.write(kept.name(parts), json.dumps(lines, ensure_ascii=False).encode("utf-8"))
            parts += 1
    return parts
