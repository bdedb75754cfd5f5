"""Agreement of a metric with people: seven statistics with ties, averages over groups, and calibrated ties.

Definitions and ties are those of mt-metrics-eval (google-research/mt-metrics-eval, stats.py), the tool of the WMT Metrics Task. Every variant
of Kendall's tau and pairwise accuracy is a ratio of five counts of pairs (Deutsch et al. 2023, table 1).

A correlation is undefined, nan, for fewer than two segments or if one side is constant. The pair statistics count ties, so a constant metric
has a value there.

People tie often, metrics that return real numbers almost never. The calibrated accuracy (acc_eq*) therefore counts scores that differ by at
most epsilon as tied, with the best epsilon for each metric. Source: Deutsch, Foster and Freitag, "Ties Matter: Meta-Evaluating Modern Metrics
with Pairwise Accuracy and Tie Calibration" (EMNLP 2023), section 6; mt-metrics-eval, ``tau_optimization``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
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
Average = Literal["none", "item", "system", "language_pair"]
AVERAGES: tuple[Average, ...] = ("none", "item", "system", "language_pair")
"""Groups over which a statistic can be averaged."""
SMALL = 64
"""Largest group for which Kendall's tau is computed from all pairs; scipy computes it for larger ones."""
ROOM = 2_000_000
"""Most pairs held in memory at a time."""
WMT_THRESHOLD = 25.0
"""Smallest difference of two direct assessments (0-100) that WMT's relative ranking (DARR) counts."""
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


@dataclass(frozen=True, eq=False)
class ConcordanceCounts:
    """(g,) float64 each, for g groups; the five add up to all m * (m - 1) / 2 pairs of a group.

    Attributes
    ----------
    concordant, discordant
        Same or opposite order, no tie on either side.
    tied_people, tied_metric
        A tie on that side only.
    tied_both
        A tie on both.
    """

    concordant: Matrix
    discordant: Matrix
    tied_people: Matrix
    tied_metric: Matrix
    tied_both: Matrix

    @property
    def pairs(self) -> Matrix:
        """Return (g,) the number of all pairs."""
        return self.concordant + self.discordant + self.tied_people + self.tied_metric + self.tied_both


def relations(differences: Matrix, below: float = 0.0, within: float = 0.0) -> Matrix:
    """Return -1, 0 or 1 for each difference; 0 is a tie: ``|difference| < below`` or ``|difference| <= within``."""
    return np.sign(differences) * (np.abs(differences) >= below) * (np.abs(differences) > within)


