"""The tree edit distance of Zhang and Shasha a row at a time, in NumPy: for the pairs before numba has been loaded.

Of the forests under one subtree of a, all those of b that end there are extended at once: every subtree that has a table of its own
(under a key root) gives a stretch of columns, and the stretches of all key roots stand side by side. Within a stretch the columns are
held less their own place, so that insertions are a running minimum, and stretches lie so far apart that none begins in the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Rows", "columns_of", "distance", "rows_of"]

Numbers = NDArray[np.int64]
APART = 1 << 20
"""More than any distance of two trees that fit into memory."""
FAR = 1 << 50


@dataclass(frozen=True, slots=True)
class _Level:
    """Key roots of which none stands under another: their columns begin to end, and those of the nodes on their first paths.

    nodes : of every column. base : see Columns. path : the columns, counted from begin, whose trees are found here, and on_path their nodes.
    """

    begin: int
    end: int
    nodes: NDArray[np.intp]
    base: Numbers
    path: NDArray[np.intp]
    path_base: Numbers
    on_path: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Columns:
    """The stretches of a tree of m nodes, those of inner key roots first.

    nodes : (L,) the node of a column; m before the first. jump : the column before the subtree of the column's node. base : the number
    of the empty forest less the column's place, the same in a whole stretch. unfit : 0 for nodes on the key root's first path, else FAR.
    """

    nodes: NDArray[np.intp]
    jump: NDArray[np.intp]
    base: Numbers
    unfit: Numbers
    levels: tuple[_Level, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A tree in the order of its rows. leaves : key roots without children. others : for every other key root, in order, the first node
    under it and where the subtree of each node up to it begins, counted from there.
    """

    size: int
    leaves: NDArray[np.intp]
    others: tuple[tuple[int, tuple[int, ...]], ...]


def rows_of(leftmost: NDArray[np.int64], keys: NDArray[np.int64]) -> Rows:
    """The rows of a tree that `post_order` arranged."""
    left = leftmost.tolist()
    others = tuple(
        (left[key], tuple(n - left[key] for n in left[left[key] : key + 1])) for key in keys.tolist() if left[key] < key
    )
    return Rows(len(left), np.array([key for key in keys.tolist() if left[key] == key], np.intp), others)


def columns_of(leftmost: NDArray[np.int64], keys: NDArray[np.int64]) -> Columns:
    """The columns of a tree that `post_order` arranged."""
    left, m = leftmost.tolist(), len(leftmost)
    depths: dict[int, int] = {}
    groups: list[list[int]] = []
    for key in keys.tolist():
        depths[key] = depth = 1 + max((found for other, found in depths.items() if other >= left[key]), default=-1)
        groups += [[]] if depth == len(groups) else []
        groups[depth].append(key)
    nodes: list[int] = []
    jump: list[int] = []
    base: list[int] = []
    path: list[list[int]] = []
    ends = [0]
    for group in groups:
        path.append([])
        for key in group:
            start, at, stretch = left[key], len(nodes), -APART * (1 + len(base))
            under = left[start : key + 1]
            nodes += [m, *range(start, key + 1)]
            jump += [at, *(at + first - start for first in under)]
            path[-1] += [at + place for place, first in enumerate(under, start=1) if first == start]
            base += [stretch] * (key - start + 2)
        ends.append(len(nodes))
    arrays = np.array(nodes, np.intp), np.array(jump, np.intp), np.array(base, np.int64)
    unfit = np.full(len(nodes), FAR, np.int64)
    unfit[[place for group in path for place in group]] = 0
    levels = []
    for begin, end, places in zip(ends, ends[1:], path, strict=False):
        chosen = np.array(places, np.intp)
        levels.append(
            _Level(begin, end, arrays[0][begin:end], arrays[2][begin:end], chosen - begin, arrays[2][chosen], arrays[0][chosen])
        )
    return Columns(*arrays, unfit, tuple(levels))


def distance(a: Rows, b: Columns, equal: NDArray[np.bool_]) -> int:
    """The least number of changes, insertions and deletions. equal : (n, m) bool, both in post-order; a change there is free."""
    n, m = equal.shape
    above = np.full((n, m + 1), FAR, np.int64)  # the distance of two subtrees less the size of b's
    change = np.zeros((n, m + 1), np.int64)
    np.subtract(0, equal, out=change[:, :m], dtype=np.int64)
    forest = np.empty((n + 1, len(b.nodes)), np.int64)
    forest[0] = b.base
    if len(a.leaves):
        found = above[a.leaves]
        _path(forest[:1], np.empty((len(a.leaves), len(b.nodes)), np.int64), change[a.leaves], found, b)
        above[a.leaves] = found
    for start, begins in a.others:
        for row, begin in enumerate(begins):
            node, new = start + row, forest[row + 1]
            if begin:
                np.add(forest[row], 1, out=new)
                other = forest[begin].take(b.jump)
                other += above[node].take(b.nodes)
                np.minimum(new, other, out=new)
                np.minimum.accumulate(new, out=new)
            else:
                _path(forest[row], new, change[node], above[node], b)
    return int(above[-1, m - 1]) + m


def _path(before: Numbers, new: Numbers, change: Numbers, above: Numbers, b: Columns) -> None:
    """The rows of nodes on the first path of their key root; what that says of two subtrees is written into ``above``."""
    np.add(before, 1, out=new)
    fits = change.take(b.nodes[1:], axis=-1)
    fits += b.unfit[1:]
    fits += before[..., :-1]
    np.minimum(new[..., 1:], fits, out=new[..., 1:])
    for number, level in enumerate(b.levels):
        part = new[..., level.begin : level.end]
        if number:  # those of the first level have no subtrees beside their path
            inner = above.take(level.nodes, axis=-1)
            inner += level.base
            np.minimum(part, inner, out=part)
        np.minimum.accumulate(part, axis=-1, out=part)
        above[..., level.on_path] = part.take(level.path, axis=-1) - level.path_base
