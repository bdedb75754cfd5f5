"""Grammar: is the hypothesis acceptable English? Probability of the CoLA class "acceptable" (RoMe §3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .values import Analysis, Component

__all__ = ["Grammar", "GrammarConfig", "GrammarEvidence", "SentenceAcceptability"]


@dataclass(frozen=True, slots=True)
class GrammarConfig:
    """smallest : probabilities below it are raised to it before their logarithm, so that one sentence cannot erase a long text."""

    smallest: float = 1e-4


@dataclass(frozen=True, slots=True)
class SentenceAcceptability:
    """One sentence of the hypothesis, where it stands, and the probability in [0, 1] that it is acceptable."""

    text: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class GrammarEvidence:
    """The sentences that the component was combined from."""

    sentences: tuple[SentenceAcceptability, ...]


class Grammar:
    """The acceptability of the hypothesis; the reference is not looked at."""

    name = "grammar"

    def __init__(self, config: GrammarConfig = GrammarConfig()) -> None:
        self.config = config

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """The length-weighted geometric mean of the sentences' probabilities; raw is its logarithm.

        A text is acceptable when all of it is: the mean of log probabilities lets a bad sentence count in proportion to its share of
        the characters, and splitting a text at other places changes little. A text without sentences has nothing to accept: 0.
        """
        sentences = tuple(
            SentenceAcceptability(hypothesis.text[s.start : s.end], s.start, s.end, s.acceptability_probability)
            for s in hypothesis.sentences
        )
        lengths = [max(1, s.end - s.start) for s in sentences]
        if not sentences:
            return Component(self.name, 0.0, math.log(self.config.smallest), "log probability", GrammarEvidence(()))
        logs = [math.log(max(self.config.smallest, min(1.0, s.probability))) for s in sentences]
        mean = sum(length * value for length, value in zip(lengths, logs, strict=True)) / sum(lengths)
        return Component(self.name, math.exp(mean), mean, "log probability", GrammarEvidence(sentences))
