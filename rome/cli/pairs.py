"""The options that name the texts, reading what they name, and what the commands that work block by block share."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rome.batch.blocks import Block, Checked, check_rows, read_blocks
from rome.batch.workers import run_in_order
from rome.cli.metric import MakeMetric, positive
from rome.exceptions import InputError
from rome.progress import progress_bar
from rome.storage.files import open_lines
from rome.storage.pair_files import PairRow, check_standard_input, pair_rows, parallel_rows, read_pairs


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """Three ways to name pairs: a file of pairs, parallel text files, the embedded examples."""
    group = parser.add_argument_group("texts", "PAIRS, or --references with --hypotheses, or --examples; `-`: standard input")
    group.add_argument("pairs", nargs="?", metavar="PAIRS", help="TSV (with header) or JSON lines: reference, hypothesis")
    group.add_argument("--references", nargs="+", metavar="FILE", help="text files, one segment a line")
    group.add_argument("--hypotheses", metavar="FILE", help="text file, one segment a line")
    group.add_argument("--examples", action="store_true", help="the example pairs that come with the package")


@contextmanager
def open_named_pairs(options: argparse.Namespace) -> Iterator[Iterator[PairRow]]:
    """The pairs that the options name, one in memory at a time.

    Raises InputError when they name none, several or half of one; for a faulty row when it is reached.
    """
    parallel = options.references is not None or options.hypotheses is not None
    if (options.pairs is not None) + parallel + options.examples != 1:
        raise InputError("name the texts in one way: a file of pairs, --references with --hypotheses, or --examples")
    if parallel and (options.references is None or options.hypotheses is None):
        raise InputError("--references and --hypotheses belong together: give both")
    with ExitStack() as stack:
        if parallel:
            paths = [*options.references, options.hypotheses]
            check_standard_input(paths)
            *columns, lines = [stack.enter_context(open_lines(path)) for path in paths]
            yield parallel_rows(columns, lines, options.references, options.hypotheses)
        else:
            path = str(stack.enter_context(_examples())) if options.examples else options.pairs
            yield pair_rows(stack.enter_context(open_lines(path)), path)


def _examples() -> AbstractContextManager[Path]:
    return as_file(files("rome.data") / "examples" / "pairs.jsonl")


def example_pairs() -> list[PairRow]:
    """The example pairs that come with the package, each with a note of what is wrong in it."""
    with _examples() as path:
        return read_pairs(str(path))


def add_worker_argument(parser: argparse.ArgumentParser) -> None:
    """How many processes share the work."""
    parser.add_argument(
        "--workers",
        type=positive,
        default=1,
        metavar="N",
        help="processes that share the pairs, each with its own models (some 500 MB) and one thread unless --threads says otherwise; "
        "a --store spares them each other's texts (default: 1)",
    )


def block_metric(options: argparse.Namespace, metric: MakeMetric) -> Callable[[], Any]:
    """What makes the metric of one process. Raises InputError for word weights that need all references in one process."""
    if options.workers > 1 and options.idf == "references":
        raise InputError("--idf references weighs words by all references together: take --workers 1")
    threads = options.threads or (1 if options.workers > 1 else None)
    return partial(metric, argparse.Namespace(**{**vars(options), "progress": False, "threads": threads}))


def run_blocks(
    options: argparse.Namespace, work: Callable[[], Callable[[Block], Any]], blocks: Iterator[Block], total: int, done: int = 0
) -> Generator[Any, None, None]:
    """What the workers make of each block, in order, while a bar moves over the segments, of which some may be done already."""
    sizes: deque[int] = deque()

    def counted() -> Iterator[Block]:
        for block in blocks:
            sizes.append(len(block.pairs))
            yield block

    with (
        progress_bar(options.progress, total, done=done) as bar,
        closing(run_in_order(work, counted(), workers=options.workers, report=report_line)) as results,
    ):
        for result in results:
            yield result
            bar.update(sizes.popleft())


def report_line(message: str) -> None:
    """One line on standard error."""
    print(f"rome: {message}", file=sys.stderr)


@contextmanager
def checked_blocks(options: argparse.Namespace) -> Iterator[tuple[Checked, Iterator[Block]]]:
    """What the pairs are that the options name, and their blocks: read and checked once, then kept in a temporary file.

    Raises InputError, with file and line, for a row that cannot be scored, and when there is none.
    """
    with open_named_pairs(options) as rows, tempfile.TemporaryFile("w+", encoding="utf-8") as kept:
        found = check_rows(rows, kept, empty_reference=options.empty_reference, whole=options.idf == "references")
        if not found.count:
            raise InputError(f"{options.pairs or options.hypotheses} holds no segment: give at least one")
        yield found, read_blocks(kept)


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """A polite request to end (SIGTERM) is obeyed like Ctrl-C: workers end, half-written outputs vanish, what is done is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
