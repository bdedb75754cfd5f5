"""Agreement of one metric with people: one statistic, pooled or averaged over items, systems or language pairs; and tie calibration.

People tie often, metrics that return real numbers almost never, so plain pairwise accuracy punishes them for being precise. The
calibrated accuracy (acc_eq*) gives each metric the epsilon that suits it best: scores that differ by at most epsilon count as tied.

Source: Deutsch, Foster and Freitag, "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie Calibration"
(EMNLP 2023), section 6; mt-metrics-eval, ``tau_optimization``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.evaluation.statistics.correlation import (
    ROWS,
    STATISTICS,
    Keys,
    Matrix,
    Vector,
    check_choice,
    check_keys,
    check_pair,
    pair_counts,
    pairwise_accuracy_rows,
    threshold_of,
)
from rome.exceptions import InputError

Average = Literal["none", "item", "system", "language_pair"]
AVERAGES: tuple[Average, ...] = ("none", "item", "system", "language_pair")
"""What a statistic can be averaged over."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Which segments belong together.

    Attributes
    ----------
    codes
        (n,) the number of each segment's group, 0 to count - 1.
    blocks
        Groups of one size together, as (their numbers (g,), their segments (g, m)); every group stands in one block, its segments in the order
        given.
    """

    codes: NDArray[np.int64]
    count: int
    blocks: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]


def numbered(keys: Iterable[Hashable]) -> tuple[NDArray[np.int64], int]:
    """The number of each key in order of first appearance, and how many distinct keys there are."""
    seen: dict[Hashable, int] = {}
    codes = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)
    return codes, len(seen)


def group_keys(keys: Iterable[Hashable]) -> Groups:
    """Groups of equal keys."""
    codes, count = numbered(keys)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=count)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    blocks = []
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        blocks.append((which, order[starts[which][:, None] + np.arange(size)]))
    return Groups(codes, count, tuple(blocks))


def group_by(average: str, size: int, items: Keys = None, systems: Keys = None, language_pairs: Keys = None) -> Groups:
    """The groups of an average: all segments, or those of one item, system or language pair; items and systems are told apart by
    language pair.

    Raises InputError for an unknown average, for missing keys, and for keys of another length.
    """
    check_choice(average, "average", AVERAGES)
    pairs = check_keys(language_pairs, "language_pairs", size, needed=average == "language_pair")
    of_items = check_keys(items, "items", size, needed=average == "item")
    of_systems = check_keys(systems, "systems", size, needed=average == "system")
    if average == "none":
        return group_keys((None,) * size)
    if average == "language_pair":
        return group_keys(pairs)
    return group_keys(zip(pairs, of_items if average == "item" else of_systems, strict=True))


def rows_of(statistic: str, epsilon: float | None = None) -> Callable[[Matrix, Matrix], Vector]:
    """The statistic for many groups of one size; with an epsilon, pairwise accuracy at that epsilon."""
    return ROWS[statistic] if epsilon is None else partial(pairwise_accuracy_rows, epsilon=epsilon)


def group_values(statistic: str, people: Vector, metric: Vector, groups: Groups, epsilon: float | None = None) -> Vector:
    """(groups,) the statistic of each group, nan where it is undefined; with an epsilon, pairwise accuracy at that epsilon."""
    rows = rows_of(statistic, epsilon)
    found = np.full(groups.count, np.nan)
    for which, members in groups.blocks:
        found[which] = rows(people[members], metric[members])
    return found


def group_weights(statistic: str, average: str, people: Vector, groups: Groups) -> Vector:
    """(groups,) what each group counts for in the average: 1, except with WMT's tau over items, where every judged pair counts once.

    Source: mt-metrics-eval, ``Correlation.KendallLike`` (``macro=False``), and WMT's DARR: pairs of all items in one ratio.
    """
    weights = np.ones(groups.count)
    if average == "item" and statistic.startswith("kendall_wmt"):
        for which, members in groups.blocks:
            weights[which] = pair_counts(people[members], people[members], threshold=threshold_of(statistic)).concordant
    return weights


MAX_PAIRS = 2_000_000
"""Most pairs that a calibration looks at; of more, a random sample of this size."""
NEAR = 1e-12
"""Accuracies that differ by less are equal: the rounding of sums in another order."""


@dataclass(frozen=True, eq=False)
class SegmentPairs:
    """Pairs of segments within groups: (k,) first, second, and the weight of each pair (1 / pairs of its group, summing to 1)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: Vector


