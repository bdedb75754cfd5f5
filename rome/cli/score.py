"""Score pairs: one line a segment with score, components and worst errors, then the means.

Pairs are read, scored and written block by block, so memory does not grow with their number. With --output, what is finished stands in
the folder FILE.partial until all is done: the same command, given again after an interruption, goes on there and ends with the same bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from importlib.metadata import version
from itertools import chain, count, islice

from rome.batch.blocks import Block, Checked
from rome.batch.checkpoint import Checkpoint
from rome.cli.formats import FORMATS, STREAMED, LineScorer, MeanScore, add_mean_arguments, finished, say_mean, shown_output
from rome.cli.metric import MakeMetric, add_metric_arguments, load_at_once
from rome.cli.pairs import (
    add_pair_arguments,
    add_worker_argument,
    block_metric,
    checked_blocks,
    ended_by_signal,
    report_line,
    run_blocks,
)
from rome.cli.parser import completes_files
from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, open_output
from rome.text_table import terminal_width

Work = Callable[[], LineScorer]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome score`."""
    add_pair_arguments(parser)
    add_metric_arguments(parser)
    add_worker_argument(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--format", "-f", choices=FORMATS, default="table", help="default: table, as wide as the terminal")
    group.add_argument("--evidence", action="store_true", help="with json and jsonl: the evidence behind every number too")
    output = "write here, all or nothing (default: standard output), and say where and the mean; what is finished waits in FILE.partial"
    completes_files(group.add_argument("--output", "-o", metavar="FILE", help=f"{output}, where the same command goes on"))
    add_mean_arguments(group)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Look at all pairs, then score and write block by block; the output is opened before anything is computed."""
    with ended_by_signal(), ExitStack() as stack:
        kept, mean = None, MeanScore()
        if _is_file(options.output):
            kept = Checkpoint(f"{os.path.realpath(options.output)}.partial", "jsonl")
            stack.enter_context(kept.alone())
        elif options.output not in (None, STANDARD_INPUT) or options.format not in STREAMED:
            kept = Checkpoint(stack.enter_context(tempfile.TemporaryDirectory()), "jsonl")
        found, blocks = stack.enter_context(checked_blocks(options))
        make = block_metric(options, metric, found)
        made = make()
        load_at_once(made, options)
        work = partial(LineScorer, make if options.workers > 1 else lambda: made, options.format, options.evidence, found)
        signature = getattr(made, "signature", "")
        if kept is None:
            lines = mean.of(chain.from_iterable(stack.enter_context(closing(run_blocks(options, work, blocks, found.count)))))
            for line in finished(options.format, lambda: lines, found, signature):
                if not options.quiet:
                    print(line, flush=True)
            say_mean(options, mean)
            return 0
        try:
            parts = _keep(options, work, blocks, found, kept, signature)
            width = terminal_width(options.output)
            with open_output(shown_output(options)) as stream:
                lines = finished(options.format, lambda: mean.of(_lines(kept, parts)), found, signature, width)
                stream.writelines(f"{line}\n" for line in lines)
        except KeyboardInterrupt:
            if _is_file(options.output) and any(name.startswith("part-") for name in kept.names()):
                report_line(f"what is finished is in {kept.path}: the same command goes on there")
            raise
        shutil.rmtree(kept.path, ignore_errors=True)
    say_mean(options, mean)
    return 0


def _is_file(output: str | None) -> bool:
    """Whether the output is an ordinary file, which a later run can go on with. Raises InputError for a directory."""
    if output is None or output == STANDARD_INPUT:
        return False
    if os.path.isdir(output):
        raise InputError(f"{output} is a directory: name a file in it to write to")
    return os.path.isfile(output) or not os.path.exists(output)


def _lines(kept: Checkpoint, parts: int) -> Iterator[str]:
    """Every line of the finished blocks, in order."""
    for number in range(parts):
        yield from kept.read(kept.name(number)).decode("utf-8").split("\n")[:-1]


def _keep(
    options: argparse.Namespace, work: Work, blocks: Iterator[Block], found: Checked, kept: Checkpoint, signature: str
) -> int:
    """Score every block that is not kept yet, and keep its lines; how many blocks there are."""
    there = kept.begin(
        {
            "version": version("rome-metric"),
            "pairs": found.digest,
            "signature": signature,
            "format": options.format,
            "evidence": bool(options.evidence),
        }
    )
    begun = next(number for number in count() if number not in there)
    ready = sum(len(block.pairs) for block in islice(blocks, begun))
    if begun:
        report_line(f"{ready} of {found.count} segments are in {kept.path} already: going on behind them")
    parts = begun
    with closing(run_blocks(options, work, blocks, found.count, ready)) as done:
        for lines in done:
            kept.write(kept.name(parts), "".join(f"{line}\n" for line in lines).encode("utf-8"))
            parts += 1
    return parts
