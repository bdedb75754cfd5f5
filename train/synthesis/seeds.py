"""Chance that depends on a run's seed and a text alone, the same in every process and every version of NumPy."""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_right
from functools import lru_cache

__all__ = ["identifier", "pair_seed", "poisson"]


def pair_seed(seed: int, text: str) -> int:
    """48 bits that depend on the run's seed and the text alone."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()[:6], "big")


def identifier(*parts: object) -> str:
    """16 hexadecimal digits that depend on the parts alone."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@lru_cache(maxsize=32)
def _distribution(mean: float) -> tuple[float, ...]:
    from scipy import stats

    return tuple(float(p) for p in stats.poisson.cdf(range(256), mean))


def poisson(chance: random.Random, mean: float) -> int:
    """One draw from the Poisson distribution with that mean, by inversion; at most 256."""
    return bisect_right(_distribution(mean), chance.random())
