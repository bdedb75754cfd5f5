"""The learned estimator: the reader of both texts says where they part and how badly; neighbouring words join into spans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..idf import IdfTable
from ..protocol import Resources
from .estimator import Errors, ErrorsConfig, PairDifferences, RuleBasedErrors
from .evidence import CRITICAL, MAXIMUM, SEVERITIES, TYPES, WEIGHTS, ErrorSpan, Kind, PairErrorModel, PairPrediction, Severity
from .lexicon import AntonymLexicon, compare_numbers, form_of

VAGUE = frozenset(("other", "addition", "omission", "substitution"))
"""What the reader calls a word when it has no better name than the rules have."""
CLOSED = frozenset(("number", "negation", "gender", "spelling", "repetition"))
"""What the rules know better."""


SUPPORT = 0.4
"""The share of a severity's weight that an error of this severity has at least."""
LEAST_COST = 1e-9


class _Unit(NamedTuple):
    """A pair of words that stand for each other, or one word alone, and what the reader says of it.

    Attributes
    ----------
    cost
        The expected weight.
    severity
        The likeliest of an error.
    wrong
        Whether it is likely enough one.
    """

    kind: Kind
    reference: int | None
    hypothesis: int | None
    cost: float
    confidence: float
    severity: Severity
    wrong: bool
    type: str


class LearnedErrors(Errors):
    """What the reader finds; characters decide on marks, blanks and case, and rules on words that repeat."""

    def __init__(self, idf: IdfTable, lexicon: AntonymLexicon, reader: PairErrorModel, config: ErrorsConfig) -> None:
        super().__init__(idf, lexicon, config)
        self.reader = reader

    @classmethod
    def make(cls, config: ErrorsConfig, resources: Resources) -> Errors:
        """The estimator that the settings name; the reader's weights are loaded at the first pair."""
        if config.estimator == "edit-script":
            return RuleBasedErrors.make(config, resources)
        from ..analyser.pair_reader import PairReader

        given = (resources.threads, resources.device, resources.batch_size, resources.precision)
        reader = PairReader(resources.folder, config.below, *given)
        return cls(resources.idf, resources.lexicon, reader, config)

    def word_errors(self, pairs: Sequence[PairDifferences]) -> list[list[ErrorSpan]]:
        """Spans of neighbouring words with the same kind, severity and type; the weights of the errors add up to the reader's amount."""
        readings = self.reader([(pair.reference.analysis, pair.hypothesis.analysis) for pair in pairs])
        return [self._spans(*pair) for pair in zip(pairs, readings, strict=True)]

    def _spans(self, pair: PairDifferences, reading: PairPrediction) -> list[ErrorSpan]:
        """The spans of one pair."""
        repeated = sum(severity.weight for edit, severity in pair.edits if edit.repeated)
        told = forgiven(judged(reading, self.config.words), pair, self.config.forgiveness)
        units, amount = _counted(_units(pair, reading, self.config.threshold), told, pair)
        groups = _groups(units, pair)
        weights = self._shared(groups, max(amount, repeated))
        return [_span(pair, group, weight) for group, weight in zip(groups, weights, strict=True)]

    def _shared(self, groups: Sequence[Sequence[_Unit]], amount: float) -> list[float]:
        """What each group weighs: the amount in proportion to their costs.

        Groups that would weigh too little to be errors get nothing. Where no group is likely enough an error although the pair as a
        whole has one, the costliest is it.
        """
        costs = np.array([sum(unit.cost for unit in group) for group in groups])
        if not len(costs) or amount < self.config.smallest_weight:
            return [0.0] * len(costs)
        likely = np.array([group[0].wrong for group in groups])
        kept = likely & (amount * costs >= self.config.smallest_weight * costs[likely].sum())
        kept[int(np.argmax(np.where(likely, costs, 0.0) if likely.any() else costs))] = True
        shares = np.where(kept, costs, 0.0)
        weights: list[float] = (amount * shares / max(float(shares.sum()), LEAST_COST)).tolist()
        return weights


def _units(pair: PairDifferences, reading: PairPrediction, threshold: float) -> list[_Unit]:
    """One unit for every match whose words differ or moved, and every word without one, those of the hypothesis first, in order."""
    reference, hypothesis, matches, edits = pair.reference, pair.hypothesis, pair.matches, pair.edits
    p = len(reference.words)
    probabilities, types = reading.probabilities.astype(np.float64), reading.types.astype(np.float64)
    known = {(side, n): j.type for edit, j in edits for side, ns in ((0, edit.reference), (1, edit.hypothesis)) for n in ns}
    there = {match.hypothesis: (k, match.reference) for k, match in enumerate(matches)}

    def unit(kind: Kind, i: int | None, j: int | None) -> _Unit:
        rows = [n for n in (i, None if j is None else p + j) if n is not None]
        chances = probabilities[rows].mean(axis=0)
        ruled = known.get((1, j)) if j is not None else known.get((0, i or 0))
        wrong = float(1.0 - chances[0])
        severity: Severity = SEVERITIES[1 + int(chances[1:].argmax())]
        name = _type(kind, ruled, TYPES[int(types[rows].sum(axis=0).argmax())])
        return _Unit(kind, i, j, float(chances @ np.array(WEIGHTS)), wrong, severity, wrong >= threshold, name)

    units = []
    for j in hypothesis.places:
        if j not in there:
            units.append(unit("unnecessary", None, j))
            continue
        k, i = there[j]
        same = form_of(reference.words[i].text) == form_of(hypothesis.words[j].text)
        if not same or k in pair.moved:
            units.append(unit("order" if same else "replacement", i, j))
    matched = {match.reference for match in matches}
    return units + [unit("missing", i, None) for i in reference.places if i not in matched]


