"""Bootstrap resamples of inputs: how often each input is drawn.

All outputs of an input are drawn together, since ratings of outputs for one input are not independent. What the statistics of the
resamples are is in weighted.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.agreement.checks import Keys, check_keys
from rome.evaluation.agreement.groups import numbered
from rome.exceptions import InputError

__all__ = ["Resamples", "Weights", "draw"]

Weights = NDArray[np.float32]
"""(samples, clusters) whole numbers: how often each cluster was drawn; float32 for fast and still exact products."""


@dataclass(frozen=True, eq=False)
class Resamples:
    """clusters : (n,) the input of each segment. weights : (samples, inputs) how often each was drawn."""

    clusters: NDArray[np.int64]
    weights: Weights


def draw(size: int, items: Keys, language_pairs: Keys, samples: int, seed: int) -> Resamples:
    """Draw inputs with replacement, as many as there are, each language pair for itself; the same keys and seed give the same draws.

    items : None makes each segment an input of its own. Raises InputError for samples below 1 and for keys that do not fit.
    """
    if samples < 1:
        raise InputError(f"samples={samples} gives no interval: take 1 or more, 1000 is usual")
    pairs = check_keys(language_pairs, "language_pairs", size)
    of_items = range(size) if items is None else check_keys(items, "items", size)
    clusters, count = numbered(zip(pairs, of_items, strict=True))
    strata, _ = numbered(pairs)
    of_cluster = np.zeros(count, dtype=np.int64)
    of_cluster[clusters] = strata
    generator = np.random.default_rng(seed)
    weights = np.zeros((samples, count), dtype=np.float32)
    for stratum in np.unique(of_cluster):
        members = np.flatnonzero(of_cluster == stratum)
        drawn = generator.integers(members.size, size=(samples, members.size)) + np.arange(samples)[:, None] * members.size
        counts = np.bincount(drawn.ravel(), minlength=samples * members.size)
        weights[:, members] = counts.reshape(samples, members.size)
    return Resamples(clusters, weights)
