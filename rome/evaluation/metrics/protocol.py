"""What a metric is to the evaluation: a name, a signature, and a function from texts to scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError

References = Sequence[Sequence[str]]
"""For each hypothesis its references, at least one: ``[segment][reference]``."""

Scores = NDArray[np.float64]
"""(n,) one number a segment, higher is better."""


class Metric(Protocol):
    """Any metric that can be judged; higher is better.

    Attributes
    ----------
    name
        How tables call it.
    signature
        Every choice that changes a number, ``key:value|key:value``.
    """

    @property
    def name(self) -> str:
        """How tables call it."""

    @property
    def signature(self) -> str:
        """Every choice that changes a number."""

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) float64, one finite score a hypothesis; hypotheses may be empty texts."""


def checked_scores(found: Any, count: int, name: str) -> Scores:
    """What a metric returned as (n,) float64. Raises InputError unless that is one finite number for each of so many hypotheses."""
    try:
        scores = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} returned {type(found).__name__} ({error}): return one number a hypothesis") from error
    if scores.shape != (count,):
        raise InputError(f"{name} returned shape {scores.shape} for {count} hypotheses: return one number each")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if wrong.size:
        raise InputError(f"{name} returned {scores[wrong[0]]} for segment {wrong[0]}: return finite numbers")
    return scores
