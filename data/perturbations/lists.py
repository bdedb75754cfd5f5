"""Small lists of English words, written for RoMe by hand: tab-separated tables, and the lists of single rules in rules.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rome.exceptions import InputError, ModelMissingError

MONTHS = tuple("January February March April May June July August September October November December".split())


@cache
def table(name: str) -> Mapping[str, tuple[str, ...]]:
    """The rows of ``data/lexicons/<name>.tsv``: first column -> the others, rows with the same first column joined.

    Raises ModelMissingError when the package does not carry it.
    """
    source = files("rome.data") / "lexicons" / f"{name}.tsv"
    if not source.is_file():
        raise ModelMissingError(f"the word list {name}.tsv is missing: reinstall rome-metric")
    return _joined(source.read_text(encoding="utf-8").splitlines())


@cache
def names_of(kind: str) -> frozenset[str]:
    """All names of one kind in the list of names, such as ``country``; empty for an unknown kind."""
    return frozenset(table("names").get(kind, ()))


@cache
def word_set(name: str) -> frozenset[str]:
    """The words of one rule in ``data/lexicons/rules.json`` by its name, such as ``logic.times``."""
    return frozenset(word_sequence(name))


def word_sequence(name: str) -> tuple[str, ...]:
    """The same words in their order."""
    found = _rule(name)
    return tuple(found.split() if isinstance(found, str) else found)


@cache
def replacements(name: str) -> dict[str, str]:
    """What one rule puts in the place of what."""
    return dict(_rule(name))


@cache
def alternatives(name: str) -> dict[str, tuple[str, ...]]:
    """What one rule may put in the place of what."""
    return {old: tuple(new) for old, new in _rule(name).items()}


def _rule(name: str) -> Any:
    family, _, key = name.partition(".")
    return _rules()[family][key]


@cache
def _rules() -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((files("rome.data") / "lexicons" / "rules.json").read_text(encoding="utf-8"))
    return found


def read_table(path: str | Path) -> dict[str, tuple[str, ...]]:
    """A user's lexicon: lines of a lemma, a tab, and one or more lemmas between tabs; ``#`` starts a comment line.

    Raises InputError naming the file, and the line that has no tab.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 text ({error}): check the name and the encoding") from error
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#") and sum(bool(cell.strip()) for cell in line.split("\t")) < 2:
            raise InputError(f"{path}:{number}: no two lemmas with a tab between them: write `lemma<TAB>lemma`")
    return _joined(lines)


def _joined(lines: list[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            first, *others = (cell.strip() for cell in line.split("\t"))
            found[first] = tuple(dict.fromkeys((*found.get(first, ()), *(other for other in others if other))))
    return found
