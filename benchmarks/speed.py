"""How fast? Pairs a second cold, from the store, and from cached features, beside chrF2, in one run.

    python benchmarks/speed.py --pairs 300 --output benchmarks/results/speed.tsv

Pairs are WMT references of about 25 words with one real system output each (see speed_texts.py); two threads unless --threads says otherwise.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import keep_lines
from speed_texts import mean_words, pairs

from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.evaluation.metrics.registry import MetricMaker
from rome.metric import RoMe


def timed(function: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> int:
    """Print and write one row an operation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    chosen = pairs(options.pairs)
    references, hypotheses = [r for r, _ in chosen], [h for _, h in chosen]
    words = mean_words(chosen)
    rows: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "analyses.sqlite"
        cold = RoMe(store=store, threads=options.threads, progress=False)
        start = timed(lambda: cold.score(references=["The cat sat."], hypotheses=["A cat sat."]))
        rows.append(
            ("RoMe cold, all stages", len(references) / timed(lambda: cold.score(references=references, hypotheses=hypotheses)))
        )
        warm = RoMe(store=store, threads=options.threads, progress=False)
        rows.append(
            (
                "RoMe from stored analyses",
                len(references) / timed(lambda: warm.score(references=references, hypotheses=hypotheses)),
            )
        )
    count = 2_000_000
    values = np.random.default_rng(0).random((count, 4))
    table = FeatureTable(
        np.arange(count), np.zeros(count, np.int32), values, values, signature=(net := Combiner.load()).feature_signature
    )
    rows.append(("combining cached features, one core", count / timed(lambda: net.score(table))))
    chrf = MetricMaker().make("chrf")
    rows.append(
        ("chrF2 (sacrebleu), one core", len(references) / timed(lambda: chrf.score([[r] for r in references], hypotheses)))
    )
    lines = [
        f"# {len(references)} pairs, {words:.1f} words a text, {options.threads} threads; models and first pair: {start:.1f} s"
    ]
    lines += ["operation\tpairs_per_second", *(f"{name}\t{rate:.1f}" for name, rate in rows)]
    print("\n".join(lines))
    keep_lines(options.output, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
