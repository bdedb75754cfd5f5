"""What the errors feature says: mistakes with their spans, what they weigh, and what the pair reader says of every word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..values import Analysis

MINOR, MAJOR, CRITICAL, MAXIMUM = 1.0, 5.0, 10.0, 25.0
"""The weights of MQM: one minor, one major and one critical error (the meaning is turned), and the most that a segment can collect."""
HALF = 12.0
"""The count that halves the component; found on development data."""
Kind = Literal["missing", "unnecessary", "replacement", "order", "surface"]
Severity = Literal["none", "minor", "major", "critical"]
READER_FILE = "reader.safetensors"
SEVERITIES: tuple[Severity, ...] = ("none", "minor", "major", "critical")
WEIGHTS = (0.0, MINOR, MAJOR, CRITICAL)
"""What an error of each of SEVERITIES weighs."""
MARKS = ("start", "between", "end")
"""Places of a row that are no words: before the reference, between the texts, after the hypothesis."""
TYPES = tuple(
    "negation number unit date time name place roles quantifier condition modality cause relation antonym frequency comparison"
    " verb noun adjective addition omission generalisation pronoun reference tense agreement article preposition order spelling"
    " punctuation repetition idiom style".split()
)
"""What an error can be about."""


def value_of(count: float) -> float:
    """The component of a hypothesis whose errors weigh ``count`` together: 12 / (12 + count)."""
    return HALF / (HALF + count)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters ``text[start:end]`` of one side."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """One edit between reference and hypothesis that counts as a mistake.

    Attributes
    ----------
    kind
        What was done (``missing`` stands in the reference only, ``unnecessary`` in the hypothesis only).
    type
        What it is about: number, name, negation, antonym, noun, verb, inflection, tense, spelling, casing, spacing, punctuation, article, ...
    severity
        Minor, major or critical (the meaning is turned); none for a difference without consequence.
    confidence
        In [0, 1], the probability that it is a mistake at all.
    weight
        What it counts, in [0, 25]; 1 for a sure minor error, 5 for a major, 10 for a critical one; 0 for a mere difference.
    reference, hypothesis
        Where it stands; None on a side that it does not touch.
    """

    kind: Kind
    type: str
    severity: Severity
    weight: float
    confidence: float
    reference: TextSpan | None
    hypothesis: TextSpan | None


@dataclass(frozen=True, slots=True)
class ErrorsEvidence:
    """What was found, in the order of the hypothesis.

    Attributes
    ----------
    errors
        What counts.
    count
        The sum of their weights, at most 25; what the component's value is made of, and its raw quantity.
    differences
        Where the texts differ without consequence.
    """

    errors: tuple[ErrorSpan, ...]
    count: float
    differences: tuple[ErrorSpan, ...] = ()


@dataclass(frozen=True, eq=False)
class PairPrediction:
    """For p words of the reference and q of the hypothesis, the reference's first.

    Attributes
    ----------
    probabilities
        (p + q, 4) of SEVERITIES.
    types
        (p + q, len(TYPES)), given that the word is part of an error.
    amount
        At least 0, what the errors of the pair weigh together.
    """

    probabilities: NDArray[np.floating[Any]]
    types: NDArray[np.floating[Any]]
    amount: float


class PairErrorModel(Protocol):
    """Reads pairs; what it says of one does not depend on the others."""

    def __call__(self, pairs: Sequence[tuple[Analysis, Analysis]]) -> list[PairPrediction]:
        """One reading a pair of reference and hypothesis, in order."""
