"""Score pairs: one line a segment with score, components and worst errors, then the means.

Pairs are read, scored and written block by block, so memory does not grow with their number. With --output, what is finished stands in
FILE.partial until all is done: the same command, given again after an interruption, goes on there and ends with the same bytes.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from rome.cli.blocks import add_worker_argument, block_metric, ended_by_signal, progress_bar, report_line
from rome.cli.formats import FORMATS, STREAMED, LineScorer, finished
from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.cli.pairs import add_pair_arguments, open_named_pairs
from rome.exceptions import InputError
from rome.files import STANDARD_INPUT, open_output
from rome.partial import Partial
from rome.streaming import Block, Checked, check_rows, cut_blocks
from rome.workers import run_in_order

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome score`."""
    add_pair_arguments(parser)
    add_metric_arguments(parser)
    add_worker_argument(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    group.add_argument("--evidence", action="store_true", help="with json and jsonl: the evidence behind every number too")
    group.add_argument(
        "--output",
        metavar="FILE",
        help="write here, all or nothing (default: standard output); what is finished waits in FILE.partial, where the same command goes on",
    )


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Look at all pairs, then score and write block by block; the output is opened before anything is computed."""
    with ended_by_signal(), open_named_pairs(options) as rows:
        kept = _partial(options)
        done = False
        try:
            found = check_rows(rows(), empty_reference=options.empty_reference)
            make = block_metric(options, metric)
            blocks = cut_blocks(rows(), whole=options.idf == "references")
            if kept is None:
                _write_through(options, make, blocks, found)
            else:
                _keep(options, make, blocks, found, kept)
                with open_output(options.output) as stream:
                    stream.writelines(f"{line}\n" for line in finished(options.format, kept.lines, found))
            done = True
        except KeyboardInterrupt:
            if kept is not None and kept.path is not None and kept.blocks:
                report_line(f"what is finished is in {kept.path}: the same command goes on there")
            raise
        finally:
            if kept is not None:
                kept.close(done=done)
    return 0


def _partial(options: argparse.Namespace) -> Partial | None:
    """Where finished blocks are kept; None when their lines can go to standard output at once."""
    if options.output is None or options.output == STANDARD_INPUT:
        return None if options.format in STREAMED else Partial(None)
    target = Path(os.path.realpath(options.output))
    if target.is_dir():
        raise InputError(f"{options.output} is a directory: name a file in it to write to")
    special = target.exists() and not target.is_file()
    return Partial(None if special else target.with_name(f"{target.name}.partial"), options.output)


def _write_through(options: argparse.Namespace, make: Callable[[], Any], blocks: Iterator[Block], found: Checked) -> None:
    """Write every block to standard output as soon as it is scored."""
    work = partial(LineScorer, make, options.format, options.evidence, found)
    with (
        progress_bar(options, found.count) as bar,
        closing(run_in_order(work, blocks, workers=options.workers, report=report_line)) as done,
    ):
        for number, lines in enumerate(done):
            head = 1 if number == 0 else 0
            sys.stdout.writelines(f"{line}\n" for line in (lines[1:] if head and options.format != "tsv" else lines))
            sys.stdout.flush()
            bar.update(len(lines) - head)


def _keep(options: argparse.Namespace, make: Callable[[], Any], blocks: Iterator[Block], found: Checked, kept: Partial) -> None:
    """Score every block that is not kept yet, and keep it."""
    metric = make()
    begun = kept.begin(_description(options, metric, found))
    ready = sum(len(block.hypotheses) for block in islice(blocks, begun))
    if begun:
        report_line(f"{ready} of {found.count} segments are in {kept.path} already: going on behind them")
    source = make if options.workers > 1 else partial(_same, metric)
    work = partial(LineScorer, source, options.format, options.evidence, found)
    with (
        progress_bar(options, found.count, ready) as bar,
        closing(run_in_order(work, blocks, workers=options.workers, report=report_line)) as done,
    ):
        for lines in done:
            kept.append(lines)
            bar.update(len(lines))


def _same(metric: Any) -> Any:
    return metric


def _description(options: argparse.Namespace, metric: Any, found: Checked) -> dict[str, Any]:
    """Everything that decides what the output will hold."""
    return {
        "version": version("rome-metric"),
        "pairs": found.digest,
        "signature": getattr(metric, "signature", ""),
        "format": options.format,
        "evidence": bool(options.evidence),
    }
