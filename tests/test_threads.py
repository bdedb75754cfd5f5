"""One RoMe used by several threads: it never fails, and says what it says to one alone."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rome.metric import RoMe

from whole_metric import ANSWERS

PAIRS = [(reference, hypothesis) for reference, hypotheses in ANSWERS.items() for hypothesis in hypotheses][:16]
THREADS, ROUNDS = 4, 2


@pytest.mark.parametrize("stored", [False, True])
def test_four_threads_get_the_scores_of_one(stored: bool, tmp_path: Path) -> None:
    """Models are loaded, texts analysed, prepared and compared at the same time, in every order, in memory or with a store."""
    metric = RoMe(models="small", store=tmp_path / "store.sqlite" if stored else None, progress=False, threads=1)

    def work(seed: int) -> list[tuple[tuple[str, str], float]]:
        order = random.Random(seed).sample(PAIRS, len(PAIRS))
        found = []
        for start in range(0, len(order), 5):
            part = order[start : start + 5]
            scores = metric.score(references=[pair[0] for pair in part], hypotheses=[pair[1] for pair in part])
            found += [(pair, segment.score) for pair, segment in zip(part, scores, strict=True)]
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        every = [row for rows in pool.map(work, range(THREADS * ROUNDS)) for row in rows]
    alone = RoMe(models="small", progress=False, threads=1)
    scores = alone.score(references=[pair[0] for pair in PAIRS], hypotheses=[pair[1] for pair in PAIRS])
    expected = dict(zip(PAIRS, (segment.score for segment in scores), strict=True))
    assert len(every) == THREADS * ROUNDS * len(PAIRS)
    assert all(score == pytest.approx(expected[pair], abs=2e-5) for pair, score in every)
