"""The values of the perturbations: an edit with its characters on both sides, and what a perturbation is."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rome.exceptions import InputError
from rome.features.values import Analysis

Severity = Literal["minor", "major", "critical", "base", "none"]


@dataclass(frozen=True, slots=True)
class Edit:
    """``original_text[start:end]`` (which reads ``original``) became ``perturbed_text[new_start:new_end]`` (which reads ``perturbed``).

    An insertion has an empty ``original``, a deletion an empty ``perturbed``.
    """

    start: int
    end: int
    original: str
    new_start: int
    new_end: int
    perturbed: str


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The new text and its edits, in reading order; putting every ``original`` back gives the old text."""

    text: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Why a perturbation cannot be made of a text, for people to read: ``no pronoun with another case``."""

    reason: str


@dataclass(frozen=True)
class Materials:
    """What perturbations may draw on besides the text itself; whatever is empty makes those that need it not applicable.

    Attributes
    ----------
    antonyms, hypernyms, synonyms
        Lemma -> lemmas.
    names
        Kind of name (person, place, organisation) -> names.
    texts
        Other texts, for the unrelated one and for entities of the same kind.
    similar
        Word -> similar words, nearest first.
    inflect
        (lemma, Penn tag) -> the inflected form, or None where the language has none.
    """

    antonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hypernyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Sequence[str] = ()
    similar: Mapping[str, Sequence[str]] = field(default_factory=dict)
    inflect: Callable[[str, str], str | None] = lambda lemma, tag: None


@dataclass(frozen=True)
class Perturbation:
    """One way to change a text.

    Attributes
    ----------
    name
        Unique, snake_case, such as ``negation_added``.
    category
        Accuracy, fluency, mixed, typography or baseline (DEMETR, table 1), or robustness (RoMe 4.7).
    type
        The column Type of DEMETR's table A1, such as ``omission``.
    severity
        As table 1 has it; ``base`` for the baselines; ``none`` where meaning and form are kept (a passive form).
    identifier
        The number in DEMETR's table 1, None for what is not there.
    function
        (analysis, random generator, materials) -> Perturbed or NotApplicable; pure, all chance comes from the generator.
    """

    name: str
    category: Literal["accuracy", "fluency", "mixed", "typography", "baseline", "robustness"]
    type: str
    severity: Severity
    identifier: int | None
    function: Callable[[Analysis, random.Random, Materials], Perturbed | NotApplicable]

    def __call__(self, analysis: Analysis, seed: int, materials: Materials) -> Perturbed | NotApplicable:
        """Perturb one analysed text; the same seed gives the same text, whatever was perturbed before."""
        return self.function(analysis, random.Random(f"{self.name}\0{seed}\0{analysis.text}"), materials)


def apply_edits(text: str, changes: Sequence[tuple[int, int, str]]) -> Perturbed:
    """Replace ``text[start:end]`` by the third entry of each change; changes in reading order that do not overlap.

    Raises InputError for changes that overlap, are out of order or lie outside the text.
    """
    parts: list[str] = []
    edits: list[Edit] = []
    place = position = 0
    for start, end, new in changes:
        if not place <= start <= end <= len(text):
            raise InputError(f"the change of characters {start} to {end} overlaps another or lies outside the text: order them")
        parts += [text[place:start], new]
        position += start - place
        edits.append(Edit(start, end, text[start:end], position, position + len(new), new))
        position += len(new)
        place = end
    return Perturbed("".join([*parts, text[place:]]), tuple(edits))
