"""RoMe's monotone net fitted on human ratings, and splits by items, so that the rows of one item never both train and test."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.combining.fitting import NetSettings, drawn_order, fit_net, rank_targets
from rome.combining.net import MonotoneNet
from rome.exceptions import InputError
from rome.progress import progress_bar


def fold_numbers(groups: Sequence[Hashable], folds: int, seed: int, ratings: ArrayLike) -> NDArray[np.int64]:
    """Return (n,) the fold 0 to folds - 1 of each row; folds differ by one group at most, and the order of the rows does not matter.

    Raises InputError for fewer than two folds or fewer groups than folds.

    Parameters
    ----------
    ratings
        (n,) balance the folds: groups are dealt in the order of their mean rating, at random within each round. Unbalanced folds hide weak
        agreement: if a fold is better than the rest, a net fitted on the rest predicts too little there, and predictions of different folds
        run against the ratings.
    """
    distinct, chance = sorted(set(groups), key=repr), np.random.default_rng(seed)
    if folds < 2 or len(distinct) < folds:
        raise InputError(
            f"{len(distinct)} items cannot be split into {folds} folds: take 2 to {len(distinct)} folds, or more items"
        )
    numbers = {group: number for number, group in enumerate(distinct)}
    codes = np.array([numbers[group] for group in groups])
    order = chance.permutation(len(distinct))
    means = np.bincount(codes, np.asarray(ratings, dtype=np.float64)) / np.bincount(codes)
    order = order[np.argsort(means[order].round(12), kind="stable")]
    fold = np.empty(len(distinct), dtype=np.int64)
    for start in range(0, len(distinct), folds):
        places = order[start : start + folds]
        fold[places] = chance.permutation(folds)[: len(places)]
    return fold[codes]


def held_out_half(groups: Sequence[Hashable], seed: int = 0) -> NDArray[np.bool_]:
    """Return (n,) True for the rows of half of the groups; the order of the rows does not matter."""
    distinct = sorted(set(groups), key=repr)
    drawn = np.random.default_rng(seed).permutation(len(distinct))
    testing = {distinct[number] for number in drawn[: round(len(distinct) / 2)]}
    return np.array([group in testing for group in groups], dtype=bool)


Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Predict = Callable[[Matrix], Vector]
"""A fitted net: (m, d) features to (m,) predictions, higher is better."""

RANKED = 4000
"""Ranked pairs drawn of the ratings."""


def fit_monotone_net(features: ArrayLike, ratings: ArrayLike, begin: MonotoneNet | None = None) -> Predict:
    """Fit the net that ships to human ratings as `rome train scorer --ratings` does: a higher feature never lowers the prediction.

    The targets are the ranks of the ratings. Raises InputError without two different ratings.

    Parameters
    ----------
    features
        (n, d) in [0, 1], higher is better.
    ratings
        (n,). The same rows in any order give the same net; 2,000 rows take a fraction of a second.
    begin
        A pre-trained net from which the fit begins.
    """
    rows, wanted = checked_rows(features, ratings)
    order = np.lexsort((*rows.T, wanted))
    rows, targets, settings = rows[order], rank_targets(wanted[order]), NetSettings()
    ranked = drawn_order(targets, RANKED, settings.ranking_gap, settings.seed)
    return fit_net(rows, targets, np.ones(len(rows)), ranked, settings, begin).score_rows


def cross_validated(
    features: ArrayLike, ratings: ArrayLike, groups: Sequence[Hashable], *, folds: int = 5, seed: int = 0
) -> Vector:
    """Return (n,) predictions, each by a net that saw no output of the same group (item).

    Raises InputError for fewer groups than folds, and when the rows outside a fold cannot be fitted.

    Parameters
    ----------
    groups
        (n,) the item of each row; all rows of one item are in one fold, and folds are balanced by their ratings (`fold_numbers`).
    """
    rows, wanted = checked_rows(features, ratings)
    fold = fold_numbers(groups, folds, seed, wanted)
    out = np.empty(len(rows))
    for number in range(folds):
        inside = fold == number
        out[inside] = fit_monotone_net(rows[~inside], wanted[~inside])(rows[inside])
    return out


def checked_rows(features: ArrayLike, ratings: ArrayLike) -> tuple[Matrix, Vector]:
    """Return (n, d) features and (n,) ratings as float64. Raises InputError without two different ratings."""
    rows, wanted = np.asarray(features, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    if len(set(wanted.tolist())) < 2:
        raise InputError(f"a scorer needs two different ratings, got {len(wanted)} rows that are all rated alike")
    return rows, wanted


T = TypeVar("T")


def watched(steps: Collection[T], label: str, progress: bool | None) -> Iterator[T]:
    """Yield the steps, with a bar on stderr.

    Parameters
    ----------
    progress
        True, False, or None for a bar if stderr is a terminal.
    """
    with progress_bar(progress, len(steps), unit="step", desc=label) as bar:
        for step in steps:
            yield step
            bar.update()


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation (n - 1) over the finite values; nan without any, and for the spread of one."""
    known = np.array([value for value in values if np.isfinite(value)], dtype=np.float64)
    mean = float(known.mean()) if len(known) else float("nan")
    return mean, float(known.std(ddof=1)) if len(known) > 1 else float("nan")
