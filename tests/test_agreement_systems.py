"""Agreement on systems, and one system against another: hand-computed cases, resamples written out, edges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from rome.evaluation.statistics.resampling import difference, draw, resampled_mean, system_agreement
from rome.exceptions import InputError


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
    """scipy on each language pair's means; a pair with two systems that people rate alike has none and is left out."""
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


def test_accuracy_equals_a_loop_over_pairs_of_systems() -> None:
    """Signs of differences, pair by pair."""
    people, metric, keys = outputs(seed=3)
    ours, theirs = (system_scores(side, keys["systems"], keys["language_pairs"]) for side in (people, metric))
    pairs = [(a, b) for a, b in combinations(ours, 2) if a[0] == b[0]]
    right = sum((ours[a] > ours[b]) == (theirs[a] > theirs[b]) for a, b in pairs)
    found = system_agreement(people, metric, statistic="pairwise_accuracy", samples=10, **keys)  # type: ignore[arg-type]
    assert found.value == right / len(pairs)


def test_too_few_systems_have_no_agreement() -> None:
    """One system, or one in each language pair: nan, and so is the interval. What does not fit is refused."""
    for keys in ({"systems": ["a", "a"]}, {"systems": ["a", "b"], "language_pairs": ["de", "zh"]}):
        for statistic in ("pearson", "pairwise_accuracy"):
            found = system_agreement([1, 2], [1, 2], statistic=statistic, samples=5, **keys)  # type: ignore[arg-type]
            assert np.isnan(found.value) and np.isnan(found.low)
    with pytest.raises(InputError, match="statistic 'kendall_wmt' is unknown"):
        system_agreement([1, 2], [1, 2], statistic="kendall_wmt", systems=["a", "b"])
    with pytest.raises(InputError, match="systems are not given"):
        system_agreement([1, 2], [1, 2], statistic="pearson", systems=None)
    with pytest.raises(InputError, match="metric: segment 2"):
        system_agreement([1, 2], [1, np.nan], statistic="pearson", systems=["a", "b"])


def test_resamples_that_lose_a_system_are_left_out() -> None:
    """A system with a single output is missing in a third of the resamples; the interval comes from the others."""
    found = system_agreement([1, 2, 3, 4], [1, 2, 4, 3], statistic="kendall_b", systems=["a", "b", "c", "c"], samples=300)
    assert found.value == 1.0
    assert np.isfinite([found.low, found.high]).all()


def test_the_share_of_wins_follows_the_normal_law() -> None:
    """With many segments the share of resamples that the first wins is that of a normal mean above 0; a system against itself ties."""
    gaps = np.random.default_rng(2).normal(0.1, 1.0, size=400)
    found = difference(resampled_mean(gaps, 4000, 0))
    assert found.ahead == pytest.approx(stats.norm.cdf(gaps.mean() / (gaps.std() / 20)), abs=0.02)
    assert found.estimate.low < found.estimate.value == gaps.mean() < found.estimate.high
    assert difference(resampled_mean(0 * gaps, 10, 0)).ahead == 0.5
