"""The perturbations of DEMETR's table 1 as a pipeline: minimal pairs with one mistake each, and the table's severities."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.perturbations.values import Edit, Materials, Severity
from rome.evaluation.perturbing import Analyse, inflection_note, materials_for, perturb_texts
from rome.exceptions import InputError
from rome.train.synthesis.seeds import identifier, pair_seed
from rome.train.synthesis.stratified import words_of
from rome.train.synthesis.values import MOST, GeneratedPair, Operation

__all__ = ["LABELS", "PerturbationPairs"]

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

    analyse : what analyses texts, such as ``RoMe().analyse``. identity : which analyser, for the signature. names : those to draw
    from (None: all but those that need other texts). The type of an operation is the perturbation's name; the first operation of a
    pair bears its label, and ``details`` marks what the table calls critical. skipped : how many texts gave nothing, by reason.

    Raises InputError for an unknown name.
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


def _operations(edits: Sequence[Edit], name: str) -> tuple[Operation, ...]:
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
