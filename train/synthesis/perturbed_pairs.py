"""The perturbations of data/perturbations and TextAttack's (RoMe section 3.4) as pipelines: pairs with weighted mistakes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rome.data.perturbations.perturbation import Materials, Severity
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.perturbing import Analyse, inflection_note, materials_for, perturb_texts
from rome.train.common.textattack import Perturber, Request
from rome.train.scorer.chains import DRAW
from rome.train.synthesis.edits import MAJOR, MINOR, Draft, diff_operations
from rome.train.synthesis.pairs import LOWEST_LABEL, Pipeline, SyntheticPair, identifier, pair_seed
from rome.train.synthesis.severities import SeverityModel, Work, judged_pairs

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
VERSION = 2


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
        self.analyse, self.each, self.materials = analyse, each, materials or materials_for([])
        inflected = "no" if inflection_note() else "yes"
        parts = (f"analyser:{identity}", f"each:{each}", f"least_words:{LEAST_WORDS}", f"inflection:{inflected}")
        super().__init__("|".join((f"perturbations{VERSION}", *parts, f"names:{identifier(*NAMES)}")), block, LEAST_WORDS)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield up to ``each`` pairs per text."""
        analyses = self.analyse([text for _, text in texts]) if texts else {}
        for source, text in texts:
            perturbed = perturb_texts([analyses[text]], NAMES, seed=seed, materials=self.materials)
            made = [(one.perturbation, one.perturbed) for one in perturbed if one.perturbed not in (None, text)]
            self.skipped.update(["no perturbation applies"] * (not made))
            chosen = random.Random(pair_seed(seed, text)).sample(range(len(made)), min(self.each, len(made)))
            for name, after in (made[number] for number in sorted(chosen)):
                table = PERTURBATIONS[name].severity
                severity, label = LABELS[table]
                details = {"critical": 1.0} if table == "critical" else {}
                operations = [
                    replace(one, severity=severity, label=0.0 if number else label, details=details)
                    for number, one in enumerate(diff_operations(text, str(after), name))
                ]
                yield self.pair(source, text, operations, seed, name=identifier(self.signature, seed, source, text, name))


TRIES = 5
"""Operations drawn for a step before it is given up."""
TEXTATTACK_VERSION = 4


class TextAttackPipeline(Pipeline):
    """Make one pair per text with up to ``most`` steps of TextAttack, each on the text after the previous ones.

    A step that changes nothing, or touches an earlier one, is drawn anew. TextAttack gives neither spans nor severities: spans are the
    differences of both texts.

    Parameters
    ----------
    severities
        Judge each difference on the text before it.
    """

    name = "rome"

    def __init__(self, perturber: Perturber, severities: SeverityModel, *, most: int = 5, block: int = 32) -> None:
        self.perturber, self.severities, self.most = perturber, severities, most
        self.operations = tuple(name for name in DRAW if name in perturber.operations)
        drawn = ",".join(f"{name}*{count}" for name, count in Counter(self.operations).items())
        parts = f"textattack:{perturber.version}", f"most:{most}", f"least_words:{LEAST_WORDS}", f"draw:{drawn}"
        super().__init__("|".join((f"rome{TEXTATTACK_VERSION}", *parts, severities.signature)), block, LEAST_WORDS)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield one pair per text."""
        drafts = [self._perturbed(text, pair_seed(seed, text)) for _, text in texts]
        self.skipped.update("no perturbation applies" for draft in drafts if not draft.steps)
        works: list[Work] = [(*text, draft.steps, {}) for text, draft in zip(texts, drafts, strict=True) if draft.steps]
        yield from judged_pairs(self, works, seed)

    def _perturbed(self, text: str, own: int) -> Draft:
        """Return a text after 1 to ``most`` perturbations; a step without one is left out."""
        chance, draft = random.Random(own), Draft(text)
        for step in range(chance.randint(1, self.most)):
            for attempt in range(TRIES):
                name = chance.choice(self.operations)
                after = self.perturber.run(Request(draft.text, name, 1, own % 2**32 + TRIES * step + attempt))
                if after and after.strip() and after != draft.text and draft.apply(*diff_operations(draft.text, after, name)):
                    break
        return draft
