"""Which rows train and which rows judge: drawn by items, so that no output of a judged item was ever trained on."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.exceptions import InputError

__all__ = ["distinct_groups", "fold_numbers", "held_out"]


def distinct_groups(groups: Sequence[Hashable]) -> list[Hashable]:
    """Each group once, in an order that does not depend on the order of the rows."""
    return sorted(set(groups), key=repr)


def fold_numbers(groups: Sequence[Hashable], folds: int, seed: int = 0, ratings: ArrayLike | None = None) -> NDArray[np.int64]:
    """(n,) the fold 0 to folds - 1 of each row; folds differ by one group at most, and the order of the rows does not matter.

    ratings : (n,) balance the folds: groups are dealt in the order of their mean rating, by chance within each round. Unbalanced folds
    hide weak agreement: where a fold is better than the rest, what was fitted on the rest starts lower, so that predictions of different
    folds, put together, run against the ratings. Raises InputError for fewer than two folds or fewer groups than folds.
    """
    distinct, chance = distinct_groups(groups), np.random.default_rng(seed)
    if folds < 2 or len(distinct) < folds:
        raise InputError(
            f"{len(distinct)} items cannot be split into {folds} folds: take 2 to {len(distinct)} folds, or more items"
        )
    order = chance.permutation(len(distinct))
    if ratings is not None:
        means = _means(groups, ratings)
        order = order[np.argsort([means[distinct[n]] for n in order], kind="stable")]
    number = {}
    for start in range(0, len(distinct), folds):
        for place, fold in zip(order[start : start + folds], chance.permutation(folds), strict=False):
            number[distinct[place]] = int(fold)
    return np.array([number[group] for group in groups], dtype=np.int64)


def _means(groups: Sequence[Hashable], ratings: ArrayLike) -> dict[Hashable, float]:
    """The mean rating of each group, the same bits whatever the order of its rows."""
    values = np.asarray(ratings, dtype=np.float64)
    if values.shape != (len(groups),):
        raise InputError(f"there are {len(groups)} groups for {len(values)} rated rows: give one group a row")
    found: dict[Hashable, list[float]] = {}
    for group, value in zip(groups, values.tolist(), strict=True):
        found.setdefault(group, []).append(value)
    return {group: math.fsum(part) / len(part) for group, part in found.items()}


def held_out(groups: Sequence[Hashable], share: float, seed: int = 0) -> tuple[list[Hashable], NDArray[np.bool_]]:
    """Keep about ``share`` of the groups for testing, at least one: the others in a drawn order, and (n,) True for test rows.

    The order of the rows does not matter. Raises InputError for a share outside (0, 1) and for fewer than two groups.
    """
    distinct = distinct_groups(groups)
    if not 0.0 < share < 1.0 or len(distinct) < 2:
        raise InputError(
            f"{len(distinct)} items cannot give a share of {share:g} for testing: take a share between 0 and 1 of two items or more"
        )
    drawn = [distinct[number] for number in np.random.default_rng(seed).permutation(len(distinct))]
    count = min(len(distinct) - 1, max(1, round(share * len(distinct))))
    testing = set(drawn[:count])
    return drawn[count:], np.array([group in testing for group in groups], dtype=bool)
