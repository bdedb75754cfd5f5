"""What a metric is to the evaluation: a name, a signature, and a function from texts to scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
