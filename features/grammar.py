"""Grammar: is the hypothesis acceptable English? Probability of the CoLA class "acceptable" (RoMe §3.3), against the reference's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .protocol import AnalysedText, Feature, Resources, number, string
from .values import Analysis, Component

WORD_FLOOR = 0.01
"""No single word counts as less likely than this: rare names are not mistakes."""


@dataclass(frozen=True, slots=True)
class GrammarConfig:
    """How the sentences of a text become one number.

    Attributes
    ----------
    smallest
        Probabilities below it are raised to it before their logarithm, so that one sentence cannot erase a long text.
    fluency
        How many times the mean logarithm of the words' probabilities counts beside that of the sentence.
    relative
        Measure the hypothesis against the reference's own probability; False takes its probability as it is.
    floor
        Texts less likely than it count as this likely when they are set against each other: what is noise is not divided by noise.
    """

    smallest: float = 1e-4
    fluency: float = 2.0
    relative: bool = True
    floor: float = 0.01


@dataclass(frozen=True, slots=True)
class SentenceAcceptability:
    """One sentence of a text and where it stands.

    Attributes
    ----------
    probability
        In [0, 1], the CoLA class "acceptable".
    word_probability
        In [0, 1], the geometric mean over its words of the probability that the word is the right one in its place; 1 for a sentence without
        words.
    """

    text: str
    start: int
    end: int
    probability: float
    word_probability: float = 1.0


@dataclass(frozen=True, slots=True)
class GrammarEvidence:
    """The sentences of the hypothesis that the component was combined from.

    Attributes
    ----------
    reference_probability
        In [0, 1], the reference's own, that the hypothesis' was measured against; None where it was not, because the reference has no sentences
        or ``relative`` is False.
    """

    sentences: tuple[SentenceAcceptability, ...]
    reference_probability: float | None = None


@dataclass(frozen=True, slots=True)
class TextAcceptability:
    """How acceptable one text is.

    Attributes
    ----------
    log_probability
        Of the text, that of ``smallest`` for one without sentences.
    """

    log_probability: float
    sentences: tuple[SentenceAcceptability, ...]


class Grammar(Feature[TextAcceptability]):
    """The acceptability of the hypothesis, as a share of the reference's."""

    name, config_class = "grammar", GrammarConfig
    about = "is it acceptable English? The output's probability as a share of the reference's own, at most 1."

    def __init__(self, config: GrammarConfig = GrammarConfig()) -> None:
        self.config = config

    @classmethod
    def make(cls, config: GrammarConfig, resources: Resources) -> Grammar:
        """Nothing but its settings."""
        return cls(config)

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> GrammarEvidence:
        """The sentences and the reference's probability."""
        sentences = (
            (string(s["text"]), int(s["start"]), int(s["end"]), number(s["probability"]), number(s["word_probability"]))
            for s in row["sentences"]
        )
        own = row["reference_probability"]
        return GrammarEvidence(tuple(SentenceAcceptability(*s) for s in sentences), None if own is None else number(own))

    @staticmethod
    def describe(evidence: GrammarEvidence) -> Sequence[tuple[Any, ...]]:
        """Each sentence of the hypothesis with both of its probabilities."""
        rows = ((s.probability, s.word_probability, " ".join(s.text.split())) for s in evidence.sentences)
        return [("acceptable", "its words", "sentence"), *rows]

    def prepare(self, text: AnalysedText) -> TextAcceptability:
        """The text's own probability."""
        config, sentences = self.config, _sentences(text.analysis)
        if not sentences:
            return TextAcceptability(math.log(config.smallest), ())
        lengths = [max(1, s.end - s.start) for s in sentences]
        logs = [_log(s.probability, config) + config.fluency * _log(s.word_probability, config) for s in sentences]
        mean = sum(length * value for length, value in zip(lengths, logs, strict=True)) / sum(lengths)
        return TextAcceptability(mean, sentences)

    def compare(self, reference: TextAcceptability, hypothesis: TextAcceptability) -> Component:
        """min(1, P(hypothesis) / P(reference)), both at least ``floor``; raw is the logarithm of P(hypothesis).

        P is the length-weighted geometric mean over the sentences of probability * word_probability ** fluency. A text is acceptable
        when all of it is: the mean of logarithms lets a bad sentence count in proportion to its share of the characters, and splitting
        a text at other places changes little. The classifier alone overlooks missing and doubled words; the words' own probabilities
        see them, and both together agree better with people's ratings of fluency. Against the reference's own probability, because
        names and rare words, which both texts share, are no mistakes: a text against itself is 1.

        A hypothesis without sentences has nothing to accept: 0, or 1 where the reference has none either. Against a reference without
        sentences, and with ``relative=False``, the value is P(hypothesis).
        """
        mean, sentences = hypothesis.log_probability, hypothesis.sentences
        own = reference.log_probability if self.config.relative and reference.sentences else None
        evidence = GrammarEvidence(sentences, None if own is None else math.exp(own))
        if sentences:
            value = math.exp(mean if own is None else self._against(mean, own))
        else:
            value = float(self.config.relative and not reference.sentences)
        return Component(self.name, value, mean, "log probability", evidence)

    def _against(self, mean: float, own: float) -> float:
        """The logarithm of the quotient, at most 0."""
        lowest = math.log(self.config.floor)
        return min(0.0, max(mean, lowest) - max(own, lowest))


def _log(probability: float, config: GrammarConfig) -> float:
    return math.log(max(config.smallest, min(1.0, probability)))


def _sentences(text: Analysis) -> tuple[SentenceAcceptability, ...]:
    """The sentences with both of their probabilities."""
    logs: list[list[float]] = [[] for _ in text.sentences]
    for word, probability in zip(text.words, text.word_probabilities, strict=True):
        logs[word.sentence].append(math.log(max(WORD_FLOOR, float(probability))))
    return tuple(
        SentenceAcceptability(
            text=text.text[s.start : s.end],
            start=s.start,
            end=s.end,
            probability=s.acceptability_probability,
            word_probability=math.exp(sum(own) / len(own)) if own else 1.0,
        )
        for s, own in zip(text.sentences, logs, strict=True)
    )
