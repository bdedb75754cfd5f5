"""How well a metric's scores follow people's ratings: seven statistics of two lists of numbers, ties included.

Definitions and ties are those of mt-metrics-eval (google-research/mt-metrics-eval, stats.py), the tool of the WMT Metrics Task.
Every variant of Kendall's tau and pairwise accuracy is a ratio of five counts of pairs (Deutsch et al. 2023, table 1). Each statistic is
written once, for many groups at once (`ROWS`: people and metric (g, m), one group a row, to (g,)); `STATISTICS` are that for one group.

A correlation is undefined, nan, for fewer than two segments or where one side is constant. The pair statistics count ties, so a
constant metric has a value there: what its ties earn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rome.exceptions import InputError

Vector = NDArray[np.float64]
Keys = Sequence[Hashable] | None
"""One key a segment (an item, a system, a language pair), or None where that is unknown."""


def check_scores(scores: ArrayLike, side: str) -> Vector:
    """(n,) float64, every number finite.

    Raises InputError for another shape, for what is no number, and for nan or infinity, naming the segment.

    Parameters
    ----------
    side
        What messages call the numbers, such as ``people``. Segments are counted from 1 in messages.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{side}: not all are numbers ({error}): give one number a segment") from error
    if values.ndim != 1:
        raise InputError(f"{side}: shape {values.shape} where (n,) is needed: give one number a segment")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{side}: segment {bad[0] + 1} of {values.size} is {values[bad[0]]}"
            f"{f', and {bad.size - 1} more' if bad.size > 1 else ''}: score every segment, or leave it out on both sides"
        )
    return values


def check_pair(people: ArrayLike, metric: ArrayLike) -> tuple[Vector, Vector]:
    """Both sides as (n,) float64 of one length, which may be 0.

    Raises InputError as `check_scores`, and for lengths that differ.
    """
    ratings, scores = check_scores(people, "people"), check_scores(metric, "metric")
    if ratings.size != scores.size:
        raise InputError(f"people rated {ratings.size} segments, the metric scored {scores.size}: pair them one to one")
    return ratings, scores


def check_keys(keys: Keys, name: str, size: int, needed: bool = False) -> tuple[Hashable, ...]:
    """One key a segment; a single shared key where none are given.

    Raises InputError for a length other than size, and for None where needed.
    """
    if keys is None:
        if needed:
            raise InputError(f"{name} are not given: this average needs one key a segment")
        return (None,) * size
    if len(keys) != size:
        raise InputError(f"{name} has {len(keys)} keys for {size} segments: give one a segment")
    return tuple(keys)


def check_choice(given: str, name: str, known: Iterable[str]) -> None:
    """Raises InputError, listing what is known, for a name that is not among it."""
    names = tuple(known)
    if given not in names:
        raise InputError(f"{name} {given!r} is unknown: use one of {', '.join(names)}")


Matrix = NDArray[np.float64]
SMALL = 64
"""Largest group whose pairs are all laid out; without thresholds larger ones are counted by scipy in O(n log n)."""
ROOM = 2_000_000
"""Most pairs held in memory at a time."""


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
        """(g,) the number of all pairs."""
        return self.concordant + self.discordant + self.tied_people + self.tied_metric + self.tied_both


def relations(differences: Matrix, below: float = 0.0, within: float = 0.0) -> Matrix:
    """-1, 0 or 1 for each difference; 0 is a tie: ``|difference| < below`` or ``|difference| <= within``."""
    return np.sign(differences) * (np.abs(differences) >= below) * (np.abs(differences) > within)


