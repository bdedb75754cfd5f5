"""The options that name the texts, reading what they name, and what the commands that work block by block share."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from importlib.resources import as_file, files
from itertools import chain, islice, tee
from pathlib import Path
from typing import Any

from rome.batch.blocks import Block, Checked, check_rows, read_blocks
from rome.batch.workers import run_in_order
from rome.cli.options import MakeMetric, completes_files, positive
from rome.exceptions import InputError
from rome.features.analyser.config import processors
from rome.progress import progress_bar
from rome.storage.files import STANDARD_INPUT, named, open_lines
from rome.storage.pair_files import PairRow, check_standard_input, is_table, pair_rows, parallel_rows, read_pairs

WAYS = "REF HYP, REF REF2 -i HYP, a TABLE of both sides, or --examples"


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """The ways to name pairs: parallel text files, a table, the embedded examples."""
    group = parser.add_argument_group("texts", f"{WAYS}; `-` is standard input, and so is HYP after a single REF")
    both = "text files, one segment a line; or one table (TSV, CSV, JSON, JSON lines) with the columns reference and hypothesis"
    completes_files(group.add_argument("texts", nargs="*", metavar="FILE", help=both))
    references, hypotheses = "text files of references, as the files before -i", "text file of hypotheses, one segment a line"
    completes_files(group.add_argument("--references", nargs="+", action="extend", metavar="FILE", help=references))
    completes_files(group.add_argument("--hypotheses", "-i", action="append", metavar="FILE", help=hypotheses))
    group.add_argument("--examples", action="store_true", help="the example pairs that come with the package")


def names_texts(options: argparse.Namespace) -> bool:
    """Whether the options name any pairs."""
    return bool(options.texts or options.references or options.hypotheses or options.examples)


def named_texts(options: argparse.Namespace) -> tuple[list[str], str | None]:
    """The files of references, and that of hypotheses; a single file, to be looked at, and None.

    Raises InputError when the options name nothing, half of something, or two things.
    """
    command, hypotheses = f"rome {options.command}", options.hypotheses or []
    if len(hypotheses) > 1:
        raise InputError(f"-i was given {len(hypotheses)} times: take one system a run, or compare several with `rome report`")
    if options.examples + bool(options.texts) + (options.references is not None) > 1 or (options.examples and hypotheses):
        raise InputError(f"the texts were named in several ways: give {WAYS}")
    if options.examples:
        return [], None
    if options.references is not None and not hypotheses:
        raise InputError("--references and --hypotheses belong together: give both (`--hypotheses -` reads standard input)")
    if hypotheses:
        if not (options.references or options.texts):
            raise InputError(f"there are hypotheses and no references: `{command} REF -i {hypotheses[0]}`")
        return options.references or options.texts, hypotheses[0]
    if len(options.texts) > 2:
        raise InputError(f"{len(options.texts)} files: say which holds the hypotheses, `{command} REF REF2 -i HYP`")
    if not options.texts:
        raise InputError(f"name the texts: give {WAYS}")
    return options.texts[:1], options.texts[1] if len(options.texts) == 2 else None


def no_segment(options: argparse.Namespace) -> str:
    """The message for files without any."""
    where = " and ".join(map(named, (*options.texts, *(options.references or ()), *(options.hypotheses or ()))))
    return f"{where} hold{'' if ' and ' in where else 's'} no segment: give at least one"


@contextmanager
def open_named_pairs(options: argparse.Namespace) -> Iterator[Iterator[PairRow]]:
    """The pairs that the options name, one in memory at a time.

    Raises InputError when they name none, several or half of one; for a faulty row when it is reached.
    """
    references, hypotheses = named_texts(options)
    with ExitStack() as stack:
        if options.examples:
            path = str(stack.enter_context(_examples()))
            yield pair_rows(stack.enter_context(open_lines(path)), path)
            return
        paths = [*references, *([] if hypotheses is None else [hypotheses])]
        check_standard_input(paths)
        columns = [stack.enter_context(open_lines(path)) for path in paths]
        for number, path in enumerate(paths) if options.references is None else ():
            first, columns[number] = _begun(columns[number])
            if first is not None and is_table(first, path):
                if len(paths) == 1:
                    yield pair_rows(columns[0], path)
                    return
                remedy = "give it alone (or --references with --hypotheses, if it is one text a line)"
                raise InputError(f"{named(path)} is a table, which holds both sides: {remedy}")
            if first is None and len(paths) == 1:
                raise InputError(f"{named(path)} is empty: give a table with a header, or two files with a text a line")
        if hypotheses is None:
            hypotheses = STANDARD_INPUT
            columns.append(stack.enter_context(_piped(references[0], options.command)))
        yield parallel_rows(columns[:-1], columns[-1], references, hypotheses)


def _begun(lines: Iterator[str]) -> tuple[str | None, Iterator[str]]:
    """The first line, None without one, and all lines."""
    first = list(islice(lines, 1))
    return (first[0] if first else None), chain(first, lines)


@contextmanager
def _piped(path: str, command: str) -> Iterator[Iterator[str]]:
    """The hypotheses for a single file of references, from standard input. Raises InputError where nothing is piped in."""
    if path == STANDARD_INPUT:
        raise InputError(f"standard input holds one side only: give the references too, `rome {command} REF -i -`")
    holds = (
        f"{path} holds one side only, the references: give the hypotheses too, `rome {command} {path} HYP`, or a table of both"
    )
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(holds)
    with open_lines(STANDARD_INPUT) as lines:
        first, lines = _begun(lines)
        if first is None:
            raise InputError(f"{holds} (standard input is empty)")
        yield lines


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
        help="processes that share the pairs, no more than there are processors and blocks of pairs, each with its own models "
        "(some 500 MB) and one thread unless --threads says otherwise; a --store spares them each other's texts (default: 1)",
    )


def block_metric(options: argparse.Namespace, metric: MakeMetric, found: Checked) -> Callable[[], Any]:
    """What makes the metric of one process; from now on ``options.workers`` are no more than there are processors and blocks.

    Raises InputError for word weights that need all references in one process.
    """
    if options.workers > 1 and options.idf == "references":
        raise InputError("--idf references weighs words by all references together: take --workers 1")
    if options.workers > processors():
        report_line(f"--workers {options.workers}: this machine has {processors()} processors, more workers would only wait")
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
        closing(run_in_order(work, tasks, workers=options.workers, report=report_line)) as results,
    ):
        for result, block in zip(results, begun, strict=False):
            yield result
            bar.update(len(block.pairs))


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
            raise InputError(no_segment(options))
        yield found, read_blocks(kept)


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: workers end, unfinished outputs vanish, finished work is kept."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
