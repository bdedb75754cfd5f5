"""Count broken laws on real texts: identical texts score 1 and nothing is above, and no way of calling changes a score.

    python benchmarks/laws.py --models small --pairs 1000 --output benchmarks/results/laws.tsv

Pairs are WMT references with real systems' outputs (see speed_texts.py). Every row has the number of cases, how many broke
the law (differences above 1e-6), and the largest difference; a broken law ends the command with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from result_rows import conditions, write_rows
from speed_texts import Pair, pairs, source

from rome.combining.combiner import Combiner
from rome.features.values import FEATURES
from rome.metric import RoMe

COLUMNS = ("law", "cases", "broken", "largest_difference")
ODD = (
    "?",
    "a",
    "...",
    "HELLO",
    "日本語のテキスト。",
    "It rained. ⅰ stayed.",
    "I has an dog dog. the the",
    "word " * 3_000,
    "\U0001f600",
)
"""Texts that are compared with themselves, too: one is over the bound and cut, some are not English."""
STEPS = 60_000
TOLERANCE = 1e-6
Numbers = NDArray[np.float64]
Row = tuple[str, int, int, float]


def numbers(metric: RoMe, given: Sequence[Pair]) -> Numbers:
    """Return (n, 5) the score and the components of every pair, computed anew."""
    metric._analyses._memory.clear()  # noqa: SLF001
    found = metric.score(references=[one for one, _ in given], hypotheses=[other for _, other in given])
    return np.array([[each.score, *(part.value for part in each.components)] for each in found])


def compared(law: str, found: Numbers, expected: Numbers) -> Row:
    """Return how many pairs have another number than expected, by more than 1e-6."""
    far = np.abs(found - expected).max(axis=1)
    return law, len(far), int((far > TOLERANCE).sum() + np.isnan(far).sum()), float(np.nan_to_num(far, nan=1.0).max())


def identical(metric: RoMe, given: Sequence[Pair], alternatives: Numbers) -> Iterator[Row]:
    """Yield the laws on a text against itself, and other texts against it."""
    texts = [*dict.fromkeys(one for one, _ in given), *ODD]
    own = numbers(metric, [(text, text) for text in texts])
    yield compared("identical texts: score and components are exactly 1", own, np.ones_like(own))
    above = (alternatives > 1.0).any(axis=1) | np.isnan(alternatives).any(axis=1)
    yield (
        "another text is never above the identical one",
        len(above),
        int(above.sum()),
        float(max(0.0, alternatives.max() - 1.0)),
    )


def steps(seed: int = 0) -> Iterator[Row]:
    """Yield for random steps through each net that a better component never lowers the score, which stays in [0, 1]."""
    for name in ("base", "small"):
        chance, net = np.random.default_rng(seed), Combiner.load(models=name)
        low = chance.random((STEPS, len(FEATURES))) ** chance.choice([0.1, 1.0, 10.0], (STEPS, 1))
        high = np.where(chance.random(low.shape) < 0.5, low, low + (1 - low) * chance.random(low.shape))
        below, above = net.score(low), net.score(high)
        broken = (above < below) | (below < 0) | (above > 1)
        yield (
            f"a better component never lowers the score: random steps, the net of {name}",
            STEPS,
            int(broken.sum()),
            float(max(0.0, (below - above).max())),
        )


def ways(models: str, metric: RoMe, given: Sequence[Pair], expected: Numbers) -> Iterator[Row]:
    """Yield comparisons of the same pairs scored in other ways."""
    order = random.Random(0).sample(range(len(given)), len(given))
    mixed, back = [given[n] for n in order], np.argsort(order)
    yield compared("order: mixed", numbers(metric, mixed)[back], expected)
    for size in (1, 7):
        parts = [numbers(metric, mixed[start : start + size]) for start in range(0, len(mixed), size)]
        yield compared(f"batch: {size} at a time, mixed", np.concatenate(parts)[back], expected)
    with ThreadPoolExecutor(1) as pool:
        yield compared("another thread than the main one", pool.submit(numbers, metric, given).result(), expected)
    parts = [given[start::4] for start in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = np.empty_like(expected)
        for start, part in enumerate(pool.map(lambda part: numbers(metric, part), parts)):
            found[start::4] = part
    yield compared("four threads on one metric", found, expected)
    yield compared("2 threads within", numbers(RoMe(models=models, threads=2, progress=False), given), expected)
    many = RoMe(models=models, threads=16, progress=False)
    alone = np.concatenate([numbers(many, [pair]) for pair in given[:4]])
    yield compared("16 threads within, one pair at a time", alone, expected[:4])
    with tempfile.TemporaryDirectory() as folder:
        stored = RoMe(models=models, threads=1, progress=False, store=Path(folder) / "store.sqlite")
        numbers(stored, mixed[: len(mixed) // 2])
        yield compared("store: half of it there", numbers(stored, given), expected)
        yield compared("store: all of it there", numbers(stored, given), expected)
        for workers in ("1", "2"):
            yield compared(f"`rome score --workers {workers}`", by_command(models, given, Path(folder), workers), expected)


def by_command(models: str, given: Sequence[Pair], folder: Path, workers: str) -> Numbers:
    """Return the numbers that `rome score` writes."""
    (folder / "pairs.jsonl").write_text("".join(f"{json.dumps({'reference': r, 'hypothesis': h})}\n" for r, h in given))
    words = [
        "score",
        str(folder / "pairs.jsonl"),
        "--models",
        models,
        "--workers",
        workers,
        "--threads",
        "1",
        "--format",
        "jsonl",
    ]
    program = "import sys; from rome.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *words], capture_output=True, text=True, check=True, env=os.environ
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return np.array([[row["score"], *(row["components"][name]["value"] for name in FEATURES)] for row in rows])


def main() -> int:
    """Print and write one row per law."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="small")
    parser.add_argument("--pairs", type=int, default=1000, help="of another text; a tenth of them is asked for in other ways")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    machine = conditions(1)
    given, metric = pairs(options.pairs), RoMe(models=options.models, threads=1, progress=False)
    expected = numbers(metric, given)
    some = max(4, len(given) // 10)
    rows = [*identical(metric, given, expected), *steps(), *ways(options.models, metric, given[:some], expected[:some])]
    write_rows(options.output, [f"models {options.models}; {source()}; {machine}"], COLUMNS, rows)
    return int(any(broken for _, _, broken, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
