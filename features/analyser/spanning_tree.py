"""The best tree over a matrix of arc scores: Chu and Liu (1965), Edmonds (1967), with exactly one root; compiled by numba.

The single root comes from a penalty on every arc from the root that no tree could win back (Stanojevic and Cohen 2021), as in
Stanza, whose plain Python version takes longer than the parser's network.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["best_tree"]


def best_tree(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Heads of the highest-scoring tree in which exactly one node hangs under node 0.

    scores : (n, n), scores[i, j] is the score of j as the head of i; node 0 is the imaginary root and its row is not read,
        the diagonal neither. Returns (n,) heads, 0 for node 0 itself; for n = 1 just [0].
    """
    matrix = np.array(scores, dtype=np.float64)
    finite = np.isfinite(matrix)
    lowest = matrix[finite].min() if finite.any() else 0.0
    matrix[~finite] = lowest - 1.0
    spread = matrix.max() - matrix.min() + 1.0
    matrix[:, 0] -= spread * len(matrix)
    return _spanning_tree(matrix)


@njit(cache=True)
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


@njit(cache=True)
def _choose(scores, alive, best):  # type: ignore[no-untyped-def]
    """Write the best head of every living node but the root into ``best``."""
    for i in range(1, len(scores)):
        if alive[i]:
            top = -1
            for j in range(len(scores)):
                if alive[j] and j != i and (top < 0 or scores[i, j] > scores[i, top]):
                    top = j
            best[i] = top


@njit(cache=True)
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


@njit(cache=True)
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
