"""Words of a pair laid side by side as a person would: which stand for each other, which are missing, too much or out of order.

The estimators' alignment (features/errors/edits.py) decides what a pair's errors weigh; here it is told, and named, word by word.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import NamedTuple

from .edits import WordEdit, WordMatch
from .estimator import PairDifferences
from .evidence import SEVERITIES, TYPES, WEIGHTS, Kind, PairPrediction, Severity
from .lexicon import form_of
from .names import likeness, name_of, slip, stand_for_each_other, unknown
from .severity import SeverityRules

NEAR = 30
"""How many of the lost words before a place, and after it, a word there may have been put for."""


class Unit(NamedTuple):
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


class Sides:
    """A pair, what the reader says of its words, and which of them a person would lay side by side."""

    def __init__(self, pair: PairDifferences, reading: PairPrediction, threshold: float, rules: SeverityRules) -> None:
        self.pair, self.threshold, self.rules, self.counts = pair, threshold, rules, rules.idf.counts
        self.words = pair.reference.words, pair.hypothesis.words
        self.probabilities, self.types = reading.probabilities.tolist(), reading.types.tolist()
        self.cosines = {match.reference: match.cosine for match in pair.matches}
        self.anchors = [(match.reference, match.hypothesis) for k, match in enumerate(pair.matches) if k not in pair.moved]
        self.ruled = {
            (edit.kind, edit.reference[0] if edit.kind in ("missing", "replacement") else None, j): found.type
            for edit, found in pair.edits
            for j in edit.hypothesis or (None,)
        }

    def units(self) -> list[Unit]:
        """One for every match whose words differ or moved, and every word without one, those of the hypothesis first, in order."""
        reference, hypothesis, matches = self.pair.reference, self.pair.hypothesis, self.pair.matches
        there = {match.hypothesis: (k, match.reference) for k, match in enumerate(matches)}
        units = []
        for j in hypothesis.places:
            if j not in there:
                units.append(self._unit("unnecessary", None, j))
                continue
            k, i = there[j]
            same = form_of(reference.words[i].text) == form_of(hypothesis.words[j].text)
            if not same or k in self.pair.moved:
                units.append(self._unit("order" if same else "replacement", i, j))
        matched = {match.reference for match in matches}
        return units + [self._unit("missing", i, None) for i in reference.places if i not in matched]

    def relaid(self, units: Sequence[Unit]) -> list[Unit]:
        """The units as a person would lay them: words that do not stand for each other apart, words put for a lost one beside it.

        Numbers stay as they are: they were compared by value.
        """
        apart = [part for unit in units for part in self._apart(unit)]
        missing = {unit.reference: unit for unit in apart if unit.kind == "missing" and unit.reference is not None}
        lost = sorted(i for i, unit in missing.items() if unit.type != "number")
        laid = []
        for unit in apart:
            i, j = unit.reference, unit.hypothesis
            if j is None:
                continue
            asked = unit.wrong and unit.kind != "order" and unit.type != "repetition"
            found = self._put_for(i, j, lost) if asked else None
            if found is not None:
                lost.remove(found)
                del missing[found]
                if i is not None:
                    insort(lost, i)
                    missing[i] = self._unit("missing", i, None)
                unit = self._unit("replacement", found, j)
            elif unit.kind == "unnecessary" and unit.type == "spelling":
                unit = unit._replace(kind="surface")  # another word is meant, which the reference does not have
            elif unit.wrong and unit.type == "punctuation":
                unit = unit._replace(type="other")  # a word in another script, taken for a mark
            laid.append(unit)
        laid += missing.values()
        return sorted(laid, key=lambda unit: (unit.hypothesis is None, unit.hypothesis or 0, unit.reference or 0))

    def _unit(self, kind: Kind, i: int | None, j: int | None) -> Unit:
        """What is said of word i of the reference and word j of the hypothesis, or of one of them."""
        rows = [n for n in (i, None if j is None else len(self.words[0]) + j) if n is not None]
        chances = [sum(column) / len(rows) for column in zip(*(self.probabilities[n] for n in rows), strict=True)]
        types = [sum(column) for column in zip(*(self.types[n] for n in rows), strict=True)]
        wrong, learned = 1.0 - chances[0], TYPES[types.index(max(types))]
        severity: Severity = SEVERITIES[chances.index(max(chances[1:]), 1)]
        cost = sum(chance * weight for chance, weight in zip(chances, WEIGHTS, strict=True))
        sides = None if i is None else self.words[0][i], None if j is None else self.words[1][j]
        name = name_of(kind, self._ruled(kind, i, j), learned, *sides, self.counts)
        return Unit(kind, i, j, cost, wrong, severity, wrong >= self.threshold, name)

    def _ruled(self, kind: Kind, i: int | None, j: int | None) -> str:
        """What the rules call it."""
        known = self.ruled.get((kind, None if kind == "order" else i, j))
        if known is not None:
            return known
        match = None
        if i is not None and j is not None:
            match = WordMatch(i, j, 0.0, likeness(self.words[0][i], self.words[1][j]))
        edit = WordEdit(kind, () if i is None else (i,), () if j is None else (j,), match=match)
        return self.rules.severity_of(edit).type

    def _apart(self, unit: Unit) -> list[Unit]:
        """A unit whose words do not stand for each other as two, any other as it is."""
        i, j = unit.reference, unit.hypothesis
        if unit.kind != "replacement" or unit.type == "number" or i is None or j is None:
            return [unit]
        if stand_for_each_other(self.words[0][i], self.words[1][j], self.cosines[i]):
            return [unit]
        return [self._unit("unnecessary", None, j), self._unit("missing", i, None)]

    def _put_for(self, i: int | None, j: int, lost: Sequence[int]) -> int | None:
        """The lost word of the reference that word j of the hypothesis was put for; i is the one that it is matched with.

        It is a slip of the lost word and stands between the same neighbours; or, where it has no match, it is the opposite of the lost word,
        another name, or unknown and between the same neighbours. Of several the one that is spelled most alike; words far away are not asked.
        """
        words, new = self.words[0], self.words[1][j]
        after = bisect_left(self.anchors, j, key=lambda anchor: anchor[1])
        before = after - 1
        if after < len(self.anchors) and self.anchors[after][1] == j:
            after += 1
        first = self.anchors[before][0] if before >= 0 else -1
        last = self.anchors[after][0] if after < len(self.anchors) else len(words)
        place = bisect_left(lost, first)
        near = lost[max(0, place - NEAR) : place + NEAR]
        between = [n for n in near if first < n < last]
        found = [n for n in between if slip(words[n], new, self.counts)]
        if i is None:
            opposite = self.rules.lexicon.antonyms
            found = found or [n for n in near if opposite(words[n].lemma, new.lemma) or opposite(words[n].text, new.text)]
            found = found or [n for n in near if words[n].upos == new.upos == "PROPN"]
            found = found or [n for n in between if unknown(new, self.counts)]
        return max(found, key=lambda n: (likeness(words[n], new), -n), default=None)


def joined(units: Sequence[Unit], pair: PairDifferences) -> list[list[Unit]]:
    """Units joined with their neighbours: the next compared word on every side that they touch, of one kind, severity and type."""
    following = pair.reference.following, pair.hypothesis.following
    groups: list[list[Unit]] = []
    last: Unit | None = None
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
