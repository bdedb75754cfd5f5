"""How well a metric's scores follow people's ratings: seven statistics of two lists of numbers, ties included.

Definitions and ties are those of mt-metrics-eval (google-research/mt-metrics-eval, stats.py), the tool of the WMT Metrics Task.
Each statistic is written once, for many groups at once (`ROWS`: people and metric (g, m), one group a row, to (g,)); the public
functions of two (n,) arrays are that for one group.

A correlation is undefined, nan, for fewer than two segments or where one side is constant. The pair statistics count ties, so a
constant metric has a value there: what its ties earn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rome.evaluation.agreement.checks import check_pair
from rome.evaluation.agreement.pairs import SMALL, pair_counts
from rome.exceptions import InputError

__all__ = [
    "ROWS",
    "STATISTICS",
    "WMT_THRESHOLD",
    "kendall_b",
    "kendall_c",
    "kendall_wmt",
    "pairwise_accuracy",
    "pearson",
    "spearman",
    "threshold_of",
]

Matrix = NDArray[np.float64]
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
    return pearson_rows(_ranks(people), _ranks(metric))


def _ranks(rows: Matrix) -> Matrix:
    """(g, m) mean rank of each value in its row; short rows by comparing all with all, which spares scipy's cost per call."""
    if rows.shape[1] > SMALL:
        return np.asarray(stats.rankdata(rows, axis=1))
    lower = (rows[:, :, None] > rows[:, None, :]).sum(axis=2)
    equal = (rows[:, :, None] == rows[:, None, :]).sum(axis=2)
    return np.asarray(lower + (equal + 1) / 2)


def _by_scipy(people: Matrix, metric: Matrix, variant: str) -> Matrix:
    """(g,) Kendall's tau of long rows in O(n log n) each."""
    found = np.full(len(people), np.nan)
    for n, (ours, theirs) in enumerate(zip(people, metric, strict=True)):
        if (ours != ours[0]).any() and (theirs != theirs[0]).any():
            found[n] = stats.kendalltau(ours, theirs, variant=variant, method="asymptotic").statistic
    return found


def kendall_b_rows(people: Matrix, metric: Matrix) -> Matrix:
    """(g,) tau-b of each row."""
    if people.shape[1] > SMALL:
        return _by_scipy(people, metric, "b")
    found = pair_counts(people, metric)
    untied = found.concordant + found.discordant
    below = np.sqrt(untied + found.tied_people) * np.sqrt(untied + found.tied_metric)
    return np.clip(_ratio(found.concordant - found.discordant, below), -1.0, 1.0)


def kendall_c_rows(people: Matrix, metric: Matrix) -> Matrix:
    """(g,) tau-c of each row."""
    if people.shape[1] > SMALL:
        return _by_scipy(people, metric, "c")
    found = pair_counts(people, metric)
    size = people.shape[1]
    distinct = [1 + (np.diff(np.sort(side, axis=1), axis=1) != 0).sum(axis=1) for side in (people, metric)]
    fewest = np.minimum(*distinct)
    return _ratio(2 * (found.concordant - found.discordant), size**2 * (fewest - 1) / fewest)


def kendall_wmt_rows(people: Matrix, metric: Matrix, threshold: float = 0.0) -> Matrix:
    """(g,) WMT's Kendall-like tau of each row; nan where people order no pair."""
    found = pair_counts(people, metric, threshold=threshold)
    wrong = found.discordant + found.tied_metric
    return _ratio(found.concordant - wrong, found.concordant + wrong)


def pairwise_accuracy_rows(people: Matrix, metric: Matrix, epsilon: float = 0.0) -> Matrix:
    """(g,) acc_eq of each row."""
    found = pair_counts(people, metric, epsilon=epsilon)
    return _ratio(found.concordant + found.tied_both, found.pairs)


def _one(rows: Callable[[Matrix, Matrix], Matrix], people: ArrayLike, metric: ArrayLike) -> float:
    ratings, scores = check_pair(people, metric)
    return float(rows(ratings[None], scores[None])[0])


def pearson(people: ArrayLike, metric: ArrayLike) -> float:
    """Linear correlation r in [-1, 1] of two (n,) arrays; nan for n < 2 or a constant side. Raises InputError for nan or infinity."""
    return _one(pearson_rows, people, metric)


def spearman(people: ArrayLike, metric: ArrayLike) -> float:
    """Rank correlation rho in [-1, 1], ties sharing their mean rank; nan for n < 2 or a constant side. Raises InputError as `pearson`."""
    return _one(spearman_rows, people, metric)


def kendall_b(people: ArrayLike, metric: ArrayLike) -> float:
    """Kendall's tau-b in [-1, 1]; nan for n < 2 or a constant side.

    (C - D) / sqrt((C + D + T_people) (C + D + T_metric)), T being pairs tied on that side only; as ``scipy.stats.kendalltau``.
    Raises InputError as `pearson`.
    """
    return _one(kendall_b_rows, people, metric)


def kendall_c(people: ArrayLike, metric: ArrayLike) -> float:
    """Stuart's tau-c in [-1, 1], for sides with different numbers k of distinct values; nan for n < 2 or a constant side.

    2 (C - D) / (n^2 (k - 1) / k) with the smaller k; as ``scipy.stats.kendalltau(variant="c")``. Raises InputError as `pearson`.
    """
    return _one(kendall_c_rows, people, metric)


def kendall_wmt(people: ArrayLike, metric: ArrayLike, threshold: float = 0.0) -> float:
    """WMT's Kendall-like tau in [-1, 1]: (concordant - discordant) / (concordant + discordant).

    Pairs that people tie, or whose ratings differ by less than threshold, are left out; of the rest, a pair that the metric ties
    counts as discordant. nan where no pair is left. threshold : 0 or more; WMT_THRESHOLD (25) gives DARR on direct assessments.
    mt-metrics-eval differs in one point: at its threshold 0 it counts people's ties as discordant; we leave them out, as SEScore does.
    Raises InputError as `pearson`, and for a negative threshold.

    Source: SEScore (Xu et al. 2022), appendix C, equation 3; BLEURT (Sellam et al. 2020), appendix B.2; ``KendallLike``.
    """
    if not threshold >= 0:
        raise InputError(f"threshold={threshold} is no difference: give 0 or more")
    return _one(partial(kendall_wmt_rows, threshold=threshold), people, metric)


def pairwise_accuracy(people: ArrayLike, metric: ArrayLike, epsilon: float = 0.0) -> float:
    """acc_eq in [0, 1]: the share of pairs in which people and metric say the same: better, worse, or tied; nan for n < 2.

    epsilon : 0 or more; scores that differ by at most this count as tied. Raises InputError as `pearson`, and for a negative epsilon.

    Source: Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023), section 4: (C + T_both) / all pairs; variant ``acc23``.
    """
    if not epsilon >= 0:
        raise InputError(f"epsilon={epsilon} is no difference: give 0 or more")
    return _one(partial(pairwise_accuracy_rows, epsilon=epsilon), people, metric)


ROWS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
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


STATISTICS: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_b": kendall_b,
    "kendall_c": kendall_c,
    "kendall_wmt": kendall_wmt,
    "kendall_wmt_25": partial(kendall_wmt, threshold=WMT_THRESHOLD),
    "pairwise_accuracy": pairwise_accuracy,
}
"""Name of a statistic -> function of (people, metric); `agreement` also knows ``pairwise_accuracy_calibrated`` (acc_eq*)."""
