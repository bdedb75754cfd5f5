"""What an error is: where it stands on both sides, its kind, its type, how severe and how sure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

__all__ = ["MAJOR", "MAXIMUM", "MINOR", "ErrorSpan", "ErrorsEvidence", "TextSpan", "value_and_raw"]

MINOR, MAJOR, MAXIMUM = 1.0, 5.0, 25.0
"""The weights of MQM: one minor error, one major error, and the most that a segment can collect."""


def value_and_raw(count: float, words: int) -> tuple[float, float]:
    """The component of a hypothesis whose errors weigh ``count`` together, for a reference of so many words.

    The value is exp(-count / (5 sqrt(words))), raw the count brought under 25 by 25 (1 - exp(-count / 25)).
    """
    return math.exp(-count / (MAJOR * math.sqrt(max(1, words)))), MAXIMUM * (1.0 - math.exp(-count / MAXIMUM))


Kind = Literal["missing", "unnecessary", "replacement", "order", "surface"]
Severity = Literal["none", "minor", "major"]


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters ``text[start:end]`` of one side."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """One edit between reference and hypothesis that counts as a mistake.

    kind : what was done (``missing`` stands in the reference only, ``unnecessary`` in the hypothesis only).
    type : what it is about: number, name, negation, antonym, noun, verb, inflection, spelling, casing, spacing, punctuation, article, ...
    severity : the likelier one of what is likely enough a mistake (more likely than not by rules; the learned estimator has a
        threshold), else none. confidence : in [0, 1], the probability that it
        is a mistake at all.
    weight : the expected severity, the sum over none (0), minor (1) and major (5) of probability times weight; in [0, 5] for one word
        or edit, added up over the words of a longer span.
    reference, hypothesis : where it stands; None on a side that it does not touch.
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
    """The errors in the order of the hypothesis, and the sum of their weights before the cap at 25."""

    errors: tuple[ErrorSpan, ...]
    count: float
