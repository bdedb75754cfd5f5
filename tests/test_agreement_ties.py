"""Tie calibration (acc_eq*): the sweep against brute force over every threshold, and the published cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from rome.evaluation.statistics.agreement import CALIBRATED, STATISTICS, Agreement, Average, agreement, group_keys, pairs_within
from rome.exceptions import InputError


def best_epsilon(people: ArrayLike, metric: ArrayLike, groups: list[int] | None = None, **options: int) -> Agreement:
    average: Average = "none" if groups is None else "item"
    return agreement(people, metric, statistic=CALIBRATED, average=average, items=groups, **options)


def brute_force(people: np.ndarray, metric: np.ndarray, groups: list[int]) -> tuple[float, float]:
    """The smallest threshold of highest mean accuracy, by trying every difference of scores within a group."""
    of = np.array(groups)
    rows = [np.flatnonzero(of == group) for group in sorted(set(groups))]
    rows = [one for one in rows if len(one) > 1]
    if not rows:
        return 0.0, float("nan")
    candidates = sorted({0.0} | {abs(metric[i] - metric[j]) for one in rows for i in one for j in one})
    means = [
        np.mean([STATISTICS["pairwise_accuracy"](people[one], metric[one], epsilon=epsilon) for one in rows])
        for epsilon in candidates
    ]
    best = next(n for n, mean in enumerate(means) if mean >= max(means) - 1e-12)
    return candidates[best], float(means[best])


def test_no_pair_means_no_accuracy() -> None:
    """Empty lists, and groups of one: epsilon 0, accuracy nan."""
    for people in ([], [1.0], [1.0, 2.0]):
        found = best_epsilon(people, people, groups=list(range(len(people))))
        assert (found.epsilon, found.groups_used) == (0.0, 0)
        assert np.isnan(found.value)


def test_a_tie_that_people_see_is_introduced() -> None:
    """mt-metrics-eval: for ratings 1 1 1 4 the same scores are best at epsilon 4, which 6 only equals: 4 of 6 pairs."""
    found = best_epsilon([1, 1, 1, 4], [0, 2, 6, 8])
    assert (found.epsilon, found.value) == (4.0, pytest.approx(4 / 6))


def test_five_outputs_of_the_published_unit_case() -> None:
    """mt-metrics-eval states .7 where plain accuracy is .6."""
    found = agreement([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3], statistic=CALIBRATED, average="none")
    assert (found.value, found.epsilon) == (pytest.approx(0.7), 0.5)


def test_published_matrix_with_gaps() -> None:
    """mt-metrics-eval's regression case: five rows, one all missing, single gaps; one epsilon of 1, mean accuracy .491666."""
    metric = [[0, 5, 2, 3, 2], [None, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1]]
    people = [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, None, 3, 2]]
    rows = [
        (row, ours, theirs)
        for row in range(4)
        for ours, theirs in zip(people[row], metric[row], strict=True)
        if ours is not None and theirs is not None
    ]
    groups, ours, theirs = zip(*rows, strict=True)
    found = best_epsilon(ours, theirs, groups=groups)
    assert (found.epsilon, found.value, found.groups_used) == (1.0, pytest.approx(0.4916666666666668), 4)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(0, 4)), min_size=1, max_size=25))
def test_the_sweep_equals_trying_every_threshold(rows: list[tuple[int, int, int]]) -> None:
    """Same epsilon (the smallest of equals) and same accuracy, for groups of unequal size."""
    people, metric, groups = (list(side) for side in zip(*rows, strict=True))
    ratings, scores = np.array(people, dtype=float), np.array(metric) / 7
    found = best_epsilon(ratings, scores, groups=groups)
    epsilon, accuracy = brute_force(ratings, scores, groups)
    assert found.epsilon == epsilon
    assert found.value == pytest.approx(accuracy, nan_ok=True)


def test_every_pair_within_groups_is_laid_out_once() -> None:
    """The numbering of pairs misses none and weighs groups alike, also far out, where square roots round."""
    groups = group_keys([0, 1, 0, 2, 0, 1, 0, 3, 3])
    pairs = pairs_within(groups)
    found = sorted(tuple(sorted(pair)) for pair in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert found == [(0, 2), (0, 4), (0, 6), (1, 5), (2, 4), (2, 6), (4, 6), (7, 8)]
    assert pairs.weight.sum() == pytest.approx(1.0)
    assert sorted(pairs.weight.tolist()) == pytest.approx([1 / 18] * 6 + [1 / 3] * 2)
    many = pairs_within(group_keys([0] * 1500))
    assert len({*zip(many.first.tolist(), many.second.tolist(), strict=True)}) == 1500 * 1499 // 2
    assert (many.first < many.second).all()


def test_too_many_pairs_are_sampled() -> None:
    """The sample is of the size asked for, the same for one seed, near the exact result."""
    generator = np.random.default_rng(0)
    people = generator.integers(0, 5, 200).astype(float)
    metric = people + generator.normal(size=200)
    exact, sampled = best_epsilon(people, metric), best_epsilon(people, metric, max_pairs=4000, seed=1)
    assert sampled == best_epsilon(people, metric, max_pairs=4000, seed=1)
    assert 0 <= exact.value - sampled.value < 0.01
    assert sampled.value == pytest.approx(STATISTICS["pairwise_accuracy"](people, metric, epsilon=sampled.epsilon))
    found = agreement(people, metric, statistic=CALIBRATED, average="none", max_pairs=4000, seed=1)
    assert (found.value, found.epsilon) == (sampled.value, sampled.epsilon)
    with pytest.raises(InputError, match="max_pairs must be"):
        best_epsilon(people, metric, max_pairs=0)
