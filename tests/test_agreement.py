"""Agreement with people: the statistics against scipy, a slow loop over pairs and published figures; averages and their groups."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from rome.evaluation.statistics.agreement import CALIBRATED, STATISTICS, Agreement, Average, agreement, group_keys, pairs_within
from rome.exceptions import InputError

pearson, spearman, kendall_b, pairwise_accuracy = STATISTICS.values()

CORRELATIONS = ("pearson", "spearman", "kendall_b")
values = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=20)


def sides(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    people, metric = np.array(pairs, dtype=float).T
    return people, metric


def slow(statistic: str, people: np.ndarray, metric: np.ndarray, epsilon: float = 0.0) -> float:
    """Each statistic from scipy or from a loop over pairs; nan where it is undefined."""
    if statistic == "pairwise_accuracy":
        pairs = list(combinations(range(len(people)), 2))
        machine = [0.0 if abs(metric[i] - metric[j]) <= epsilon else np.sign(metric[i] - metric[j]) for i, j in pairs]
        right = [np.sign(people[i] - people[j]) == tie for (i, j), tie in zip(pairs, machine, strict=True)]
        return float(np.mean(right)) if pairs else float("nan")
    if len(people) < 2 or len(set(people)) == 1 or len(set(metric)) == 1:
        return float("nan")
    function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_b": stats.kendalltau}[statistic]
    return float(function(people, metric).statistic)


# Edge rows first ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_segments_have_no_agreement(statistic: str, size: int) -> None:
    """One output alone agrees with nothing: nan, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(STATISTICS[statistic](np.arange(size), np.arange(size)))