def pair_counts(people: Matrix, metric: Matrix, threshold: float = 0.0, epsilon: float = 0.0) -> ConcordanceCounts:
    """The counts of each row's pairs.

    Parameters
    ----------
    people, metric
        (g, m), one group a row.
    threshold
        People's difference must reach it, otherwise they tie.
    epsilon
        The metric's difference must exceed it, otherwise it ties.
    """
    groups, size = people.shape
    if size > SMALL and not (threshold or epsilon):
        rows = [_from_tau_c(*row) for row in zip(people, metric, strict=True)]
        return ConcordanceCounts(*np.array(rows).reshape(groups, 5).T)
    found = np.zeros((5, groups))
    step = max(1, ROOM // max(1, people.size))
    for n in range(0, size, step):  # every ordered pair, halved without each output's pair with itself
        ours = relations(people[:, n : n + step, None] - people[:, None], below=threshold)
        theirs = relations(metric[:, n : n + step, None] - metric[:, None], within=epsilon)
        product, people_tie, metric_tie = ours * theirs, ours == 0, theirs == 0
        kinds = (product > 0, product < 0, people_tie & ~metric_tie, ~people_tie & metric_tie, people_tie & metric_tie)
        found += [kind.sum(axis=(1, 2)) for kind in kinds]
    found[4] -= size
    return ConcordanceCounts(*found / 2)


def _from_tau_c(ratings: Matrix, scores: Matrix) -> Matrix:
    """(5,) counts of one large group in O(n log n): scipy's tau-c holds concordant minus discordant, the ties are counted."""
    size = ratings.size
    people = np.unique(ratings, return_inverse=True)[1]
    metric = np.unique(scores, return_inverse=True)[1]
    joint = people * size + metric
    tied_people, tied_metric, tied_both = (_tied(np.unique(side, return_counts=True)[1]) for side in (people, metric, joint))
    fewest = int(min(people.max(), metric.max())) + 1
    surplus = 0.0
    if fewest > 1:
        tau = stats.kendalltau(people, metric, variant="c", method="asymptotic").statistic
        surplus = round(float(tau) * size**2 * (fewest - 1) / fewest / 2)
    untied = size * (size - 1) / 2 - tied_people - tied_metric + tied_both
    counts = ((untied + surplus) / 2, (untied - surplus) / 2, tied_people - tied_both, tied_metric - tied_both, tied_both)
    return np.array(counts)


def _tied(counts: NDArray[np.int64]) -> float:
    """Number of pairs within classes of these sizes."""
    return float((counts * (counts - 1) // 2).sum())


WMT_THRESHOLD = 25.0
"""Smallest difference of two direct assessments (0-100) that WMT's relative ranking (DARR) takes as one."""


def _ratio(above: Matrix, below: Matrix) -> Matrix:
    """Quotient, nan where the denominator is 0."""
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)


def pearson_rows(people: Matrix, metric: Matrix) -> Matrix:
    """(g,) Pearson's r of each row; a constant row is told by its values, not by a variance that rounding left above 0."""
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
    return np.clip(_ratio((ours * theirs).sum(axis=1), norms), -1.0, 1.0)


def spearman_rows(people: Matrix, metric: Matrix) -> Matrix:
    """(g,) Pearson's r of each row's ranks; tied values share the mean of their ranks."""
    ours, theirs = (np.asarray(stats.rankdata(side, axis=1), dtype=np.float64) for side in (people, metric))
    return pearson_rows(ours, theirs)


def kendall_b_rows(people: Matrix, metric: Matrix) -> Matrix:
    """(g,) tau-b of each row: (C - D) / sqrt((C + D + T_people) (C + D + T_metric)), T being pairs tied on that side only."""
    found = pair_counts(people, metric)
    untied = found.concordant + found.discordant
    below = np.sqrt(untied + found.tied_people) * np.sqrt(untied + found.tied_metric)
    return np.clip(_ratio(found.concordant - found.discordant, below), -1.0, 1.0)


def kendall_c_rows(people: Matrix, metric: Matrix) -> Matrix:
    """(g,) Stuart's tau-c of each row, for sides with different numbers k of distinct values: 2 (C - D) / (n^2 (k - 1) / k), smaller k."""
    found = pair_counts(people, metric)
    size = people.shape[1]
    distinct = [1 + (np.diff(np.sort(side, axis=1), axis=1) != 0).sum(axis=1) for side in (people, metric)]
    fewest = np.minimum(*distinct)
    return _ratio(2 * (found.concordant - found.discordant), size**2 * (fewest - 1) / fewest)


def kendall_wmt_rows(people: Matrix, metric: Matrix, threshold: float = 0.0) -> Matrix:
    """(g,) WMT's Kendall-like tau of each row, (concordant - discordant) / (concordant + discordant); nan where people order no pair.

    Pairs that people tie, or whose ratings differ by less than threshold, are left out; of the rest, a pair that the metric ties counts as
    discordant. Source: SEScore (Xu et al. 2022), appendix C, equation 3; BLEURT (Sellam et al. 2020), appendix B.2; ``KendallLike``.

    Parameters
    ----------
    threshold
        0 or more; WMT_THRESHOLD (25) gives DARR on direct assessments. mt-metrics-eval differs in one point: at its threshold 0 it counts
        people's ties as discordant; we leave them out, as SEScore does.
    """
    found = pair_counts(people, metric, threshold=threshold)
    wrong = found.discordant + found.tied_metric
    return _ratio(found.concordant - wrong, found.concordant + wrong)


def pairwise_accuracy_rows(people: Matrix, metric: Matrix, epsilon: float = 0.0) -> Matrix:
    """(g,) acc_eq in [0, 1]: the share of each row's pairs in which people and metric say the same: better, worse, or tied.

    Source: Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023), section 4: (C + T_both) / all pairs; variant ``acc23``.

    Parameters
    ----------
    epsilon
        0 or more; scores that differ by at most this count as tied.
    """
    found = pair_counts(people, metric, epsilon=epsilon)
    return _ratio(found.concordant + found.tied_both, found.pairs)


ROWS: dict[str, Callable[..., Matrix]] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall_b": kendall_b_rows,
    "kendall_c": kendall_c_rows,
    "kendall_wmt": kendall_wmt_rows,
    "kendall_wmt_25": partial(kendall_wmt_rows, threshold=WMT_THRESHOLD),
    "pairwise_accuracy": pairwise_accuracy_rows,
}
"""Name of a statistic -> its form for many groups of one size; unchecked, for this package's own loops."""


def threshold_of(statistic: str) -> float:
    """The difference of ratings below which a statistic of ROWS leaves a pair out; 0 where it leaves none out."""
    return WMT_THRESHOLD if statistic == "kendall_wmt_25" else 0.0


def statistic_of(name: str, people: ArrayLike, metric: ArrayLike, **limit: float) -> float:
    """A statistic of ROWS of two (n,) sides; nan where it is undefined.

    Raises InputError as `check_pair`, and for a threshold or an epsilon below 0.
    """
    for what, value in limit.items():
        if not value >= 0:
            raise InputError(f"{what}={value} is no difference: give 0 or more")
    ratings, scores = check_pair(people, metric)
    return float(ROWS[name](ratings[None], scores[None], **limit)[0])


STATISTICS: dict[str, Callable[..., float]] = {name: partial(statistic_of, name) for name in ROWS}
"""Name of a statistic -> function of (people, metric); `agreement` also knows ``pairwise_accuracy_calibrated`` (acc_eq*)."""
