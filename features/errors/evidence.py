"""Define the settings and the evidence of the errors feature: error spans, their weights, and the prediction of the pair reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..protocol import check_settings
from ..values import Analysis

MINOR, MAJOR, CRITICAL, MAXIMUM = 1.0, 5.0, 10.0, 25.0
"""The weights of MQM: one minor, one major and one critical error (the meaning is turned), and the cap of a segment."""
MINOR_MOST = 2.5
"""The highest weight that is still minor."""
BANDS: dict[str, tuple[float, float]] = {"minor": (0.1, MINOR_MOST), "major": (3.0, 7.5), "critical": (8.0, MAXIMUM)}
"""The least and the highest weight of an error of words, by its severity; one on the surface is minor and may weigh less."""
HALF = 12.0
"""The count that halves the component; chosen on development data."""
Kind = Literal["missing", "unnecessary", "replacement", "order", "surface"]
Severity = Literal["none", "minor", "major", "critical"]
READER_FILE = "reader.safetensors"
SEVERITIES: tuple[Severity, ...] = ("none", "minor", "major", "critical")
WEIGHTS = (0.0, MINOR, MAJOR, CRITICAL)
"""The weight of an error of each of SEVERITIES."""
SHARES = ("completeness", "faithfulness")
"""The shares of reference and hypothesis that the errors leave, see `share_of`; no inputs of the net."""
MARKS = ("start", "between", "end")
"""Positions of a row that are not words: before the reference, between the texts, after the hypothesis."""
TYPES = tuple(
    "negation number unit date time name place roles quantifier condition modality cause relation antonym frequency comparison verb noun"
    " adjective addition omission generalisation pronoun reference tense agreement article preposition order spelling punctuation"
    " repetition idiom style".split()
)
"""The error types that the pair reader distinguishes."""
EqualWords = Sequence[tuple[range, range]]
"""Words of reference and hypothesis that state the same quantity, as ranges of word indices."""


def value_of(cost: float) -> float:
    """Return the component for a hypothesis whose errors cost so much together: 12 / (12 + cost)."""
    return HALF / (HALF + cost)


@dataclass(frozen=True, slots=True)
class SurfaceConfig:
    """Set the probability that a difference on the surface is an error; all such errors are minor.

    Attributes
    ----------
    sure
        Words typed twice, and the wrong one of `a` and `an`.
    likely
        A missing final mark, a stray mark, a sentence with a small first letter, a wrong blank.
    possible
        Other marks and capitals.
    slip
        The weight of an error in casing, spacing or punctuation relative to another minor error (.1 in MQM, Freitag et al. 2021). A missing
        final mark has the full weight.
    again
        The weight of each further word typed twice, where such words are at most a third of the text.
    """

    sure: float = 0.9
    likely: float = 0.6
    possible: float = 0.35
    slip: float = 0.2
    again: float = 0.4

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self, **dict.fromkeys(("sure", "likely", "possible", "slip", "again"), (0, 1)))


@dataclass(frozen=True, slots=True)
class ErrorsConfig:
    """Set when words are errors; ``head`` and ``below`` are always the model set's. Raises InputError for a number that is not allowed.

    Attributes
    ----------
    threshold
        The probability of an error from which a word is marked; neighbouring marked words are one span.
    nearness
        The share of the least weight of a severity's band from which an error has that severity.
    doubt
        The share of the expected cost beyond the listed errors that counts.
    head
        A digest of the reader's file.
    below
        After how many layers of the trunk the reader begins.
    """

    threshold: float = 0.07
    nearness: float = 0.27
    doubt: float = 0.5
    surface: SurfaceConfig = field(default_factory=SurfaceConfig)
    head: str = ""
    below: int = 0

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self, threshold=(0, 1), nearness=(0, 1), doubt=(0, 1))


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Hold the characters ``text[start:end]`` of one text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """Describe one error, or one difference that is not counted.

    Attributes
    ----------
    kind
        ``missing`` (in the reference only), ``unnecessary`` (in the hypothesis only), ``replacement``, ``order`` (the same words elsewhere) or
        ``surface`` (casing, spacing, a/an).
    type
        What it is about: one of TYPES, casing or spacing.
    severity
        The band of the weight, see BANDS, so that a minor error never weighs more than a major one; none for a difference.
    confidence
        The probability in [0, 1] that it is an error.
    weight
        What it adds to the count, in [0, 25]: about 1 for a minor error, 5 for a major one, 10 for a critical one; 0 for a difference.
    reference, hypothesis
        Its characters in each text; None in a text that it does not touch.
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
    """List the errors of one hypothesis, in the order of the hypothesis.

    Attributes
    ----------
    errors
        The errors that count.
    count
        The sum of their weights, at most 25.
    differences
        Differences between the texts that are not counted.
    doubt
        The cost of further errors that the reader expects at no certain place. Count and doubt together, at most 25, are the raw quantity
        from which the component's value is computed.
    """

    errors: tuple[ErrorSpan, ...]
    count: float
    differences: tuple[ErrorSpan, ...] = ()
    doubt: float = 0.0

    @property
    def cost(self) -> float:
        """Return count and doubt together, at most 25."""
        return min(self.count + self.doubt, MAXIMUM)


def share_of(side: Literal["reference", "hypothesis"], length: int, errors: Iterable[ErrorSpan]) -> float:
    """Return the share of a text with so many characters that its errors leave, in [0, 1]; 1 without errors.

    A character loses weight / 3, at most 1, to the heaviest error on it: a major or critical error takes its words whole. Of the reference
    this is the completeness (nothing missing or wrong), of the hypothesis the faithfulness (nothing added or wrong). Errors of the
    surface do not count.
    """
    lost = np.zeros(max(1, length))
    for error in errors:
        span = getattr(error, side)
        if span is not None and error.kind != "surface":
            characters = lost[span.start : max(span.end, span.start + 1)]
            np.maximum(characters, min(1.0, error.weight / BANDS["major"][0]), out=characters)
    return 1.0 - float(lost.mean())


@dataclass(frozen=True, eq=False)
class PairPrediction:
    """Hold the prediction for a pair with p words in the reference and q in the hypothesis, the reference's words first.

    Attributes
    ----------
    probabilities
        (p + q, 4) probabilities of SEVERITIES.
    types
        (p + q, len(TYPES)) probabilities of TYPES, given that the word is part of an error.
    amount
        Expected total weight of the pair's errors, at least 0.
    """

    probabilities: NDArray[np.floating[Any]]
    types: NDArray[np.floating[Any]]
    amount: float


class PairErrorModel(Protocol):
    """Predict the errors of pairs; the prediction for one pair does not depend on the other pairs."""

    def __call__(self, pairs: Sequence[tuple[Analysis, Analysis]], equal: Sequence[EqualWords] = ()) -> list[PairPrediction]:
        """Return one prediction per pair of reference and hypothesis, in order.

        Parameters
        ----------
        equal
            For each pair the words that state equal quantities; empty when no pair has any.
        """
