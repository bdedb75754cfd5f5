"""One named entity, or several, replaced by others of the same kind (DEMETR 9; RoMe 4.7, case 1)."""

from __future__ import annotations

import random

from rome.features.values import Analysis

from .entities import LISTED, PLACES, Entity, entities
from .lists import names_of
from .surgery import Change, choose, finish, replacement, starts_sentence
from .values import Materials, NotApplicable, Perturbation, Perturbed

__all__ = ["PERTURBATIONS"]

NONE = "no named entity of a known kind with another name for it"


def named_entity_replaced(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """One mention of a person, place or organisation becomes another of the same kind, and of the same gender."""
    taken = {entity.text for entity in entities(analysis)}

    def make(entity: Entity) -> list[Change] | None:
        new = _other(entity, rng, materials, taken)
        return _put(analysis, entity, new) if new else None

    return choose(analysis, rng, entities(analysis), make, NONE)


def _several(analysis: Analysis, rng: random.Random, materials: Materials, part: bool) -> Perturbed | NotApplicable:
    """All entities replaced, or about half of them (at least one, not all); mentions of one entity get the same new name."""
    found = entities(analysis)
    names = list(dict.fromkeys(entity.text for entity in found))
    if part:
        if len(names) < 2:
            return NotApplicable("fewer than two different named entities")
        rng.shuffle(names)
        names = names[: len(names) // 2]
    taken = {entity.text for entity in found}
    new: dict[str, str | None] = {}
    for entity in found:
        if entity.text in names and entity.text not in new:
            new[entity.text] = _other(entity, rng, materials, taken)
            taken.add(new[entity.text] or "")
    changes = [change for e in found for name in (new.get(e.text),) if name for change in _put(analysis, e, name)]
    return finish(analysis, changes, NONE) if changes else NotApplicable(NONE)


def entities_replaced_partially(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """About half of the named entities replaced by others of the same kind (RoMe 4.7, case 1)."""
    return _several(analysis, rng, materials, True)


def entities_replaced_fully(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Every named entity whose kind is known replaced by another of the same kind (RoMe 4.7, case 1)."""
    return _several(analysis, rng, materials, False)


def _other(entity: Entity, rng: random.Random, materials: Materials, taken: set[str]) -> str | None:
    """Another name of the same kind that the text does not hold yet; None where there is none.

    materials.names may say ``person``, ``place`` and ``organisation``, or the finer kinds of the list of names.
    """
    if entity.kind == "person":
        return _person(entity, rng, materials, taken)
    if entity.kind not in LISTED:
        return None
    pool = [*materials.names.get(entity.kind, ())]
    if not pool and entity.kind in PLACES:
        pool = [*materials.names.get("place", ())]
    fitting = [n for n in pool if n not in taken and not (entity.modifier and n.startswith("the ")) and _fits(entity, n)]
    return rng.choice(fitting) if fitting else None


def _fits(entity: Entity, name: str) -> bool:
    """An organisation with an article gives way to one with an article; a place may take either form."""
    return entity.kind != "organisation" or name.startswith("the ") == entity.text.startswith("the ")


def _person(entity: Entity, rng: random.Random, materials: Materials, taken: set[str]) -> str | None:
    """A first name for a first name of the same gender, a family name for a family name, both for both."""
    parts = entity.text.split()
    used = {part for name in taken for part in name.split()}

    def draw(kind: str) -> str | None:
        names = [name for name in materials.names.get(kind, ()) if name not in used]
        return rng.choice(names) if names else None

    kind = next((k for k in ("male name", "female name") if parts[0] in names_of(k)), "")
    if len(parts) == 1:
        return draw(kind or "family name") or draw("person")
    first, last = draw(kind or "male name"), draw("family name")
    return f"{first} {last}" if first and last else draw("person")


def _put(analysis: Analysis, entity: Entity, name: str) -> list[Change]:
    """The new name in the entity's place, with a capital where the sentence starts."""
    new = name[0].upper() + name[1:] if starts_sentence(analysis, entity.start) else name
    return replacement(analysis, entity.start, entity.end, new)


PERTURBATIONS = (
    Perturbation("named_entity_replaced", "accuracy", "mistranslation - named entity", "critical", 9, named_entity_replaced),
    Perturbation(
        "entities_replaced_partially", "robustness", "entity replacement", "critical", None, entities_replaced_partially
    ),
    Perturbation("entities_replaced_fully", "robustness", "entity replacement", "critical", None, entities_replaced_fully),
)
