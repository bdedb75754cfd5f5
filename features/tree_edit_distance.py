"""Tree edit distance of Zhang and Shasha (1989) over ordered trees, compiled by numba.

Insertion and deletion cost 1; a change costs 0 where ``equal`` holds, else 1. `zss_distance` is the same by the package ``zss``, the
reference: some hundred times slower. Import this module where a distance is needed, because numba takes a second to load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .packages import needed

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function with numba, cached where a folder can be written; return the function itself without numba."""
    try:
        from numba import njit
    except ImportError:
        return function
    try:
        return njit(cache=True)(function)
    except RuntimeError:  # no folder that can be written
        return njit(function)


class PostOrder(NamedTuple):
    """A tree of n nodes in post-order.

    Attributes
    ----------
    order
        (n,) the node at each position.
    leftmost
        (n,) the position of the leftmost leaf under it.
    keyroots
        The positions that have a left sibling, and the root.
    """

    order: NDArray[np.int64]
    leftmost: NDArray[np.int64]
    keyroots: NDArray[np.int64]


def post_order(parents: Sequence[int], mirrored: bool = False) -> PostOrder:
    """Arrange a tree for the distance.

    Parameters
    ----------
    parents
        For each node the index of its parent, -1 for the one root; children are in the order of their indices.
    mirrored
        They are in reverse order, which does not change a distance: English branches to the right, so there are then fewer key roots and
        smaller ones.
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
    return PostOrder(*(np.array(column, np.int64) for column in (order, leftmost, sorted(last_with_leaf.values()))))


@compiled
def _fill(equal, left_a, left_b, tree, forest, last_a, last_b):  # type: ignore[no-untyped-def]
    """Fill in the distances of all forests that begin where the trees under two nodes do, and those of trees in ``tree``."""
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


@compiled
def _tables(equal, left_a, keys_a, left_b, keys_b):  # type: ignore[no-untyped-def]
    n, m = len(left_a), len(left_b)
    tree = np.zeros((n, m))
    forest = np.zeros((n + 1, m + 1))
    for key_a in keys_a:
        for key_b in keys_b:
            _fill(equal, left_a, left_b, tree, forest, key_a, key_b)
    return tree


@compiled
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


def tree_edit_distance(a: PostOrder, b: PostOrder, equal: NDArray[np.bool_]) -> float:
    """Return the least number of changes, insertions and deletions that turn tree a into tree b, both arranged alike.

    Source: Zhang and Shasha 1989; RoMe §3.2.

    Parameters
    ----------
    equal
        (n, m) bool, whether a change of node i of a into node j of b is free.
    """
    ordered = equal.take(a.order, axis=0).take(b.order, axis=1)
    return float(_tables(ordered, a.leftmost, a.keyroots, b.leftmost, b.keyroots)[-1, -1])


def tree_mapping(parents_a: Sequence[int], parents_b: Sequence[int], equal: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the nodes of a and b that one cheapest edit script matches, in the order of a's indices.

    A node that is not named is deleted (a) or inserted (b). Of several cheapest scripts the one of ``zss``: where it makes no difference
    a node is rather deleted than inserted, and rather inserted than changed.

    Parameters
    ----------
    parents_a, parents_b
        (n,) and (m,) parent indices, -1 for the root; n, m >= 1.
    equal
        As for `tree_edit_distance`.
    """
    a, b = post_order(parents_a), post_order(parents_b)
    ordered = np.ascontiguousarray(equal[np.ix_(a.order, b.order)])
    tables = _tables(ordered, a.leftmost, a.keyroots, b.leftmost, b.keyroots)
    return sorted((int(a.order[i]), int(b.order[j])) for i, j in _pairs(ordered, a.leftmost, b.leftmost, tables))


def zss_distance(parents_a: Sequence[int], parents_b: Sequence[int], equal: NDArray[np.bool_]) -> float:
    """Return `tree_edit_distance` by the reference implementation. Raises ModelMissingError where ``zss`` is not installed."""
    with needed('distance="zss"', '"rome-metric[zss]"'):
        import zss
    roots = []
    for parents in (parents_a, parents_b):
        nodes = [zss.Node(n) for n in range(len(parents))]
        for node, parent in zip(nodes, parents, strict=True):
            if parent >= 0:
                nodes[parent].addkid(node)
        roots.append(nodes[list(parents).index(-1)])
    costs = {"insert_cost": lambda node: 1, "remove_cost": lambda node: 1}
    return float(
        zss.distance(*roots, zss.Node.get_children, **costs, update_cost=lambda x, y: 1 - int(equal[x.label, y.label]))
    )
