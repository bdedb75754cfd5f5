"""Uncertainty: bootstrap intervals of agreements and differences, and two tests of the difference between two metrics.

Intervals resample inputs, all outputs of an input together, since ratings of outputs for one input are not independent. The permutation test
and the bootstrap are for any statistic and average; Williams' test is for two correlations with the same ratings. The score of a system is the
mean over its segments, within one language pair.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rome.evaluation.statistics.agreement import (
    CALIBRATED,
    NEAR,
    ROWS,
    SMALL,
    Average,
    Groups,
    Keys,
    Matrix,
    Vector,
    check_choice,
    check_keys,
    check_pair,
    defined_mean,
    group_by,
    group_values,
    numbered,
    pair_signs,
    pairs_within,
    pairwise_accuracy_rows,
    quotient,
    rows_of,
    sweep,
)
from rome.exceptions import InputError

LEVEL = 0.95
"""Of every interval."""
PERMUTED_PAIRS = 20_000
"""Most pairs on which the permutation test calibrates ties, twice per permutation."""


class Estimate(NamedTuple):
    """Hold the value of the data itself, and the ends of its percentile interval; nan if it is undefined."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """Hold the difference of two metrics or systems.

    Attributes
    ----------
    estimate
        First minus second.
    ahead
        Share of resamples in which the first is ahead, a tie counting half; 1 minus that is a p-value (Koehn 2004). nan if no resample is
        defined.
    """

    estimate: Estimate
    ahead: float


@dataclass(frozen=True, eq=False)
class Resamples:
    """Hold bootstrap resamples of inputs.

    Attributes
    ----------
    clusters
        (n,) the input of each segment.
    weights
        (1 + samples, inputs) how often each input counts; the first row is the data itself, every input once.
    """

    clusters: NDArray[np.int64]
    weights: Matrix

    def means(self, values: Vector, keys: Sequence[Hashable]) -> dict[Any, Vector]:
        """Return for each key, in order of appearance, (1 + samples,) means of its values; nan values are left out, no value gives nan."""
        codes, _ = numbered(keys)
        means = {}
        for code, key in enumerate(dict.fromkeys(keys)):
            rows = (codes == code) & ~np.isnan(values)
            means[key] = self.ratio(values[rows], self.clusters[rows])
        return means

    def ratio(self, values: Vector, clusters: NDArray[np.int64]) -> Vector:
        """Return (1 + samples,) means of the values of these clusters."""
        inputs = self.weights.shape[1]
        sums, sizes = (self.weights @ np.bincount(clusters, side, minlength=inputs) for side in (values, None))
        return quotient(sums, sizes)


def draw(size: int, items: Keys, language_pairs: Keys, samples: int, seed: int) -> Resamples:
    """Draw inputs with replacement, as many as there are, within each language pair; the same keys and seed give the same draws.

    Raises InputError for samples below 1 and for keys that do not fit.

    Parameters
    ----------
    items
        None makes each segment an input of its own.
    """
    if samples < 1:
        raise InputError(f"samples must be 1 or more, got {samples}: 1000 is usual")
    pairs = check_keys(language_pairs, "language_pairs", size)
    of_items = range(size) if items is None else check_keys(items, "items", size)
    clusters, count = numbered(zip(pairs, of_items, strict=True))
    strata, _ = numbered(pairs)
    of_cluster = np.zeros(count, dtype=np.int64)
    of_cluster[clusters] = strata
    generator = np.random.default_rng(seed)
    weights = np.ones((1 + samples, count))
    for stratum in np.unique(of_cluster):
        members = np.flatnonzero(of_cluster == stratum)
        drawn = generator.integers(members.size, size=(samples, members.size)) + np.arange(samples)[:, None] * members.size
        counts = np.bincount(drawn.ravel(), minlength=samples * members.size)
        weights[1:, members] = counts.reshape(samples, members.size)
    return Resamples(clusters, weights)


def estimate(values: Vector) -> Estimate:
    """Return the first of (1 + samples,) values with the percentile interval of the others, nan left out.

    Source: Efron and Tibshirani 1993, chapter 13.
    """
    defined = values[1:][~np.isnan(values[1:])]
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if defined.size else (np.nan, np.nan)
    return Estimate(float(values[0]), float(low), float(high))


def difference(gaps: Vector) -> Difference:
    """Return the estimate of (1 + samples,) differences and the share of resamples above 0; gaps closer to 0 than 1e-12 are ties."""
    gaps = np.where(np.abs(gaps) < NEAR, 0.0, gaps)
    drawn = gaps[1:][~np.isnan(gaps[1:])]
    return Difference(estimate(gaps), float(((np.sign(drawn) + 1) / 2).mean()) if drawn.size else float("nan"))


# agreement


def resampled_values(
    statistic: str, people: Vector, metric: Vector, resamples: Resamples, epsilon: float | None = None
) -> Vector:
    """Return (1 + samples,) the statistic over all given segments in each resample, nan if it is undefined.

    Parameters
    ----------
    resamples
        Clusters (n,) for these segments.
    epsilon
        Makes it pairwise accuracy at that epsilon.
    """
    if people.size > SMALL and statistic.startswith("pairwise_accuracy"):
        return _accuracies(people, metric, resamples.weights[:, resamples.clusters], epsilon or 0.0)
    rows = rows_of(statistic, epsilon)
    counts = resamples.weights.astype(np.int64)
    drawn = (np.repeat(np.arange(people.size), weights[resamples.clusters]) for weights in counts)
    return np.array([rows(people[None, which], metric[None, which])[0] for which in drawn])


def _accuracies(people: Vector, metric: Vector, weights: Matrix, epsilon: float) -> Vector:
    """Return (1 + samples,) the accuracy at an epsilon; every pair is compared once, for all resamples."""
    size = weights.sum(axis=1)
    same, start = -size, 0
    for ours, theirs in pair_signs(people[None], metric[None], epsilon):
        end = start + ours.shape[1]
        same += (weights[:, start:end] @ (ours == theirs)[0] * weights).sum(axis=1)
        start = end
    return quotient(same, size * (size - 1))


def _resampled(statistic: str, average: str, people: Vector, metric: Vector, groups: Groups, resamples: Resamples) -> Vector:
    """Return (1 + samples,) the agreement in each resample."""
    epsilon = sweep(people, metric, pairs_within(groups))[0] if statistic == CALIBRATED else None
    if average == "item":  # groups are the inputs themselves, numbered alike
        values = group_values(statistic, people, metric, groups, epsilon)
        above, below = (resamples.weights @ side for side in (np.nan_to_num(values), (~np.isnan(values)).astype(np.float64)))
    else:
        parts = []
        for which in range(groups.count):
            rows = np.flatnonzero(groups.codes == which)
            part = Resamples(resamples.clusters[rows], resamples.weights)
            parts.append(resampled_values(statistic, people[rows], metric[rows], part, epsilon))
        table = np.array(parts).reshape(len(parts), len(resamples.weights))
        above, below = np.nansum(table, axis=0), (~np.isnan(table)).sum(axis=0).astype(np.float64)
    return quotient(above, below)


def bootstrap(
    people: ArrayLike,
    *metrics: ArrayLike,
    statistic: str,
    average: Average = "none",
    items: Keys = None,
    language_pairs: Keys = None,
    samples: int = 1000,
    seed: int = 0,
) -> list[Vector]:
    """Return for each metric (1 + samples,) its agreement with people, on the data and in the same resamples of inputs.

    Raises InputError as `agreement` does, and for samples below 1. Source of resampling inputs: Deutsch, Dror and Roth, TACL 2021, BOOT-INPUTS.

    Parameters
    ----------
    people, metrics
        (n,) each; keys and averages as in `agreement`.
    """
    pairs = [check_pair(people, metric) for metric in metrics]
    size = pairs[0][0].size
    groups = group_by(statistic, size, average, items, language_pairs)
    resamples = draw(size, items, language_pairs, samples, seed)
    return [_resampled(statistic, average, ratings, scores, groups, resamples) for ratings, scores in pairs]


def bootstrap_interval(people: ArrayLike, metric: ArrayLike, **chosen: Any) -> Estimate:
    """Return a metric's agreement with its percentile interval; arguments as in `bootstrap`."""
    return estimate(bootstrap(people, metric, **chosen)[0])


