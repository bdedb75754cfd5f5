"""Minimal pairs from the user's own texts: what the perturbations made of them, and what they could not be made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.perturbations.values import Edit
from rome.evaluation.perturbing import Analyse, materials_for, perturb_texts
from rome.exceptions import InputError
from rome.inputs import check_pairs
from rome.reports.model import Table

__all__ = ["Probe", "applicability", "make_probes", "names_of"]

MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """One minimal pair. better : the text before the perturbation; worse : after it. number : which of the texts, from 0."""

    number: int
    references: tuple[str, ...]
    better: str
    worse: str
    perturbation: str
    category: str
    severity: str
    edits: tuple[Edit, ...]


def names_of(robustness: bool) -> list[str]:
    """RoMe's robustness cases, or the minimal pairs of DEMETR with its baselines."""
    return [p.name for p in PERTURBATIONS.values() if (p.category == "robustness") == robustness]


def make_probes(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    analyse: Analyse,
    names: Sequence[str],
    *,
    seed: int = 0,
    limit: int | None = None,
) -> tuple[list[Probe], Table]:
    """Perturb every hypothesis in every named way; and a table of how often each applies and why not otherwise.

    limit : at most so many pairs a perturbation. Raises InputError for texts that do not pair, an unknown perturbation, and when no
    perturbation applies to any text.
    """
    pairs = check_pairs(references, hypotheses)
    texts = [pair.hypothesis for pair in pairs]
    probes: list[Probe] = []
    made: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in names}
    for found in perturb_texts(texts, names, analyse=analyse, seed=seed, materials=materials_for(texts)):
        if found.perturbed is None:
            reasons[found.perturbation][found.reason or ""] += 1
        else:
            made[found.perturbation] += 1
            if limit is None or made[found.perturbation] <= limit:
                pair = pairs[found.number]
                shape = (found.perturbation, found.category, found.severity, found.edits)
                probes.append(Probe(found.number, pair.references, pair.hypothesis, found.perturbed, *shape))
    if not probes:
        raise InputError("no perturbation applies to any of these texts: give whole sentences of English")
    return probes, applicability(made, reasons, len(texts))


def applicability(made: Counter[str], reasons: dict[str, Counter[str]], texts: int) -> Table:
    """How many of the texts each perturbation was made of, and the usual reasons where it was not."""
    rows = []
    for name, why in reasons.items():
        usual = "; ".join(f"{reason} ({count})" for reason, count in why.most_common(MOST_REASONS))
        rows.append(
            (name, PERTURBATIONS[name].category, PERTURBATIONS[name].severity, made[name], made[name] / texts, usual or None)
        )
    return Table(
        "applicability",
        f"Perturbations of {texts} texts",
        ("perturbation", "category", "severity", "made", "share", "otherwise"),
        tuple(rows),
        "otherwise: why a text gave none, with how many texts.",
        {"made": 0, "share": 2},
    )
