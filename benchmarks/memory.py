"""Measure peak memory of `rome score`, `rome features`, `rome rescore` and of combining a table, each for several sizes.

    python benchmarks/memory.py --output benchmarks/results/memory.tsv

Every row is a process of its own, so its peak is its own. The large sizes are scored by a metric without models that returns the same
numbers for each pair: what is measured is reading, cutting, keeping and writing. Rows "with the models" are the real thing on real texts,
two threads: cold, and from the analyses that the first of them stored, its pairs again and again. The tables of features are random
numbers, every segment with two references, so that segments cross the ends of what is read at a time.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import conditions, keep_lines

from rome.checks import CheckedPair, check_pairs
from rome.cli import main as rome
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.features.values import FEATURES, Component
from rome.results import Components, Contributions, CorpusScore, SegmentScore

TEXT = "the cat sat on the mat and looked at the dog that lay before the door of the old house by the river"
ROWS = 500_000
MOST_FOR_PEOPLE, MOST_RESCORED = 100_000, 1_000_000
"""Largest sizes of the slower operations, so that the whole takes a quarter of an hour."""


class Constant:
    """Return the same scores for every pair, without models."""

    signature = "constant"

    def __init__(self) -> None:
        parts = Components(*(Component(name, 0.5, 1.0, "units") for name in FEATURES))
        self.rest = {"components": parts, "contributions": Contributions(-0.125, -0.125, -0.125, -0.125)}

    def score(self, **texts: Any) -> CorpusScore:
        """Return one segment per hypothesis."""
        return self.score_pairs(check_pairs(**texts))

    def features(self, **texts: Any) -> FeatureTable:
        """Return one row per hypothesis."""
        return self.measure_pairs(check_pairs(**texts))

    def score_pairs(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        """Return one segment per pair."""
        segments = (SegmentScore(p.segment, p.references[0], p.hypothesis, 0, 0.5, **self.rest) for p in pairs)  # type: ignore[arg-type]
        return CorpusScore(tuple(segments), "constant")

    def measure_pairs(self, pairs: Sequence[CheckedPair]) -> FeatureTable:
        """Return one row per pair."""
        half = np.full((len(pairs), 4), 0.5)
        return FeatureTable(np.array([pair.segment for pair in pairs]), np.zeros(len(pairs), np.int32), half, half)


def write_pairs(path: Path, count: int) -> None:
    """Write different pairs of 22 words."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write("reference\thypothesis\n")
        stream.writelines(f"{TEXT} {n}\t{n} {TEXT}\n" for n in range(count))


def write_real_pairs(path: Path, distinct: int, count: int) -> None:
    """Write pairs of about 25 words, repeated after the distinct ones."""
    from speed_texts import pairs as real_pairs  # not loaded into the processes that are measured

    known = real_pairs(distinct)
    with path.open("w", encoding="utf-8") as stream:
        stream.write("reference\thypothesis\n")
        rows = [f"{reference}\t{hypothesis}\n" for reference, hypothesis in known if "\t" not in reference + hypothesis]
        stream.writelines(rows[n % len(rows)] for n in range(count))


def tables(count: int, signature: str) -> Iterator[FeatureTable]:
    """Yield random features of two references per segment."""
    chance = np.random.default_rng(0)
    for start in range(0, count, ROWS):
        rows = np.arange(start, min(count, start + ROWS))
        values = chance.random((len(rows), 4))
        yield FeatureTable(rows // 2, rows % 2, values, values, signature=signature)


def combine(path: str) -> int:
    """Combine a stored table as a library user does, and count its segments."""
    net = Combiner.load()
    return sum(len(net.combine(table)) for table in FeatureTable.iter_batches(path))


def measured(words: list[str]) -> tuple[float, float]:
    """Return peak memory in MiB, and seconds, of one operation in a separate process."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--do", *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words[0]}: {(done.stderr.splitlines() or ['failed'])[-1]}")
    return int(done.stdout.split()[-1]) / 1024, time.perf_counter() - start


def do(words: list[str]) -> int:
    """Run one operation, then print the peak of this process in KiB."""
    models = "--threads" in words
    code = combine(words[1]) * 0 if words[0] == "combine" else rome(words, **({} if models else {"metric": partial(_constant)}))
    print(peak_kib())
    return code


def peak_kib() -> int:
    """Return the peak memory of this process in KiB; on Linux, getrusage of a child may return the peak of its parent."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.is_file() else []
    found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return found[0] if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _constant(_: Any) -> Constant:
    return Constant()


def rows_of(folder: Path, pairs: list[int], rows: list[int]) -> Iterator[tuple[str, int, float, float]]:
    """Yield operation, size, peak and seconds."""
    out = str(folder / "out")
    for count in pairs:
        write_pairs(folder / "pairs.tsv", count)
        for words in (
            ["--format", "tsv"],
            *([["--format", "table"], ["--format", "json"]] if count <= MOST_FOR_PEOPLE else []),
        ):
            yield (
                f"rome score {' '.join(words)}",
                count,
                *measured(["score", str(folder / "pairs.tsv"), *words, "--output", out]),
            )
        yield "rome features", count, *measured(["features", str(folder / "pairs.tsv"), "--output", out])
    for count in rows:
        table = str(folder / "table.parquet")
        FeatureTable.save_batches(table, tables(count, Combiner.load().feature_signature))
        yield "Combiner over FeatureTable.iter_batches", count, *measured(["combine", table])
        if count <= MOST_RESCORED:
            yield "rome rescore --format tsv", count, *measured(["rescore", table, "--format", "tsv", "--output", out])


def rows_of_models(
    folder: Path, sets: list[str], cold: list[int], stored: list[int]
) -> Iterator[tuple[str, int, float, float]]:
    """Yield the same with the real models, cold and from stored analyses."""
    pairs = str(folder / "pairs.tsv")
    for models in sets:
        store = str(folder / f"{models}.sqlite")
        words = ["score", pairs, "--models", models, "--format", "tsv", "--threads", "2", "--output", str(folder / "out")]
        for count in cold:
            write_real_pairs(Path(pairs), count, count)
            kept = ["--store", store] if count == cold[0] else []
            yield f"rome score with the models of {models}, cold", count, *measured([*words, *kept])
        for count in stored if cold else ():
            write_real_pairs(Path(pairs), cold[0], count)
            yield f"rome score with the models of {models}, stored analyses", count, *measured([*words, "--store", store])


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row per operation and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--cold", type=int, nargs="*", default=[300, 1_000], help="pairs scored by the real models")
    parser.add_argument("--stored", type=int, nargs="*", default=[300, 1_000, 10_000], help="the same from stored analyses")
    parser.add_argument("--models", nargs="+", default=["base", "small"], help="the sets of the real models")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    lines = [f"# peak resident memory of one process; {conditions()}", "operation\tsize\tpeak_mib\tseconds"]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            rows_of_models(Path(folder), options.models, options.cold, options.stored),
            rows_of(Path(folder), options.pairs, options.rows),
        ]
        for name, size, peak, seconds in chain.from_iterable(rows):
            lines.append(f"{name}\t{size}\t{peak:.0f}\t{seconds:.1f}")
            print(lines[-1], flush=True)
    keep_lines(options.output, lines)
    return 0


if __name__ == "__main__":
    sys.exit(do(sys.argv[2:]) if sys.argv[1:2] == ["--do"] else main())