@pytest.mark.parametrize("statistic", CORRELATIONS)
@pytest.mark.parametrize("size", [2, 5, 100])
def test_a_constant_side_has_no_correlation(statistic: str, size: int) -> None:
    """Nan and no warning where one side is constant, also for a number that no binary fraction equals."""
    rising, constant = np.arange(size, dtype=float), np.full(size, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for people, metric in ((rising, constant), (constant, rising), (constant, constant)):
            assert np.isnan(STATISTICS[statistic](people, metric))


def test_accuracy_counts_a_constant_metric_by_its_ties() -> None:
    """A metric that ties everything is right where people tie; all ties on both sides: 1."""
    assert pairwise_accuracy([1, 1, 2], [5, 5, 5]) == pytest.approx(1 / 3)
    assert pairwise_accuracy([1, 1, 1], [5, 5, 5]) == 1.0


@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_a_missing_score_is_refused_by_the_segments_number(gap: float) -> None:
    """No statistic passes over a gap in silence: the message names side and segment."""
    for statistic in STATISTICS.values():
        with pytest.raises(InputError, match="metric: segment 2 of 3"):
            statistic([1, 2, 3], [1, gap, gap])
        with pytest.raises(InputError, match="people: segment 3 of 3"):
            statistic([1, 2, gap], [1, 2, 3])


def test_lists_that_cannot_be_paired_are_refused() -> None:
    """Lengths that differ, tables, texts."""
    with pytest.raises(InputError, match="rated 3 segments, the metric scored 2"):
        pearson([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match=r"got \(2, 2\)"):
        pearson([[1, 2], [3, 4]], [1, 2])
    with pytest.raises(InputError, match="numbers"):
        pearson(["good", "bad"], [1, 2])  # type: ignore[list-item]


# Known figures --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("statistic", "none", "item"), [("pearson", 0.776, 1.0), ("kendall_b", 0.552, 1.0)])
def test_averages_of_the_published_unit_case(statistic: str, none: float, item: float) -> None:
    """mt-metrics-eval's two systems with three items: pooled, by item."""
    people, metric, items = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 3, 7], [1, 2, 3, 1, 2, 3]
    for average, expected in (("none", none), ("item", item)):
        found = agreement(people, metric, statistic=statistic, average=average, items=items)  # type: ignore[arg-type]
        assert found.value == pytest.approx(expected, abs=5e-4)


# Oracles --------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(values)
def test_every_statistic_equals_the_slow_one(pairs: list[tuple[int, int]]) -> None:
    """Scipy's correlations and the loop over pairs, on small lists full of ties."""
    people, metric = sides(pairs)
    people = people * 10
    for statistic, function in STATISTICS.items():
        assert function(people, metric) == pytest.approx(slow(statistic, people, metric), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("size", [64, 65, 150])
def test_large_groups_take_another_road_to_the_same_number(size: int) -> None:
    """Above 64 segments pairs are counted by sorting or by blocks: the counts are those of the loop."""
    generator = np.random.default_rng(size)
    people, metric = generator.integers(0, 60, size).astype(float), generator.normal(size=size).round(1)
    accuracy = pairwise_accuracy(people, metric, epsilon=0.3)
    assert accuracy == pytest.approx(slow("pairwise_accuracy", people, metric, epsilon=0.3), abs=1e-12)
    for statistic, function in STATISTICS.items():
        assert function(people, metric) == pytest.approx(slow(statistic, people, metric), abs=1e-12)


# Laws -----------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(values)
def test_agreement_is_bounded_and_perfect_with_itself(pairs: list[tuple[int, int]]) -> None:
    """Within [-1, 1] (accuracy [0, 1]); a side agrees with itself fully wherever that is defined."""
    people, metric = sides(pairs)
    for statistic, function in STATISTICS.items():
        found = function(people, metric)
        assert np.isnan(found) or (0 if statistic == "pairwise_accuracy" else -1) <= found <= 1
        own = function(people, people)
        assert np.isnan(own) or own == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(values)
def test_sides_are_equal_and_a_reversed_metric_reverses_the_correlation(pairs: list[tuple[int, int]]) -> None:
    """Statistics are symmetric, and the sign of a correlation flips with the metric's."""
    people, metric = sides(pairs)
    for statistic, function in STATISTICS.items():
        value = function(people, metric)
        assert value == pytest.approx(function(metric, people), abs=1e-12, nan_ok=True)
        if statistic in CORRELATIONS:
            assert function(people, -metric) == pytest.approx(-value, abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(values)
def test_only_ranks_count_for_rank_statistics(pairs: list[tuple[int, int]]) -> None:
    """A strictly rising function of the scores changes nothing but Pearson's r, which a linear one does not change either."""
    people, metric = sides(pairs)
    for statistic, function in STATISTICS.items():
        changed = 3 * metric - 7 if statistic == "pearson" else np.exp(metric)
        assert function(people, changed) == pytest.approx(function(people, metric), abs=1e-12, nan_ok=True)


# Averages -------------------------------------------------------------------------------------------------------------------------


def test_groups_without_a_value_are_left_out_and_counted() -> None:
    """The published case: one item scored alike by the metric leaves the other's correlation, not half of it."""
    found = agreement([1, 2, 3, 4, 5, 6], [2, 2, 2, 4, 5, 6], statistic="pearson", average="item", items=list("aaabbb"))
    assert found.value == pytest.approx(1.0)
    assert found.groups_used == 1


def test_items_of_two_language_pairs_are_not_mixed() -> None:
    """Item 1 of de-en and item 1 of zh-en are two items."""
    people, metric = [1, 2, 3, 4], [1, 2, 4, 3]
    keys = {"items": [1, 1, 1, 1], "language_pairs": ["de", "de", "zh", "zh"]}
    for average in ("item", "language_pair"):
        found = agreement(people, metric, statistic="kendall_b", average=average, **keys)  # type: ignore[arg-type]
        assert (found.value, found.groups_used) == (0.0, 2)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_average_is_the_plain_mean_of_the_groups(statistic: str) -> None:
    """Groups of unequal size count alike, whatever order the segments come in."""
    generator = np.random.default_rng(3)
    items = generator.integers(0, 12, 60).tolist()
    people, metric = generator.integers(0, 5, 60).astype(float), generator.integers(0, 5, 60).astype(float)
    each = [slow(statistic, *(side[np.array(items) == item] for side in (people, metric))) for item in sorted(set(items))]
    found = agreement(people, metric, statistic=statistic, average="item", items=items)
    assert found.value == pytest.approx(np.nanmean(each))
    assert found.groups_used == np.isfinite(each).sum()


@pytest.mark.parametrize("statistic", [*STATISTICS, CALIBRATED])
def test_what_an_average_needs_is_asked_for(statistic: str) -> None:
    """Keys that are missing or too few, and names that do not exist, are refused with the remedy."""
    with pytest.raises(InputError, match="items are not given"):
        agreement([1, 2], [1, 2], statistic=statistic, average="item")
    with pytest.raises(InputError, match="items has 1 keys for 2 segments"):
        agreement([1, 2], [1, 2], statistic=statistic, average="item", items=["a"])
    with pytest.raises(InputError, match="average 'segment' is unknown: use one of none, item, language_pair"):
        agreement([1, 2], [1, 2], statistic=statistic, average="segment")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="statistic 'tau' is unknown"):
        agreement([1, 2], [1, 2], statistic="tau", average="none")


# Calibrated ties -----------------------------------------------------------------------------------------------------------------


def best_epsilon(people: ArrayLike, metric: ArrayLike, groups: list[int] | None = None) -> Agreement:
    average: Average = "none" if groups is None else "item"
    return agreement(people, metric, statistic=CALIBRATED, average=average, items=groups)


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
    """No pair is missing, and groups weigh alike."""
    pairs = pairs_within(group_keys([0, 1, 0, 2, 0, 1, 0, 3, 3]))
    found = sorted(tuple(sorted(pair)) for pair in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert found == [(0, 2), (0, 4), (0, 6), (1, 5), (2, 4), (2, 6), (4, 6), (7, 8)]
    assert sorted(pairs.weight.tolist()) == pytest.approx([1 / 18] * 6 + [1 / 3] * 2)


def test_too_many_pairs_are_sampled() -> None:
    """The sample has the given size, and is the same each time."""
    groups = group_keys([0] * 200)
    once, again = (pairs_within(groups, max_pairs=4000) for _ in range(2))
    assert once.first.size == 4000 and np.array_equal(once.first, again.first) and once.weight.sum() == pytest.approx(1.0)
