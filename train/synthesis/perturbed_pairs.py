"""The perturbations of data/perturbations and TextAttack's (RoMe section 3.4) as pipelines: pairs with weighted mistakes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rome.data.perturbations.perturbation import Materials, Replacement, Severity
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.perturbing import Analyse, inflection_note, materials_for, perturb_texts
from rome.train.common.textattack import Perturber, Request
from rome.train.scorer.chains import DRAW, edit_severity
from rome.train.synthesis.edits import KINDS, MAJOR, MINOR, Draft, Operation, diff_operations
from rome.train.synthesis.pairs import LOWEST_LABEL, Pipeline, SyntheticPair, identifier, pair_seed

LABELS: dict[Severity, tuple[str, float]] = {
    "none": ("none", 0.0),
    "minor": MINOR,
    "major": MAJOR,
    "critical": MAJOR,
    "base": ("major", LOWEST_LABEL),
}
"""Severity and label by the severity of the table: SEScore and MQM have no more than major; baselines keep nothing of the text."""
NAMES = tuple(name for name in PERTURBATIONS if name != "unrelated_text")
"""A pair must depend on its own text alone, so `unrelated_text` is left out."""
LEAST_WORDS = 4
VERSION = 1


class PerturbationPipeline(Pipeline):
    """Make ``each`` pairs per text by perturbations drawn from those that apply.

    The type of an operation is the name of the perturbation; the first operation of a pair has its label, and ``details`` marks critical ones.

    Parameters
    ----------
    analyse
        Analyser of texts, such as ``RoMe().analyse``.
    identity
        Name of the analyser for the signature.
    """

    name = "perturbations"

    def __init__(
        self, analyse: Analyse, identity: str, *, each: int = 4, materials: Materials | None = None, block: int = 32
    ) -> None:
        self.analyse, self.each = analyse, each
        self.materials = materials_for([]) if materials is None else materials
        inflected = "no" if inflection_note() else "yes"
        parts = (f"analyser:{identity}", f"each:{each}", f"least_words:{LEAST_WORDS}", f"inflection:{inflected}")
        super().__init__("|".join((f"perturbations{VERSION}", *parts, f"names:{identifier(*NAMES)}")), block, LEAST_WORDS)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield up to ``each`` pairs per text."""
        analyses = self.analyse([text for _, text in texts]) if texts else {}
        for source, text in texts:
            perturbed = perturb_texts([analyses[text]], NAMES, seed=seed, materials=self.materials)
            made = [one for one in perturbed if one.perturbed not in (None, text)]
            if not made:
                self.skipped["no perturbation applies"] += 1
            chosen = random.Random(pair_seed(seed, text)).sample(range(len(made)), min(self.each, len(made)))
            for one in (made[number] for number in sorted(chosen)):
                name = identifier(self.signature, seed, source, text, one.perturbation)
                yield self.pair(source, text, _operations(one.edits, one.perturbation), seed, name=name)


def _operations(edits: Sequence[Replacement], name: str) -> list[Operation]:
    """Return the edits of a perturbation one after the other, from left to right; the first one has the label of all."""
    severity, label = LABELS[PERTURBATIONS[name].severity]
    details = {"critical": 1.0} if PERTURBATIONS[name].severity == "critical" else {}
    return [
        Operation(
            KINDS.get((bool(edit.original), bool(edit.perturbed)), "replacement"),
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
    ]


HARMLESS = ("contract", "extend")
MAJOR_FROM = 2.5
"""Least weight of `edit_severity` of a major step: wrong numbers, lost content words, swapped-in neighbours."""
TRIES = 5
"""Operations drawn for a step before it is given up."""
TEXTATTACK_VERSION = 3


class TextAttackPipeline(Pipeline):
    """Make one pair per text with up to ``most`` steps of TextAttack, each on the text after the previous ones.

    A step that changes nothing, or touches an earlier one, is drawn anew. TextAttack gives neither spans nor severities: spans are the
    difference of both texts, severities the weights that the scorer's negatives have.
    """

    name = "rome"

    def __init__(self, perturber: Perturber, *, most: int = 5, block: int = 32) -> None:
        self.perturber, self.most = perturber, most
        self.operations = tuple(name for name in DRAW if name in perturber.operations)
        drawn = ",".join(f"{name}*{count}" for name, count in Counter(self.operations).items())
        parts = f"textattack:{perturber.version}", f"most:{most}", f"least_words:{LEAST_WORDS}", f"draw:{drawn}"
        super().__init__("|".join((f"rome{TEXTATTACK_VERSION}", *parts)), block, LEAST_WORDS)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield one pair per text."""
        for source, text in texts:
            operations = self._steps(text, pair_seed(seed, text))
            if operations:
                yield self.pair(source, text, operations, seed)
            else:
                self.skipped["no perturbation applies"] += 1

    def _steps(self, text: str, own: int) -> tuple[Operation, ...]:
        """Return 1 to ``most`` perturbations; a step without one is left out."""
        chance, draft = random.Random(own), Draft(text)
        for step in range(chance.randint(1, self.most)):
            for attempt in range(TRIES):
                name = chance.choice(self.operations)
                request = Request(draft.text, name, 1, own % 2**32 + TRIES * step + attempt)
                after = self.perturber.run(request)
                operations = weighed(draft.text, after, name) if after and after.strip() else ()
                if operations and draft.apply(*operations):
                    break
        return draft.operations


def weighed(before: str, after: str, name: str) -> tuple[Operation, ...]:
    """Return what a TextAttack operation did: its name is the type, and the first operation has the label of the whole step."""
    weight = edit_severity(before, after, name)[1]
    severity, label = LABELS["none"] if name in HARMLESS else MAJOR if weight >= MAJOR_FROM else MINOR
    return tuple(
        replace(one, severity=severity, label=0.0 if number else label, details={"weight": weight})
        for number, one in enumerate(diff_operations(before, after, name))
    )