def pairs_within(groups: Groups, max_pairs: int = MAX_PAIRS, seed: int = 0) -> SegmentPairs:
    """All pairs within groups, or max_pairs of them drawn without replacement. Raises InputError for max_pairs below 1."""
    if max_pairs < 1:
        raise InputError(f"max_pairs={max_pairs} leaves nothing to calibrate on: give 1 or more")
    parts = [np.zeros((0, 2), dtype=np.int64)]
    parts += [members[:, np.transpose(np.triu_indices(members.shape[1], 1))].reshape(-1, 2) for _, members in groups.blocks]
    found = np.concatenate(parts)
    if len(found) > max_pairs:
        found = found[np.sort(np.random.default_rng(seed).choice(len(found), max_pairs, replace=False, shuffle=False))]
    codes = groups.codes[found[:, 0]]
    counts = np.bincount(codes, minlength=groups.count).astype(np.float64)
    return SegmentPairs(found[:, 0], found[:, 1], 1.0 / counts[codes] / max(1, int((counts > 0).sum())))


def sweep(people: Vector, metric: Vector, pairs: SegmentPairs) -> tuple[float, float]:
    """The smallest epsilon of highest accuracy over the pairs, and that accuracy; (0, nan) without any pair.

    With epsilon 0 the concordant pairs are right, and people's ties where the metric ties too. Raising epsilon past a pair's difference
    makes it right if people tie it and wrong if it was concordant; a discordant pair stays wrong. So one running sum over the pairs in
    order of difference is the accuracy at every epsilon.
    """
    if not pairs.first.size:
        return 0.0, float("nan")
    human = people[pairs.first] - people[pairs.second]
    machine = metric[pairs.first] - metric[pairs.second]
    change = np.where(human == 0, pairs.weight, np.where((human > 0) == (machine > 0), -pairs.weight, 0.0))
    size = np.abs(machine)
    change[(size == 0) & (human != 0)] = 0.0
    start = -float(change[change < 0].sum())
    order = np.argsort(size, kind="stable")
    size, gained = size[order], np.cumsum(change[order])
    last = np.flatnonzero(np.append(size[1:] != size[:-1], True))
    thresholds, gained = size[last], gained[last]
    if thresholds[0] > 0:
        thresholds, gained = np.append(0.0, thresholds), np.append(0.0, gained)
    best = int(np.argmax(gained >= gained.max() - NEAR))
    return float(thresholds[best]), start + float(gained[best])


CALIBRATED = "pairwise_accuracy_calibrated"
"""Pairwise accuracy at the epsilon that suits the metric best (acc_eq*); see `rome.evaluation.statistics.agreement`."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a metric agrees with people.

    Attributes
    ----------
    value
        The statistic, or its mean over the groups in which it is defined; nan where it is defined in none.
    groups_used
        Groups with a value; others have one output only, or all rated or scored alike.
    epsilon
        The calibrated tie, only for CALIBRATED.
    """

    value: float
    groups_used: int
    epsilon: float | None = None


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

    The mean counts every group once and leaves out groups in which the statistic is undefined, as mt-metrics-eval does; where none is left it
    gives 0 and we give nan. WMT's tau over items counts every judged pair once instead, as there. CALIBRATED chooses one epsilon for all groups
    (at most max_pairs pairs, sampled with the seed).

    Raises InputError for an unknown statistic or average, for nan or infinity (naming the segment), and for keys that do not fit. Source:
    mt-metrics-eval, ``AverageCorrelation``.

    Parameters
    ----------
    statistic
        A key of STATISTICS, or CALIBRATED.
    average
        "none" pools all segments; "item" is the mean over groups of outputs for one item, "system" over groups of one system's outputs (both
        within a language pair), "language_pair" the mean over language pairs.
    items, systems, language_pairs
        One key a segment; items may be left out where each segment is its own, language_pairs where there is one.
    """
    ratings, scores = check_pair(people, metric)
    check_choice(statistic, "statistic", (*STATISTICS, CALIBRATED))
    groups = group_by(average, ratings.size, items, systems, language_pairs)
    epsilon = sweep(ratings, scores, pairs_within(groups, max_pairs, seed))[0] if statistic == CALIBRATED else None
    values = group_values(statistic, ratings, scores, groups, epsilon)
    weights = group_weights(statistic, average, ratings, groups)
    return Agreement(weighted_mean(values, weights), int((~np.isnan(values)).sum()), epsilon)


def weighted_mean(values: Vector, weights: Vector) -> float:
    """Mean of the values that are defined; nan where none is."""
    defined = ~np.isnan(values)
    total = float(weights[defined].sum())
    return float((values[defined] * weights[defined]).sum() / total) if total > 0 else float("nan")
