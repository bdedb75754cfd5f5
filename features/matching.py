"""Match the words of two texts: cosines, equal forms, and words that keep their order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


def cosines(rows: Vectors, columns: Vectors) -> Vectors:
    """Return (p, q) cosines in [-1, 1] between vectors of length 1 (or 0), see `unit_vectors`."""
    if not len(rows) or not len(columns):
        return np.zeros((len(rows), len(columns)))
    found: Vectors = rows @ columns.T
    return np.clip(found, -1.0, 1.0, out=found)


def unit_vectors(vectors: NDArray[np.floating]) -> Vectors:
    """Return (n, d) vectors brought to length 1, a zero vector left as it is."""
    values = vectors.astype(np.float64)
    norms = np.sqrt(np.add.reduce(values * values, axis=1, keepdims=True))
    norms[norms == 0.0] = 1.0
    values /= norms
    return values


def equal_texts(rows: Sequence[str], columns: Sequence[str]) -> NDArray[np.bool_]:
    """Return (p, q) whether row i and column j are the same text."""
    number: dict[str, int] = {}
    numbered = [np.array([number.setdefault(text, len(number)) for text in texts], np.int64) for texts in (rows, columns)]
    found: NDArray[np.bool_] = numbered[0][:, None] == numbered[1][None, :]
    return found


def best_assignment(gain: Vectors) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the one-to-one pairs of highest total gain, in the order of the rows."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gain, maximize=True)
    return rows, columns


def longest_increasing_subsequence(numbers: Sequence[int]) -> list[int]:
    """Return the places of one longest strictly increasing subsequence (patience sorting, Fredman 1975)."""
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for n, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(number)
            ends.append(n)
        else:
            tails[at], ends[at] = number, n
    chain, n = [], ends[-1] if ends else -1
    while n >= 0:
        chain.append(n)
        n = before[n]
    return chain[::-1]
