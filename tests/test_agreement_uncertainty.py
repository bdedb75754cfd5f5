"""Uncertainty: resamples against lists written out, Williams' test against published figures, permutation and paired bootstrap by laws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from rome.evaluation.statistics.agreement import CALIBRATED, STATISTICS, agreement
from rome.evaluation.statistics.resampling import (
    Estimate,
    bootstrap_difference,
    bootstrap_interval,
    draw,
    estimate,
    permutation_test,
    resampled_values,
    system_agreement,
    williams_test,
)
from rome.exceptions import InputError

ALL = (*STATISTICS, CALIBRATED)


def ratings(size: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray, dict[str, list[int]]]:
    """Ratings with ties, scores that follow them, and keys: items of unequal size in two language pairs."""
    generator = np.random.default_rng(seed)
    items = generator.integers(0, 15, size).tolist()
    people = generator.integers(0, 100, size).round(-1).astype(float)
    keys = {"items": items, "language_pairs": [item % 2 for item in items]}
    return people, (people / 20 + generator.normal(size=size)).round(1), keys


def written_out(weights: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """The segments of one resample as a list of their numbers."""
    return np.repeat(np.arange(clusters.size), weights[clusters].astype(int))


# Resamples ------------------------------------------------------------------------------------------------------------------------


def test_a_resample_draws_whole_inputs_within_each_language_pair() -> None:
    """As many inputs of each language pair as there are, all outputs of one together, the same for one seed and not for another."""
    _, _, keys = ratings()
    found = draw(90, keys["items"], keys["language_pairs"], 200, 7)
    for pair in (0, 1):
        inputs = {found.clusters[n] for n in range(90) if keys["language_pairs"][n] == pair}
        assert set(found.weights[:, sorted(inputs)].sum(axis=1)) == {len(inputs)}
    assert (found.weights[0] == 1).all()
    assert len(set(zip(keys["items"], found.clusters.tolist(), strict=True))) == found.weights.shape[1]
    np.testing.assert_array_equal(found.weights, draw(90, keys["items"], keys["language_pairs"], 200, 7).weights)
    assert (found.weights != draw(90, keys["items"], keys["language_pairs"], 200, 8).weights).any()
    assert found.weights.mean() == pytest.approx(1.0)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("by_item", [True, False])
def test_weighted_statistics_are_those_of_the_lists_written_out(statistic: str, by_item: bool) -> None:
    """Every resample, copies and all, gives the statistic that the plain function gives for the resampled lists."""
    people, metric, keys = ratings()
    resamples = draw(90, keys["items"] if by_item else None, None, 30, 1)
    found = resampled_values(statistic, people, metric, resamples)
    for value, weights in zip(found, resamples.weights, strict=True):
        rows = written_out(weights, resamples.clusters)
        assert value == pytest.approx(STATISTICS[statistic](people[rows], metric[rows]), abs=1e-12)


def test_weighted_accuracy_keeps_the_epsilon() -> None:
    """Pairwise accuracy at an epsilon, as for CALIBRATED."""
    people, metric, keys = ratings()
    resamples = draw(90, keys["items"], None, 20, 1)
    for value, weights in zip(resampled_values(CALIBRATED, people, metric, resamples, 0.5), resamples.weights, strict=True):
        rows = written_out(weights, resamples.clusters)
        assert value == pytest.approx(STATISTICS["pairwise_accuracy"](people[rows], metric[rows], epsilon=0.5))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_resample_without_differences_is_nan(statistic: str) -> None:
    """Two inputs, and both draws the same one: no correlation, and for accuracy the copies tie on both sides."""
    resamples = draw(2, None, None, 40, 0)
    found = resampled_values(statistic, np.array([1.0, 30.0]), np.array([0.1, 0.2]), resamples)
    twice = resamples.weights.max(axis=1) == 2
    assert twice.any() and not twice.all()
    if statistic == "pairwise_accuracy":
        assert (found == 1).all()
    else:
        assert np.isnan(found[twice]).all()
        np.testing.assert_allclose(found[~twice], 1.0)


# Intervals ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", ["item", "language_pair"])
@pytest.mark.parametrize("statistic", ["pearson", "kendall_b", "pairwise_accuracy"])
def test_intervals_are_percentiles_of_averages_written_out(statistic: str, average: str) -> None:
    """Each resample written out, with every copy of an input as an item of its own, and averaged by `agreement` itself."""
    people, metric, keys = ratings(120, 2)
    resamples = draw(120, keys["items"], keys["language_pairs"], 25, 3)
    values = []
    for weights in resamples.weights[1:]:
        copies = [(n, copy) for n in range(120) for copy in range(int(weights[resamples.clusters[n]]))]
        rows = [n for n, _ in copies]
        found = agreement(
            people[rows],
            metric[rows],
            statistic=statistic,
            average=average,  # type: ignore[arg-type]
            items=[(keys["items"][n], copy) for n, copy in copies],
            language_pairs=[keys["language_pairs"][n] for n in rows],
        )
        values.append(found.value)
    interval = bootstrap_interval(people, metric, statistic=statistic, average=average, samples=25, seed=3, **keys)  # type: ignore[arg-type]
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


def test_nothing_gives_no_interval_and_nonsense_is_refused() -> None:
    """Nan where nothing is defined; no samples, unknown names."""
    found = bootstrap_interval([1, 2], [3, 4], statistic="pearson", average="item", items=["a", "b"])
    assert np.isnan(found.low) and np.isnan(found.high)
    assert np.isnan(bootstrap_interval([], [], statistic="kendall_b").low)
    assert estimate(np.array([7.0, np.nan, 1.0, 3.0])) == pytest.approx((7.0, 1.05, 2.95))
    for arguments in ({"samples": 0}, {"statistic": "tau"}, {"average": "item"}):
        with pytest.raises(InputError):
            bootstrap_interval([1, 2], [3, 4], **{"statistic": "pearson", **arguments})  # type: ignore[arg-type]


# Two metrics ----------------------------------------------------------------------------------------------------------------------


def test_williams_of_the_published_unit_cases() -> None:
    """mt-metrics-eval: five outputs, p = .019; averaged correlations .982 and .933 of six, p = .121."""
    gold, first, second = [1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5]
    r12, r13 = STATISTICS["pearson"](gold, first), STATISTICS["pearson"](gold, second)
    assert (r12, r13) == pytest.approx((0.999, 0.987), abs=5e-4)
    assert williams_test(r12, r13, STATISTICS["pearson"](first, second), 5) / 2 == pytest.approx(0.019, abs=5e-4)


def test_williams_at_the_edges() -> None:
    """A metric against itself: p 1. Three segments: nan."""
    assert williams_test(0.5, 0.5, 1.0, 50) == 1.0
    assert np.isnan(williams_test(0.5, 0.4, 0.3, 3))


def test_permutations_of_few_segments_approach_all_of_them() -> None:
    """Six segments have 64 swaps: the sampled p-values are near those of the full list."""
    people = [1.0, 2, 3, 4, 5, 6]
    first, second = np.array([1.0, 2, 3, 5, 4, 6]), np.array([3.0, 1, 2, 6, 5, 4])
    a, b = stats.zscore(first), stats.zscore(second)
    observed = STATISTICS["kendall_b"](people, first) - STATISTICS["kendall_b"](people, second)
    gaps = []
    for swapped in product([False, True], repeat=6):
        gaps.append(
            STATISTICS["kendall_b"](people, np.where(swapped, b, a)) - STATISTICS["kendall_b"](people, np.where(swapped, a, b))
        )
    found = permutation_test(people, first, second, statistic="kendall_b", average="none", samples=1000)
    assert found == pytest.approx(np.mean(np.abs(gaps) >= abs(observed) - 1e-12), abs=0.05)


@pytest.mark.parametrize("average", ["none", "item"])
@pytest.mark.parametrize("statistic", ALL)
def test_a_far_better_metric_is_told_from_noise(statistic: str, average: str) -> None:
    """Both tests see that scores which follow people beat random ones, and neither sees a metric beat itself."""
    people, metric, keys = ratings(240, 4)
    noise = np.random.default_rng(9).normal(size=240)
    given = {"statistic": statistic, "average": average, "items": keys["items"], "samples": 30}
    assert permutation_test(people, metric, noise, **given) == pytest.approx(1 / 31)  # type: ignore[arg-type]
    assert permutation_test(people, metric, metric, **given) == 1.0  # type: ignore[arg-type]
    (value, low, high), ahead = bootstrap_difference(people, metric, noise, **given)
    assert ahead == 1.0 and 0 < low < value < high
    assert bootstrap_difference(people, metric, metric, **given) == (Estimate(0.0, 0.0, 0.0), 0.5)


def test_tests_of_nothing_are_nan() -> None:
    """A constant metric has no correlation, so no difference either."""
    assert np.isnan(permutation_test([1, 2, 3], [1, 2, 3], [5, 5, 5], statistic="pearson", average="none"))
    paired = bootstrap_difference([1, 2, 3], [1, 2, 3], [5, 5, 5], statistic="pearson", average="none")
    assert np.isnan([*paired.estimate, paired.ahead]).all()


# Systems ------------------------------------------------------------------------------------------------------------------------


def outputs(systems: int = 5, items: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray, dict[str, list]]:
    """Every system's output for every item of two language pairs; better systems rated higher, the metric following roughly."""
    generator = np.random.default_rng(seed)
    rows = [(pair, item, system) for pair in ("de", "zh") for item in range(items) for system in range(systems)]
    people = np.array([system + 2 * generator.normal() for _, _, system in rows]).round(1)
    metric = people + 2 * generator.normal(size=len(rows))
    pairs, of_items, of_systems = (list(key) for key in zip(*rows, strict=True))
    return people, metric, {"systems": of_systems, "items": of_items, "language_pairs": pairs}


