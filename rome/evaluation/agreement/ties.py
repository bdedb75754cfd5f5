"""Tie calibration: the one difference of scores below which a metric had better call a tie (acc_eq*).

People tie often, metrics that return real numbers almost never, so plain pairwise accuracy punishes them for being precise. The
calibrated accuracy gives each metric the epsilon that suits it best: scores that differ by at most epsilon count as tied.

Source: Deutsch, Foster and Freitag, "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie Calibration"
(EMNLP 2023), section 6; mt-metrics-eval, ``tau_optimization``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.evaluation.agreement.checks import Vector, check_keys, check_pair
from rome.evaluation.agreement.groups import Groups, group_keys, group_values
from rome.exceptions import InputError

__all__ = ["MAX_PAIRS", "Calibration", "Pairs", "best_epsilon", "calibrate", "pairs_within", "sweep"]

MAX_PAIRS = 2_000_000
"""Most pairs that a calibration looks at; of more, a random sample of this size."""
NEAR = 1e-12
"""Accuracies that differ by less are equal: the rounding of sums in another order."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The best epsilon and what it earns.

    epsilon : scores that differ by at most this tie; the smallest of equally good ones, 0 where no new tie helps.
    accuracy : mean over the groups of the pairwise accuracy at epsilon, over all pairs of each, in [0, 1]; nan without any pair.
    groups : how many groups have a pair. pairs : how many pairs were looked at to find epsilon. sampled : whether that was a sample.
    """

    epsilon: float
    accuracy: float
    groups: int
    pairs: int
    sampled: bool


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of segments within groups: (k,) first, second, and the weight of each pair (1 / pairs of its group, summing to 1)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: Vector
    sampled: bool


def best_epsilon(
    people: ArrayLike,
    metric: ArrayLike,
    groups: Sequence[Hashable] | None = None,
    *,
    max_pairs: int = MAX_PAIRS,
    seed: int = 0,
) -> Calibration:
    """The epsilon that maximises the mean pairwise accuracy over groups, one epsilon for all of them.

    people, metric : (n,). groups : one key a segment, pairs are made within a group only; None puts all in one group. A group of one
    segment has no pair and is left out. Exact: every difference of two scores is tried, in one sweep over the sorted pairs. Where there
    are more than max_pairs pairs, epsilon comes from a sample of that many, drawn with the seed (the accuracy still counts all pairs).

    Raises InputError for nan, infinity, lengths that differ, and max_pairs below 1.
    """
    ratings, scores = check_pair(people, metric)
    found = group_keys(check_keys(groups, "groups", ratings.size))
    return calibrate(ratings, scores, found, pairs_within(found, max_pairs, seed))


def calibrate(people: Vector, metric: Vector, groups: Groups, pairs: Pairs) -> Calibration:
    """`best_epsilon` over pairs that were laid out before, for callers that try many scores on the same groups."""
    epsilon, _ = sweep(people, metric, pairs)
    values = group_values("pairwise_accuracy", people, metric, groups, epsilon)
    defined = values[~np.isnan(values)]
    accuracy = float(defined.mean()) if defined.size else float("nan")
    return Calibration(epsilon, accuracy, defined.size, pairs.first.size, pairs.sampled)


def pairs_within(groups: Groups, max_pairs: int = MAX_PAIRS, seed: int = 0) -> Pairs:
    """All pairs within groups, or max_pairs of them drawn without replacement. Raises InputError for max_pairs below 1."""
    if max_pairs < 1:
        raise InputError(f"max_pairs={max_pairs} leaves nothing to calibrate on: give 1 or more")
    order = np.argsort(groups.codes, kind="stable")
    sizes = np.bincount(groups.codes, minlength=groups.count)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.cumsum(sizes * (sizes - 1) // 2)
    total = int(ends[-1]) if groups.count else 0
    sampled = total > max_pairs
    chosen = np.arange(total)
    if sampled:
        chosen = np.sort(np.random.default_rng(seed).choice(total, max_pairs, replace=False, shuffle=False))
    group = np.searchsorted(ends, chosen, side="right")
    within = chosen - np.concatenate([[0], ends])[group]
    first, second = _unfold(within)
    counts = np.bincount(group, minlength=groups.count).astype(np.float64)
    weight = 1.0 / counts[group] / max(1, int((counts > 0).sum()))
    return Pairs(order[starts[group] + first], order[starts[group] + second], weight, sampled)


def _unfold(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pair (first < second) behind each number when pairs are counted 01, 02, 12, 03, 13, 23, ..."""
    second = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    second -= second * (second - 1) // 2 > numbers  # a root rounded up
    second += (second + 1) * second // 2 <= numbers  # or down
    return numbers - second * (second - 1) // 2, second


def sweep(people: Vector, metric: Vector, pairs: Pairs) -> tuple[float, float]:
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
