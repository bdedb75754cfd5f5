"""Exact Shapley values: how much each input contributed to one function value, all coalitions counted.

With d inputs there are 2**d coalitions (16 for the four features), so nothing is sampled. The value of a coalition S for a row
x is f of the row that takes x inside S and the baseline outside. Source: Shapley 1953; Lundberg and Lee 2017, eq. 4.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np
from numpy.typing import NDArray

__all__ = ["coalition_values", "shapley_values"]

Rows = NDArray[np.float64]
BLOCK = 4096
"""Rows whose coalitions are worked out together."""


def coalition_values(function: Callable[[Rows], Rows], rows: Rows, baseline: Rows) -> Rows:
    """Value of every coalition for every row: (n, d) rows and a (d,) baseline give (n, 2**d).

    Column S (read as bits, bit i = input i) is ``function`` of the row with the inputs outside S replaced by the baseline, so
    column 0 is the baseline's own value and the last column is the row's.
    """
    count, width = rows.shape
    inside = (np.arange(1 << width)[:, None] >> np.arange(width) & 1).astype(bool)
    values = np.empty((count, 1 << width), dtype=np.float64)
    for start in range(0, count, BLOCK):
        part = rows[start : start + BLOCK, None, :]
        values[start : start + BLOCK] = function(np.where(inside, part, baseline).reshape(-1, width)).reshape(-1, 1 << width)
    return values


def shapley_values(function: Callable[[Rows], Rows], rows: Rows, baseline: Rows) -> Rows:
    """Contributions of the d inputs to ``function(row) - function(baseline)``, one row each: (n, d) float64.

    They add up to that difference, inputs that play the same part get the same share, and an input that equals its baseline
    (or that the function ignores) gets 0. An empty (0, d) array gives an empty one. ``function`` maps (n, d) to (n,).
    """
    width = rows.shape[1]
    values = coalition_values(function, rows, baseline)
    out = np.zeros_like(rows, dtype=np.float64)
    for coalition in range(1 << width):
        size = coalition.bit_count()
        weight = factorial(size) * factorial(width - size - 1) / factorial(width) if size < width else 0.0
        for bit in range(width):
            if not coalition >> bit & 1:
                out[:, bit] += weight * (values[:, coalition | 1 << bit] - values[:, coalition])
    return out