def system_scores(scores: np.ndarray, systems: list, language_pairs: list) -> dict[tuple, float]:
    """(language pair, system) -> mean of its segments' scores."""
    keys = list(zip(language_pairs, systems, strict=True))
    return {key: float(np.mean([n for n, own in zip(scores, keys, strict=True) if own == key])) for key in dict.fromkeys(keys)}


def test_pairs_of_systems_count_within_language_pairs_in_one_ratio() -> None:
    """Kocmi et al.: three pairs of de with two right, one of zh that is right: 3/4, not the mean of 2/3 and 1."""
    people, metric = [1, 2, 3, 1, 2], [1, 3, 2, 5, 6]
    keys = {"systems": list("abcab"), "language_pairs": ["de"] * 3 + ["zh"] * 2}
    found = system_agreement(people, metric, statistic="pairwise_accuracy", samples=5, **keys)  # type: ignore[arg-type]
    assert found.value == 0.75


def test_equal_means_have_sign_zero() -> None:
    """A tie that both see is right, one that only one side sees is wrong; sums in another order stay equal."""
    found = system_agreement(
        [0.1, 0.2, 0.3, 0.3, 0.2, 0.1], [1, 1, 1, 1, 1, 1], statistic="pairwise_accuracy", systems=list("aaabbb")
    )
    assert found.value == 1.0
    found = system_agreement([1, 1, 2, 2], [1, 1, 1, 1], statistic="pairwise_accuracy", systems=list("aabb"))
    assert found.value == 0.0


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall_b"])
def test_correlations_are_those_of_the_means_averaged_over_language_pairs(statistic: str) -> None:
    """Scipy on each language pair's means; a pair with two systems that people rate alike has none and is left out."""
    people, metric, keys = outputs()
    people = np.append(people, [1.0, 1.0])
    metric = np.append(metric, [1.0, 2.0])
    keys = {
        "systems": [*keys["systems"], 0, 1],
        "items": [*keys["items"], 0, 0],
        "language_pairs": [*keys["language_pairs"], "fr", "fr"],
    }
    found = system_agreement(people, metric, statistic=statistic, samples=10, **keys)  # type: ignore[arg-type]
    function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_b": stats.kendalltau}[statistic]
    means = [system_scores(side, keys["systems"], keys["language_pairs"]) for side in (people, metric)]
    each = [function(*([one[pair, system] for system in range(5)] for one in means)).statistic for pair in ("de", "zh")]
    assert found.value == pytest.approx(np.mean(each))