def pair_counts(people: Matrix, metric: Matrix, threshold: float = 0.0, epsilon: float = 0.0) -> ConcordanceCounts:
    """Count the pairs of each row.

    Parameters
    ----------
    people, metric
        (g, m), one group per row.
    threshold
        People tie if their difference is below it.
    epsilon
        The metric ties if its difference is at most this.
    """
    groups, size = people.shape
    counts = np.zeros((5, groups))
    step = max(1, ROOM // max(1, people.size))
    for n in range(0, size, step):  # every ordered pair, halved without each output's pair with itself
        ours = relations(people[:, n : n + step, None] - people[:, None], below=threshold)
        theirs = relations(metric[:, n : n + step, None] - metric[:, None], within=epsilon)
        product, people_tie, metric_tie = ours * theirs, ours == 0, theirs == 0
        kinds = (product > 0, product < 0, people_tie & ~metric_tie, ~people_tie & metric_tie, people_tie & metric_tie)
        counts += [kind.sum(axis=(1, 2)) for kind in kinds]
    counts[4] -= size
    return ConcordanceCounts(*counts / 2)


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
    ours, theirs = (np.asarray(stats.rankdata(side, axis=1), dtype=np.float64) for side in (people, metric))
    return pearson_rows(ours, theirs)


def _kendall(people: Matrix, metric: Matrix, variant: str) -> Matrix:
    """Return (g,) scipy's tau of each row, in O(n log n)."""
    return np.array(
        [stats.kendalltau(*row, variant=variant, method="asymptotic").statistic for row in zip(people, metric, strict=True)]
    )


def kendall_b_rows(people: Matrix, metric: Matrix) -> Matrix:
    """Return (g,) tau-b: (C - D) / sqrt((C + D + T_people) (C + D + T_metric)), T being pairs tied on that side only."""
    if people.shape[1] > SMALL:
        return _kendall(people, metric, "b")
    counts = pair_counts(people, metric)
    untied = counts.concordant + counts.discordant
    below = np.sqrt(untied + counts.tied_people) * np.sqrt(untied + counts.tied_metric)
    return np.clip(quotient(counts.concordant - counts.discordant, below), -1.0, 1.0)


def kendall_c_rows(people: Matrix, metric: Matrix) -> Matrix:
    """Return (g,) Stuart's tau-c: 2 (C - D) / (n^2 (k - 1) / k), k being the smaller number of distinct values of a side."""
    if people.shape[1] > SMALL:
        return _kendall(people, metric, "c")
    counts = pair_counts(people, metric)
    distinct = [1 + (np.diff(np.sort(side, axis=1), axis=1) != 0).sum(axis=1) for side in (people, metric)]
    fewest = np.minimum(*distinct)
    return quotient(2 * (counts.concordant - counts.discordant), people.shape[1] ** 2 * (fewest - 1) / fewest)


def kendall_wmt_rows(people: Matrix, metric: Matrix, threshold: float = 0.0) -> Matrix:
    """Return (g,) WMT's Kendall-like tau, (concordant - discordant) / (concordant + discordant); nan if people order no pair.

    Pairs that people tie, or whose ratings differ by less than threshold, are left out; of the rest, a pair that the metric ties counts as
    discordant. Source: SEScore (Xu et al. 2022), appendix C, equation 3; BLEURT (Sellam et al. 2020), appendix B.2; ``KendallLike``.

    Parameters
    ----------
    threshold
        0 or more; WMT_THRESHOLD (25) gives DARR on direct assessments. mt-metrics-eval differs in one point: at its threshold 0 it counts
        people's ties as discordant; we leave them out, as SEScore does.
    """
    counts = pair_counts(people, metric, threshold=threshold)
    wrong = counts.discordant + counts.tied_metric
    return quotient(counts.concordant - wrong, counts.concordant + wrong)


def pairwise_accuracy_rows(people: Matrix, metric: Matrix, epsilon: float = 0.0) -> Matrix:
    """Return (g,) acc_eq in [0, 1]: the share of pairs in which people and metric agree on better, worse, or tied.

    Source: Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023), section 4: (C + T_both) / all pairs; variant ``acc23``.

    Parameters
    ----------
    epsilon
        0 or more; scores that differ by at most this count as tied.
    """
    counts = pair_counts(people, metric, epsilon=epsilon)
    return quotient(counts.concordant + counts.tied_both, counts.pairs)


ROWS: dict[str, Callable[..., Matrix]] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall_b": kendall_b_rows,
    "kendall_c": kendall_c_rows,
    "kendall_wmt": kendall_wmt_rows,
    "kendall_wmt_25": partial(kendall_wmt_rows, threshold=WMT_THRESHOLD),
    "pairwise_accuracy": pairwise_accuracy_rows,
}
"""Name of a statistic -> unchecked function of people and metric, (g, m) each with one group per row, to (g,)."""


def threshold_of(statistic: str) -> float:
    """Return the difference of ratings below which a statistic leaves a pair out; 0 if it leaves none out."""
    return WMT_THRESHOLD if statistic == "kendall_wmt_25" else 0.0


def _statistic(name: str, people: ArrayLike, metric: ArrayLike, **limit: float) -> float:
    """Return a statistic of two (n,) sides; nan if it is undefined.

    Raises InputError as `check_pair`, and for a threshold or an epsilon below 0.
    """
    for what, value in limit.items():
        if not value >= 0:
            raise InputError(f"{what} must be 0 or more, got {value}")
    ratings, scores = check_pair(people, metric)
    return float(ROWS[name](ratings[None], scores[None], **limit)[0])


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


