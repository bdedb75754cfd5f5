"""Systems instead of segments: does the metric rank systems as people do, and is one system really better than another?

A system's score is the mean over its segments, within one language pair.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.evaluation.statistics.agreement import numbered
from rome.evaluation.statistics.correlation import (
    ROWS,
    Keys,
    Vector,
    check_choice,
    check_keys,
    check_pair,
    check_scores,
    pair_counts,
)
from rome.evaluation.statistics.resampling import Interval, draw, interval_of
from rome.exceptions import InputError

SYSTEM_STATISTICS = ("pearson", "spearman", "kendall_b", "pairwise_accuracy")
NEAR = 1e-12
"""Means closer than this are equal: rounding."""


@dataclass(frozen=True, slots=True)
class SystemAgreement:
    """Agreement of a metric with people on systems.

    Attributes
    ----------
    value
        Of all data.
    interval
        Over resamples of inputs, the systems held fixed.
    systems
        Number of systems, counted once in each language pair.
    pairs
        Pairs of systems compared, within language pairs.
    language_pairs
        How many have a value.
    """

    value: float
    interval: Interval
    statistic: str
    systems: int
    pairs: int
    language_pairs: int


@dataclass(frozen=True, slots=True)
class PairedBootstrap:
    """Two systems under one metric.

    Attributes
    ----------
    difference
        Mean of the first minus mean of the second.
    interval
        Of that over resamples of segments or inputs.
    wins_a, wins_b, ties
        Shares of resamples, summing to 1; `1 - wins_a` is the p-value of "the first is better" (Koehn 2004).
    """

    difference: float
    interval: Interval
    wins_a: float
    wins_b: float
    ties: float
    samples: int


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
    level: float = 0.95,
) -> SystemAgreement:
    """How far a metric ranks systems as people do, from (n,) segment ratings and scores, with a percentile interval over inputs.

    Raises InputError for another statistic, missing systems, nan or infinity, and keys that do not fit.

    Parameters
    ----------
    statistic
        "pearson", "spearman" or "kendall_b" of the systems' means, averaged over the language pairs where it is defined; or
        "pairwise_accuracy", the share of pairs of systems of one language pair (all language pairs in one ratio) whose difference has the same
        sign for both (Kocmi et al. 2021, section 4); equal means have sign 0. nan where fewer than two systems can be compared. A system that a
        resample leaves without any segment keeps no mean, and the resample is left out of the interval.
    """
    ratings, scores = check_pair(people, metric)
    check_choice(statistic, "statistic", SYSTEM_STATISTICS)
    keys = _keys(systems, language_pairs, ratings.size)
    codes, count = numbered(keys)
    of_pair, pairs = numbered(pair for pair, _ in dict.fromkeys(keys))
    members = [np.flatnonzero(of_pair == pair) for pair in range(pairs)]
    resamples = draw(ratings.size, items, language_pairs, samples, seed)
    weights = np.concatenate([np.ones((1, resamples.weights.shape[1])), resamples.weights])
    ours, theirs = (_means(side, codes, count, resamples.clusters, weights) for side in (ratings, scores))
    values, defined = _over_pairs(statistic, ours, theirs, members)
    return SystemAgreement(
        value=float(values[0]),
        interval=interval_of(values[1:], level),
        statistic=statistic,
        systems=count,
        pairs=sum(one.size * (one.size - 1) // 2 for one in members),
        language_pairs=int(defined[0]),
    )


def paired_bootstrap(
    scores_a: ArrayLike, scores_b: ArrayLike, *, items: Keys = None, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> PairedBootstrap:
    """Is one system better than another under one metric? Both (n,) on the same segments in the same order.

    Raises InputError for no segment, nan or infinity, lengths or keys that do not fit. Source: Koehn 2004, "Statistical Significance Tests for
    Machine Translation Evaluation", section 4.

    Parameters
    ----------
    items
        Segments of one key are drawn together (None: each for itself). Two means closer than 1e-12 are a tie.
    """
    first, second = check_scores(scores_a, "scores_a"), check_scores(scores_b, "scores_b")
    if first.size != second.size or not first.size:
        raise InputError(
            f"the systems have {first.size} and {second.size} scores: give the same segments of both, at least one"
        )
    resamples = draw(first.size, items, None, samples, seed)
    clusters, weights = resamples.clusters, resamples.weights.astype(np.float64)
    gaps = (weights @ np.bincount(clusters, first - second)) / (weights @ np.bincount(clusters))
    signs = np.sign(np.where(np.abs(gaps) < NEAR, 0.0, gaps))
    return PairedBootstrap(
        difference=float(np.mean(first - second)),
        interval=interval_of(gaps, level),
        wins_a=float((signs > 0).mean()),
        wins_b=float((signs < 0).mean()),
        ties=float((signs == 0).mean()),
        samples=samples,
    )


def _keys(systems: Keys, language_pairs: Keys, size: int) -> list[tuple[Hashable, Hashable]]:
    of_pairs = check_keys(language_pairs, "language_pairs", size)
    return list(zip(of_pairs, check_keys(systems, "systems", size, needed=True), strict=True))


def _means(
    values: Vector, codes: NDArray[np.int64], count: int, clusters: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(samples, systems) each system's mean in each resample, as a share of the largest score, nan where it has no segment."""
    values = values / max(float(np.abs(values).max(initial=0.0)), np.finfo(np.float64).tiny)
    places = clusters * count + codes
    shape = (weights.shape[1], count)
    sums = weights @ np.bincount(places, values, minlength=shape[0] * count).reshape(shape)
    sizes = weights @ np.bincount(places, minlength=shape[0] * count).reshape(shape)
    means = np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)
    return np.asarray(means.round(12))  # equal means that were summed in another order stay equal


def _over_pairs(
    statistic: str, ours: NDArray[np.float64], theirs: NDArray[np.float64], members: list[NDArray[np.int64]]
) -> tuple[Vector, NDArray[np.int64]]:
    """(samples,) the statistic of each resample over all language pairs, and in how many of them it is defined."""
    above, below = np.zeros(len(ours)), np.zeros(len(ours))
    defined = np.zeros(len(ours), dtype=np.int64)
    complete = np.isfinite(ours).all(axis=1)
    for which in members:
        people, metric = ours[complete][:, which], theirs[complete][:, which]
        if statistic == "pairwise_accuracy":
            found = pair_counts(people, metric)
            value, weight = found.concordant + found.tied_both, found.pairs
        else:
            value = ROWS[statistic](people, metric)
            weight = (~np.isnan(value)).astype(np.float64)
        above[complete] += np.nan_to_num(value)
        below[complete] += weight
        defined[complete] += weight > 0
    return np.divide(above, below, out=np.full(len(ours), np.nan), where=below > 0), defined