@pytest.mark.parametrize("statistic", ["pearson", "kendall_b", "pairwise_accuracy"])
def test_the_interval_is_that_of_resampled_inputs_written_out(statistic: str) -> None:
    """Every resample's lists, copies and all, give the value; the interval is their percentiles."""
    people, metric, keys = outputs(items=8)
    resamples = draw(len(people), keys["items"], keys["language_pairs"], 20, 4)
    values = []
    for weights in resamples.weights[1:]:
        rows = np.repeat(np.arange(len(people)), weights[resamples.clusters].astype(int))
        given = {name: [key[n] for n in rows] for name, key in keys.items() if name != "items"}
        values.append(system_agreement(people[rows], metric[rows], statistic=statistic, samples=1, **given).value)  # type: ignore[arg-type]
    found = system_agreement(people, metric, statistic=statistic, samples=20, seed=4, **keys)  # type: ignore[arg-type]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


def test_too_few_systems_have_no_agreement() -> None:
    """One system, or one in each language pair: nan, and so is the interval. What does not fit is refused."""
    for keys in ({"systems": ["a", "a"]}, {"systems": ["a", "b"], "language_pairs": ["de", "zh"]}):
        for statistic in ("pearson", "pairwise_accuracy"):
            found = system_agreement([1, 2], [1, 2], statistic=statistic, samples=5, **keys)  # type: ignore[arg-type]
            assert np.isnan(found.value) and np.isnan(found.low)
    with pytest.raises(InputError, match="statistic 'tau' is unknown"):
        system_agreement([1, 2], [1, 2], statistic="tau", systems=["a", "b"])
    with pytest.raises(InputError, match="systems are not given"):
        system_agreement([1, 2], [1, 2], statistic="pearson", systems=None)
    with pytest.raises(InputError, match="metric: segment 2"):
        system_agreement([1, 2], [1, np.nan], statistic="pearson", systems=["a", "b"])


def test_resamples_that_lose_a_system_are_left_out() -> None:
    """A system with a single output is missing in a third of the resamples; the interval comes from the others."""
    found = system_agreement([1, 2, 3, 4], [1, 2, 4, 3], statistic="kendall_b", systems=["a", "b", "c", "c"], samples=300)
    assert found.value == 1.0
    assert np.isfinite([found.low, found.high]).all()
