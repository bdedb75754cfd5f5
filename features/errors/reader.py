"""What the reader of both texts says of a pair: for every word whether it is wrong, how badly and how, and what all errors weigh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..values import Analysis
from .values import CRITICAL, MAJOR, MINOR, Severity

__all__ = ["MARKS", "READER_FILE", "SEVERITIES", "TYPES", "WEIGHTS", "PairReading", "Reader"]

READER_FILE = "reader.safetensors"
SEVERITIES: tuple[Severity, ...] = ("none", "minor", "major", "critical")
WEIGHTS = (0.0, MINOR, MAJOR, CRITICAL)
"""What an error of each of SEVERITIES weighs."""
MARKS = ("start", "between", "end")
"""Places of a row that are no words: before the reference, between the texts, after the hypothesis."""
TYPES = (
    *(
        "addition",
        "omission",
        "substitution",
        "antonym",
        "negation",
        "name",
        "number",
        "gender",
        "grammar",
        "order",
        "spelling",
    ),
    *("roles", "quantifier", "condition", "modality", "unit", "relation", "frequency", "time", "cause", "other"),
)
"""What an error can be about."""


@dataclass(frozen=True, eq=False)
class PairReading:
    """For p words of the reference and q of the hypothesis, the reference's first.

    probabilities : (p + q, 4) of SEVERITIES. types : (p + q, len(TYPES)), given that the word is part of an error. amount : at least 0,
    what the errors of the pair weigh together.
    """

    probabilities: NDArray[np.floating[Any]]
    types: NDArray[np.floating[Any]]
    amount: float


class Reader(Protocol):
    """Reads pairs; what it says of one does not depend on the others."""

    def __call__(self, pairs: Sequence[tuple[Analysis, Analysis]]) -> list[PairReading]:
        """One reading a pair of reference and hypothesis, in order."""
