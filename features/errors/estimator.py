"""The estimators of errors: the count and its component, and the model-free one, which goes by the edit script and closed rules."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..idf import IdfTable
from ..values import Analysis, Component
from .alignment import AlignmentConfig, match_words
from .compared import Compared
from .edits import edit_script
from .lexicon import Lexicon
from .severity import Judgement, SeverityConfig, SeverityJudge
from .surface import SurfaceConfig, surface_errors
from .values import MAXIMUM, ErrorsEvidence, ErrorSpan, Severity, TextSpan, value_and_raw

__all__ = ["EditScriptErrors", "Errors", "ErrorsConfig", "compare", "text_span"]


@dataclass(frozen=True, slots=True)
class ErrorsConfig:
    """smallest_weight : edits whose expected severity is below it are not listed (they still count).

    threshold : the probability of a mistake from which the learned estimator names a severity; on real outputs the head is seldom sure,
        and this value agrees best with raters' spans.
    estimator : "learned" (the pair head on top of the edit script) or "edit-script" (rules alone). head : a digest of the head's file.
    """

    alignment: AlignmentConfig = field(default_factory=AlignmentConfig)
    severity: SeverityConfig = field(default_factory=SeverityConfig)
    surface: SurfaceConfig = field(default_factory=SurfaceConfig)
    smallest_weight: float = 0.05
    threshold: float = 0.15
    estimator: Literal["learned", "edit-script"] = "edit-script"
    head: str = ""


def text_span(analysis: Analysis, indices: tuple[int, ...]) -> TextSpan | None:
    """The characters from the first to the last of some words of a text; None for no words."""
    if not indices:
        return None
    words = analysis.words
    start, end = words[indices[0]].start, words[indices[0]].end
    for n in indices[1:]:
        start, end = min(start, words[n].start), max(end, words[n].end)
    return TextSpan(analysis.text[start:end], start, end)


def _label(judgement: Judgement) -> Severity:
    """The likelier severity of what is more likely a mistake than not."""
    if judgement.mistake_probability < 0.5:
        return "none"
    return "major" if judgement.major_probability >= 0.5 else "minor"


def compare(reference: Analysis, hypothesis: Analysis, idf: IdfTable, lexicon: Lexicon, config: ErrorsConfig) -> Compared:
    """Align two texts, judge every edit between them by the rules, and find what is wrong on the surface."""
    matches = match_words(reference, hypothesis, config.alignment)
    judge = SeverityJudge(reference, hypothesis, idf, lexicon, config.severity)
    edits = tuple((edit, judge.judge(edit)) for edit in edit_script(reference, hypothesis, matches))
    return Compared(reference, hypothesis, matches, edits, surface_errors(reference, hypothesis, matches, config.surface))


class Errors(ABC):
    """A severity-weighted count of the hypothesis' mistakes: minor 1, major 5, at most 25 a segment (MQM, SEScore)."""

    name = "errors"

    def __init__(self, idf: IdfTable, lexicon: Lexicon, config: ErrorsConfig = ErrorsConfig()) -> None:
        self.idf, self.lexicon, self.config = idf, lexicon, config

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """exp(-sum / (5 sqrt(n))) for a reference of n words; raw is the count, brought under 25 by 25 (1 - exp(-sum / 25)).

        For 25 words the value is one minus raw over 25. Shorter texts forgive less and longer ones more, with the root of the
        length: people's ratings of whole segments agree better with that than with the bare count or with the count a word. The
        smooth caps keep small sums almost as they are and let two bad hypotheses differ. An empty hypothesis for a reference with
        words has the full count: value 0.
        """
        errors = self.counted(reference, hypothesis, self.config.smallest_weight)
        listed = _in_order(error for error in errors if isinstance(error, ErrorSpan))
        total = math.fsum(error.weight if isinstance(error, ErrorSpan) else error for error in errors)
        empty = bool(reference.words) and not hypothesis.words
        value, raw = (0.0, MAXIMUM) if empty else value_and_raw(total, len(reference.words))
        return Component(self.name, value, raw, "severity-weighted errors", ErrorsEvidence(tuple(listed), total))

    def found(self, reference: Analysis, hypothesis: Analysis) -> Sequence[ErrorSpan]:
        """Everything that counts, in the order of the hypothesis."""
        return _in_order(error for error in self.counted(reference, hypothesis, 0.0) if isinstance(error, ErrorSpan))

    def counted(self, reference: Analysis, hypothesis: Analysis, least: float = 0.0) -> list[ErrorSpan | float]:
        """Everything that counts, in any order; what weighs less than ``least`` is given by its weight alone."""
        compared = compare(reference, hypothesis, self.idf, self.lexicon, self.config)
        surface = (error if error.weight >= least else error.weight for error in compared.surface)
        return [*self.judged(compared, least), *surface]

    @abstractmethod
    def judged(self, compared: Compared, least: float = 0.0) -> Iterable[ErrorSpan | float]:
        """What is wrong with the words, in any order; what weighs less than ``least`` is given by its weight alone."""


def _in_order(errors: Iterable[ErrorSpan]) -> list[ErrorSpan]:
    """Errors in the order of the hypothesis."""
    return sorted(errors, key=lambda e: (e.hypothesis or e.reference or TextSpan("", 0, 0)).start)


class EditScriptErrors(Errors):
    """Every edit with the severity that closed rules give it; needs no model beyond the analyses."""

    def judged(self, compared: Compared, least: float = 0.0) -> Iterable[ErrorSpan | float]:
        """One span an edit."""
        for edit, judgement in compared.edits:
            if judgement.weight < least:
                yield judgement.weight
                continue
            yield ErrorSpan(
                kind=edit.kind,
                type=judgement.type,
                severity=_label(judgement),
                weight=judgement.weight,
                confidence=judgement.mistake_probability,
                reference=text_span(compared.reference, edit.reference),
                hypothesis=text_span(compared.hypothesis, edit.hypothesis),
            )
