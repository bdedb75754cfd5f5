"""The best tree over a matrix of arc scores: Chu and Liu (1965), Edmonds (1967), with exactly one root.

The single root comes from a penalty on every arc from the root that no tree could win back (Stanojevic and Cohen 2021), as in
Stanza, whose plain Python version takes longer than the parser's network.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_tree"]

Numbers = NDArray[np.int64]


def best_tree(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Heads of the highest-scoring tree in which exactly one node hangs under node 0.

    Parameters
    ----------
    scores
        (n, n), scores[i, j] is the score of j as the head of i; node 0 is the imaginary root and its row is not read, the diagonal neither.
        Returns (n,) heads, 0 for node 0 itself; for n = 1 just [0].
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
    spread = matrix.max() - matrix.min() + 1.0
    free = _spanning_tree(matrix.copy())
    if _is_tree(free):  # the best of all trees has one root
        return free
    matrix[:, 0] -= spread * len(matrix)
    return _spanning_tree(matrix)


def _is_tree(heads: NDArray[np.int64]) -> bool:
    """Whether every node reaches node 0 by its heads, and exactly one at once."""
    if np.count_nonzero(heads[1:] == 0) != 1:
        return len(heads) == 1
    reached = heads
    for _ in range(len(heads).bit_length()):  # each round doubles the steps taken
        reached = reached[reached]
    return not reached.any()


def _choose(scores: NDArray[np.float64], alive: Numbers, best: Numbers) -> None:
    """Write the best head of every living node but the root, which is the first, into ``best``."""
    among = scores[np.ix_(alive, alive)]
    np.fill_diagonal(among, -np.inf)
    best[alive[1:]] = alive[among[1:].argmax(axis=1)]


def _cycle(alive: Numbers, best: Numbers) -> Numbers:
    """The nodes on the first cycle of best heads, in rising order; none when they form a tree."""
    heads = best.tolist()
    seen = [0] * len(heads)
    for start in alive[1:].tolist():
        node = start
        while node != 0 and seen[node] == 0:
            seen[node] = start
            node = heads[node]
        if node != 0 and seen[node] == start:
            inside = {node}
            while heads[node] not in inside:
                node = heads[node]
                inside.add(node)
            return np.array(sorted(inside), np.int64)
    return np.zeros(0, np.int64)


def _contract(
    scores: NDArray[np.float64], best: Numbers, others: Numbers, cycle: Numbers, dependents: Numbers, sources: Numbers
) -> None:
    """Let the cycle's first node stand for the whole cycle: its best arc from and to every other node."""
    node, columns = cycle[0], np.arange(len(others))
    gains = scores[np.ix_(cycle, others)] - scores[cycle, best[cycle]][:, None]
    places = gains.argmax(axis=0)
    into, out = cycle[places], cycle[scores[np.ix_(others, cycle)].argmax(axis=1)]
    scores[node, others], scores[others, node] = gains[places, columns], scores[others, out]
    dependents[node, others], sources[node, others] = dependents[into, others], sources[into, others]
    dependents[others, node], sources[others, node] = dependents[others, out], sources[others, out]


def _spanning_tree(scores: NDArray[np.float64]) -> Numbers:
    """Heads of the best tree: contract cycles of best arcs until there is none, then open them again, last first.

    A contracted cycle lives on under one of its nodes; ``dependents`` and ``sources`` know which arc of the whole graph each
    arc between the nodes that are left stands for. ``scores`` is written over.
    """
    n = len(scores)
    alive, owner = np.arange(n), np.arange(n)
    best = np.zeros(n, np.int64)
    dependents, sources = np.repeat(alive[:, None], n, axis=1), np.repeat(alive[None, :], n, axis=0)
    opened: list[tuple[Numbers, Numbers, Numbers, Numbers]] = []
    while True:
        _choose(scores, alive, best)
        cycle = _cycle(alive, best)
        if not len(cycle):
            break
        owners = np.where(np.isin(owner, cycle), owner, -1)
        opened.append((cycle, owners, dependents[cycle, best[cycle]], sources[cycle, best[cycle]]))
        owner[owners >= 0] = cycle[0]
        others = np.setdiff1d(alive, cycle, assume_unique=True)
        _contract(scores, best, others, cycle, dependents, sources)
        alive = np.setdiff1d(alive, cycle[1:], assume_unique=True)
    heads = np.full(n, -1)
    heads[0] = 0
    left = alive[1:]
    heads[dependents[left, best[left]]] = sources[left, best[left]]
    for cycle, owners, inner, above in reversed(opened):
        entered = owners[(owners >= 0) & (heads >= 0)]
        stays = cycle != entered[-1] if len(entered) else np.ones(len(cycle), np.bool_)
        heads[inner[stays]] = above[stays]
    return heads
