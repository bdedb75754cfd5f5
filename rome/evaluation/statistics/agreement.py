"""Agreement of a metric with people: four statistics with ties, averages over groups, and calibrated ties.

Definitions and ties are those of mt-metrics-eval (google-research/mt-metrics-eval, stats.py), the tool of the WMT Metrics Task.

A correlation is undefined, nan, for fewer than two segments or if one side is constant. Pairwise accuracy counts ties, so a constant metric
has a value there.

People tie often, metrics that return real numbers almost never. The calibrated accuracy (acc_eq*) therefore counts scores that differ by at
most epsilon as tied, with the best epsilon for each metric. Source: Deutsch, Foster and Freitag, "Ties Matter: Meta-Evaluating Modern Metrics
with Pairwise Accuracy and Tie Calibration" (EMNLP 2023), section 6; mt-metrics-eval, ``tau_optimization``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rome.exceptions import InputError

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Keys = Sequence[Hashable] | None
"""One key per segment (an item, a system, a language pair), or None if unknown."""
Average = Literal["none", "item", "language_pair"]
AVERAGES: tuple[Average, ...] = ("none", "item", "language_pair")
"""Groups over which a statistic can be averaged."""
SMALL = 64
"""Largest group for which Kendall's tau is computed from all pairs; scipy computes it for larger ones."""
ROOM = 2_000_000
"""Most pairs held in memory at a time."""
MAX_PAIRS = 2_000_000
"""Most pairs that a calibration uses; of more, a random sample of this size."""
NEAR = 1e-12
"""Numbers that differ by less are equal: the rounding of sums in another order."""


# checks


def check_scores(scores: ArrayLike, side: str) -> Vector:
    """Return (n,) float64, every number finite.

    Raises InputError for another shape, for a value that is not a number, and for nan or infinity, naming the segment.

    Parameters
    ----------
    side
        Name of the numbers in messages, such as ``people``. Messages count segments from 1.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{side} must be numbers ({error}): give one number per segment") from error
    if values.ndim != 1:
        raise InputError(f"{side} must have the shape (n,), got {values.shape}: give one number per segment")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        more = f", and {bad.size - 1} more" if bad.size > 1 else ""
        raise InputError(
            f"{side}: segment {bad[0] + 1} of {values.size} is {values[bad[0]]}{more}: "
            "score every segment, or leave it out on both sides"
        )
    return values


def check_pair(people: ArrayLike, metric: ArrayLike) -> tuple[Vector, Vector]:
    """Return both sides as (n,) float64 of one length, which may be 0.

    Raises InputError as `check_scores`, and for different lengths.
    """
    ratings, scores = check_scores(people, "people"), check_scores(metric, "metric")
    if ratings.size != scores.size:
        raise InputError(f"people rated {ratings.size} segments, the metric scored {scores.size}: pair them one to one")
    return ratings, scores


def check_keys(keys: Keys, name: str, size: int, needed: bool = False) -> tuple[Hashable, ...]:
    """Return one key per segment, or a single shared key without keys.

    Raises InputError for a length other than size, and for None if keys are needed.
    """
    if keys is None:
        if needed:
            raise InputError(f"{name} are not given: this average needs one key per segment")
        return (None,) * size
    if len(keys) != size:
        raise InputError(f"{name} has {len(keys)} keys for {size} segments: give one per segment")
    return tuple(keys)


def check_choice(given: str, name: str, known: Iterable[str]) -> None:
    """Raise InputError, listing the known names, for another name."""
    names = tuple(known)
    if given not in names:
        raise InputError(f"{name} {given!r} is unknown: use one of {', '.join(names)}")


# statistics


def pair_signs(people: Matrix, metric: Matrix, epsilon: float = 0.0) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield the order of segments on both sides, -1, 0 or 1, in blocks (g, k, m) of k segments against all m of their group.

    Parameters
    ----------
    people, metric
        (g, m), one group per row.
    epsilon
        The metric ties if its difference is at most this; people tie if they are equal.
    """
    step = max(1, ROOM // max(1, people.size))
    for n in range(0, people.shape[1], step):
        difference = metric[:, n : n + step, None] - metric[:, None]
        yield np.sign(people[:, n : n + step, None] - people[:, None]), np.sign(difference) * (np.abs(difference) > epsilon)


def quotient(above: Matrix, below: Matrix) -> Matrix:
    """Return the quotient, nan where the denominator is 0."""
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)


