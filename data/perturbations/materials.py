"""What perturbations draw on by default: the embedded antonyms and lists, an inflection library, the texts themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec

from .lists import table
from .values import Materials

NAME_KINDS = ("country", "region", "continent", "city", "organisation", "male name", "female name", "family name")
ENOUGH = 4
"""So many names of a kind in the texts make the list of names unnecessary for that kind."""


def default_materials(
    texts: Sequence[str] = (),
    *,
    antonyms: Mapping[str, Sequence[str]] | None = None,
    hypernyms: Mapping[str, Sequence[str]] | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    similar: Mapping[str, Sequence[str]] | None = None,
) -> Materials:
    """The embedded lists, each replaced by the one that is given; names that the texts hold where they hold enough of a kind.

    Inflection comes from lemminflect where it is installed; without it, what needs an inflected form does not apply.
    """
    return Materials(
        antonyms=both_ways(embedded_antonyms()) if antonyms is None else antonyms,
        hypernyms=table("hypernyms") if hypernyms is None else hypernyms,
        synonyms=table("synonyms") if synonyms is None else synonyms,
        names=_names(texts),
        texts=texts,
        similar={} if similar is None else similar,
        inflect=inflect if can_inflect() else _bare,
    )


def can_inflect() -> bool:
    """Whether the inflection library is installed."""
    return find_spec("lemminflect") is not None


def both_ways(pairs: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """A lexicon of a relation that goes both ways, with every pair under both of its words."""
    found: dict[str, tuple[str, ...]] = {}
    for first, others in pairs.items():
        for other in others:
            found[first] = (*found.get(first, ()), other)
            found[other] = (*found.get(other, ()), first)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


@lru_cache(maxsize=1)
def embedded_antonyms() -> Mapping[str, tuple[str, ...]]:
    """Each first word of the embedded pairs of antonyms with its others."""
    lines = (files("rome.data") / "models" / "small" / "lexicon" / "antonyms.tsv").read_text(encoding="utf-8").splitlines()
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            first, other = line.split("\t")[:2]
            found[first] = (*found.get(first, ()), other)
    return found


def _names(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each kind the listed names that the texts hold, or all of the list where the texts hold few."""
    runs = {name for text in texts for name in _capitalised(text)}
    names = {kind: table("names")[kind] for kind in NAME_KINDS}
    seen = {kind: tuple(name for name in every if name.removeprefix("the ") in runs) for kind, every in names.items()}
    return {kind: seen[kind] if len(seen[kind]) >= ENOUGH else every for kind, every in names.items()}


def _capitalised(text: str) -> set[str]:
    """Every run of one to three capitalised words in a text."""
    words = re.findall(r"[A-Z][\w.]*(?: (?=[A-Z])|)", text)
    found = {word.strip().rstrip(".") for word in words}
    for size in (2, 3):
        found |= {m.group() for n in range(size) for m in re.finditer(r"\b[A-Z]\w*" + r" [A-Z]\w*" * (size - 1), text)}
    return found


@lru_cache(maxsize=50_000)
def inflect(lemma: str, tag: str) -> str | None:
    """The form of a lemma under a Penn tag by lemminflect, its first choice; None where it has none."""
    from lemminflect import getInflection

    forms: tuple[str, ...] = getInflection(lemma, tag, inflect_oov=False)
    return IRREGULAR.get((lemma, tag)) or (forms[0] if forms else None)


IRREGULAR = {("be", "VBD"): "was", ("be", "VBP"): "are", ("be", "VBN"): "been", ("be", "VBG"): "being", ("be", "VBZ"): "is"}


def _bare(lemma: str, tag: str) -> str | None:
    """No forms at all."""
    return None