def bootstrap_difference(people: ArrayLike, metric_a: ArrayLike, metric_b: ArrayLike, **chosen: Any) -> Difference:
    """Return the difference of two metrics' agreement, both measured on the same resamples; arguments as in `bootstrap`."""
    first, second = bootstrap(people, metric_a, metric_b, **chosen)
    return difference(first - second)


def williams_test(r12: float, r13: float, r23: float, n: int) -> float:
    """Return the two-sided p of Williams' test of two correlations that share one side: t with n - 3 degrees of freedom.

    Source: Williams 1959; Graham and Baldwin 2014, "Testing for Significance of
    Increased Correlation with Human Judgment", equation 1.

    Parameters
    ----------
    r12, r13
        Correlations of two metrics with people, in [-1, 1].
    r23
        Of the metrics with each other.
    n
        Segments; nan below 4. Two metrics that are the same give 1. Meant for Pearson's r over independent segments.
    """
    if n < 4:
        return float("nan")
    k = max(0.0, 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23)
    above = abs(r12 - r13) * ((n - 1) * (1 + r23)) ** 0.5
    below = (2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3) ** 0.5
    t = above / below if below > 0 else 0.0 if above == 0 else float("inf")
    return min(1.0, 2 * float(stats.t.sf(t, n - 3)))