def judged(reading: PairPrediction, share: float) -> float:
    """What the errors of a pair weigh together: the geometric mean of what the reader says of the whole and of what its words add up to.

    The judgement of the whole knows what says the same in other words, that of each word is steadier between texts that are almost equal.

    Parameters
    ----------
    share
        Of the words, in [0, 1].
    """
    if reading.amount >= MAXIMUM:  # a very long pair, read in parts
        return reading.amount
    words = float((reading.probabilities.astype(np.float64) @ np.array(WEIGHTS)).sum())
    limited = -MAXIMUM * math.expm1(-words / MAXIMUM)
    return math.expm1((1.0 - share) * math.log1p(reading.amount) + share * math.log1p(limited))


def forgiven(amount: float, pair: PairDifferences, forgiveness: float) -> float:
    """The reader's amount, more of it where the hypothesis is shorter than the reference, less where it is longer; below MAXIMUM as before.

    People who judge translations miss what is left out and hardly mind what is added (METEOR and chrF weigh recall for the same reason:
    Banerjee and Lavie 2005, Popović 2017).
    """
    if amount >= MAXIMUM:  # a very long pair, read in parts
        return amount
    lengths = [max(1, sum(len(word.text) for word in side.words)) for side in (pair.reference, pair.hypothesis)]
    shorter = min(1.0, max(-1.0, math.log(lengths[0] / lengths[1])))
    return MAXIMUM * (1.0 - (1.0 - amount / MAXIMUM) ** math.exp(forgiveness * shorter))


def _counted(units: list[_Unit], amount: float, pair: PairDifferences) -> tuple[list[_Unit], float]:
    """Units and amount after the numbers were compared by value: the same one is no error, another one is critical."""
    aligned = {match.reference: match.hypothesis for match in pair.matches}
    numbers = compare_numbers(pair.reference.quantities, pair.hypothesis.quantities, aligned)
    whole = sum(unit.cost for unit in units)
    found = []
    for unit in units:
        places = [(side, n) for side, n in enumerate((unit.reference, unit.hypothesis)) if n is not None]
        if all(n in numbers.same[side] for side, n in places):
            unit = unit._replace(cost=0.0, wrong=False, type="number")
        elif unit.kind == "replacement" and all(n in numbers.other[side] for side, n in places):
            unit = unit._replace(cost=CRITICAL, confidence=1.0, severity="critical", wrong=True, type="number")
        found.append(unit)
    kept = sum(min(unit.cost, other.cost) for unit, other in zip(units, found, strict=True))
    return found, max(amount * kept / max(whole, LEAST_COST), CRITICAL * numbers.count)


def _type(kind: Kind, ruled: str | None, learned: str) -> str:
    """What an error is about: a closed rule where one speaks, else the reader, else the word's class."""
    if ruled is not None and ruled in CLOSED:
        return ruled
    if learned not in VAGUE:
        return learned
    return ruled or {"missing": "omission", "unnecessary": "addition"}.get(kind, "substitution")


def _groups(units: Sequence[_Unit], pair: PairDifferences) -> list[list[_Unit]]:
    """Units joined with their neighbours: the next compared word on every side that they touch, of one kind, severity and type."""
    following = pair.reference.following, pair.hypothesis.following
    groups: list[list[_Unit]] = []
    last: _Unit | None = None
    for unit in units:
        if (
            last is not None
            and (last.kind, last.wrong) == (unit.kind, unit.wrong)
            and (last.severity == unit.severity or not unit.wrong)
            and (last.type == unit.type or unit.kind in ("missing", "unnecessary"))
            and (last.reference is None or following[0].get(last.reference) == unit.reference)
            and (last.hypothesis is None or following[1].get(last.hypothesis) == unit.hypothesis)
        ):
            groups[-1].append(unit)
        else:
            groups.append([unit])
        last = unit
    return groups


def _span(pair: PairDifferences, group: Sequence[_Unit], weight: float) -> ErrorSpan:
    """One span of a group that weighs so much; its type is that of its costliest unit, its confidence the highest."""
    heaviest = max(group, key=lambda unit: unit.cost)
    return ErrorSpan(
        kind=heaviest.kind,
        type=heaviest.type,
        severity=_supported(heaviest.severity, weight),
        weight=weight,
        confidence=max(unit.confidence for unit in group),
        reference=pair.reference.span_of([unit.reference for unit in group if unit.reference is not None]),
        hypothesis=pair.hypothesis.span_of([unit.hypothesis for unit in group if unit.hypothesis is not None]),
    )


def _supported(severity: Severity, weight: float) -> Severity:
    """The severity, or a lower one where the weight is less than SUPPORT of what it stands for; none without weight."""
    if not weight:
        return "none"
    found = next(n for n in range(len(WEIGHTS) - 1, 0, -1) if n == 1 or weight >= SUPPORT * WEIGHTS[n])
    return SEVERITIES[min(found, SEVERITIES.index(severity))]
