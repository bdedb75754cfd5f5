"""The door of the statistics: arrays of equal length without gaps, keys that fit them, options that exist."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.exceptions import InputError

__all__ = ["Keys", "Vector", "check_choice", "check_keys", "check_pair", "check_scores"]

Vector = NDArray[np.float64]
Keys = Sequence[Hashable] | None
"""One key a segment (an item, a system, a language pair), or None where that is unknown."""


def check_scores(scores: ArrayLike, side: str) -> Vector:
    """(n,) float64, every number finite.

    side : what messages call the numbers, such as ``people``. Segments are counted from 1 in messages.
    Raises InputError for another shape, for what is no number, and for nan or infinity, naming the segment.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{side}: not all are numbers ({error}): give one number a segment") from error
    if values.ndim != 1:
        raise InputError(f"{side}: shape {values.shape} where (n,) is needed: give one number a segment")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{side}: segment {bad[0] + 1} of {values.size} is {values[bad[0]]}"
            f"{f', and {bad.size - 1} more' if bad.size > 1 else ''}: score every segment, or leave it out on both sides"
        )
    return values


def check_pair(people: ArrayLike, metric: ArrayLike) -> tuple[Vector, Vector]:
    """Both sides as (n,) float64 of one length, which may be 0.

    Raises InputError as `check_scores`, and for lengths that differ.
    """
    ratings, scores = check_scores(people, "people"), check_scores(metric, "metric")
    if ratings.size != scores.size:
        raise InputError(f"people rated {ratings.size} segments, the metric scored {scores.size}: pair them one to one")
    return ratings, scores


def check_keys(keys: Keys, name: str, size: int, needed: bool = False) -> tuple[Hashable, ...]:
    """One key a segment; a single shared key where none are given.

    Raises InputError for a length other than size, and for None where needed.
    """
    if keys is None:
        if needed:
            raise InputError(f"{name} are not given: this average needs one key a segment")
        return (None,) * size
    if len(keys) != size:
        raise InputError(f"{name} has {len(keys)} keys for {size} segments: give one a segment")
    return tuple(keys)


def check_choice(given: str, name: str, known: Iterable[str]) -> None:
    """Raises InputError, listing what is known, for a name that is not among it."""
    names = tuple(known)
    if given not in names:
        raise InputError(f"{name} {given!r} is unknown: use one of {', '.join(names)}")