def permutation_test(
    people: ArrayLike, metric_a: ArrayLike, metric_b: ArrayLike, *, samples: int = 1000, seed: int = 0, **chosen: Any
) -> float:
    """Return the two-sided p of the difference of two metrics if their names were swapped at random (PERM-BOTH); nan if it is undefined.

    Both metrics' scores are standardised over all segments; each permutation exchanges the two scores of every segment with probability 1/2.
    Ties of a calibrated accuracy are calibrated anew each time, on at most PERMUTED_PAIRS pairs. All swaps of few segments are counted, otherwise
    a sample, with the data itself as one more (Phipson and Smyth 2010), so p is never 0; mt-metrics-eval leaves that one out and may stop early.

    Statistic, average and keys, and what raises InputError: as in `agreement`. Source: Deutsch, Dror and Roth, "A Statistical Analysis of
    Summarization Evaluation Metrics Using Resampling Methods", TACL 2021, section 4; mt-metrics-eval, ``PermutationSigDiff``.
    """
    (ratings, first), (_, second) = check_pair(people, metric_a), check_pair(people, metric_b)
    value = _value(chosen["statistic"], ratings, group_by(size=ratings.size, **chosen))

    def gap(one: Vector, other: Vector) -> float:
        return abs(value(one) - value(other))

    sides = _standardised(first), _standardised(second)
    if np.isnan(gap(*sides)):
        return float("nan")
    chance = {"n_resamples": samples, "batch": 10, "random_state": np.random.default_rng(seed)}
    test = stats.permutation_test(sides, gap, permutation_type="samples", vectorized=False, alternative="greater", **chance)
    return float(test.pvalue)


def _standardised(scores: Vector) -> Vector:
    """Return the scores with mean 0 and standard deviation 1; zeros for a constant."""
    if not scores.size or (scores == scores[0]).all():
        return np.zeros_like(scores)
    return np.asarray(stats.zscore(scores), dtype=np.float64)


def _value(statistic: str, people: Vector, groups: Groups) -> Callable[[Vector], float]:
    """Return the agreement as a function of the scores alone."""
    if statistic == CALIBRATED:
        pairs = pairs_within(groups, PERMUTED_PAIRS)
        return lambda scores: sweep(people, scores, pairs)[1]
    return lambda scores: defined_mean(group_values(statistic, people, scores, groups))


# systems


def system_agreement(
    people: ArrayLike,
    metric: ArrayLike,
    *,
    statistic: str,
    systems: Keys,
    items: Keys = None,
    language_pairs: Keys = None,
    samples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Return the agreement of a metric with people on systems, from (n,) segment ratings and scores, with an interval over inputs.

    Raises InputError for another statistic, missing systems, nan or infinity, and keys that do not fit.

    Parameters
    ----------
    statistic
        "pearson", "spearman" or "kendall_b" of the systems' means, averaged over the language pairs in which it is defined; or
        "pairwise_accuracy", the share of pairs of systems of one language pair (all language pairs in one ratio) whose difference has the same
        sign for both (Kocmi et al. 2021, section 4); equal means have sign 0. nan if fewer than two systems can be compared. A system that a
        resample leaves without any segment keeps no mean, and the resample is left out of the interval.
    """
    ratings, scores = check_pair(people, metric)
    check_choice(statistic, "statistic", ROWS)
    of_pairs = check_keys(language_pairs, "language_pairs", ratings.size)
    keys = list(zip(of_pairs, check_keys(systems, "systems", ratings.size, needed=True), strict=True))
    of_pair, pairs = numbered(pair for pair, _ in dict.fromkeys(keys))
    resamples = draw(ratings.size, items, language_pairs, samples, seed)
    ours, theirs = (_system_means(side, keys, resamples) for side in (ratings, scores))
    above, below = np.zeros(len(ours)), np.zeros(len(ours))
    complete = np.isfinite(ours).all(axis=1)
    for pair in range(pairs):
        judged, scored = (side[complete][:, of_pair == pair] for side in (ours, theirs))
        if statistic == "pairwise_accuracy":
            pairs_of_systems = judged.shape[1] * (judged.shape[1] - 1) / 2
            value = pairwise_accuracy_rows(judged, scored) * pairs_of_systems
            weight = np.full(len(value), pairs_of_systems)
        else:
            value = ROWS[statistic](judged, scored)
            weight = (~np.isnan(value)).astype(np.float64)
        above[complete] += np.nan_to_num(value)
        below[complete] += weight
    return estimate(quotient(above, below))


def _system_means(values: Vector, keys: Sequence[Hashable], resamples: Resamples) -> Matrix:
    """Return (1 + samples, systems) each system's mean as a share of the largest score; nan without a segment."""
    values = values / max(float(np.abs(values).max(initial=0.0)), np.finfo(np.float64).tiny)
    means = np.stack(list(resamples.means(values, keys).values()), axis=1)
    return np.asarray(means.round(12))  # equal means that were summed in another order stay equal
