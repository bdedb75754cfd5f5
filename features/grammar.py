"""Grammar: is the hypothesis acceptable English? Probability of the CoLA class "acceptable" (RoMe §3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .values import Analysis, Component

WORD_FLOOR = 0.01
"""No single word counts as less likely than this: rare names are not mistakes."""

__all__ = ["Grammar", "GrammarConfig", "GrammarEvidence", "SentenceAcceptability"]


@dataclass(frozen=True, slots=True)
class GrammarConfig:
    """How the sentences of a hypothesis become one number.

    smallest : probabilities below it are raised to it before their logarithm, so that one sentence cannot erase a long text.
    fluency : how many times the mean logarithm of the words' probabilities counts beside that of the sentence.
    """

    smallest: float = 1e-4
    fluency: float = 2.0


@dataclass(frozen=True, slots=True)
class SentenceAcceptability:
    """One sentence of the hypothesis and where it stands.

    probability : in [0, 1], the CoLA class "acceptable". word_probability : in [0, 1], the geometric mean over its words of the
    probability that the word is the right one in its place; 1 for a sentence without words.
    """

    text: str
    start: int
    end: int
    probability: float
    word_probability: float = 1.0


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
        """The length-weighted geometric mean over the sentences of probability * word_probability ** fluency; raw is its logarithm.

        A text is acceptable when all of it is: the mean of logarithms lets a bad sentence count in proportion to its share of the
        characters, and splitting a text at other places changes little. The classifier alone overlooks missing and doubled words;
        the words' own probabilities see them, and both together agree better with people's ratings of fluency. A text without
        sentences has nothing to accept: 0.
        """
        sentences = self._sentences(hypothesis)
        if not sentences:
            return Component(self.name, 0.0, math.log(self.config.smallest), "log probability", GrammarEvidence(()))
        lengths = [max(1, s.end - s.start) for s in sentences]
        logs = [self._log(s.probability) + self.config.fluency * self._log(s.word_probability) for s in sentences]
        mean = sum(length * value for length, value in zip(lengths, logs, strict=True)) / sum(lengths)
        return Component(self.name, math.exp(mean), mean, "log probability", GrammarEvidence(sentences))

    def _log(self, probability: float) -> float:
        return math.log(max(self.config.smallest, min(1.0, probability)))

    def _sentences(self, hypothesis: Analysis) -> tuple[SentenceAcceptability, ...]:
        """The sentences with both of their probabilities."""
        logs: list[list[float]] = [[] for _ in hypothesis.sentences]
        for word, probability in zip(hypothesis.words, hypothesis.word_probabilities, strict=True):
            logs[word.sentence].append(math.log(max(WORD_FLOOR, float(probability))))
        return tuple(
            SentenceAcceptability(
                text=hypothesis.text[s.start : s.end],
                start=s.start,
                end=s.end,
                probability=s.acceptability_probability,
                word_probability=math.exp(sum(own) / len(own)) if own else 1.0,
            )
            for s, own in zip(hypothesis.sentences, logs, strict=True)
        )
