"""The best tree over a matrix of arc scores: Chu and Liu (1965), Edmonds (1967), with exactly one root; compiled where that pays.

The single root comes from a penalty on every arc from the root that no tree could win back (Stanojevic and Cohen 2021), as in
Stanza, whose plain Python version takes longer than the parser's network.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernels

__all__ = ["best_tree"]

_kernels = Kernels(globals(), worth=100_000)
"""In arcs of sentences whose words' favourite heads are no tree, one in ten or so: about half a second of plain Python."""


def best_tree(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Heads of the highest-scoring tree in which exactly one node hangs under node 0.

    scores : (n, n), scores[i, j] is the score of j as the head of i; node 0 is the imaginary root and its row is not read,
        the diagonal neither. Returns (n,) heads, 0 for node 0 itself; for n = 1 just [0].
    """
    matrix = np.array(scores, dtype=np.float64)
    finite = np.isfinite(matrix)
    lowest = matrix[finite].min() if finite.any() else 0.0
    matrix[~finite] = lowest - 1.0
    np.fill_diagonal(matrix, lowest - 2.0)
    best = matrix.argmax(axis=1)
    best[0] = 0
    if _is_tree(best):  # what every node likes best: nothing can be better
        return best
    _kernels.prepare(matrix.size)
    spread = matrix.max() - matrix.min() + 1.0
    free = np.asarray(_spanning_tree(matrix.copy()))
    if _is_tree(free):  # the best of all trees has one root
        return free
    matrix[:, 0] -= spread * len(matrix)
    return np.asarray(_spanning_tree(matrix))


def _is_tree(heads: NDArray[np.int64]) -> bool:
    """Whether every node reaches node 0 by its heads, and exactly one at once."""
    if np.count_nonzero(heads[1:] == 0) != 1:
        return len(heads) == 1
    reached = heads
    for _ in range(len(heads).bit_length()):  # each round doubles the steps taken
        reached = reached[reached]
    return not reached.any()


@_kernels.add
def _choose(scores, alive, best):  # type: ignore[no-untyped-def]
    """Write the best head of every living node but the root into ``best``."""
    for i in range(1, len(scores)):
        if alive[i]:
            top = -1
            for j in range(len(scores)):
                if alive[j] and j != i and (top < 0 or scores[i, j] > scores[i, top]):
                    top = j
            best[i] = top


@_kernels.add
def _cycle(alive, best):  # type: ignore[no-untyped-def]
    """Which nodes lie on the first cycle of best heads; none when they form a tree."""
    n = len(best)
    inside = np.zeros(n, np.bool_)
    seen = np.zeros(n, np.int64)
    for start in range(1, n):
        node = start
        while alive[start] and node != 0 and seen[node] == 0:
            seen[node] = start
            node = best[node]
        if alive[start] and node != 0 and seen[node] == start:
            while not inside[node]:
                inside[node] = True
                node = best[node]
            break
    return inside


@_kernels.add
def _contract(scores, alive, best, inside, node, dependents, sources):  # type: ignore[no-untyped-def]
    """Let ``node`` stand for the whole cycle: its best arc from and to every other node; the cycle's other nodes die."""
    n = len(scores)
    for k in range(n):
        if alive[k] and not inside[k]:
            into, out = -1, -1
            gain = 0.0
            for c in range(n):
                if inside[c]:
                    if into < 0 or scores[c, k] - scores[c, best[c]] > gain:
                        into, gain = c, scores[c, k] - scores[c, best[c]]
                    if out < 0 or scores[k, c] > scores[k, out]:
                        out = c
            scores[node, k], scores[k, node] = gain, scores[k, out]
            dependents[node, k], sources[node, k] = dependents[into, k], sources[into, k]
            dependents[k, node], sources[k, node] = dependents[k, out], sources[k, out]
    for c in range(n):
        if inside[c] and c != node:
            alive[c] = False


@_kernels.add
def _spanning_tree(scores):  # type: ignore[no-untyped-def]
    """Heads of the best tree: contract cycles of best arcs until there is none, then open them again, last first.

    A contracted cycle lives on under one of its nodes; ``dependents`` and ``sources`` know which arc of the whole graph each
    arc between the nodes that are left stands for.
    """
    n = len(scores)
    alive = np.ones(n, np.bool_)
    best = np.zeros(n, np.int64)
    owner = np.arange(n)
    dependents, sources = np.empty((n, n), np.int64), np.empty((n, n), np.int64)
    for i in range(n):
        dependents[i, :], sources[:, i] = i, i
    owners, cycle_dependents, cycle_sources = np.full((n, n), -1), np.full((n, n), -1), np.full((n, n), -1)
    levels = 0
    while True:
        _choose(scores, alive, best)
        inside = _cycle(alive, best)
        if not inside.any():
            break
        for c in range(n):
            if inside[c]:
                cycle_dependents[levels, c], cycle_sources[levels, c] = dependents[c, best[c]], sources[c, best[c]]
        node = int(np.argmax(inside))
        for v in range(n):
            if inside[owner[v]]:
                owners[levels, v] = owner[v]
                owner[v] = node
        _contract(scores, alive, best, inside, node, dependents, sources)
        levels += 1
    heads = np.full(n, -1)
    heads[0] = 0
    for i in range(1, n):
        if alive[i]:
            heads[dependents[i, best[i]]] = sources[i, best[i]]
    for level in range(levels - 1, -1, -1):
        entered = -1
        for v in range(n):
            if owners[level, v] >= 0 and heads[v] >= 0:
                entered = owners[level, v]
        for c in range(n):
            if cycle_dependents[level, c] >= 0 and c != entered:
                heads[cycle_dependents[level, c]] = cycle_sources[level, c]
    return heads
