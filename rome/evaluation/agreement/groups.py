"""Sorting segments into the groups over which a statistic is averaged, and computing it in all of them at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.agreement.checks import Keys, Vector, check_choice, check_keys
from rome.evaluation.agreement.correlation import ROWS, pairwise_accuracy_rows, threshold_of
from rome.evaluation.agreement.pairs import pair_counts

__all__ = ["AVERAGES", "Average", "Groups", "group_by", "group_keys", "group_values", "group_weights", "numbered"]

Average = Literal["none", "item", "system", "language_pair"]
AVERAGES: tuple[Average, ...] = ("none", "item", "system", "language_pair")
"""What a statistic can be averaged over."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Which segments belong together.

    codes : (n,) the number of each segment's group, 0 to count - 1. blocks : groups of one size together, as (their numbers (g,),
        their segments (g, m)); every group stands in one block, its segments in the order given.
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


def group_values(statistic: str, people: Vector, metric: Vector, groups: Groups, epsilon: float | None = None) -> Vector:
    """(groups,) the statistic of each group, nan where it is undefined; with an epsilon, pairwise accuracy at that epsilon."""
    rows = ROWS[statistic] if epsilon is None else partial(pairwise_accuracy_rows, epsilon=epsilon)
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
