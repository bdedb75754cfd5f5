"""The compiled tree edit distance equals zss and a slow textbook version, on random trees and on trees of real shape."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.features.tree_edit_distance import post_order, tree_edit_distance, tree_mapping


@st.composite
def trees(draw: st.DrawFn, largest: int = 12) -> tuple[list[int], list[int]]:
    """Parents (children in index order) and labels of a random tree; node 0 is the root."""
    size = draw(st.integers(1, largest))
    parents = [-1] + [draw(st.integers(0, n - 1)) for n in range(1, size)]
    return parents, [draw(st.integers(0, 3)) for _ in range(size)]


def equality(a: list[int], b: list[int]) -> np.ndarray:
    return np.array(a)[:, None] == np.array(b)[None, :]


def edit_distance(parents_a: list[int], parents_b: list[int], equal: np.ndarray) -> float:
    return tree_edit_distance(post_order(parents_a, mirrored=True), post_order(parents_b, mirrored=True), equal)


def by_textbook(parents_a: list[int], parents_b: list[int], equal: np.ndarray) -> float:
    """The recursive definition over forests of post-order positions, memoised; exponential without the memory."""
    (order_a, left_a, _), (order_b, left_b, _) = post_order(parents_a), post_order(parents_b)

    @lru_cache(None)
    def forest(i0: int, i1: int, j0: int, j1: int) -> float:
        if i1 < i0 and j1 < j0:
            return 0.0
        if i1 < i0:
            return float(j1 - j0 + 1)
        if j1 < j0:
            return float(i1 - i0 + 1)
        a, b = left_a[i1], left_b[j1]
        change = 0.0 if equal[order_a[i1], order_b[j1]] else 1.0
        return min(
            forest(i0, i1 - 1, j0, j1) + 1,
            forest(i0, i1, j0, j1 - 1) + 1,
            forest(i0, a - 1, j0, b - 1) + forest(a, i1 - 1, b, j1 - 1) + change,
        )

    return forest(0, len(parents_a) - 1, 0, len(parents_b) - 1)


def above(parents: list[int], node: int, other: int) -> bool:
    """Whether a node is an ancestor of another."""
    while other >= 0 and other != node:
        other = parents[other]
    return other == node


@settings(max_examples=60, deadline=None)
@given(trees(30), trees(30))
def test_a_mapping_is_an_edit_script(a: tuple[list[int], list[int]], b: tuple[list[int], list[int]]) -> None:
    """One-to-one, order and ancestors kept, and deleting, inserting and changing what it says costs the distance."""
    equal = equality(a[1], b[1])
    pairs = tree_mapping(a[0], b[0], equal)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    place_a, place_b = (np.argsort(post_order(tree[0])[0]) for tree in (a, b))
    for i, j in pairs:
        for k, m in pairs:
            assert above(a[0], i, k) == above(b[0], j, m)
            assert (place_a[i] < place_a[k]) == (place_b[j] < place_b[m])
    changes = sum(not equal[i, j] for i, j in pairs)
    assert len(a[0]) + len(b[0]) - 2 * len(pairs) + changes == edit_distance(a[0], b[0], equal)


def test_a_mapping_of_large_trees() -> None:
    """Hundreds of nodes take no time and no memory to speak of: a tree against itself maps every node to itself."""
    parents = [-1, *(max(0, n - 1 - n % 7) for n in range(1, 300))]
    assert tree_mapping(parents, parents, np.eye(300, dtype=bool)) == [(n, n) for n in range(300)]


@settings(max_examples=60, deadline=None)
@given(trees(7), trees(7))
def test_equals_the_textbook_recursion(a: tuple[list[int], list[int]], b: tuple[list[int], list[int]]) -> None:
    """An independent definition over forests gives the same distance."""
    equal = equality(a[1], b[1])
    assert edit_distance(a[0], b[0], equal) == by_textbook(a[0], b[0], equal)


@settings(max_examples=60, deadline=None)
@given(trees(), trees(), trees())
def test_is_a_metric(a: tuple[list[int], list[int]], b: tuple[list[int], list[int]], c: tuple[list[int], list[int]]) -> None:
    """Zero on itself, symmetric, and never longer than a detour."""

    def distance(x: tuple[list[int], list[int]], y: tuple[list[int], list[int]]) -> float:
        return edit_distance(x[0], y[0], equality(x[1], y[1]))

    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)
