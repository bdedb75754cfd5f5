"""Groups of acceptable and critical wordings made of the user's own texts by the perturbations that turn and that keep the meaning."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.readers.meaning import MeaningGroup, Wording
from rome.evaluation.diagnosis.probes import applicability
from rome.evaluation.perturbing import Analyse, PerturbedText, materials_for, perturb_texts
from rome.exceptions import InputError
from rome.inputs import check_pairs
from rome.reports.model import Table

__all__ = ["groups_of_texts"]


def groups_of_texts(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    analyse: Analyse,
    *,
    seed: int = 0,
    limit: int | None = None,
) -> tuple[list[MeaningGroup], Table]:
    """A group for every hypothesis and every perturbation of severity critical that applies to it; and what applied how often.

    Near are the hypothesis itself (acceptable) and its perturbed copy (critical). Far are both after one and the same perturbation that
    keeps the meaning (severity none), drawn among those that apply to both; where none does, the group has near texts only.

    limit : at most so many groups a perturbation. Raises InputError for texts that do not pair and when no group can be made.
    """
    pairs = check_pairs(references, hypotheses)
    texts = [pair.hypothesis for pair in pairs]
    materials, turning, keeping = materials_for(texts), _names("critical"), _names("none")
    made: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in (*turning, *keeping)}
    critical: list[PerturbedText] = []
    rewritten: dict[str, dict[str, str]] = {}
    for found in perturb_texts(texts, list(reasons), analyse=analyse, seed=seed, materials=materials):
        if found.perturbed is None or found.perturbed == found.text:
            reasons[found.perturbation][found.reason or "nothing changed"] += 1
            continue
        made[found.perturbation] += 1
        if found.severity == "none":
            rewritten.setdefault(found.text, {})[found.perturbation] = found.perturbed
        elif limit is None or made[found.perturbation] <= limit:
            critical.append(found)
    copies = list(dict.fromkeys(one.perturbed for one in critical if one.perturbed and one.text in rewritten))
    for found in perturb_texts(copies, keeping, analyse=analyse, seed=seed, materials=materials):
        if found.perturbed not in (None, found.text):
            rewritten.setdefault(found.text, {})[found.perturbation] = str(found.perturbed)
    groups = [_group(one, pairs[one.number].references, rewritten, seed) for one in critical]
    if not groups:
        raise InputError("no perturbation turns the meaning of any of these texts: give whole sentences of English")
    return groups, applicability(made, reasons, len(texts))


def _names(severity: str) -> list[str]:
    return [one.name for one in PERTURBATIONS.values() if one.severity == severity]


def _group(one: PerturbedText, references: tuple[str, ...], rewritten: dict[str, dict[str, str]], seed: int) -> MeaningGroup:
    """The group of one text and its critical copy, with far texts where there are any."""
    text, copy = one.text, str(one.perturbed)
    same, turned = rewritten.get(text, {}), rewritten.get(copy, {})
    shared = [name for name in same if name in turned and {same[name], text}.isdisjoint((turned[name], copy))]
    acceptable, critical, rewrite = [Wording(text, "near")], [Wording(copy, "near")], ""
    if shared:
        rewrite = random.Random(f"rewrite\0{one.perturbation}\0{seed}\0{text}").choice(shared)
        acceptable.append(Wording(same[rewrite], "far"))
        critical.append(Wording(turned[rewrite], "far"))
    place = f"text {one.number + 1}"
    return MeaningGroup(references, tuple(acceptable), tuple(critical), one.perturbation, rewrite, place, place)
