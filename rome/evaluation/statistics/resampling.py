"""Is it real? Bootstrap intervals of an agreement, and three tests of the difference between two metrics.

Intervals resample inputs, all outputs of an input together, since ratings of outputs for one input are not independent. The permutation test and the
paired bootstrap are for any statistic and average; Williams' test is for two correlations with the same ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rome.evaluation.statistics.agreement import (
    CALIBRATED,
    MAX_PAIRS,
    Average,
    Groups,
    group_by,
    group_values,
    group_weights,
    numbered,
    pairs_within,
    rows_of,
    sweep,
    weighted_mean,
)
from rome.evaluation.statistics.correlation import (
    ROOM,
    SMALL,
    STATISTICS,
    Keys,
    Vector,
    check_choice,
    check_keys,
    check_pair,
    relations,
    threshold_of,
)
from rome.exceptions import InputError


@dataclass(frozen=True, eq=False)
class Resamples:
    """

    Attributes
    ----------
    clusters
        (n,) the input of each segment.
    weights
        (samples, inputs) how often each was drawn.
    """

    clusters: NDArray[np.int64]
    weights: NDArray[np.int64]


def draw(size: int, items: Keys, language_pairs: Keys, samples: int, seed: int) -> Resamples:
    """Draw inputs with replacement, as many as there are, each language pair for itself; the same keys and seed give the same draws.

    Raises InputError for samples below 1 and for keys that do not fit.

    Parameters
    ----------
    items
        None makes each segment an input of its own.
    """
    if samples < 1:
        raise InputError(f"samples={samples} gives no interval: take 1 or more, 1000 is usual")
    pairs = check_keys(language_pairs, "language_pairs", size)
    of_items = range(size) if items is None else check_keys(items, "items", size)
    clusters, count = numbered(zip(pairs, of_items, strict=True))
    strata, _ = numbered(pairs)
    of_cluster = np.zeros(count, dtype=np.int64)
    of_cluster[clusters] = strata
    generator = np.random.default_rng(seed)
    weights = np.zeros((samples, count), dtype=np.int64)
    for stratum in np.unique(of_cluster):
        members = np.flatnonzero(of_cluster == stratum)
        drawn = generator.integers(members.size, size=(samples, members.size)) + np.arange(samples)[:, None] * members.size
        counts = np.bincount(drawn.ravel(), minlength=samples * members.size)
        weights[:, members] = counts.reshape(samples, members.size)
    return Resamples(clusters, weights)


def resampled_values(
    statistic: str, people: Vector, metric: Vector, resamples: Resamples, epsilon: float | None = None
) -> Vector:
    """(samples,) the statistic over all given segments in each resample, nan where it is undefined.

    Parameters
    ----------
    resamples
        Clusters (n,) for these segments.
    epsilon
        Makes it pairwise accuracy at that epsilon.
    """
    if people.size > SMALL and (threshold_of(statistic) or epsilon):
        return _by_all_pairs(people, metric, resamples.weights[:, resamples.clusters], threshold_of(statistic), epsilon or 0.0)
    rows = rows_of(statistic, epsilon)
    drawn = (np.repeat(np.arange(people.size), weights[resamples.clusters]) for weights in resamples.weights)
    return np.array([rows(people[None, which], metric[None, which])[0] for which in drawn])


def _by_all_pairs(people: Vector, metric: Vector, drawn: NDArray[np.int64], threshold: float, epsilon: float) -> Vector:
    """(samples,) WMT's tau at a threshold, or the accuracy at an epsilon, for which every pair has to be looked at: once, for all resamples."""
    weights = drawn.astype(np.float64)  # (samples, n) how often each segment was drawn
    judged, right, same = np.zeros((3, len(weights)))
    step = max(1, ROOM // people.size)
    for n in range(0, people.size, step):
        ours = relations(people[n : n + step, None] - people, below=threshold)
        theirs = relations(metric[n : n + step, None] - metric, within=epsilon)
        for total, kind in ((judged, ours != 0), (right, ours * theirs > 0), (same, ours == theirs)):
            total += (weights[:, n : n + step] @ kind * weights).sum(axis=1)
    size = weights.sum(axis=1)
    above, below = (same - size, size * (size - 1)) if epsilon else (2 * right - judged, judged)
    return np.divide(above, below, out=np.full(len(weights), np.nan), where=below > 0)


PERMUTED_PAIRS = 20_000
"""Most pairs on which the permutation test calibrates ties, twice a sample."""
NEAR = 1e-12
"""Differences closer than this are equal: rounding."""


@dataclass(frozen=True, slots=True)
class Interval:
    """low <= high, and the share of resamples between them; both nan where the statistic was undefined in every resample."""

    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class BootstrapDifference:
    """Agreement of the first metric minus that of the second.

    Attributes
    ----------
    difference
        On the data itself.
    interval
        Of the difference over resamples.
    wins
        Share of resamples in which the first is ahead, a tie counting half; nan where no resample is defined.
    """

    difference: float
    interval: Interval
    wins: float


@dataclass(frozen=True, slots=True)
class WilliamsTest:
    """

    Attributes
    ----------
    t
        Positive where the first metric correlates better.
    p_one_sided
        That the one that is ahead is ahead by chance.
    p_two_sided
        Twice that. All nan for n below 4.
    """

    t: float
    p_one_sided: float
    p_two_sided: float


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """

    Attributes
    ----------
    difference
        Agreement of the first metric minus that of the second, on standardised scores.
    p_one_sided
        The probability of a difference at least as large when the metrics are exchangeable (small: the first is better; near 1: the second is).
    p_two_sided
        Of one at least as far from 0.
    samples
        Permutations made.
    """

    difference: float
    p_one_sided: float
    p_two_sided: float
    samples: int


def interval_of(values: Vector, level: float) -> Interval:
    """The percentile interval of resampled values, leaving out those that are nan. Raises InputError for a level outside (0, 1)."""
    if not 0 < level < 1:
        raise InputError(f"level={level} is no share: give one between 0 and 1, such as 0.95")
    defined = values[~np.isnan(values)]
    if not defined.size:
        return Interval(float("nan"), float("nan"), level)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)


