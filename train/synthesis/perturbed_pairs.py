"""The perturbations of data/perturbations, and TextAttack's (RoMe section 3.4), as pipelines: pairs with one mistake each, and what it weighs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from rome.data.perturbations.perturbation import Materials, Replacement, Severity
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.perturbing import Analyse, inflection_note, materials_for, perturb_texts
from rome.exceptions import InputError
from rome.train.common.textattack import Perturber, Request
from rome.train.scorer.chains import DRAW, edit_severity
from rome.train.synthesis.edits import diff_operations, identifier, pair_seed
from rome.train.synthesis.pairs import MOST, GeneratedPair, Operation
from rome.train.synthesis.stratified import words_of

__all__ = ["LABELS", "PerturbationPairs", "TextAttackPairs", "weighed"]

LABELS: dict[Severity, tuple[str, float]] = {
    "none": ("none", 0.0),
    "minor": ("minor", -1.0),
    "major": ("major", -5.0),
    "critical": ("major", -5.0),
    "base": ("major", -MOST),
}
"""Severity of the table -> severity and label here. SEScore and MQM know no more than major; baselines leave nothing of the text."""
NEEDS_TEXTS = ("unrelated_text",)
"""Left out: they draw on the other texts, and a pair must depend on its own text alone."""
VERSION = 1


class PerturbationPairs:
    """Of each text ``each`` pairs, by perturbations drawn from those that apply.

    Raises InputError for an unknown name.

    Parameters
    ----------
    analyse
        What analyses texts, such as ``RoMe().analyse``.
    identity
        Which analyser, for the signature.
    names
        Those to draw from (None: all but those that need other texts). The type of an operation is the perturbation's name; the first operation
        of a pair bears its label, and ``details`` marks what the table calls critical.

    Attributes
    ----------
    skipped
        How many texts gave nothing, by reason.
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
        self.analyse, self.each, self.least_words, self.block = analyse, each, least_words, block
        self.materials = materials_for([]) if materials is None else materials
        inflected = "no" if inflection_note() else "yes"
        parts = (f"analyser:{identity}", f"each:{each}", f"least_words:{least_words}", f"inflection:{inflected}")
        self.signature = "|".join((f"perturbations{VERSION}", *parts, f"names:{identifier(*self.names)}"))
        self.skipped: Counter[str] = Counter()

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[GeneratedPair]:
        """Yield up to ``each`` pairs a text, text by text; they depend on the text and the seed alone."""
        remaining = iter(texts)
        while block := list(islice(remaining, self.block)):
            long = [(source, text) for source, text in block if len(words_of(text)) >= self.least_words]
            self.skipped["too short"] += len(block) - len(long)
            analyses = self.analyse([text for _, text in long]) if long else {}
            for source, text in long:
                made = [
                    one
                    for one in perturb_texts([analyses[text]], self.names, seed=seed, materials=self.materials)
                    if one.perturbed not in (None, text)
                ]
                if not made:
                    self.skipped["no perturbation applies"] += 1
                chosen = random.Random(pair_seed(seed, text)).sample(range(len(made)), min(self.each, len(made)))
                for number in sorted(chosen):
                    one = made[number]
                    operations = _operations(one.edits, one.perturbation)
                    name = identifier(self.signature, seed, source, text, one.perturbation)
                    label = max(sum(operation.label or 0.0 for operation in operations), -MOST)
                    yield GeneratedPair(name, self.signature, seed, text, one.perturbed or "", operations, label, source=source)


def _operations(edits: Sequence[Replacement], name: str) -> tuple[Operation, ...]:
    """A perturbation's edits one after the other, from left to right; the first one bears the label of all."""
    severity, label = LABELS[PERTURBATIONS[name].severity]
    details = {"critical": 1.0} if PERTURBATIONS[name].severity == "critical" else {}
    kinds = {(True, True): "replacement", (False, True): "insertion", (True, False): "deletion", (False, False): "replacement"}
    return tuple(
        Operation(
            kinds[bool(edit.original), bool(edit.perturbed)],
            edit.new_start,
            edit.new_start + len(edit.original),
            edit.original,
            edit.perturbed,
            severity,
            0.0 if number else label,
            name,
            details,
        )
        for number, edit in enumerate(edits)
    )


HARMLESS = ("contract", "extend")
MAJOR_FROM = 2.5
"""From this weight of `edit_severity` on a step is major: wrong numbers, lost content words, swapped-in neighbours."""
TRIES = 5
"""Operations drawn for a step before it is given up."""
TEXTATTACK_VERSION = 2


class TextAttackPairs:
    """Of each text one pair with up to ``most`` steps of TextAttack, each on what the former made; TextAttack's words for its steps.

    A step that changes nothing, or touches what a former one wrote, is drawn anew: what an edit cost can be told from the text. TextAttack
    gives neither spans nor severities: spans come from the difference of both texts, severities from the weights with which the scorer's
    negatives are made.

    Attributes
    ----------
    skipped
        How many texts gave nothing, by reason.
    """

    name = "rome"

    def __init__(self, perturber: Perturber, *, most: int = 5, least_words: int = 4) -> None:
        self.perturber, self.most, self.least_words = perturber, most, least_words
        self.operations = tuple(name for name in DRAW if name in perturber.operations)
        drawn = ",".join(f"{name}*{count}" for name, count in Counter(self.operations).items())
        self.signature = (
            f"rome{TEXTATTACK_VERSION}|textattack:{perturber.version}|most:{most}|least_words:{least_words}|draw:{drawn}"
        )
        self.skipped: Counter[str] = Counter()

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[GeneratedPair]:
        """Yield one pair a text in their order; a pair depends on its text and the seed alone."""
        for source, text in texts:
            if len(words_of(text)) < self.least_words:
                self.skipped["too short"] += 1
                continue
            hypothesis, operations = self._steps(text, pair_seed(seed, text))
            if not operations:
                self.skipped["no perturbation applies"] += 1
                continue
            label = max(sum(operation.label or 0.0 for operation in operations), -MOST)
            name = identifier(self.signature, seed, source, text)
            yield GeneratedPair(name, self.signature, seed, text, hypothesis, operations, label, source=source)

    def _steps(self, text: str, own: int) -> tuple[str, tuple[Operation, ...]]:
        """The text after 1 to ``most`` perturbations, and what they were; a step for which none is found is left out."""
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
        return text, tuple(operations)


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
