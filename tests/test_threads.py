"""One RoMe used by several threads: it never fails, and says what it says to one alone, to the last bit."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from rome.metric import RoMe

from whole_metric import ANSWERS

PAIRS = [(reference, hypothesis) for reference, hypotheses in ANSWERS.items() for hypothesis in hypotheses][:16]
THREADS, ROUNDS = 4, 2


@pytest.mark.parametrize("threads", [16])
def test_another_thread_gets_the_numbers_of_the_first(threads: int) -> None:
    """To the last bit, evidence too, whoever loads the models, all at once or a pair at a time, with as many threads within as asked for."""
    alone = RoMe(models="small", progress=False, threads=1)
    expected = alone.score(references=[pair[0] for pair in PAIRS], hypotheses=[pair[1] for pair in PAIRS])
    metric = RoMe(models="small", progress=False, threads=threads)
    with ThreadPoolExecutor(1) as pool:
        found = [
            pool.submit(metric.score, references=[reference], hypotheses=[hypothesis]).result()[0]
            for reference, hypothesis in PAIRS[:4]
        ]
    metric.begin_block()
    again = metric.score(references=[pair[0] for pair in PAIRS], hypotheses=[pair[1] for pair in PAIRS])
    assert again == expected and [replace(one, segment=n) for n, one in enumerate(found)] == list(expected)[:4]


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
    assert all(score == expected[pair] for pair, score in every)


def test_memory_is_kept_by_all_threads(tmp_path: Path) -> None:
    """The memory of analyses is bounded and whole, however many threads fill it, empty it and share texts in it."""
    metric = RoMe(models="small", store=tmp_path / "store.sqlite", progress=False, threads=1)
    texts = sorted({text for pair in PAIRS for text in pair})
    metric.analyse(texts)

    def work(seed: int) -> bool:
        chance = random.Random(seed)
        for _ in range(20):
            chosen = chance.sample(texts, 4)
            if chance.random() < 0.2:
                metric.begin_block()
            if chance.random() < 0.2:
                metric.share(chosen[:2])
            if {text: analysis.text for text, analysis in metric.analyse(chosen).items()} != {text: text for text in chosen}:
                return False
        return True

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(work, range(THREADS)))