def group_by(
    statistic: str, average: str, size: int, items: Keys = None, systems: Keys = None, language_pairs: Keys = None
) -> Groups:
    """Group segments for an average: all of them, or those of one item, system or language pair.

    Items and systems of different language pairs are different. Raises InputError for an unknown statistic or average, for missing keys, and
    for keys of another length.
    """
    check_choice(statistic, "statistic", (*STATISTICS, CALIBRATED))
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
    """Return the function of ROWS for a statistic; with an epsilon, pairwise accuracy at that epsilon."""
    return ROWS[statistic] if epsilon is None else partial(pairwise_accuracy_rows, epsilon=epsilon)


def group_values(statistic: str, people: Vector, metric: Vector, groups: Groups, epsilon: float | None = None) -> Vector:
    """Return (groups,) the statistic of each group, nan if it is undefined; with an epsilon, pairwise accuracy at that epsilon."""
    rows = rows_of(statistic, epsilon)
    values = np.full(groups.count, np.nan)
    for which, members in groups.blocks:
        values[which] = rows(people[members], metric[members])
    return values


def group_weights(statistic: str, average: str, people: Vector, groups: Groups) -> Vector:
    """Return (groups,) the weight of each group in the average: 1, except for WMT's tau over items, which counts every judged pair once.

    Source: mt-metrics-eval, ``Correlation.KendallLike`` (``macro=False``), and WMT's DARR: pairs of all items in one ratio.
    """
    weights = np.ones(groups.count)
    if average == "item" and statistic.startswith("kendall_wmt"):
        for which, members in groups.blocks:
            weights[which] = pair_counts(people[members], people[members], threshold=threshold_of(statistic)).concordant
    return weights


# calibrated ties


@dataclass(frozen=True, eq=False)
class SegmentPairs:
    """Pairs of segments within groups: (k,) first, second, and the weight of each pair (1 / pairs of its group, summing to 1)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: Vector


def pairs_within(groups: Groups, max_pairs: int = MAX_PAIRS, seed: int = 0) -> SegmentPairs:
    """Return all pairs within groups, or max_pairs of them drawn without replacement. Raises InputError for max_pairs below 1."""
    if max_pairs < 1:
        raise InputError(f"max_pairs must be 1 or more, got {max_pairs}")
    parts = [np.zeros((0, 2), dtype=np.int64)]
    parts += [members[:, np.transpose(np.triu_indices(members.shape[1], 1))].reshape(-1, 2) for _, members in groups.blocks]
    pairs = np.concatenate(parts)
    if len(pairs) > max_pairs:
        pairs = pairs[np.sort(np.random.default_rng(seed).choice(len(pairs), max_pairs, replace=False, shuffle=False))]
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
    systems: Keys = None,
    language_pairs: Keys = None,
    max_pairs: int = MAX_PAIRS,
    seed: int = 0,
) -> Agreement:
    """Return the agreement of a metric with people, both (n,), higher is better on both sides.

    The mean counts every group once and leaves out groups in which the statistic is undefined, as mt-metrics-eval does; without any group
    mt-metrics-eval gives 0 and we give nan. WMT's tau over items counts every judged pair once instead, as there. CALIBRATED chooses one epsilon
    for all groups (at most max_pairs pairs, sampled with the seed).

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
        One key per segment; items may be left out if each segment is its own, language_pairs if there is only one.
    """
    ratings, scores = check_pair(people, metric)
    groups = group_by(statistic, average, ratings.size, items, systems, language_pairs)
    epsilon = sweep(ratings, scores, pairs_within(groups, max_pairs, seed))[0] if statistic == CALIBRATED else None
    values = group_values(statistic, ratings, scores, groups, epsilon)
    weights = group_weights(statistic, average, ratings, groups)
    return Agreement(weighted_mean(values, weights), int((~np.isnan(values)).sum()), epsilon)


def weighted_mean(values: Vector, weights: Vector) -> float:
    """Return the mean of the values that are defined; nan without any."""
    defined = ~np.isnan(values)
    total = float(weights[defined].sum())
    return float((values[defined] * weights[defined]).sum() / total) if total > 0 else float("nan")
