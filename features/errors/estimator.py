"""The estimators of errors: the count and its component, and the model-free one, which goes by the edit script and closed rules."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..idf import IdfTable
from ..protocol import AnalysedText, Feature, Resources, number, string
from ..values import Component
from .edits import AlignmentConfig, WordEdit, WordMatch, edit_script, match_words, out_of_order
from .evidence import MAXIMUM, ErrorsEvidence, ErrorSpan, TextSpan, value_of
from .lexicon import AntonymLexicon
from .prepared import PreparedText, prepare
from .severity import EditSeverity, SeverityConfig, SeverityRules
from .surface import TYPO_TYPES, SurfaceConfig, surface_errors


@dataclass(frozen=True, slots=True)
class ErrorsConfig:
    """Which estimator, and from when on what it finds is an error.

    Attributes
    ----------
    smallest_weight
        What weighs less is a difference without consequence: it is listed as such and does not count.
    smallest_probability
        The same of casing, spacing and punctuation, which never weigh much: how likely they are mistakes.
    threshold
        The probability of a mistake from which a word is part of one.
    forgiveness
        How much sooner an addition is forgiven than a loss: the reader's amount is multiplied by the quotient of the two lengths (reference by
        hypothesis, characters of their words, from 1/e to e) to this power. 0 takes both alike. The closed rules have
        ``SeverityConfig.unnecessary``.
    tense, conjunction
        What a verb in another tense or aspect and a lost conjunction weigh beside what the reader finds (see features/errors/clauses.py).
    estimator
        "learned" (the reader of both texts) or "edit-script" (rules alone).
    head
        A digest of the reader's file.
    below
        After how many layers of the trunk the reader begins.
    """

    alignment: AlignmentConfig = field(default_factory=AlignmentConfig)
    severity: SeverityConfig = field(default_factory=SeverityConfig)
    surface: SurfaceConfig = field(default_factory=SurfaceConfig)
    smallest_weight: float = 0.25
    smallest_probability: float = 0.25
    threshold: float = 0.3
    forgiveness: float = 1.2
    tense: float = 0.5
    conjunction: float = 0.4
    estimator: Literal["learned", "edit-script"] = "edit-script"
    head: str = ""
    below: int = 0


@dataclass(frozen=True, slots=True)
class PairDifferences:
    """A pair laid side by side, which every estimator starts from.

    Attributes
    ----------
    matches
        In the order of the reference.
    moved
        The places of those that are out of order.
    edits
        Each with what the rules say of it.
    surface
        What characters alone show.
    """

    reference: PreparedText
    hypothesis: PreparedText
    matches: tuple[WordMatch, ...]
    moved: frozenset[int]
    edits: tuple[tuple[WordEdit, EditSeverity], ...]
    surface: tuple[ErrorSpan, ...]


def find_differences(
    reference: PreparedText, hypothesis: PreparedText, idf: IdfTable, lexicon: AntonymLexicon, config: ErrorsConfig
) -> PairDifferences:
    """Align two texts, judge every edit between them by the rules, and find what is wrong on the surface."""
    matches = match_words(reference, hypothesis, config.alignment)
    moved = out_of_order([match.hypothesis for match in matches])
    rules = SeverityRules(reference, hypothesis, idf, lexicon, config.severity)
    edits = tuple((edit, rules.severity_of(edit)) for edit in edit_script(reference, hypothesis, matches, moved))
    return PairDifferences(
        reference, hypothesis, matches, moved, edits, surface_errors(reference, hypothesis, matches, config.surface)
    )


class Errors(Feature[PreparedText]):
    """A severity-weighted count of the hypothesis' mistakes: minor 1, major 5, critical 10, at most 25 a segment (MQM, SEScore)."""

    name, config_class = "errors", ErrorsConfig
    about = "how many mistakes, how bad? A minor one weighs 1, a major one 5, a critical one, which turns the meaning, 10; at most 25 a segment."

    def __init__(self, idf: IdfTable, lexicon: AntonymLexicon, config: ErrorsConfig = ErrorsConfig()) -> None:
        self.idf, self.lexicon, self.config = idf, lexicon, config

    @classmethod
    def make(cls, config: ErrorsConfig, resources: Resources) -> Errors:
        """With the set's word weights and antonyms."""
        return cls(resources.idf, resources.lexicon, config)

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> ErrorsEvidence:
        """The errors, their count, and the differences."""
        errors, differences = (tuple(map(_error_from_dict, given)) for given in (row["errors"], row.get("differences", ())))
        return ErrorsEvidence(errors, number(row["count"]), differences)

    def prepare(self, text: AnalysedText) -> PreparedText:
        """What is asked of one text alone."""
        return prepare(text, self.idf)

    def compare(self, reference: PreparedText, hypothesis: PreparedText) -> Component:
        """One pair; see `compare_all`."""
        return self.compare_all([(reference, hypothesis)])[0]

    def compare_all(self, pairs: Sequence[tuple[PreparedText, PreparedText]]) -> list[Component]:
        """12 / (12 + count), one component a pair of reference and hypothesis.

        Raw is the count: the sum of the weights of the errors that are listed, which are scaled down together when it exceeds 25. An
        error that weighs less than ``smallest_weight`` is a difference without consequence: it does not count.
        The count is not divided by the length: what the reader makes of a pair is meant of the whole pair. An empty hypothesis for a
        reference with words has one error, the full count, and value 0. A text against itself has none.
        """
        edits = [find_differences(*pair, self.idf, self.lexicon, self.config) for pair in pairs]
        return [self._component(*pair) for pair in zip(edits, self.word_errors(edits), strict=True)]

    def _component(self, pair: PairDifferences, found: Sequence[ErrorSpan]) -> Component:
        """What a pair's errors make: those of its words, and those of its characters."""
        words = len(pair.reference.words)
        empty = bool(words) and not pair.hypothesis.words
        every = [_nothing_said(pair.reference)] if empty else [*found, *pair.surface]
        every = [] if pair.reference.text == pair.hypothesis.text else every
        listed = [error for error in every if not self._forgiven(error)]
        total = math.fsum(error.weight for error in listed)
        if total > MAXIMUM:
            listed = [replace(error, weight=min(MAXIMUM, error.weight * MAXIMUM / total)) for error in listed]
        differences = [replace(error, weight=0.0, severity="none") for error in every if self._forgiven(error)]
        count = min(total, MAXIMUM)
        evidence = ErrorsEvidence(_in_order(listed), count, _in_order(differences))
        return Component(self.name, 0.0 if empty else value_of(count), count, "severity-weighted errors", evidence)

    def _forgiven(self, error: ErrorSpan) -> bool:
        """Whether it is a mere difference: it weighs too little, or, a slip that never weighs much, is hardly a mistake."""
        if error.type in TYPO_TYPES:
            return not error.weight or error.confidence < self.config.smallest_probability
        return error.severity == "none" or error.weight < self.config.smallest_weight

    @abstractmethod
    def word_errors(self, pairs: Sequence[PairDifferences]) -> list[list[ErrorSpan]]:
        """What is wrong with the words of each pair, and where they differ without consequence, in any order."""