def pearson_rows(people: Matrix, metric: Matrix) -> Matrix:
    """Return (g,) Pearson's r of each row; a row is constant by its values, not by a variance that rounding left above 0."""
    if people.shape[1] < 2:
        return np.full(len(people), np.nan)
    centred = []
    for side in (people, metric):
        difference = side - side.mean(axis=1, keepdims=True)
        largest = np.abs(difference).max(axis=1, keepdims=True)
        varies = (side != side[:, :1]).any(axis=1, keepdims=True)
        centred.append(np.divide(difference, largest, out=np.zeros_like(side), where=varies & (largest > 0)))
    ours, theirs = centred
    norms = np.sqrt((ours**2).sum(axis=1) * (theirs**2).sum(axis=1))
    return np.clip(quotient((ours * theirs).sum(axis=1), norms), -1.0, 1.0)


def spearman_rows(people: Matrix, metric: Matrix) -> Matrix:
    """Return (g,) Pearson's r of each row's ranks; tied values share their mean rank."""
    return pearson_rows(*(np.asarray(stats.rankdata(side, axis=1), dtype=np.float64) for side in (people, metric)))


def kendall_b_rows(people: Matrix, metric: Matrix) -> Matrix:
    """Return (g,) Kendall's tau-b of each row: the sum of agreeing signs over the root of the pairs that each side orders."""
    if people.shape[1] > SMALL:
        rows = zip(people, metric, strict=True)
        return np.array([stats.kendalltau(*row, method="asymptotic").statistic for row in rows])
    above, ordered_people, ordered_metric = np.zeros((3, len(people)))
    for ours, theirs in pair_signs(people, metric):
        above += (ours * theirs).sum(axis=(1, 2))
        ordered_people += (ours != 0).sum(axis=(1, 2))
        ordered_metric += (theirs != 0).sum(axis=(1, 2))
    return np.clip(quotient(above, np.sqrt(ordered_people) * np.sqrt(ordered_metric)), -1.0, 1.0)


def pairwise_accuracy_rows(people: Matrix, metric: Matrix, epsilon: float = 0.0) -> Matrix:
    """Return (g,) acc_eq in [0, 1]: the share of pairs in which people and metric agree on better, worse, or tied.

    Source: Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023), section 4; variant ``acc23``.

    Parameters
    ----------
    epsilon
        0 or more; scores that differ by at most this count as tied.
    """
    groups, size = people.shape
    same = np.full(groups, -float(size))  # every segment agrees with itself
    for ours, theirs in pair_signs(people, metric, epsilon):
        same += (ours == theirs).sum(axis=(1, 2))
    return quotient(same, np.full(groups, size * (size - 1.0)))


ROWS: dict[str, Callable[..., Matrix]] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall_b": kendall_b_rows,
    "pairwise_accuracy": pairwise_accuracy_rows,
}
"""Name of a statistic -> unchecked function of people and metric, (g, m) each with one group per row, to (g,)."""


def _statistic(name: str, people: ArrayLike, metric: ArrayLike, epsilon: float | None = None) -> float:
    """Return a statistic of two (n,) sides; nan if it is undefined. Raises InputError as `check_pair`."""
    ratings, scores = check_pair(people, metric)
    return float(rows_of(name, epsilon)(ratings[None], scores[None])[0])


STATISTICS: dict[str, Callable[..., float]] = {name: partial(_statistic, name) for name in ROWS}
"""Name of a statistic -> function of (people, metric); `agreement` also knows CALIBRATED."""
CALIBRATED = "pairwise_accuracy_calibrated"
"""Pairwise accuracy at the best epsilon of the metric (acc_eq*)."""


