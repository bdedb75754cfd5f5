"""Every perturbation by its name, in the order of DEMETR's table 1, then RoMe's robustness cases."""

from __future__ import annotations

from rome.exceptions import InputError

from . import logic, names, omission, quantities, relations, rewording, robustness, roles, slips, verb_forms, words
from .perturbation import Perturbation

FAMILIES = (slips, words, omission, names, robustness, verb_forms, rewording, relations, quantities, logic, roles)
_FOUND = [one for family in FAMILIES for one in vars(family).values() if isinstance(one, Perturbation)]
PERTURBATIONS: dict[str, Perturbation] = {one.name: one for one in sorted(_FOUND, key=lambda one: one.identifier or 100)}

NOT_AUTOMATED = {
    4: "untranslated word (codemix): needs the source text or a bilingual lexicon",
    35: "reference as translation: the evaluation's own baseline, no perturbation of a text",
}
"""The numbers of DEMETR's table 1 that no perturbation here makes, and why."""


def named(name: str) -> Perturbation:
    """Return the perturbation of that name. Raises InputError that lists the names for an unknown one."""
    if name not in PERTURBATIONS:
        raise InputError(f"no perturbation {name!r}. Choose from {', '.join(PERTURBATIONS)}")
    return PERTURBATIONS[name]
