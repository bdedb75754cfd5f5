"""The learned estimator: the reader of both texts says where they part and how badly; neighbouring words join into spans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..idf import IdfTable
from ..once import once
from ..values import Analysis
from .alignment import moved_pairs, words_of
from .compared import Compared
from .estimator import EditScriptErrors, Errors, ErrorsConfig, text_span
from .lexicon import Lexicon
from .reader import SEVERITIES, TYPES, WEIGHTS, PairReading, Reader
from .values import ErrorSpan, Kind, Severity

__all__ = ["LearnedErrors", "errors_feature"]

VAGUE = frozenset(("other", "addition", "omission", "substitution"))
"""What the reader calls a word when it has no better name than the rules have."""
CLOSED = frozenset(("number", "negation", "gender", "spelling", "repetition"))
"""What the rules know better."""


class _Unit(NamedTuple):
    """A pair of words that stand for each other, or one word alone, and what the reader says of it.

    cost : the expected weight. severity : none for what is no error.
    """

    kind: Kind
    reference: int | None
    hypothesis: int | None
    cost: float
    confidence: float
    severity: Severity
    type: str


class LearnedErrors(Errors):
    """What the reader finds; characters decide on marks, blanks and case, and rules on words that repeat."""

    def __init__(self, idf: IdfTable, lexicon: Lexicon, reader: Reader, config: ErrorsConfig) -> None:
        super().__init__(idf, lexicon, config)
        self.reader = reader

    def judged(self, pairs: Sequence[Compared]) -> list[list[ErrorSpan]]:
        """Spans of neighbouring words with the same kind, severity and type; the weights of the errors add up to the reader's amount."""
        readings = self.reader([(compared.reference, compared.hypothesis) for compared in pairs])
        return [self._spans(*pair) for pair in zip(pairs, readings, strict=True)]

    def _spans(self, compared: Compared, reading: PairReading) -> list[ErrorSpan]:
        """The spans of one pair; a text against itself has none."""
        if compared.reference.text == compared.hypothesis.text:
            return []
        units = _units(compared, reading, self.config.threshold)
        repeated = sum(judgement.weight for edit, judgement in compared.edits if edit.repeated)
        amount = max(reading.amount, repeated)
        if amount < self.config.smallest_weight:
            units = [unit._replace(severity="none") for unit in units]
        elif not any(unit.severity != "none" for unit in units):
            units = _likeliest(units)
        total = sum(unit.cost for unit in units if unit.severity != "none") or 1.0
        return [_span(compared, group, amount / total) for group in _groups(units, compared)]


def _likeliest(units: list[_Unit]) -> list[_Unit]:
    """The same, where nothing is likely enough an error although the pair as a whole has one: the likeliest is it."""
    if not units:
        return units
    n = max(range(len(units)), key=lambda n: units[n].cost)
    return [*units[:n], units[n]._replace(severity="minor"), *units[n + 1 :]]


def _units(compared: Compared, reading: PairReading, threshold: float) -> list[_Unit]:
    """One unit for every match whose words differ or moved, and every word without one, those of the hypothesis first, in order."""
    reference, hypothesis, matches, edits = compared.reference, compared.hypothesis, compared.matches, compared.edits
    p = len(reference.words)
    probabilities, types = reading.probabilities.astype(np.float64), reading.types.astype(np.float64)
    known = {(side, n): j.type for edit, j in edits for side, ns in ((0, edit.reference), (1, edit.hypothesis)) for n in ns}
    moved = moved_pairs(matches)
    there = {match.hypothesis: (k, match.reference) for k, match in enumerate(matches)}

    def unit(kind: Kind, i: int | None, j: int | None) -> _Unit:
        rows = [n for n in (i, None if j is None else p + j) if n is not None]
        chances = probabilities[rows].mean(axis=0)
        ruled = known.get((1, j)) if j is not None else known.get((0, i or 0))
        wrong = float(1.0 - chances[0])
        severity: Severity = SEVERITIES[1 + int(chances[1:].argmax())] if wrong >= threshold else "none"
        name = _type(kind, ruled, TYPES[int(types[rows].sum(axis=0).argmax())])
        return _Unit(kind, i, j, float(chances @ np.array(WEIGHTS)), wrong, severity, name)

    units = []
    for j in words_of(hypothesis):
        if j not in there:
            units.append(unit("unnecessary", None, j))
            continue
        k, i = there[j]
        same = reference.words[i].text.lower() == hypothesis.words[j].text.lower()
        if not same or k in moved:
            units.append(unit("order" if same else "replacement", i, j))
    matched = {match.reference for match in matches}
    return units + [unit("missing", i, None) for i in words_of(reference) if i not in matched]


def _type(kind: Kind, ruled: str | None, learned: str) -> str:
    """What an error is about: a closed rule where one speaks, else the reader, else the word's class."""
    if ruled is not None and ruled in CLOSED:
        return ruled
    if learned not in VAGUE:
        return learned
    return ruled or {"missing": "omission", "unnecessary": "addition"}.get(kind, "substitution")


@once
def _following(analysis: Analysis) -> dict[int, int]:
    """For every compared word of a text the next one, -1 for the last."""
    places = words_of(analysis)
    return dict(zip(places, (*places[1:], -1), strict=False))


def _groups(units: Sequence[_Unit], compared: Compared) -> list[list[_Unit]]:
    """Units joined with their neighbours: the next compared word on every side that they touch, of one kind, severity and type."""
    following = _following(compared.reference), _following(compared.hypothesis)
    groups: list[list[_Unit]] = []
    last: _Unit | None = None
    for unit in units:
        if (
            last is not None
            and (last.kind, last.severity) == (unit.kind, unit.severity)
            and (last.type == unit.type or unit.kind in ("missing", "unnecessary"))
            and (last.reference is None or following[0].get(last.reference) == unit.reference)
            and (last.hypothesis is None or following[1].get(last.hypothesis) == unit.hypothesis)
        ):
            groups[-1].append(unit)
        else:
            groups.append([unit])
        last = unit
    return groups


def _span(compared: Compared, group: Sequence[_Unit], factor: float) -> ErrorSpan:
    """One span of a group, which weighs its cost times a factor; its type is that of its costliest unit, its confidence the highest."""
    heaviest = max(group, key=lambda unit: unit.cost)
    return ErrorSpan(
        kind=heaviest.kind,
        type=heaviest.type,
        severity=heaviest.severity,
        weight=0.0 if heaviest.severity == "none" else factor * sum(unit.cost for unit in group),
        confidence=max(unit.confidence for unit in group),
        reference=text_span(compared.reference, tuple(unit.reference for unit in group if unit.reference is not None)),
        hypothesis=text_span(compared.hypothesis, tuple(unit.hypothesis for unit in group if unit.hypothesis is not None)),
    )


def errors_feature(config: ErrorsConfig, idf: IdfTable, lexicon: Lexicon, folder: Path, threads: int | None = None) -> Errors:
    """The estimator that a configuration names.

    folder : of the model set, for the reader's weights, which are loaded at the first pair. threads : that the reader uses.
    """
    if config.estimator == "edit-script":
        return EditScriptErrors(idf, lexicon, config)
    from ..analyser.pair_reader import PairReader

    return LearnedErrors(idf, lexicon, PairReader(folder, threads), config)
