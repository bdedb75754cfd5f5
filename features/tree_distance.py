"""Tree edit distance of Zhang and Shasha (1989) over ordered trees in post-order arrays, compiled where numba is installed.

``zss`` stays the reference and names the edit operations (features/syntax.py); this file gives the same number some hundred
times faster. Insertion and deletion cost 1; a change costs 0 where ``equal`` holds, else 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

try:
    from numba import njit
except ImportError:  # the base install combines cached features and needs no compiler; the plain function gives the same number

    def njit(**_: object):  # type: ignore[no-untyped-def]
        """Leave the function as it is."""
        return lambda function: function


def post_order(parents: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Arrange a tree in post-order for the distance.

    parents : for each node the index of its parent, -1 for the one root; children stand in the order of their indices.
    Returns (order, leftmost, keyroots): order[k] is the node at post-order position k; leftmost[k] the post-order position of
    the leftmost leaf under it; keyroots the positions that have a left sibling, and the root.
    """
    children: list[list[int]] = [[] for _ in parents]
    root = 0
    for node, parent in enumerate(parents):
        if parent < 0:
            root = node
        else:
            children[parent].append(node)
    order: list[int] = []
    leftmost: list[int] = []
    first_leaf = [-1] * len(parents)
    stack: list[tuple[int, int]] = [(root, 0)]
    while stack:
        node, visited = stack.pop()
        if visited < len(children[node]):
            stack.append((node, visited + 1))
            stack.append((children[node][visited], 0))
        else:
            first_leaf[node] = first_leaf[children[node][0]] if children[node] else len(order)
            order.append(node)
            leftmost.append(first_leaf[node])
    last_with_leaf = {leaf: position for position, leaf in enumerate(leftmost)}
    return np.array(order, np.int64), np.array(leftmost, np.int64), np.array(sorted(last_with_leaf.values()), np.int64)


@njit(cache=True)
def _distance(equal, left_a, keys_a, left_b, keys_b):  # type: ignore[no-untyped-def]
    n, m = len(left_a), len(left_b)
    tree = np.zeros((n, m))
    forest = np.zeros((n + 1, m + 1))
    for key_a in keys_a:
        for key_b in keys_b:
            start_a, start_b = left_a[key_a], left_b[key_b]
            forest[start_a, start_b] = 0.0
            for i in range(start_a, key_a + 1):
                forest[i + 1, start_b] = forest[i, start_b] + 1.0
            for j in range(start_b, key_b + 1):
                forest[start_a, j + 1] = forest[start_a, j] + 1.0
            for i in range(start_a, key_a + 1):
                for j in range(start_b, key_b + 1):
                    best = min(forest[i, j + 1], forest[i + 1, j]) + 1.0
                    if left_a[i] == start_a and left_b[j] == start_b:
                        change = 0.0 if equal[i, j] else 1.0
                        best = min(best, forest[i, j] + change)
                        tree[i, j] = best
                    else:
                        best = min(best, forest[left_a[i], left_b[j]] + tree[i, j])
                    forest[i + 1, j + 1] = best
    return tree[n - 1, m - 1]


def tree_edit_distance(parents_a: Sequence[int], parents_b: Sequence[int], equal: NDArray[np.bool_]) -> float:
    """The least number of changes, insertions and deletions that turn tree a into tree b.

    parents_a, parents_b : (n,) and (m,) parent indices, -1 for the root; n, m >= 1.
    equal : (n, m) bool, whether a change of node i of a into node j of b is free.
    Raises ValueError when a tree is empty or the shape of equal does not fit. Source: Zhang and Shasha 1989; RoMe §3.2.
    """
    if not len(parents_a) or not len(parents_b) or equal.shape != (len(parents_a), len(parents_b)):
        raise ValueError(f"two trees of {len(parents_a)} and {len(parents_b)} nodes do not fit a table of shape {equal.shape}")
    order_a, left_a, keys_a = post_order(parents_a)
    order_b, left_b, keys_b = post_order(parents_b)
    return float(_distance(np.ascontiguousarray(equal[np.ix_(order_a, order_b)]), left_a, keys_a, left_b, keys_b))
