"""The uncertainty of means: bootstrap intervals and sign-flip tests over segments, the same numbers for the same seed.

All columns of a table are resampled together, so that the intervals of the score and of the components come from the same draws.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.exceptions import InputError

Rows = NDArray[np.float64]
LEVEL = 0.95
"""The share of resampled means that an interval holds."""

EXACT = 12
"""The most segments for which every pattern of signs is counted, not a sample of them."""

NEAR = 1e-12
"""Sums closer than this (relative to the sum of absolute differences) are equal: rounding."""


def bootstrap_means(table: ArrayLike, resamples: int, seed: int) -> Rows:
    """Return the column means of ``resamples`` tables, each as long as the given one, rows drawn with replacement.

    Raises InputError for resamples below 1.

    Parameters
    ----------
    table
        (n, k), one row per segment. Gives (resamples, k), nan without rows. Each resample draws ``integers(n, size=n)`` from
        ``default_rng(seed)``; only the count of each row is kept, so 100,000 segments need no more memory than their table.
    """
    rows, generator = _checked(table, resamples), np.random.default_rng(seed)
    count = len(rows)
    if not count:
        return np.full((resamples, rows.shape[1]), np.nan)
    means = np.empty((resamples, rows.shape[1]))
    for place in range(resamples):
        means[place] = np.bincount(generator.integers(count, size=count), minlength=count).astype(np.float64) @ rows
    return means / count


def bootstrap_intervals(table: ArrayLike, resamples: int, seed: int) -> Rows:
    """Return the percentile interval of the mean of each column, (k, 2); nan below two rows.

    Source: Efron and Tibshirani 1993, section 13.3; for two systems Koehn 2004, "Statistical significance tests for machine translation
    evaluation" (pass the differences).
    """
    means = bootstrap_means(table, resamples, seed)
    if np.shape(table)[0] < 2:
        return np.full((means.shape[1], 2), np.nan)
    ends = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return np.asarray(ends.T, dtype=np.float64)


def sign_flip_p_values(table: ArrayLike, resamples: int, seed: int) -> Rows:
    """Return two-sided p-values, (k,): the probability of a mean as far from 0 if the sign of every row were random.

    Raises InputError for resamples below 1. Source: Fisher's randomisation test, as Riezler and Maxwell 2005 recommend for comparing two
    systems.

    Parameters
    ----------
    table
        (n, k) paired differences, one row per segment; the signs of a row flip together, as its two systems change places. Up to 12
        segments all 2**n patterns are counted; for more, ``resamples`` random ones and the data itself (Phipson and Smyth 2010), so p is
        never 0. nan without rows and for a column with nan.
    """
    rows, generator = _checked(table, resamples), np.random.default_rng(seed)
    count, total = len(rows), rows.sum(axis=0)
    if not count:
        return np.full(rows.shape[1], np.nan)
    far = np.abs(total) - NEAR * np.abs(rows).sum(axis=0)
    unknown = np.where(np.isnan(total), np.nan, 0.0)
    if count <= EXACT:
        flipped = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(np.float64)
        return np.asarray((np.abs(total - 2.0 * (flipped @ rows)) >= far).mean(axis=0) + unknown)
    farther = np.ones(rows.shape[1])
    for _ in range(resamples):
        coins = np.unpackbits(np.frombuffer(generator.bytes(-(-count // 8)), dtype=np.uint8), count=count)
        farther += np.abs(total - 2.0 * (coins.astype(np.float64) @ rows)) >= far
    return farther / (resamples + 1) + unknown


def _checked(table: ArrayLike, resamples: int) -> Rows:
    """Return the table as (n, k) float64."""
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise InputError(f"resamples must be a positive integer, got {resamples!r}: 2000 is usual")
    return np.asarray(table, dtype=np.float64)
