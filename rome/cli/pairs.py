"""Name and read pairs, and work on them block by block."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from importlib.resources import as_file, files
from itertools import chain, tee
from typing import Any

from rome.batch.blocks import Block, Checked, check_rows, read_blocks
from rome.batch.workers import run_in_order
from rome.cli.options import MakeMetric, add_metric_arguments, completes_files, positive
from rome.exceptions import InputError
from rome.features.analyser.config import processors
from rome.progress import progress_bar
from rome.storage.files import STANDARD_INPUT, named, open_lines
from rome.storage.pair_files import Columns, PairRow, is_table, pair_rows, parallel_rows, read_pairs

NO_SEGMENT = "the files have no segment: give at least one"
WAYS = "REF HYP, REF REF2 -i HYP, a TABLE of both sides, or --examples"


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the ways to name pairs: parallel text files, a table, the embedded examples."""
    group = parser.add_argument_group("texts", f"{WAYS}; `-` is standard input, and so is HYP after a single REF")
    both = "text files, one segment per line; or one table (TSV, CSV, JSON, JSON lines, Parquet) with columns reference and hypothesis"
    completes_files(group.add_argument("texts", nargs="*", metavar="FILE", help=both))
    references, hypotheses = "text files of references, as the files before -i", "text file of hypotheses, one segment per line"
    completes_files(group.add_argument("--references", nargs="+", action="extend", metavar="FILE", help=references))
    completes_files(group.add_argument("--hypotheses", "-i", action="append", metavar="FILE", help=hypotheses))
    add_column_arguments(group)
    group.add_argument("--examples", action="store_true", help="the example pairs of the package")


def add_column_arguments(group: Any) -> None:
    """Add the options that name the columns of a table of pairs."""
    for side in Columns._fields:
        group.add_argument(f"--{side}-column", metavar="NAME", help=f"column or key of a table (default: {side})")


def named_columns(options: argparse.Namespace) -> Columns:
    """Return the columns that the options name."""
    return Columns(options.reference_column, options.hypothesis_column)


def names_texts(options: argparse.Namespace) -> bool:
    """Return True for options that name any pairs."""
    return bool(options.texts or options.references or options.hypotheses or options.examples)


def named_texts(options: argparse.Namespace) -> tuple[list[str], str | None]:
    """Return the files of references and that of hypotheses; for a single file, which may be a table, None.

    Raises InputError for options that name nothing, half of something, or two things.
    """
    hypotheses, references = options.hypotheses or [], options.references or options.texts
    if len(hypotheses) > 1:
        raise InputError(f"-i was given {len(hypotheses)} times: take one system a run, or compare several with `rome report`")
    ways = options.examples + bool(options.texts) + bool(options.references)
    is_half = not hypotheses and (options.references or len(references) > 2)
    if ways != 1 or is_half or (options.examples and hypotheses):
        raise InputError(f"name the texts, references and hypotheses, in one way: give {WAYS}")
    if hypotheses:
        return references, hypotheses[0]
    return references[:1], references[1] if len(references) == 2 else None


@contextmanager
def open_named_pairs(options: argparse.Namespace) -> Iterator[Iterator[PairRow]]:
    """Open the pairs that the options name, one in memory at a time.

    Raises InputError for options that name none, several or half of one, and for a faulty row when it is reached.
    """
    references, hypotheses = named_texts(options)
    if options.examples:
        yield iter(example_pairs())
        return
    paths, columns = references if hypotheses is None else [*references, hypotheses], named_columns(options)
    if any(columns) and len(paths) > 1:
        raise InputError("--reference-column and --hypothesis-column name columns of one table: give one FILE with both sides")
    with ExitStack() as stack:
        sides = [stack.enter_context(open_lines(path)) for path in paths]
        for number, path in enumerate(paths) if options.references is None else ():
            first, sides[number] = _begun(sides[number])
            if first is not None and (any(columns) or is_table(first, path)):
                if len(paths) == 1:
                    yield pair_rows(sides[0], path, columns)
                    return
                remedy = "give it alone (or --references with --hypotheses, if it is one text per line)"
                raise InputError(f"{named(path)} is a table, which holds both sides: {remedy}")
        if hypotheses is None:
            hypotheses = STANDARD_INPUT
            sides.append(stack.enter_context(_piped(references[0], options.command)))
        yield parallel_rows(sides[:-1], sides[-1], references, hypotheses)


def _begun(lines: Iterator[str]) -> tuple[str | None, Iterator[str]]:
    """Return the first line, None without one, and all lines."""
    first = next(lines, None)
    return first, lines if first is None else chain([first], lines)


@contextmanager
def _piped(path: str, command: str) -> Iterator[Iterator[str]]:
    """Open standard input as the hypotheses for a single file of references. Raises InputError where nothing is piped in."""
    remedy = f"give the other too, `rome {command} REF HYP`, or a table of both"
    missing = InputError(f"{named(path)} holds one side only: {remedy}")
    if path == STANDARD_INPUT or sys.stdin is None or sys.stdin.isatty():
        raise missing
    with open_lines(STANDARD_INPUT) as lines:
        first, lines = _begun(lines)
        if first is None:
            raise missing
        yield lines


def example_pairs() -> list[PairRow]:
    """Return the example pairs of the package, each with a note of what is wrong in it."""
    with as_file(files("rome.data") / "examples" / "pairs.jsonl") as path:
        return read_pairs(str(path))


def add_block_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of work in blocks: pairs, metric, and how many processes share the work."""
    add_pair_arguments(parser)
    add_metric_arguments(parser)
    workers = "processes that share the pairs, each with its own models and by default one thread (default: 1)"
    parser.add_argument("--workers", type=positive, default=1, metavar="N", help=workers)


def block_metric(options: argparse.Namespace, metric: MakeMetric, found: Checked) -> Callable[[], Any]:
    """Return the maker of one process's metric, and limit ``options.workers`` to the processors and the blocks."""
    options.workers = min(options.workers, processors(), found.blocks)
    threads = options.threads or (1 if options.workers > 1 else None)
    return partial(metric, argparse.Namespace(**{**vars(options), "progress": False, "threads": threads}))


def run_blocks(
    options: argparse.Namespace, work: Callable[[], Callable[[Block], Any]], blocks: Iterator[Block], total: int, done: int = 0
) -> Generator[Any, None, None]:
    """Yield what the workers make of each block, in order; a bar moves over the segments, of which some may be done already."""
    tasks, begun = tee(blocks)
    with (
        progress_bar(options.progress, total, done=done) as bar,
        closing(run_in_order(work, tasks, workers=options.workers)) as results,
    ):
        for result, block in zip(results, begun, strict=False):
            yield result
            bar.update(len(block.pairs))


def report_line(message: str) -> None:
    """Print one line on standard error."""
    print(f"rome: {message}", file=sys.stderr)


@contextmanager
def checked_blocks(options: argparse.Namespace) -> Iterator[tuple[Checked, Iterator[Block]]]:
    """Open the pairs that the options name, as blocks: read and checked once, then kept in a temporary file.

    Raises InputError, with file and line, for a row that cannot be scored, and when there is none.
    """
    with open_named_pairs(options) as rows, tempfile.TemporaryFile("w+", encoding="utf-8") as kept:
        found = check_rows(rows, kept, empty_reference=options.empty_reference, whole=options.idf == "references")
        if not found.count:
            raise InputError(NO_SEGMENT)
        yield found, read_blocks(kept)


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: workers end, unfinished outputs vanish, finished work is kept."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
