"""Determinism of the whole metric, with the real models: a pair's score depends on the pair alone, however it is asked for."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rome.cli import main
from rome.features.values import FEATURES
from rome.metric import RoMe

from whole_metric import pairs, whole_metric

NUMBERS = ("score", *FEATURES)
REFERENCES, HYPOTHESES = pairs(3)
EVERYTHING = list(range(len(HYPOTHESES)))
MIXED = random.Random(0).sample(EVERYTHING, len(EVERYTHING))
LONG = " ".join(f"Part {n} of the report says that the river rose, and nobody had expected it." for n in range(12))
NEIGHBOURS = ("", "Yes.", "...", "İ ﬁ 日本 \u0301", LONG, LONG.upper(), "the the the cat cat sat")


def numbers(metric: RoMe, order: Sequence[int], size: int, neighbours: Sequence[str] = ()) -> NDArray[np.float64]:
    """Score and components of every pair, asked for in an order, so many at a time, each time with nothing in memory."""
    found = np.zeros((len(EVERYTHING), len(NUMBERS)))
    for start in range(0, len(order), size):
        some = order[start : start + size]
        metric._analyses._memory.clear()
        result = metric.score(
            references=[REFERENCES[n] for n in some] + [REFERENCES[0]] * len(neighbours),
            hypotheses=[HYPOTHESES[n] for n in some] + list(neighbours),
        )
        for n, segment in zip(some, result, strict=False):
            found[n] = [segment.score, *(part.value for part in segment.components)]
    return found


@pytest.fixture(scope="module")
def alone() -> NDArray[np.float64]:
    """Every pair by itself: no batch, no neighbours, one thread."""
    return numbers(whole_metric(), EVERYTHING, 1)


def check(found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    """Assert that every number is nearly the same; vectors are kept in float16, so a last digit of a state may move a score by some 1e-5."""
    far = np.abs(found - expected).max(axis=0)
    assert (far < 1e-4).all(), dict(zip(NUMBERS, far, strict=True))


@pytest.mark.parametrize(
    ("order", "size", "neighbours"),
    [(EVERYTHING, len(EVERYTHING), ()), (MIXED, 5, NEIGHBOURS)],
    ids=["all at once", "among neighbours of every kind"],
)
def test_batches_order_and_neighbours_change_nothing(
    alone: NDArray[np.float64], order: list[int], size: int, neighbours: tuple[str, ...]
) -> None:
    """A pair scores alone as it does in any batch, in any order, among long, empty and strange texts."""
    check(numbers(whole_metric(), order, size, neighbours), alone)


def test_threads_change_nothing(alone: NDArray[np.float64]) -> None:
    """Two threads give what one gives; see `test_threads` for many."""
    check(numbers(RoMe(progress=False, threads=2), EVERYTHING, len(EVERYTHING)), alone)


def test_what_is_stored_changes_nothing(alone: NDArray[np.float64], tmp_path: Path) -> None:
    """Half of the texts come from the store, in another grouping, then all of them; from memory too."""
    metric = RoMe(progress=False, threads=1, store=tmp_path / "analyses.sqlite")
    metric._analyses._analyser = whole_metric()._analyses.load()
    numbers(metric, MIXED[: len(MIXED) // 2], 3)
    check(numbers(metric, EVERYTHING, len(EVERYTHING)), alone)
    fresh = RoMe(progress=False, threads=1, store=tmp_path / "analyses.sqlite")
    check(numbers(fresh, MIXED, 7), alone)
    assert fresh._analyses._analyser is None
    result = fresh.score(references=REFERENCES, hypotheses=HYPOTHESES)
    again = fresh.score(references=REFERENCES, hypotheses=HYPOTHESES)
    assert result == again


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    """What `rome score` writes for all pairs, in blocks of a few, with so many workers."""
    monkeypatch.setattr("rome.batch.blocks.MOST_PAIRS", 5)
    rows = [{"reference": r, "hypothesis": h} for r, h in zip(REFERENCES, HYPOTHESES, strict=True)]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    def run(*words: str) -> bytes:
        output = tmp_path / "scores.jsonl"
        command = ["score", str(tmp_path / "pairs.jsonl"), "--format", "jsonl", "--output", str(output), *words]
        assert main([*command, "--threads", "1", "--no-progress"]) == 0
        return output.read_bytes()

    return run


def test_workers_change_nothing(scored: Callable[..., bytes]) -> None:
    """One process and two write the same numbers, which are those of each pair by itself."""
    one, two = scored("--models", "small"), scored("--models", "small", "--workers", "2")
    small = numbers(RoMe(models="small", progress=False, threads=1), EVERYTHING, 1)
    for written in (one, two):
        rows = [json.loads(line) for line in written.splitlines()]
        check(np.array([[row["score"], *(row["components"][name]["value"] for name in FEATURES)] for row in rows]), small)