def bootstrap_interval(
    people: ArrayLike,
    metric: ArrayLike,
    *,
    statistic: str,
    average: Average = "none",
    items: Keys = None,
    systems: Keys = None,
    language_pairs: Keys = None,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """The percentile interval of `agreement` with the same arguments, over resamples of inputs (within each language pair).

    With average "item" the groups themselves are resampled; otherwise the statistic is computed anew in each resample. A calibrated epsilon
    is kept as found on the data. The same keys and seed give the same resamples for every metric.

    Raises InputError as `agreement`, and for samples below 1 or a level outside (0, 1).
    Source: Efron and Tibshirani 1993, chapter 13; resampling of inputs: Deutsch, Dror and Roth, TACL 2021, BOOT-INPUTS.
    """
    ratings, scores = check_pair(people, metric)
    groups = _groups(statistic, average, ratings.size, items, systems, language_pairs)
    resamples = draw(ratings.size, items, language_pairs, samples, seed)
    return interval_of(_resampled(statistic, average, ratings, scores, groups, resamples), level)


def bootstrap_difference(
    people: ArrayLike,
    metric_a: ArrayLike,
    metric_b: ArrayLike,
    *,
    statistic: str,
    average: Average = "none",
    items: Keys = None,
    systems: Keys = None,
    language_pairs: Keys = None,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> BootstrapDifference:
    """The difference of two metrics' agreement with its interval, both measured on the same resamples of inputs.

    Raises InputError as `bootstrap_interval`.
    """
    (ratings, first), (_, second) = check_pair(people, metric_a), check_pair(people, metric_b)
    groups = _groups(statistic, average, ratings.size, items, systems, language_pairs)
    resamples = draw(ratings.size, items, language_pairs, samples, seed)
    a, b = (_resampled(statistic, average, ratings, scores, groups, resamples) for scores in (first, second))
    gaps = (a - b)[~np.isnan(a - b)]
    gaps[np.abs(gaps) < NEAR] = 0.0
    wins = float(((np.sign(gaps) + 1) / 2).mean()) if gaps.size else float("nan")
    value_a, value_b = (_value(statistic, average, ratings, groups)(scores) for scores in (first, second))
    return BootstrapDifference(value_a - value_b, interval_of(gaps, level), wins)


def williams_test(r12: float, r13: float, r23: float, n: int) -> WilliamsTest:
    """Williams' test of two correlations that share one side: t with n - 3 degrees of freedom.

    Raises InputError for a correlation outside [-1, 1] or nan. Source: Williams 1959; Graham and Baldwin 2014, "Testing for Significance of
    Increased Correlation with Human Judgment", equation 1.

    Parameters
    ----------
    r12, r13
        Correlations of two metrics with people, in [-1, 1].
    r23
        Of the metrics with each other.
    n
        Segments. Two metrics that are the same give t = 0. Meant for Pearson's r over independent segments.
    """
    for name, value in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1 <= value <= 1:
            raise InputError(f"{name}={value} is no correlation: give one in [-1, 1]")
    if n < 4:
        return WilliamsTest(float("nan"), float("nan"), float("nan"))
    k = max(0.0, 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23)
    above = (r12 - r13) * ((n - 1) * (1 + r23)) ** 0.5
    below = (2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3) ** 0.5
    t = above / below if below > 0 else 0.0 if above == 0 else float(np.copysign(np.inf, above))
    p = float(stats.t.sf(abs(t), n - 3))
    return WilliamsTest(t, p, min(1.0, 2 * p))


def permutation_test(
    people: ArrayLike,
    metric_a: ArrayLike,
    metric_b: ArrayLike,
    *,
    statistic: str,
    average: Average = "none",
    items: Keys = None,
    systems: Keys = None,
    language_pairs: Keys = None,
    samples: int = 1000,
    seed: int = 0,
) -> PermutationTest:
    """Would the difference between two metrics be as large if their names were swapped at random? (PERM-BOTH)

    Both metrics' scores are standardised over all segments; in each permutation every segment's two scores change places with probability
    1/2. Ties of a calibrated accuracy are calibrated anew each time, on at most PERMUTED_PAIRS pairs. The p-values count the data itself as
    one permutation (Phipson and Smyth 2010), so they are never 0; mt-metrics-eval leaves that one out and may stop early.

    Raises InputError as `agreement`, and for samples below 1.
    Source: Deutsch, Dror and Roth, "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods", TACL 2021,
    section 4; mt-metrics-eval, ``PermutationSigDiff``.
    """
    (ratings, first), (_, second) = check_pair(people, metric_a), check_pair(people, metric_b)
    if samples < 1:
        raise InputError(f"samples={samples} gives no test: take 1 or more, 1000 is usual")
    groups = _groups(statistic, average, ratings.size, items, systems, language_pairs)
    value = _value(statistic, average, ratings, groups, PERMUTED_PAIRS)
    first, second = _standardised(first), _standardised(second)
    observed = value(first) - value(second)
    if np.isnan(observed):
        return PermutationTest(observed, float("nan"), float("nan"), samples)
    generator = np.random.default_rng(seed)
    larger = farther = 0
    for _ in range(samples):
        swapped = generator.random(ratings.size) < 0.5
        gap = value(np.where(swapped, second, first)) - value(np.where(swapped, first, second))
        larger += gap >= observed - NEAR
        farther += abs(gap) >= abs(observed) - NEAR
    return PermutationTest(observed, (larger + 1) / (samples + 1), (farther + 1) / (samples + 1), samples)


def _groups(statistic: str, average: str, size: int, items: Keys, systems: Keys, language_pairs: Keys) -> Groups:
    check_choice(statistic, "statistic", (*STATISTICS, CALIBRATED))
    return group_by(average, size, items, systems, language_pairs)


def _standardised(scores: Vector) -> Vector:
    """Mean 0 and standard deviation 1; zeros for a constant."""
    if not scores.size or (scores == scores[0]).all():
        return np.zeros_like(scores)
    return np.asarray(stats.zscore(scores), dtype=np.float64)


def _value(
    statistic: str, average: str, people: Vector, groups: Groups, max_pairs: int = MAX_PAIRS
) -> Callable[[Vector], float]:
    """The agreement as a function of the scores alone, with everything prepared that does not depend on them."""
    if statistic == CALIBRATED:
        pairs = pairs_within(groups, max_pairs)
        return lambda scores: sweep(people, scores, pairs)[1]
    weights = group_weights(statistic, average, people, groups)
    return lambda scores: weighted_mean(group_values(statistic, people, scores, groups), weights)


def _resampled(statistic: str, average: str, people: Vector, metric: Vector, groups: Groups, resamples: Resamples) -> Vector:
    """(samples,) the agreement in each resample."""
    epsilon = sweep(people, metric, pairs_within(groups))[0] if statistic == CALIBRATED else None
    if average == "item":  # groups are the inputs themselves, numbered alike
        values = group_values(statistic, people, metric, groups, epsilon)
        weights = group_weights(statistic, average, people, groups) * ~np.isnan(values)
        above, below = (resamples.weights @ side for side in (np.nan_to_num(values) * weights, weights))
    else:
        parts = []
        for which in range(groups.count):
            rows = np.flatnonzero(groups.codes == which)
            part = Resamples(resamples.clusters[rows], resamples.weights)
            parts.append(resampled_values(statistic, people[rows], metric[rows], part, epsilon))
        table = np.array(parts).reshape(len(parts), len(resamples.weights))
        above, below = np.nansum(table, axis=0), (~np.isnan(table)).sum(axis=0).astype(np.float64)
    return np.divide(above, below, out=np.full(len(resamples.weights), np.nan), where=below > 0)
