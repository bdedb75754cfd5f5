"""The learned estimator: the reader of both texts says where they part and how badly; neighbouring words join into spans."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..idf import IdfTable
from ..protocol import Resources
from .clauses import lost_conjunctions, other_times
from .estimator import Errors, ErrorsConfig, PairDifferences, RuleBasedErrors
from .evidence import CRITICAL, MAXIMUM, SEVERITIES, WEIGHTS, ErrorSpan, PairErrorModel, PairPrediction, Severity
from .lexicon import AntonymLexicon, compare_numbers
from .severity import SeverityRules
from .units import Sides, Unit, joined

SUPPORT = 0.2
"""The share of a severity's weight that an error of this severity has at least."""
LEAST_COST = 1e-9
SURE = 0.5
"""How likely at least a verb in another tense and a lost conjunction are mistakes."""


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
        told = forgiven(reading.amount, pair, self.config.forgiveness)
        rules = SeverityRules(pair.reference, pair.hypothesis, self.idf, self.lexicon, self.config.severity)
        sides = Sides(pair, reading, self.config.threshold, rules)
        units, amount = _counted(sides.units(), told, pair)
        amount = max(amount, repeated)
        units, amount = _of_clauses(sides.relaid(units), amount, pair, self.config)
        groups = joined(units, pair)
        weights = self._shared(groups, amount)
        return [_span(pair, group, weight) for group, weight in zip(groups, weights, strict=True)]

    def _shared(self, groups: Sequence[Sequence[Unit]], amount: float) -> list[float]:
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


def _counted(units: list[Unit], amount: float, pair: PairDifferences) -> tuple[list[Unit], float]:
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


def _of_clauses(units: Sequence[Unit], amount: float, pair: PairDifferences, config: ErrorsConfig) -> tuple[list[Unit], float]:
    """Units and amount after the clauses were compared: a verb in another tense or aspect, and a lost conjunction, weigh so much more.

    Only where words differ: the costliest unit of the words of the two verbs takes the weight and the name, or that of the lost word the weight.
    """
    found, aligned = list(units), {match.reference: match.hypothesis for match in pair.matches}
    reference, hypothesis = pair.reference, pair.hypothesis
    verbs = other_times(reference.verbs, hypothesis.verbs, aligned)
    joining = reference.conjunctions, hypothesis.conjunctions
    lost = lost_conjunctions(reference.words, hypothesis.words, joining, aligned)
    told = [(old.words, new.words, config.tense, "tense") for old, new in verbs]
    told += [((n,), (), config.conjunction, "") for n in lost]
    for old, new, weight, name in told:
        places = [n for n, unit in enumerate(found) if unit.reference in old or unit.hypothesis in new]
        if places and weight:
            n = max(places, key=lambda n: found[n].cost)
            unit = found[n]
            amount += weight
            confidence = max(unit.confidence, SURE)
            found[n] = unit._replace(cost=unit.cost + weight, confidence=confidence, wrong=True, type=name or unit.type)
    return found, amount


def _span(pair: PairDifferences, group: Sequence[Unit], weight: float) -> ErrorSpan:
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
