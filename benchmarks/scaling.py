"""How the cost grows: with the number of pairs, the length of texts, the number of systems, and the threads and processes that share it.

    python benchmarks/scaling.py --output benchmarks/results [--only pairs words systems processors] [--full]

Writes scaling_pairs.tsv, scaling_words.tsv, scaling_growth.tsv, scaling_systems.tsv and scaling_processors.tsv. A size that would take more
than --seconds is not run but told from the largest that was, and marked so; --full runs them all, which takes hours.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import scaling_parts as parts
from result_rows import conditions, write_rows
from speed_texts import source
from stand_in import StandIn

from rome.metric import RoMe

QUESTIONS = ("pairs", "words", "systems", "processors")
COLD = (100, 300, 1000, 3000, 100_000)
STORED = (1000, 3000, 10_000, 100_000, 1_000_000)
FEATURES = (10_000, 100_000, 1_000_000)
TINY = {
    "cold": (4, 8, 100_000),
    "stored": (4, 8, 1_000_000),
    "features": (1000, 10_000),
    "lengths": (5, 25, 60),
    "words": 60,
    "segments": 4,
    "systems": 3,
    "shared_out": 4,
}


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What the user wants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=QUESTIONS)
    parser.add_argument("--threads", type=int, default=2, help="of the numbers of pairs and of systems; lengths take one")
    parser.add_argument("--seconds", type=float, default=90.0, help="that one size may take")
    parser.add_argument("--cold", type=int, nargs="+", default=COLD, help="pairs scored with nothing known")
    parser.add_argument("--stored", type=int, nargs="+", default=STORED, help="pairs scored from stored analyses")
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES, help="rows combined")
    parser.add_argument("--lengths", type=int, nargs="+", default=(5, 10, 25, 50, 100, 200, 400), help="words a text")
    parser.add_argument("--words", type=int, default=1600, help="of all references of one length")
    parser.add_argument("--segments", type=int, default=40, help="of each system")
    parser.add_argument("--systems", type=int, default=30)
    parser.add_argument("--numbers", type=int, nargs="+", default=(1, 2), help="of threads, and of processes")
    parser.add_argument("--shared-out", type=int, default=400, help="pairs that threads and processes share out")
    parser.add_argument("--full", action="store_true", help="run every size")
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes and a stand-in for RoMe, to try the script")
    parser.add_argument("--output", type=Path, metavar="FOLDER")
    options = parser.parse_args(given)
    if options.tiny:
        vars(options).update(TINY, seconds=5.0)
    return options


def main(given: Sequence[str] | None = None) -> int:
    """Print and write a table a question."""
    options = arguments(given)
    make: Callable[..., Any] = StandIn if options.tiny else RoMe
    budget = float("inf") if options.full else options.seconds
    texts = f"{source()}; "

    def tell(name: str, columns: Sequence[str], rows: list[list[object]], notes: Sequence[str]) -> None:
        path = None if options.output is None else options.output / f"scaling_{name}.tsv"
        write_rows(path, [f"{notes[0]}; {time.perf_counter() - begin:.0f} s in all", *notes[1:]], columns, rows)

    for question in QUESTIONS:
        if question not in options.only:
            continue
        told, begin = conditions(1 if question in ("words", "processors") else options.threads), time.perf_counter()
        if question == "pairs":
            sizes = {"cold": options.cold, "stored": options.stored, "features": options.features}
            with tempfile.TemporaryDirectory() as folder:
                rows = list(parts.numbers(make, sizes, Path(folder), budget, options.threads))
            notes = [
                f"{texts}{told}",
                f"in blocks, as `rome score` does, nothing kept from block to block; after {parts.DISTINCT:,} pairs cold, and {options.stored[0]:,} "
                "from stored analyses, the same ones come again",
            ]
            tell("pairs", parts.PAIRS, rows, notes)
        elif question == "words":
            rows = list(parts.lengths(make, options.lengths, options.words))
            notes = [f"{texts}joined and cut at the length; {told}"]
            tell("words", parts.WORDS, rows, notes)
            tell("growth", parts.GROWTH, list(parts.growth(rows)), notes)
        elif question == "systems":
            rows = list(parts.shared_references(make, options.segments, options.systems, options.threads))
            notes = [
                f"{options.segments} segments a system; {texts}{told}",
                "own hypotheses: as many others of the same references, analysed alone and then compared, beside each system, before or after it",
            ]
            tell("systems", parts.SYSTEMS, rows, notes)
        else:
            rows = list(parts.processors(make, options.numbers, options.numbers, options.shared_out))
            tell("processors", parts.PROCESSORS, rows, [f"{texts}{told.partition(', ')[2]}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
