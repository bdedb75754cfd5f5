"""Agreement with people: the statistics against scipy, a slow loop over pairs and published figures; averages and their groups."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rome.evaluation.statistics.agreement import (
    CALIBRATED,
    ROWS,
    STATISTICS,
    agreement,
    pair_counts,
)
from rome.exceptions import InputError

pearson, spearman, kendall_b, kendall_c, kendall_wmt, _, pairwise_accuracy = STATISTICS.values()

CORRELATIONS = ("pearson", "spearman", "kendall_b", "kendall_c")
values = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=20)


def sides(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    people, metric = np.array(pairs, dtype=float).T
    return people, metric


def counted(people: np.ndarray, metric: np.ndarray, threshold: float = 0.0, epsilon: float = 0.0) -> list[int]:
    """Concordant, discordant, tied by people, by the metric, by both: every pair looked at, as a textbook would."""
    found = [0] * 5
    for i, j in combinations(range(len(people)), 2):
        human, machine = people[i] - people[j], metric[i] - metric[j]
        human_tie = human == 0 or abs(human) < threshold
        machine_tie = abs(machine) <= epsilon
        if human_tie or machine_tie:
            found[4 if human_tie and machine_tie else 2 if human_tie else 3] += 1
        else:
            found[0 if (human > 0) == (machine > 0) else 1] += 1
    return found


def slow(statistic: str, people: np.ndarray, metric: np.ndarray) -> float:
    """Each statistic from scipy or from counted pairs; nan where it is undefined."""
    constant = len(people) < 2 or len(set(people)) == 1 or len(set(metric)) == 1
    if statistic in CORRELATIONS:
        if constant:
            return float("nan")
        function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}.get(statistic)
        return float(
            (function(people, metric) if function else stats.kendalltau(people, metric, variant=statistic[-1])).statistic
        )
    con, dis, _, tie, both = counted(people, metric, threshold=25.0 if statistic.endswith("25") else 0.0)
    if statistic == "pairwise_accuracy":
        pairs = len(people) * (len(people) - 1) / 2
        return (con + both) / pairs if pairs else float("nan")
    return (con - dis - tie) / (con + dis + tie) if con + dis + tie else float("nan")


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
    """nan and no warning where one side is constant, also for a number that no binary fraction equals."""
    rising, constant = np.arange(size, dtype=float), np.full(size, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for people, metric in ((rising, constant), (constant, rising), (constant, constant)):
            assert np.isnan(STATISTICS[statistic](people, metric))


def test_pair_statistics_count_a_constant_metric_by_its_ties() -> None:
    """A metric that ties everything misorders every pair that people order, and is right where people tie; all ties on both sides: 1."""
    assert kendall_wmt([1, 2, 3], [5, 5, 5]) == -1.0
    assert np.isnan(kendall_wmt([5, 5, 5], [1, 2, 3]))
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
    """Lengths that differ, tables, texts, negative thresholds."""
    with pytest.raises(InputError, match="rated 3 segments, the metric scored 2"):
        pearson([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match=r"got \(2, 2\)"):
        pearson([[1, 2], [3, 4]], [1, 2])
    with pytest.raises(InputError, match="numbers"):
        pearson(["good", "bad"], [1, 2])  # type: ignore[list-item]
    with pytest.raises(InputError, match="threshold must be 0 or more"):
        kendall_wmt([1, 2], [1, 2], threshold=-1)
    with pytest.raises(InputError, match="epsilon must be 0 or more"):
        pairwise_accuracy([1, 2], [1, 2], epsilon=-1)


# Known figures --------------------------------------------------------------------------------------------------------------------




def test_wmt_tau_of_the_published_unit_cases() -> None:
    """mt-metrics-eval's Kendall-like cases: 3/5 where differences of 25 count, 2/6 where all do, 1/3 of three outputs."""
    people, metric = [10, 11, 100, 150], [2, 1, 4, 3]
    assert kendall_wmt(people, metric, threshold=25) == pytest.approx(3 / 5)
    assert kendall_wmt(people, metric) == pytest.approx(2 / 6)
    assert kendall_wmt([10, 100, 150], [2, 4, 3]) == pytest.approx(1 / 3)
    assert STATISTICS["kendall_wmt_25"](people, metric) == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("statistic", "none", "system", "item"),
    [("pearson", 0.776, 0.760, 1.0), ("kendall_b", 0.552, 0.575, 1.0), ("kendall_c", 0.556, 0.611, 1.0)],
)
def test_averages_of_the_published_unit_case(statistic: str, none: float, system: float, item: float) -> None:
    """mt-metrics-eval's two systems with three items: pooled, by system, by item."""
    keys = {"systems": list("aaabbb"), "items": [1, 2, 3, 1, 2, 3]}
    people, metric = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 3, 7]
    for average, expected in (("none", none), ("system", system), ("item", item)):
        found = agreement(people, metric, statistic=statistic, average=average, **keys)  # type: ignore[arg-type]
        assert found.value == pytest.approx(expected, abs=5e-4)


