"""Tree edit distance of Zhang and Shasha (1989) over ordered trees in post-order arrays, compiled where that pays.

Until it pays NumPy's rows (tree_rows.py) give the number. ``zss`` stays the reference in the tests; this file gives the same number
and the same nodes some hundred times faster, and in memory that grows with the product of the sizes alone. Insertion and deletion
cost 1; a change costs 0 where ``equal`` holds, else 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .kernels import Kernels
from .tree_rows import Columns, Rows, columns_of, distance, rows_of

__all__ = ["post_order", "tree_edit_distance", "tree_mapping"]

_kernels = Kernels(globals(), worth=700_000)
"""In pairs of nodes: what the compiled loops would spare takes as long as loading numba, more than a second."""
LOOPS = 30
"""How much longer the plain loops take than NumPy's rows."""
MOST_NODES = 160
"""NumPy's rows of larger trees could take more than some 20 MB; those go through the loops."""


def post_order(
    parents: Sequence[int], mirrored: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Arrange a tree in post-order for the distance.

    parents : for each node the index of its parent, -1 for the one root; children stand in the order of their indices, or in the
    other order when mirrored.
    Returns (order, leftmost, keyroots): order[k] is the node at post-order position k; leftmost[k] the post-order position of
    the leftmost leaf under it; keyroots the positions that have a left sibling, and the root.
    """
    children: list[list[int]] = [[] for _ in parents]
    root, step = 0, -1 if mirrored else 1
    for node in range(len(parents))[::step]:
        parent = parents[node]
        if parent < 0:
            root = node
        else:
            children[parent].append(node)
    order: list[int] = []  # from the root on and the last child first, which is post-order read backwards
    waiting = [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += children[node]
    order.reverse()
    leftmost: list[int] = []
    first_leaf = [-1] * len(parents)
    for place, node in enumerate(order):
        first_leaf[node] = leaf = first_leaf[children[node][0]] if children[node] else place
        leftmost.append(leaf)
    last_with_leaf = {leaf: position for position, leaf in enumerate(leftmost)}
    return np.array(order, np.int64), np.array(leftmost, np.int64), np.array(sorted(last_with_leaf.values()), np.int64)


@_kernels.add
def _fill(equal, left_a, left_b, tree, forest, last_a, last_b):  # type: ignore[no-untyped-def]
    """The distances of all forests that begin where the trees under two nodes do; those that are trees are kept in ``tree`` too."""
    start_a, start_b = left_a[last_a], left_b[last_b]
    forest[start_a, start_b] = 0.0
    for i in range(start_a, last_a + 1):
        forest[i + 1, start_b] = forest[i, start_b] + 1.0
    for j in range(start_b, last_b + 1):
        forest[start_a, j + 1] = forest[start_a, j] + 1.0
    for i in range(start_a, last_a + 1):
        for j in range(start_b, last_b + 1):
            best = min(forest[i, j + 1], forest[i + 1, j]) + 1.0
            if left_a[i] == start_a and left_b[j] == start_b:
                best = min(best, forest[i, j] + (0.0 if equal[i, j] else 1.0))
                tree[i, j] = best
            else:
                best = min(best, forest[left_a[i], left_b[j]] + tree[i, j])
            forest[i + 1, j + 1] = best


@_kernels.add
def _tables(equal, left_a, keys_a, left_b, keys_b):  # type: ignore[no-untyped-def]
    n, m = len(left_a), len(left_b)
    tree = np.zeros((n, m))
    forest = np.zeros((n + 1, m + 1))
    for key_a in keys_a:
        for key_b in keys_b:
            _fill(equal, left_a, left_b, tree, forest, key_a, key_b)
    return tree


@_kernels.add
def _pairs(equal, left_a, left_b, tree):  # type: ignore[no-untyped-def]
    n, m = len(left_a), len(left_b)
    found = np.empty((min(n, m), 2), np.int64)
    waiting = np.empty((n + m, 2), np.int64)
    forest = np.zeros((n + 1, m + 1))
    count, left = 0, 1
    waiting[0, 0], waiting[0, 1] = n - 1, m - 1
    while left:
        left -= 1
        last_a, last_b = waiting[left, 0], waiting[left, 1]
        start_a, start_b = left_a[last_a], left_b[last_b]
        _fill(equal, left_a, left_b, tree, forest, last_a, last_b)
        i, j = last_a, last_b
        while i >= start_a or j >= start_b:
            if i >= start_a and forest[i + 1, j + 1] == forest[i, j + 1] + 1.0:
                i -= 1
            elif j >= start_b and forest[i + 1, j + 1] == forest[i + 1, j] + 1.0:
                j -= 1
            elif left_a[i] == start_a and left_b[j] == start_b:
                found[count, 0], found[count, 1] = i, j
                count += 1
                i, j = i - 1, j - 1
            else:
                waiting[left, 0], waiting[left, 1] = i, j
                left += 1
                i, j = left_a[i] - 1, left_b[j] - 1
    return found[:count]


def tree_edit_distance(parents_a: Sequence[int], parents_b: Sequence[int], equal: NDArray[np.bool_]) -> float:
    """The least number of changes, insertions and deletions that turn tree a into tree b.

    parents_a, parents_b : (n,) and (m,) parent indices, -1 for the root; n, m >= 1.
    equal : (n, m) bool, whether a change of node i of a into node j of b is free.
    Raises ValueError when a tree is empty or the shape of equal does not fit. Source: Zhang and Shasha 1989; RoMe §3.2.
    """
    _fitting(parents_a, parents_b, equal)
    a, b = _ordered(tuple(parents_a)), _ordered(tuple(parents_b))
    ordered = equal.take(a.order, axis=0).take(b.order, axis=1)
    small = max(equal.shape) <= MOST_NODES
    if not _kernels.prepare(equal.size if small else LOOPS * equal.size) and small:
        return float(distance(a.rows, b.columns, ordered))
    return float(_tables(ordered, a.leftmost, a.keys, b.leftmost, b.keys)[-1, -1])


def tree_mapping(parents_a: Sequence[int], parents_b: Sequence[int], equal: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The nodes of a and b that stand for each other in one cheapest edit script, in the order of a's indices.

    A node that is not named is deleted (a) or inserted (b). Of several cheapest scripts the one of ``zss``: where it makes no difference
    a node is rather deleted than inserted, and rather inserted than changed. Arguments and errors as for `tree_edit_distance`.
    """
    _fitting(parents_a, parents_b, equal)
    _kernels.prepare(LOOPS * equal.size)
    (order_a, left_a, keys_a), (order_b, left_b, keys_b) = post_order(parents_a), post_order(parents_b)
    ordered = np.ascontiguousarray(equal[np.ix_(order_a, order_b)])
    pairs = _pairs(ordered, left_a, left_b, _tables(ordered, left_a, keys_a, left_b, keys_b))
    return sorted((int(order_a[i]), int(order_b[j])) for i, j in pairs)


def _fitting(parents_a: Sequence[int], parents_b: Sequence[int], equal: NDArray[np.bool_]) -> None:
    """ValueError when two trees and the table of their equal nodes do not fit."""
    if not len(parents_a) or not len(parents_b) or equal.shape != (len(parents_a), len(parents_b)):
        raise ValueError(f"two trees of {len(parents_a)} and {len(parents_b)} nodes do not fit a table of shape {equal.shape}")


class _Ordered:
    """A tree arranged for the distance, mirrored: English branches to the right, so there are fewer key roots and smaller ones."""

    def __init__(self, parents: Sequence[int]) -> None:
        self.order, self.leftmost, self.keys = post_order(parents, mirrored=True)

    @cached_property
    def rows(self) -> Rows:
        """The tree as the first one of a pair."""
        return rows_of(self.leftmost, self.keys)

    @cached_property
    def columns(self) -> Columns:
        """The tree as the second one of a pair."""
        return columns_of(self.leftmost, self.keys)


@lru_cache(maxsize=256)
def _ordered(parents: tuple[int, ...]) -> _Ordered:
    """A tree arranged once although many pairs hold it."""
    return _Ordered(parents)
