"""The points lost against a perfect text, feature by feature as exact Shapley values, and mistake by mistake.

With d inputs there are 2**d coalitions (16 for the four features), so nothing is sampled. The value of a coalition S for a row
x is f of the row that takes x inside S and the baseline outside. Source: Shapley 1953; Lundberg and Lee 2017, eq. 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from rome.features.errors.evidence import ErrorSpan
from rome.features.values import FEATURES

Rows = NDArray[np.float64]


def shapley_values(function: Callable[[Rows], Rows], rows: Rows, baseline: Rows) -> Rows:
    """Return the contributions of the d inputs to ``function(row) - function(baseline)``, (n, d) float64.

    Their sum is that difference, symmetric inputs get the same share, and an input that equals its baseline (or that the function
    ignores) gets 0. An empty (0, d) array gives an empty one. ``function`` maps (n, d) to (n,).
    """
    width = rows.shape[1]
    inside = (np.arange(1 << width)[:, None] >> np.arange(width) & 1).astype(bool)
    coalitions = np.where(inside, rows[:, None, :], baseline)
    values = function(coalitions.reshape(-1, width)).reshape(-1, 1 << width)  # bit i of a column's number: input i is inside
    out = np.zeros_like(rows, dtype=np.float64)
    for coalition in range(1 << width):
        size = coalition.bit_count()
        weight = factorial(size) * factorial(width - size - 1) / factorial(width) if size < width else 0.0
        for bit in range(width):
            if not coalition >> bit & 1:
                out[:, bit] += weight * (values[:, coalition | 1 << bit] - values[:, coalition])
    return out


@dataclass(frozen=True, slots=True)
class Loss:
    """The points lost to one mistake, or to one feature.

    Attributes
    ----------
    feature
        One of FEATURES.
    loss
        At most 0, a part of score - 1.
    error
        The mistake; None for a whole feature.
    """

    feature: str
    loss: float
    error: ErrorSpan | None = None


def losses_of(contributions: Iterable[float], errors: Sequence[ErrorSpan], doubt: float = 0.0) -> tuple[Loss, ...]:
    """Return the contributions, in the order of FEATURES, as losses, the largest first; that of ``errors`` is divided by weight.

    The sum stays the same. What the doubt loses, or all without errors of any weight, is one loss of ``errors``.
    """
    total = sum(error.weight for error in errors)
    losses: list[Loss] = []
    for name, share in zip(FEATURES, contributions, strict=True):
        if name == "errors" and total > 0.0:
            each = share / (total + doubt)
            losses += [Loss(name, each * error.weight, error) for error in errors]
            if doubt:
                losses.append(Loss(name, each * doubt))
        else:
            losses.append(Loss(name, share))
    return tuple(sorted(losses, key=lambda loss: loss.loss))