# groups


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of segments.

    Attributes
    ----------
    codes
        (n,) the number of each segment's group, 0 to count - 1.
    blocks
        Groups of one size together, as (their numbers (g,), their segments (g, m) in the order given); every group is in one block.
    """

    codes: NDArray[np.int64]
    count: int
    blocks: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]


def numbered(keys: Iterable[Hashable]) -> tuple[NDArray[np.int64], int]:
    """Return the number of each key in order of first appearance, and how many there are."""
    seen: dict[Hashable, int] = {}
    codes = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)
    return codes, len(seen)


def group_keys(keys: Iterable[Hashable]) -> Groups:
    """Group segments with equal keys."""
    codes, count = numbered(keys)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=count)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    blocks = []
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        blocks.append((which, order[starts[which][:, None] + np.arange(size)]))
    return Groups(codes, count, tuple(blocks))


def group_by(statistic: str, size: int, average: str = "none", items: Keys = None, language_pairs: Keys = None) -> Groups:
    """Group segments for an average: all of them, or those of one item or language pair.

    Items of different language pairs are different. Raises InputError for an unknown statistic or average, for missing keys, and for keys of
    another length.
    """
    check_choice(statistic, "statistic", (*STATISTICS, CALIBRATED))
    check_choice(average, "average", AVERAGES)
    pairs = check_keys(language_pairs, "language_pairs", size, needed=average == "language_pair")
    of_items = check_keys(items, "items", size, needed=average == "item")
    if average == "none":
        return group_keys((None,) * size)
    return group_keys(pairs if average == "language_pair" else zip(pairs, of_items, strict=True))


def rows_of(statistic: str, epsilon: float | None = None) -> Callable[[Matrix, Matrix], Vector]:
    """Return the function of ROWS for a statistic; with an epsilon, pairwise accuracy at that epsilon."""
    return ROWS[statistic] if epsilon is None else partial(pairwise_accuracy_rows, epsilon=epsilon)


def group_values(statistic: str, people: Vector, metric: Vector, groups: Groups, epsilon: float | None = None) -> Vector:
    """Return (groups,) the statistic of each group, nan if it is undefined; with an epsilon, pairwise accuracy at that epsilon."""
    rows = rows_of(statistic, epsilon)
    values = np.full(groups.count, np.nan)
    for which, members in groups.blocks:
        values[which] = rows(people[members], metric[members])
    return values


# calibrated ties


@dataclass(frozen=True, eq=False)
class SegmentPairs:
    """Pairs of segments within groups: (k,) first, second, and the weight of each pair (1 / pairs of its group, summing to 1)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: Vector


def pairs_within(groups: Groups, max_pairs: int = MAX_PAIRS) -> SegmentPairs:
    """Return all pairs within groups, or max_pairs of them drawn without replacement."""
    parts = [np.zeros((0, 2), dtype=np.int64)]
    parts += [members[:, np.transpose(np.triu_indices(members.shape[1], 1))].reshape(-1, 2) for _, members in groups.blocks]
    pairs = np.concatenate(parts)
    if len(pairs) > max_pairs:
        pairs = pairs[np.sort(np.random.default_rng(0).choice(len(pairs), max_pairs, replace=False, shuffle=False))]
    codes = groups.codes[pairs[:, 0]]
    counts = np.bincount(codes, minlength=groups.count).astype(np.float64)
    return SegmentPairs(pairs[:, 0], pairs[:, 1], 1.0 / counts[codes] / max(1, int((counts > 0).sum())))


def sweep(people: Vector, metric: Vector, pairs: SegmentPairs) -> tuple[float, float]:
    """Return the smallest epsilon of highest accuracy over the pairs, and that accuracy; (0, nan) without any pair.

    With epsilon 0 the concordant pairs are right, and people's ties if the metric ties too. Raising epsilon past a pair's difference
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


# agreement


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a metric with people.

    Attributes
    ----------
    value
        The statistic, or its mean over the groups in which it is defined; nan if it is defined in none.
    groups_used
        Number of groups with a value; the others have one output only, or all rated or scored alike.
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
    language_pairs: Keys = None,
) -> Agreement:
    """Return the agreement of a metric with people, both (n,), higher is better on both sides.

    The mean counts every group once and leaves out groups in which the statistic is undefined, as mt-metrics-eval does; without any group
    mt-metrics-eval gives 0 and we give nan. CALIBRATED chooses one epsilon for all groups, on at most MAX_PAIRS pairs.

    Raises InputError for an unknown statistic or average, for nan or infinity (naming the segment), and for keys that do not fit. Source:
    mt-metrics-eval, ``AverageCorrelation``.

    Parameters
    ----------
    statistic
        A key of STATISTICS, or CALIBRATED.
    average
        "none" pools all segments; "item" is the mean over groups of outputs for one item of one language pair, "language_pair" the mean over
        language pairs.
    items, language_pairs
        One key per segment; items may be left out if each segment is its own, language_pairs if there is only one.
    """
    ratings, scores = check_pair(people, metric)
    groups = group_by(statistic, ratings.size, average, items, language_pairs)
    epsilon = sweep(ratings, scores, pairs_within(groups))[0] if statistic == CALIBRATED else None
    values = group_values(statistic, ratings, scores, groups, epsilon)
    return Agreement(defined_mean(values), int((~np.isnan(values)).sum()), epsilon)


def defined_mean(values: Vector) -> float:
    """Return the mean of the values that are defined; nan without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")
