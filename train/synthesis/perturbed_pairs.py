"""The perturbations of data/perturbations, and TextAttack's (RoMe section 3.4), as pipelines: pairs with one mistake each, and what it weighs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rome.data.perturbations.perturbation import Materials, Replacement, Severity
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.perturbing import Analyse, inflection_note, materials_for, perturb_texts
from rome.exceptions import InputError
from rome.train.common.textattack import Perturber, Request
from rome.train.scorer.chains import DRAW, edit_severity
from rome.train.synthesis.edits import KINDS, diff_operations, words_of
from rome.train.synthesis.pairs import LOWEST_LABEL, Operation, Pipeline, SyntheticPair, identifier, pair_seed

LABELS: dict[Severity, tuple[str, float]] = {
    "none": ("none", 0.0),
    "minor": ("minor", -1.0),
    "major": ("major", -5.0),
    "critical": ("major", -5.0),
    "base": ("major", LOWEST_LABEL),
}
"""Severity of the table -> severity and label here. SEScore and MQM know no more than major; baselines leave nothing of the text."""
NEEDS_TEXTS = ("unrelated_text",)
"""Left out: they draw on the other texts, and a pair must depend on its own text alone."""
VERSION = 1


class PerturbationPipeline(Pipeline):
    """Of each text ``each`` pairs, by perturbations drawn from those that apply.

    The type of an operation is the perturbation's name; the first operation of a pair bears its label, and ``details`` marks what the table
    calls critical. Raises InputError for an unknown name.

    Parameters
    ----------
    analyse
        What analyses texts, such as ``RoMe().analyse``.
    identity
        Which analyser, for the signature.
    names
        Those to draw from (None: all but those that need other texts).
    """

    name = "perturbations"

    def __init__(
        self,
        analyse: Analyse,
        identity: str,
        *,
        names: Sequence[str] | None = None,
        each: int = 4,
        materials: Materials | None = None,
        least_words: int = 4,
        block: int = 32,
    ) -> None:
        unknown = [name for name in names or () if name not in PERTURBATIONS]
        if unknown:
            raise InputError(f"there is no perturbation {unknown[0]!r}: see `rome perturb --list`")
        self.names = tuple(name for name in names or PERTURBATIONS if name not in NEEDS_TEXTS)
        self.analyse, self.each, self.least_words = analyse, each, least_words
        self.materials = materials_for([]) if materials is None else materials
        inflected = "no" if inflection_note() else "yes"
        parts = (f"analyser:{identity}", f"each:{each}", f"least_words:{least_words}", f"inflection:{inflected}")
        super().__init__("|".join((f"perturbations{VERSION}", *parts, f"names:{identifier(*self.names)}")), block)

    def is_long_enough(self, text: str) -> bool:
        """By its words and signs."""
        return len(words_of(text)) >= self.least_words

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Up to ``each`` pairs a text."""
        analyses = self.analyse([text for _, text in texts]) if texts else {}
        for source, text in texts:
            perturbed = perturb_texts([analyses[text]], self.names, seed=seed, materials=self.materials)
            made = [one for one in perturbed if one.perturbed not in (None, text)]
            if not made:
                self.skipped["no perturbation applies"] += 1
            chosen = random.Random(pair_seed(seed, text)).sample(range(len(made)), min(self.each, len(made)))
            for one in (made[number] for number in sorted(chosen)):
                name = identifier(self.signature, seed, source, text, one.perturbation)
                yield self.pair(source, text, _operations(one.edits, one.perturbation), seed, name=name)


def _operations(edits: Sequence[Replacement], name: str) -> list[Operation]:
    """A perturbation's edits one after the other, from left to right; the first one bears the label of all."""
    severity, label = LABELS[PERTURBATIONS[name].severity]
    details = {"critical": 1.0} if PERTURBATIONS[name].severity == "critical" else {}
    found: list[Operation] = []
    for edit in edits:
        kind = KINDS.get((bool(edit.original), bool(edit.perturbed)), "replacement")
        end = edit.new_start + len(edit.original)
        cost = 0.0 if found else label
        found.append(Operation(kind, edit.new_start, end, edit.original, edit.perturbed, severity, cost, name, details))
    return found


HARMLESS = ("contract", "extend")
MAJOR_FROM = 2.5
"""From this weight of `edit_severity` on a step is major: wrong numbers, lost content words, swapped-in neighbours."""
TRIES = 5
"""Operations drawn for a step before it is given up."""
TEXTATTACK_VERSION = 2


class TextAttackPipeline(Pipeline):
    """Of each text one pair with up to ``most`` steps of TextAttack, each on what the former made; TextAttack's words for its steps.

    A step that changes nothing, or touches what a former one wrote, is drawn anew: what an edit cost can be told from the text. TextAttack
    gives neither spans nor severities: spans come from the difference of both texts, severities from the weights with which the scorer's
    negatives are made.
    """

    name = "rome"

    def __init__(self, perturber: Perturber, *, most: int = 5, least_words: int = 4, block: int = 32) -> None:
        self.perturber, self.most, self.least_words = perturber, most, least_words
        self.operations = tuple(name for name in DRAW if name in perturber.operations)
        drawn = ",".join(f"{name}*{count}" for name, count in Counter(self.operations).items())
        parts = f"textattack:{perturber.version}", f"most:{most}", f"least_words:{least_words}", f"draw:{drawn}"
        super().__init__("|".join((f"rome{TEXTATTACK_VERSION}", *parts)), block)

    def is_long_enough(self, text: str) -> bool:
        """By its words and signs."""
        return len(words_of(text)) >= self.least_words

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """One pair a text."""
        for source, text in texts:
            operations = self._steps(text, pair_seed(seed, text))
            if operations:
                yield self.pair(source, text, operations, seed)
            else:
                self.skipped["no perturbation applies"] += 1

    def _steps(self, text: str, own: int) -> list[Operation]:
        """1 to ``most`` perturbations; a step for which none is found is left out."""
        chance = random.Random(own)
        operations: list[Operation] = []
        fresh = [True] * len(text)
        for step in range(chance.randint(1, self.most)):
            for attempt in range(TRIES):
                name = chance.choice(self.operations)
                request = Request("", text, name, 1, own % 2**32 + TRIES * step + attempt)
                after = next((after for _, after in self.perturber.run([request])), text)
                found = weighed(text, after, name) if after.strip() else []
                marks = _untouched(fresh, found) if found else None
                if marks is not None:
                    operations, text, fresh = operations + found, after, marks
                    break
        return operations


def _untouched(fresh: Sequence[bool], operations: Iterable[Operation]) -> list[bool] | None:
    """For each character after some operations whether none wrote it; None when one of them changes what a former one wrote.

    Parameters
    ----------
    fresh
        The same before them.
    """
    marks = list(fresh)
    for one in operations:
        inside = one.start == one.end and 0 < one.start < len(marks) and not any(marks[one.start - 1 : one.start + 1])
        if inside or not all(marks[one.start : one.end]):
            return None
        marks[one.start : one.end] = [False] * len(one.new)
    return marks


def weighed(before: str, after: str, name: str) -> list[Operation]:
    """What a TextAttack operation did, as operations: their type is its name; the first one bears the label of the whole step."""
    weight = edit_severity(before, after, name)[1]
    severity, label = ("none", 0.0) if name in HARMLESS else ("major", -5.0) if weight >= MAJOR_FROM else ("minor", -1.0)
    found = diff_operations(before, after, name)
    return [
        replace(one, severity=severity, label=0.0 if n else label, details={"weight": weight}) for n, one in enumerate(found)
    ]