# Oracles --------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(values)
def test_every_statistic_equals_the_slow_one(pairs: list[tuple[int, int]]) -> None:
    """scipy's correlations and the loop over pairs, on small lists full of ties."""
    people, metric = sides(pairs)
    people = people * 10
    for statistic, function in STATISTICS.items():
        assert function(people, metric) == pytest.approx(slow(statistic, people, metric), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("size", [64, 65, 150])
def test_large_groups_take_another_road_to_the_same_number(size: int) -> None:
    """Above 64 segments pairs are counted by sorting or by blocks: the counts are those of the loop."""
    generator = np.random.default_rng(size)
    people, metric = generator.integers(0, 60, size).astype(float), generator.normal(size=size).round(1)
    for threshold, epsilon in ((0.0, 0.0), (25.0, 0.0), (0.0, 0.3), (25.0, 0.3)):
        found = pair_counts(people[None], metric[None], threshold, epsilon)
        five = (found.concordant, found.discordant, found.tied_people, found.tied_metric, found.tied_both)
        assert [int(one[0]) for one in five] == counted(people, metric, threshold, epsilon)
        assert found.pairs[0] == size * (size - 1) / 2
    for statistic, function in STATISTICS.items():
        assert function(people, metric) == pytest.approx(slow(statistic, people, metric), abs=1e-12)


def test_many_groups_at_once_equal_one_at_a_time() -> None:
    """A statistic of rows is the statistic of each row, undefined rows among them."""
    generator = np.random.default_rng(1)
    people, metric = generator.integers(0, 4, (40, 4)).astype(float), generator.integers(0, 4, (40, 4)).astype(float)
    for statistic, rows in ROWS.items():
        expected = [STATISTICS[statistic](*row) for row in zip(people, metric, strict=True)]
        np.testing.assert_allclose(rows(people, metric), expected, atol=1e-12)


# Laws -----------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(values)
def test_agreement_is_bounded_and_perfect_with_itself(pairs: list[tuple[int, int]]) -> None:
    """Within [-1, 1] (accuracy [0, 1]); a side agrees with itself fully wherever that is defined (tau-c below 1 with unequal classes)."""
    people, metric = sides(pairs)
    for statistic, function in STATISTICS.items():
        found = function(people, metric)
        assert np.isnan(found) or (0 if statistic == "pairwise_accuracy" else -1) <= found <= 1
        if statistic != "kendall_c":
            own = function(people, people)
            assert np.isnan(own) or own == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(values)
def test_correlations_and_accuracy_do_not_care_which_side_is_which(pairs: list[tuple[int, int]]) -> None:
    """Symmetry, which WMT's tau has not: there a tie of people is left out and one of the metric is wrong."""
    people, metric = sides(pairs)
    for statistic in (*CORRELATIONS, "pairwise_accuracy"):
        function = STATISTICS[statistic]
        assert function(people, metric) == pytest.approx(function(metric, people), abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(values)
def test_a_reversed_metric_reverses_the_correlation(pairs: list[tuple[int, int]]) -> None:
    """The sign flips with the metric's."""
    people, metric = sides(pairs)
    for statistic in CORRELATIONS:
        function = STATISTICS[statistic]
        assert function(people, -metric) == pytest.approx(-function(people, metric), abs=1e-12, nan_ok=True)


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
    """The published case: one system scored alike by the metric leaves the other's correlation, not half of it."""
    found = agreement([1, 2, 3, 4, 5, 6], [2, 2, 2, 4, 5, 6], statistic="pearson", average="system", systems=list("aaabbb"))
    assert found.value == pytest.approx(1.0)
    assert found.groups_used == 1


def test_items_of_two_language_pairs_are_not_mixed() -> None:
    """Item 1 of de-en and item 1 of zh-en are two items, and so are their systems."""
    people, metric = [1, 2, 3, 4], [1, 2, 4, 3]
    keys = {"items": [1, 1, 1, 1], "systems": ["s", "s", "s", "s"], "language_pairs": ["de", "de", "zh", "zh"]}
    for average in ("item", "system", "language_pair"):
        found = agreement(people, metric, statistic="kendall_b", average=average, **keys)  # type: ignore[arg-type]
        assert (found.value, found.groups_used) == (0.0, 2)


@pytest.mark.parametrize("statistic", [name for name in STATISTICS if not name.startswith("kendall_wmt")])
def test_the_average_is_the_plain_mean_of_the_groups(statistic: str) -> None:
    """Groups of unequal size count alike, whatever order the segments come in."""
    generator = np.random.default_rng(3)
    items = generator.integers(0, 12, 60).tolist()
    people, metric = generator.integers(0, 5, 60).astype(float), generator.integers(0, 5, 60).astype(float)
    each = [slow(statistic, *(side[np.array(items) == item] for side in (people, metric))) for item in sorted(set(items))]
    found = agreement(people, metric, statistic=statistic, average="item", items=items)
    assert found.value == pytest.approx(np.nanmean(each))
    assert found.groups_used == np.isfinite(each).sum()


def test_wmt_tau_over_items_counts_every_pair_once() -> None:
    """An item with three judged pairs weighs three times one with a single pair, as in DARR and mt-metrics-eval's micro average."""
    people, metric, items = [0, 30, 60, 0, 30], [1, 2, 3, 2, 1], ["x", "x", "x", "y", "y"]
    found = agreement(people, metric, statistic="kendall_wmt_25", average="item", items=items)
    assert found.value == pytest.approx((3 - 1) / 4)


@pytest.mark.parametrize("statistic", [*STATISTICS, CALIBRATED])
def test_what_an_average_needs_is_asked_for(statistic: str) -> None:
    """Keys that are missing or too few, and names that do not exist, are refused with the remedy."""
    with pytest.raises(InputError, match="items are not given"):
        agreement([1, 2], [1, 2], statistic=statistic, average="item")
    with pytest.raises(InputError, match="systems has 1 keys for 2 segments"):
        agreement([1, 2], [1, 2], statistic=statistic, average="system", systems=["a"])
    with pytest.raises(InputError, match="average 'segment' is unknown: use one of none, item, system, language_pair"):
        agreement([1, 2], [1, 2], statistic=statistic, average="segment")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="statistic 'tau' is unknown"):
        agreement([1, 2], [1, 2], statistic="tau", average="none")