def _nothing_said(reference: PreparedText) -> ErrorSpan:
    """The error of a hypothesis without a word."""
    whole = reference.span_of(range(len(reference.words)))
    return ErrorSpan("missing", "omission", "critical", MAXIMUM, 1.0, whole, None)


def _in_order(errors: Iterable[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Errors in the order of the hypothesis."""
    return tuple(sorted(errors, key=lambda e: (e.hypothesis or e.reference or TextSpan("", 0, 0)).start))


class RuleBasedErrors(Errors):
    """Every edit with the severity that closed rules give it; needs no model beyond the analyses."""

    def word_errors(self, pairs: Sequence[PairDifferences]) -> list[list[ErrorSpan]]:
        """One span an edit."""
        return [[_edit_span(pair, *edit) for edit in pair.edits] for pair in pairs]


def _edit_span(pair: PairDifferences, edit: WordEdit, found: EditSeverity) -> ErrorSpan:
    return ErrorSpan(
        kind=edit.kind,
        type=found.type,
        severity=found.severity,
        weight=found.weight,
        confidence=found.mistake_probability,
        reference=pair.reference.span_of(edit.reference),
        hypothesis=pair.hypothesis.span_of(edit.hypothesis),
    )


def _error_from_dict(row: dict[str, Any]) -> ErrorSpan:
    if row["severity"] not in ("none", "minor", "major", "critical"):
        raise ValueError(f"{row['severity']!r} is no severity")
    return ErrorSpan(
        kind=string(row["kind"]),  # type: ignore[arg-type]
        type=string(row["type"]),
        severity=row["severity"],
        weight=number(row["weight"]),
        confidence=number(row["confidence"]),
        reference=None if row["reference"] is None else _span_from_dict(row["reference"]),
        hypothesis=None if row["text"] is None else _span_from_dict(row),
    )


def _span_from_dict(row: dict[str, Any]) -> TextSpan:
    return TextSpan(string(row["text"]), int(row["start"]), int(row["end"]))
