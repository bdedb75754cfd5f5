"""The options that name the texts, and reading what they name."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import TypeVar

from rome.exceptions import InputError
from rome.inputs import SegmentError
from rome.pair_files import PairTexts, read_pairs, read_parallel

__all__ = ["add_pair_arguments", "at_its_place", "example_pairs", "read_named_pairs"]

T = TypeVar("T")


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """Three ways to name pairs: a file of pairs, parallel text files, the embedded examples."""
    group = parser.add_argument_group("texts", "PAIRS, or --references with --hypotheses, or --examples; `-`: standard input")
    group.add_argument("pairs", nargs="?", metavar="PAIRS", help="TSV (with header) or JSON lines: reference, hypothesis")
    group.add_argument("--references", nargs="+", metavar="FILE", help="text files, one segment a line")
    group.add_argument("--hypotheses", metavar="FILE", help="text file, one segment a line")
    group.add_argument("--examples", action="store_true", help="the example pairs that come with the package")


def read_named_pairs(options: argparse.Namespace) -> PairTexts:
    """The pairs that the options name. Raises InputError when they name none, several or half of one, or nothing is in it."""
    parallel = options.references is not None or options.hypotheses is not None
    if (options.pairs is not None) + parallel + options.examples != 1:
        raise InputError("name the texts in one way: a file of pairs, --references with --hypotheses, or --examples")
    if options.examples:
        return example_pairs()
    if not parallel:
        texts = read_pairs(options.pairs)
    elif options.references is None or options.hypotheses is None:
        raise InputError("--references and --hypotheses belong together: give both")
    else:
        texts = read_parallel(options.references, options.hypotheses)
    if not texts.hypotheses:
        raise InputError(f"{options.pairs or options.hypotheses} holds no segment: give at least one")
    return texts


def example_pairs() -> PairTexts:
    """The example pairs that come with the package, each with a note of what is wrong in it."""
    with as_file(files("rome.data") / "examples" / "pairs.jsonl") as path:
        return read_pairs(str(path))


def at_its_place(texts: PairTexts, work: Callable[..., T]) -> T:
    """Call ``work(references=, hypotheses=)``; an error of one segment names its file and line."""
    try:
        return work(references=texts.references, hypotheses=texts.hypotheses)
    except SegmentError as error:
        raise InputError(f"{texts.places[error.segment]}: {error}") from error
