"""The learned estimator: the pair head judges every word that the edit script compares, and neighbours join into spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..idf import IdfTable
from ..once import once
from ..values import Analysis
from .alignment import moved_pairs, words_of
from .compared import Compared
from .estimator import EditScriptErrors, Errors, ErrorsConfig, text_span
from .head import TYPES, HeadOutput, PairHead
from .lexicon import Lexicon
from .pair_inputs import pair_inputs
from .values import ErrorSpan, Kind, Severity

__all__ = ["LearnedErrors", "errors_feature"]

HEAD_NAMES = frozenset(TYPES) - {"other", "addition", "omission"}
"""What the head may call a word that has a counterpart."""
CLOSED = frozenset(("number", "negation", "antonym", "gender", "spelling", "repetition"))
"""What the rules know better."""


class _Unit(NamedTuple):
    """A pair of matched words, or one word alone, and what the head says of it."""

    kind: Kind
    reference: int | None
    hypothesis: int | None
    weight: float
    confidence: float
    severity: Severity
    type: str


class LearnedErrors(Errors):
    """The expected severity-weighted count of the pair head over all words; characters still decide on marks, blanks and case."""

    def __init__(self, idf: IdfTable, lexicon: Lexicon, head: PairHead, config: ErrorsConfig) -> None:
        super().__init__(idf, lexicon, config)
        self.head = head

    def judged(self, compared: Compared, least: float = 0.0) -> Iterable[ErrorSpan | float]:
        """Spans of neighbouring words with the same kind, severity and type.

        Their weights add up to the head's expected count, or more where words repeat.

        A text against itself has no errors, whatever the head makes of it.
        """
        if compared.reference.text == compared.hypothesis.text:
            return
        output = self.head(pair_inputs(compared, self.idf, self.lexicon))
        units = _units(compared, output, self.config.threshold)
        for group in _groups(units, compared):
            weight = sum(unit.weight for unit in group) if len(group) > 1 else group[0].weight
            yield weight if weight < least else _span(compared, group, weight)


def _units(compared: Compared, output: HeadOutput, threshold: float) -> list[_Unit]:
    """One unit for every match and every word without one, those of the hypothesis first, in order.

    A word that repeats what stands before it costs at least what the rules say: the head saw slips, not texts that go round in circles.
    """
    reference, hypothesis, matches, edits = compared.reference, compared.hypothesis, compared.matches, compared.edits
    p = len(reference.words)
    probabilities, types, costs = _joined(compared, output)
    moved = moved_pairs(matches)
    there = {m.hypothesis: (k, m) for k, m in enumerate(matches)}
    known = {(side, n): j.type for edit, j in edits for side, ns in ((0, edit.reference), (1, edit.hypothesis)) for n in ns}
    repeated = {edit.hypothesis[0]: j.weight for edit, j in edits if edit.repeated}

    def unit(kind: Kind, i: int | None, j: int | None, doubted: bool = True) -> _Unit:
        row = p + j if j is not None else i or 0
        ruled = known.get((1, j)) if j is not None else known.get((0, row))
        none, minor, major = probabilities[row]
        return _Unit(
            kind,
            i,
            j,
            max(costs[row], repeated.get(j, 0.0) if j is not None else 0.0),
            1.0 - none,
            "none" if not doubted or 1.0 - none < threshold else "major" if major >= minor else "minor",
            _type(kind, ruled, TYPES[types[row]]),
        )

    units = []
    for j in words_of(hypothesis):
        if j not in there:
            units.append(unit("unnecessary", None, j))
            continue
        k, match = there[j]
        same = reference.words[match.reference].text.lower() == hypothesis.words[j].text.lower()
        # what stands unchanged in its place counts with its probability, but nobody would call it an error
        units.append(unit("order" if same and k in moved else "replacement", match.reference, j, not same or k in moved))
    matched = {match.reference for match in matches}
    return units + [unit("missing", i, None) for i in words_of(reference) if i not in matched]


def _joined(compared: Compared, output: HeadOutput) -> tuple[list[list[float]], list[int], list[float]]:
    """For every word, the reference's first: probabilities, likeliest type and cost; a matched pair's stand with its hypothesis word.

    Probabilities of a pair are the means over its two words, its cost is their sum.
    """
    p = len(compared.reference.words)
    probabilities, types, costs = (array.astype(np.float64) for array in (output.probabilities, output.types, output.costs))
    if compared.matches:
        old = np.array([match.reference for match in compared.matches])
        new = p + np.array([match.hypothesis for match in compared.matches])
        probabilities[new] = (probabilities[old] + probabilities[new]) / 2
        types[new] += types[old]
        costs[new] += costs[old]
    return probabilities.tolist(), types.argmax(axis=1).tolist(), costs.tolist()


def _type(kind: Kind, ruled: str | None, learned: str) -> str:
    """What an error is about: a closed rule where one speaks, else the head, else the word's class."""
    if ruled is not None and ruled in CLOSED:
        return ruled
    if kind == "missing":
        return ruled or "omission"
    if kind == "unnecessary":
        return ruled or "addition"
    return learned if learned in HEAD_NAMES else ruled or "substitution"


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
            and unit.severity != "none"
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


def _span(compared: Compared, group: Sequence[_Unit], weight: float) -> ErrorSpan:
    """One span of a group that weighs so much; its type is that of its heaviest unit, its confidence the highest."""
    heaviest = max(group, key=lambda unit: unit.weight) if len(group) > 1 else group[0]
    return ErrorSpan(
        kind=heaviest.kind,
        type=heaviest.type,
        severity=heaviest.severity,
        weight=weight,
        confidence=max(unit.confidence for unit in group),
        reference=text_span(compared.reference, tuple(unit.reference for unit in group if unit.reference is not None)),
        hypothesis=text_span(compared.hypothesis, tuple(unit.hypothesis for unit in group if unit.hypothesis is not None)),
    )


def errors_feature(config: ErrorsConfig, idf: IdfTable, lexicon: Lexicon, folder: Path) -> Errors:
    """The estimator that a configuration names. folder : holds the head's weights. Raises ModelMissingError when they are not there."""
    if config.estimator == "edit-script":
        return EditScriptErrors(idf, lexicon, config)
    return LearnedErrors(idf, lexicon, PairHead.load(folder), config)
