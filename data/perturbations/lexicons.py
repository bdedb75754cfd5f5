"""The word lists that perturbations read (tables and lists of rules in data/lexicons), and the default materials made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rome.data.readers.lines import text_lines
from rome.exceptions import InputError, ModelMissingError

from .perturbation import Materials

MONTHS = tuple("January February March April May June July August September October November December".split())


@cache
def table(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the rows of ``data/lexicons/<name>.tsv``: first column -> the other columns, rows with the same first column joined.

    Raises ModelMissingError when the package does not carry it.
    """
    source = files("rome.data") / "lexicons" / f"{name}.tsv"
    if not source.is_file():
        raise ModelMissingError(f"the word list {name}.tsv is missing. Reinstall rome-metric")
    return _joined(source.read_text(encoding="utf-8").splitlines())


@cache
def names_of(kind: str) -> frozenset[str]:
    """Return all names of one kind in the list of names, such as ``country``."""
    return frozenset(table("names").get(kind, ()))


@cache
def word_set(name: str) -> frozenset[str]:
    """Return the words of one rule in ``data/lexicons/rules.json`` by its name, such as ``logic.times``."""
    return frozenset(word_sequence(name))


def word_sequence(name: str) -> tuple[str, ...]:
    """Return the words of one rule in their order."""
    results = _rule(name)
    return tuple(results.split() if isinstance(results, str) else results)


@cache
def replacements(name: str) -> dict[str, str]:
    """Return the words of one rule with the replacement of each."""
    return dict(_rule(name))


@cache
def alternatives(name: str) -> dict[str, tuple[str, ...]]:
    """Return the words of one rule with the possible replacements of each."""
    return {old: tuple(new) for old, new in _rule(name).items()}


def _rule(name: str) -> Any:
    family, _, key = name.partition(".")
    return _rules()[family][key]


@cache
def _rules() -> Any:
    return json.loads((files("rome.data") / "lexicons" / "rules.json").read_text(encoding="utf-8"))


def read_table(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read a user's lexicon: lines of a lemma, a tab, and one or more lemmas between tabs; ``#`` starts a comment line.

    Raises InputError naming the file, and the line that has no tab.
    """
    lines = text_lines(path)
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#") and sum(bool(cell.strip()) for cell in line.split("\t")) < 2:
            raise InputError(f"{path}:{number}: a line must be two lemmas with a tab between them. Write `lemma<TAB>lemma`")
    return _joined(lines)


def _joined(lines: list[str]) -> dict[str, tuple[str, ...]]:
    results: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            first, *others = (cell.strip() for cell in line.split("\t"))
            results[first] = tuple(dict.fromkeys((*results.get(first, ()), *(other for other in others if other))))
    return results


NAME_KINDS = ("country", "region", "continent", "city", "organisation", "male name", "female name", "family name")
ENOUGH = 4
"""With so many names of a kind in the texts, the list of names is not used for that kind."""


def default_materials(
    texts: Sequence[str] = (),
    *,
    antonyms: Mapping[str, Sequence[str]] | None = None,
    hypernyms: Mapping[str, Sequence[str]] | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    similar: Mapping[str, Sequence[str]] | None = None,
) -> Materials:
    """Return the embedded lists, or the given ones; names come from the texts where these contain enough of a kind.

    Inflection comes from lemminflect where it is installed; without it, what needs an inflected form does not apply.
    """
    return Materials(
        antonyms=both_ways(table("antonyms")) if antonyms is None else antonyms,
        hypernyms=table("hypernyms") if hypernyms is None else hypernyms,
        synonyms=table("synonyms") if synonyms is None else synonyms,
        names=_names(texts),
        texts=texts,
        similar={} if similar is None else similar,
        inflect=inflect if can_inflect() else _bare,
    )


def can_inflect() -> bool:
    """Return whether the inflection library is installed."""
    return find_spec("lemminflect") is not None


def both_ways(pairs: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return a lexicon with every pair under both of its words."""
    return partners([first, other] for first, others in pairs.items() for other in others)


def partners(groups: Iterable[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return every word of the groups with all other words of its groups."""
    results: dict[str, dict[str, None]] = {}
    for group in groups:
        for word in group:
            results.setdefault(word, {}).update(dict.fromkeys(other for other in group if other != word))
    return {word: tuple(others) for word, others in results.items()}


def _names(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return for each kind the listed names that the texts contain, or the whole list where the texts contain few."""
    runs = {name for text in texts for name in _runs(text)}
    names = {kind: table("names")[kind] for kind in NAME_KINDS}
    seen = {kind: tuple(name for name in every if name.removeprefix("the ") in runs) for kind, every in names.items()}
    return {kind: seen[kind] if len(seen[kind]) >= ENOUGH else every for kind, every in names.items()}


def _runs(text: str) -> set[str]:
    """Return every run of one to three words of a text."""
    words = re.findall(r"\w+", text)
    return {" ".join(words[n : n + size]) for size in (1, 2, 3) for n in range(len(words))}


@lru_cache(maxsize=50_000)
def inflect(lemma: str, tag: str) -> str | None:
    """Return the first form of a lemma under a Penn tag by lemminflect, or None."""
    from lemminflect import getInflection

    forms: tuple[str, ...] = getInflection(lemma, tag, inflect_oov=False)
    return IRREGULAR.get((lemma, tag)) or (forms[0] if forms else None)


IRREGULAR = {("be", "VBD"): "was", ("be", "VBP"): "are", ("be", "VBN"): "been", ("be", "VBG"): "being", ("be", "VBZ"): "is"}


def _bare(lemma: str, tag: str) -> str | None:
    """Return no form at all."""
    return None
