"""Agreement of one metric with people: one statistic, pooled or averaged over items, systems or language pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rome.evaluation.agreement.checks import Keys, Vector, check_choice, check_keys, check_pair
from rome.evaluation.agreement.correlation import STATISTICS
from rome.evaluation.agreement.groups import Average, group_by, group_values, group_weights, numbered
from rome.evaluation.agreement.ties import MAX_PAIRS, calibrate, pairs_within

__all__ = ["CALIBRATED", "Agreement", "agreement", "count_items", "weighted_mean"]

CALIBRATED = "pairwise_accuracy_calibrated"
"""Pairwise accuracy at the epsilon that suits the metric best (acc_eq*); see `rome.evaluation.agreement.ties`."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a metric agrees with people.

    value : the statistic, or its mean over the groups in which it is defined; nan where it is defined in none.
    groups_used, groups_left_out : groups with a value, and those without (one output only, or all rated or scored alike).
    items : distinct inputs (item and language pair). segments : rated outputs.
    epsilon : the calibrated tie, only for CALIBRATED. sampled_pairs : pairs that epsilon was found on, where it was a sample.
    """

    value: float
    statistic: str
    average: str
    groups_used: int
    items: int
    epsilon: float | None = None
    groups_left_out: int = 0
    segments: int = 0
    sampled_pairs: int | None = None


def agreement(
    people: ArrayLike,
    metric: ArrayLike,
    *,
    statistic: str,
    average: Average = "none",
    items: Keys = None,
    systems: Keys = None,
    language_pairs: Keys = None,
    max_pairs: int = MAX_PAIRS,
    seed: int = 0,
) -> Agreement:
    """The agreement of a metric with people, both (n,), higher is better on both sides.

    statistic : a key of STATISTICS, or CALIBRATED. average : "none" pools all segments; "item" is the mean over groups of outputs for one
    item, "system" over groups of one system's outputs (both within a language pair), "language_pair" the mean over language pairs.
    items, systems, language_pairs : one key a segment; items may be left out where each segment is its own, language_pairs where there is one.

    The mean counts every group once and leaves out groups in which the statistic is undefined, as mt-metrics-eval does; where none is left
    it gives 0 and we give nan. WMT's tau over items counts every judged pair once instead, as there. CALIBRATED chooses one epsilon for all
    groups (at most max_pairs pairs, sampled with the seed).

    Raises InputError for an unknown statistic or average, for nan or infinity (naming the segment), and for keys that do not fit.
    Source: mt-metrics-eval, ``AverageCorrelation``.
    """
    ratings, scores = check_pair(people, metric)
    check_choice(statistic, "statistic", (*STATISTICS, CALIBRATED))
    groups = group_by(average, ratings.size, items, systems, language_pairs)
    epsilon = sampled = None
    if statistic == CALIBRATED:
        found = calibrate(ratings, scores, groups, pairs_within(groups, max_pairs, seed))
        epsilon, sampled = found.epsilon, found.pairs if found.sampled else None
    values = group_values(statistic, ratings, scores, groups, epsilon)
    used = int((~np.isnan(values)).sum())
    return Agreement(
        value=weighted_mean(values, group_weights(statistic, average, ratings, groups)),
        statistic=statistic,
        average=average,
        groups_used=used,
        items=count_items(ratings.size, items, language_pairs),
        epsilon=epsilon,
        groups_left_out=groups.count - used,
        segments=ratings.size,
        sampled_pairs=sampled,
    )


def weighted_mean(values: Vector, weights: Vector) -> float:
    """Mean of the values that are defined; nan where none is."""
    defined = ~np.isnan(values)
    total = float(weights[defined].sum())
    return float((values[defined] * weights[defined]).sum() / total) if total > 0 else float("nan")


def count_items(size: int, items: Keys, language_pairs: Keys) -> int:
    """Number of distinct inputs; segments without an item key are their own."""
    of_pairs = check_keys(language_pairs, "language_pairs", size)
    of_items = range(size) if items is None else check_keys(items, "items", size)
    return numbered(zip(of_pairs, of_items, strict=True))[1]
