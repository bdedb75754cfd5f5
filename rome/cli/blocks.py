"""What the commands that work block by block share: workers, one progress bar for all blocks, and an orderly end."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tqdm import tqdm

from rome.batch.blocks import Block, Checked, check_rows, read_blocks
from rome.cli.metric import MakeMetric, positive
from rome.cli.pairs import open_named_pairs
from rome.exceptions import InputError

__all__ = ["add_worker_argument", "block_metric", "checked_blocks", "ended_by_signal", "progress_bar", "report_line"]


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


def progress_bar(options: argparse.Namespace, total: int, done: int = 0) -> Any:
    """A bar over segments on standard error; silent unless that is a terminal or --progress was given."""
    disable = None if options.progress is None else not options.progress
    return tqdm(total=total, initial=done, unit="segment", desc="rome", disable=disable, file=sys.stderr, leave=False)


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
