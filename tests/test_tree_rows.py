"""The tree edit distance by NumPy's rows equals that of the loops, for trees of every shape, arranged either way round."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rome.features import tree_distance
from rome.features.tree_distance import post_order, tree_edit_distance
from rome.features.tree_rows import columns_of, distance, rows_of


def tree(size: int, shape: str, rng: random.Random) -> list[int]:
    """Parents of a tree: a chain, a star, any tree whose parents come first, or one whose root can stand anywhere."""
    if shape == "chain":
        return list(range(-1, size - 1))
    if shape == "star":
        return [-1] + [0] * (size - 1)
    parents = [-1] + [rng.randrange(node) for node in range(1, size)]
    if shape == "grown":
        return parents
    places = rng.sample(range(size), size)
    found = [-1] * size
    for node, parent in enumerate(parents):
        found[places[node]] = places[parent] if parent >= 0 else -1
    return found


def by_loops(a: list[int], b: list[int], equal: np.ndarray) -> float:
    """The distance as the loops of `tree_distance` find it, children in their own order."""
    (order_a, left_a, keys_a), (order_b, left_b, keys_b) = post_order(a), post_order(b)
    ordered = np.ascontiguousarray(equal[np.ix_(order_a, order_b)])
    return float(tree_distance._tables(ordered, left_a, keys_a, left_b, keys_b)[-1, -1])


@pytest.mark.parametrize("mirrored", [False, True])
def test_rows_equal_loops(mirrored: bool) -> None:
    """Every pair of shapes, small and middling: the same number, and reading the children backwards does not change it."""
    rng = random.Random(3)
    shapes = ("chain", "star", "grown", "scattered")
    for n, m in [(1, 1), (1, 5), (6, 1), *((rng.randrange(2, 15), rng.randrange(2, 15)) for _ in range(12)), (40, 30)]:
        for one in shapes:
            a, b = tree(n, one, rng), tree(m, rng.choice(shapes), rng)
            equal = np.array([[rng.random() < 0.3 for _ in range(m)] for _ in range(n)])
            (order_a, *rest_a), (order_b, *rest_b) = post_order(a, mirrored), post_order(b, mirrored)
            ordered = equal[np.ix_(order_a, order_b)]
            assert (
                by_loops(a, b, equal)
                == distance(rows_of(*rest_a), columns_of(*rest_b), ordered)
                == tree_edit_distance(a, b, equal)
            )


def test_a_tree_that_is_too_large_for_rows() -> None:
    """Beyond MOST_NODES the loops take over, with the same number: a tree without its last leaf is one edit away."""
    size = tree_distance.MOST_NODES + 3
    whole = tree(size, "grown", random.Random(5))
    assert tree_edit_distance(whole, whole[:-1], np.eye(size, size - 1, dtype=bool)) == 1.0
    small = tree_distance.MOST_NODES
    assert tree_edit_distance(whole[:small], whole[: small - 1], np.eye(small, small - 1, dtype=bool)) == 1.0
