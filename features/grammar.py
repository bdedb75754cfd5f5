"""Grammar: is the hypothesis acceptable English? Probability of the CoLA class "acceptable" (RoMe §3.3), against the reference's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .protocol import AnalysedText, Feature, check_settings, number, string
from .values import Analysis, Component

WORD_FLOOR = 0.01
"""No single word counts as less likely than this: rare names are not mistakes."""


@dataclass(frozen=True, slots=True)
class GrammarConfig:
    """Set how the sentences of a text become one number.

    ``GrammarConfig(fluency=0.0, relative=False)`` is the paper's feature (§3.3), the probability of CoLA's class "acceptable". Raises
    InputError for a number that is not allowed.

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
    own
        The power of the hypothesis' own probability beside that quotient, where the texts differ.
    different
        The share of different words from which that power is full.
    """

    smallest: float = 1e-4
    fluency: float = 2.0
    relative: bool = True
    floor: float = 0.01
    own: float = 0.2
    different: float = 0.04

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self, smallest=(1e-12, 1), floor=(1e-12, 1), fluency=(0, 100), own=(0, 100), different=(0, 1))


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
        In [0, 1], the reference's own with its words', that the hypothesis' was measured against; None where it was not, because the
        reference has no sentences or ``relative`` is False.
    different_words
        In [0, 1], the share of the words of both texts that the other one does not have.
    acceptability_probability
        In [0, 1], CoLA's probability of the text: the geometric mean of its sentences', weighted by their lengths. Raw is its logarithm.
        None in files of earlier versions.
    """

    sentences: tuple[SentenceAcceptability, ...]
    reference_probability: float | None = None
    different_words: float = 0.0
    acceptability_probability: float | None = None


@dataclass(frozen=True, slots=True)
class TextAcceptability:
    """Hold the acceptability of one text.

    Attributes
    ----------
    acceptability
        The logarithm of CoLA's probability, that of ``smallest`` for a text without sentences.
    log_probability
        The same with the probabilities of its words.
    words
        How often it has each of its words.
    """

    acceptability: float
    log_probability: float
    sentences: tuple[SentenceAcceptability, ...]
    words: Mapping[str, int]


class Grammar(Feature[TextAcceptability]):
    """The acceptability of the hypothesis, as a share of the reference's and, where it has words of its own, in itself."""

    name, config_class = "grammar", GrammarConfig
    about = "is it acceptable English? The output's probability as a share of the reference's own and, where their words differ, in itself."

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> GrammarEvidence:
        """Return the evidence that ``to_dict()`` wrote."""
        sentences = (
            (string(s["text"]), int(s["start"]), int(s["end"]), number(s["probability"]), number(s["word_probability"]))
            for s in row["sentences"]
        )
        names = ("reference_probability", "acceptability_probability")
        reference, own = (None if row.get(name) is None else number(row[name]) for name in names)
        return GrammarEvidence(
            tuple(SentenceAcceptability(*s) for s in sentences), reference, number(row.get("different_words", 0.0)), own
        )

    @staticmethod
    def describe(evidence: GrammarEvidence) -> Sequence[tuple[Any, ...]]:
        """Return each sentence of the hypothesis with both of its probabilities."""
        rows = ((s.probability, s.word_probability, " ".join(s.text.split())) for s in evidence.sentences)
        return [("acceptable", "its words", "sentence"), *rows]

    def prepare(self, text: AnalysedText) -> TextAcceptability:
        """Return the text's own probabilities."""
        config, sentences = self.config, _sentences(text.analysis)
        words = Counter(word.text for word in text.analysis.words)
        if not sentences:
            return TextAcceptability(math.log(config.smallest), math.log(config.smallest), (), words)
        lengths = [max(1, s.end - s.start) for s in sentences]
        logs = [(_log(s.probability, config), _log(s.word_probability, config)) for s in sentences]
        sums = [sum(length * log for length, log in zip(lengths, each, strict=True)) for each in zip(*logs, strict=True)]
        accepted, likely = (total / sum(lengths) for total in sums)
        return TextAcceptability(accepted, accepted + config.fluency * likely, sentences, words)

    def compare(self, reference: TextAcceptability, hypothesis: TextAcceptability) -> Component:
        """Return min(1, P(hypothesis) / P(reference)) * P(hypothesis) ** power, each P at least ``floor``.

        Raw is the logarithm of the hypothesis' probability by the classifier alone, ``acceptability_probability`` of the evidence.

        P is the length-weighted geometric mean over the sentences of probability * word_probability ** fluency. A text is acceptable
        when all of it is: the mean of logarithms lets a bad sentence count in proportion to its share of the characters, and splitting
        a text at other places changes little. The classifier alone overlooks missing and doubled words; the words' own probabilities
        see them, and both together agree better with people's ratings of fluency.

        Against the reference's own probability, because names and rare words, which both texts share, are no mistakes: a text against
        itself is 1. But a reference may read oddly, and the words of a text that are its own have to stand for themselves: the power is
        ``own`` where at least the share ``different`` of the words of both texts is not in the other one, and 0 where all are.

        A hypothesis without sentences has nothing to accept: 0, or 1 where the reference has none either. Against a reference without
        sentences, and with ``relative=False``, the value is P(hypothesis).
        """
        mean, sentences = hypothesis.log_probability, hypothesis.sentences
        other = reference.log_probability if self.config.relative and reference.sentences else None
        apart = _different_words(reference.words, hypothesis.words)
        own = None if other is None else math.exp(other)
        evidence = GrammarEvidence(sentences, own, apart, math.exp(hypothesis.acceptability))
        if sentences:
            value = math.exp(mean if other is None else self._against(mean, other, apart))
        else:
            value = float(self.config.relative and not reference.sentences)
        return Component(self.name, value, hypothesis.acceptability, "log probability", evidence)

    def _against(self, mean: float, other: float, apart: float) -> float:
        """Return the logarithm of the value, at most 0."""
        lowest = math.log(self.config.floor)
        mean, other = max(mean, lowest), max(other, lowest)
        share = min(1.0, apart / self.config.different) if self.config.different else float(apart > 0.0)
        return min(0.0, mean - other) + self.config.own * share * mean


def _different_words(reference: Mapping[str, int], hypothesis: Mapping[str, int]) -> float:
    """Return the share of the words of both texts that the other one does not have, in [0, 1]; 0 for two texts without words."""
    total = sum(reference.values()) + sum(hypothesis.values())
    shared = sum(min(count, reference.get(word, 0)) for word, count in hypothesis.items())
    return 1.0 - 2.0 * shared / total if total else 0.0


def _log(probability: float, config: GrammarConfig) -> float:
    return math.log(max(config.smallest, min(1.0, probability)))


def _sentences(text: Analysis) -> tuple[SentenceAcceptability, ...]:
    """Return the sentences with both of their probabilities."""
    logs: list[list[float]] = [[] for _ in text.sentences]
    for word, probability in zip(text.words, text.word_probabilities, strict=True):
        logs[word.sentence].append(math.log(max(WORD_FLOOR, float(probability))))
    return tuple(
        SentenceAcceptability(
            *text.span(s.start, s.end),
            probability=s.acceptability_probability,
            word_probability=math.exp(sum(own) / len(own)) if own else 1.0,
        )
        for s, own in zip(text.sentences, logs, strict=True)
    )
