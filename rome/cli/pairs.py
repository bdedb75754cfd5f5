"""The options that name the texts, and reading what they name."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from rome.exceptions import InputError
from rome.storage.files import open_lines
from rome.storage.pair_files import PairRow, PairTexts, check_standard_input, pair_rows, parallel_rows, read_pairs

__all__ = ["add_pair_arguments", "example_pairs", "open_named_pairs"]


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


def example_pairs() -> PairTexts:
    """The example pairs that come with the package, each with a note of what is wrong in it."""
    with _examples() as path:
        return read_pairs(str(path))
