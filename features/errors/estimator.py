"""The estimators of errors: the count and its component, and the model-free one, which goes by the edit script and closed rules."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..idf import IdfTable
from ..values import Analysis, Component
from .alignment import AlignmentConfig, match_words
from .compared import Compared
from .edits import Edit, edit_script
from .lexicon import Lexicon
from .severity import Judgement, SeverityConfig, SeverityJudge
from .surface import SLIPS, SurfaceConfig, surface_errors
from .values import MAXIMUM, ErrorsEvidence, ErrorSpan, TextSpan, value_of

__all__ = ["EditScriptErrors", "Errors", "ErrorsConfig", "compare", "text_span"]


@dataclass(frozen=True, slots=True)
class ErrorsConfig:
    """smallest_weight : what weighs less is a difference without consequence: it is listed as such and does not count. Of casing,
        spacing and punctuation the probability of a mistake decides instead.

    threshold : the probability of a mistake from which a word is part of one.
    estimator : "learned" (the reader of both texts) or "edit-script" (rules alone). head : a digest of the reader's file. below : after
        how many layers of the trunk the reader begins.
    """

    alignment: AlignmentConfig = field(default_factory=AlignmentConfig)
    severity: SeverityConfig = field(default_factory=SeverityConfig)
    surface: SurfaceConfig = field(default_factory=SurfaceConfig)
    smallest_weight: float = 0.25
    threshold: float = 0.3
    estimator: Literal["learned", "edit-script"] = "edit-script"
    head: str = ""
    below: int = 0


def text_span(analysis: Analysis, indices: tuple[int, ...]) -> TextSpan | None:
    """The characters from the first to the last of some words of a text; None for no words."""
    if not indices:
        return None
    words = analysis.words
    start, end = words[indices[0]].start, words[indices[0]].end
    for n in indices[1:]:
        start, end = min(start, words[n].start), max(end, words[n].end)
    return TextSpan(analysis.text[start:end], start, end)


def compare(reference: Analysis, hypothesis: Analysis, idf: IdfTable, lexicon: Lexicon, config: ErrorsConfig) -> Compared:
    """Align two texts, judge every edit between them by the rules, and find what is wrong on the surface."""
    matches = match_words(reference, hypothesis, config.alignment)
    judge = SeverityJudge(reference, hypothesis, idf, lexicon, config.severity)
    edits = tuple((edit, judge.judge(edit)) for edit in edit_script(reference, hypothesis, matches))
    return Compared(reference, hypothesis, matches, edits, surface_errors(reference, hypothesis, matches, config.surface))


class Errors(ABC):
    """A severity-weighted count of the hypothesis' mistakes: minor 1, major 5, critical 10, at most 25 a segment (MQM, SEScore)."""

    name = "errors"

    def __init__(self, idf: IdfTable, lexicon: Lexicon, config: ErrorsConfig = ErrorsConfig()) -> None:
        self.idf, self.lexicon, self.config = idf, lexicon, config

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """One pair; see `measure_all`."""
        return self.measure_all([(reference, hypothesis)])[0]

    def measure_all(self, pairs: Sequence[tuple[Analysis, Analysis]]) -> list[Component]:
        """4 / (4 + count), one component a pair of reference and hypothesis.

        Raw is the count: the sum of the weights of the errors that are listed, which are scaled down together when it exceeds 25. An
        error that weighs less than ``smallest_weight`` is a difference without consequence: it does not count.
        The count is not divided by the length: what the reader makes of a pair is meant of the whole pair. An empty hypothesis for a
        reference with words has one error, the full count, and value 0.
        """
        compared = [compare(*pair, self.idf, self.lexicon, self.config) for pair in pairs]
        return [self._component(*pair) for pair in zip(compared, self.judged(compared), strict=True)]

    def _component(self, compared: Compared, found: Sequence[ErrorSpan]) -> Component:
        """What a pair's errors make: those of its words, and those of its characters."""
        words = len(compared.reference.words)
        empty = bool(words) and not compared.hypothesis.words
        every = [_nothing_said(compared.reference)] if empty else [*found, *compared.surface]
        listed = [error for error in every if not self._forgiven(error)]
        total = math.fsum(error.weight for error in listed)
        if total > MAXIMUM:
            listed = [replace(error, weight=error.weight * MAXIMUM / total) for error in listed]
        differences = [replace(error, weight=0.0, severity="none") for error in every if self._forgiven(error)]
        count = min(total, MAXIMUM)
        evidence = ErrorsEvidence(_in_order(listed), count, _in_order(differences))
        return Component(self.name, 0.0 if empty else value_of(count), count, "severity-weighted errors", evidence)

    def _forgiven(self, error: ErrorSpan) -> bool:
        """Whether it is a mere difference: it weighs too little, or, a slip that never weighs much, is hardly a mistake."""
        strength = error.confidence if error.type in SLIPS else error.weight
        return error.severity == "none" or strength < self.config.smallest_weight

    @abstractmethod
    def judged(self, pairs: Sequence[Compared]) -> list[list[ErrorSpan]]:
        """What is wrong with the words of each pair, and where they differ without consequence, in any order."""


def _nothing_said(reference: Analysis) -> ErrorSpan:
    """The error of a hypothesis without a word."""
    whole = text_span(reference, tuple(range(len(reference.words))))
    return ErrorSpan("missing", "omission", "critical", MAXIMUM, 1.0, whole, None)


def _in_order(errors: Iterable[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Errors in the order of the hypothesis."""
    return tuple(sorted(errors, key=lambda e: (e.hypothesis or e.reference or TextSpan("", 0, 0)).start))


class EditScriptErrors(Errors):
    """Every edit with the severity that closed rules give it; needs no model beyond the analyses."""

    def judged(self, pairs: Sequence[Compared]) -> list[list[ErrorSpan]]:
        """One span an edit."""
        return [[_edit_span(compared, *edit) for edit in compared.edits] for compared in pairs]


def _edit_span(compared: Compared, edit: Edit, judgement: Judgement) -> ErrorSpan:
    return ErrorSpan(
        kind=edit.kind,
        type=judgement.type,
        severity=judgement.severity,
        weight=judgement.weight,
        confidence=judgement.mistake_probability,
        reference=text_span(compared.reference, edit.reference),
        hypothesis=text_span(compared.hypothesis, edit.hypothesis),
    )
