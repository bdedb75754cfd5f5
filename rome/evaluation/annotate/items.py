"""The items to be rated, from the files that `rome score` reads, with the columns `system` and `language_pair` where given."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, named
from rome.storage.pair_files import PairRow, read_pairs

Identity = tuple[str, str, str]
"""Language pair, item and system: what tells one output from every other."""


@dataclass(frozen=True, slots=True)
class AnnotationItem:
    """One output to be rated.

    Attributes
    ----------
    place
        ``file:line`` for messages. Annotators never see item, system or language pair.
    """

    item: str
    references: tuple[str, ...]
    hypothesis: str
    system: str = ""
    language_pair: str = ""
    place: str = ""

    @property
    def identity(self) -> Identity:
        """What tells this output from every other one."""
        return self.language_pair, self.item, self.system

    @property
    def key(self) -> str:
        """16 hexadecimal digits that change with the identity and with every text; they give no name away."""
        content = json.dumps([*self.identity, self.references, self.hypothesis])
        return hashlib.blake2b(content.encode("utf-8"), digest_size=8).hexdigest()

    def row(self) -> dict[str, Any]:
        """The fields of a line of ratings that say what was rated."""
        return {
            "item": self.item,
            "system": self.system,
            **({"language_pair": self.language_pair} if self.language_pair else {}),
            "reference": self.references[0] if len(self.references) == 1 else list(self.references),
            "hypothesis": self.hypothesis,
        }


def read_items(path: str) -> list[AnnotationItem]:
    """Read a table of pairs as items; see `rated_items`."""
    items = rated_items(read_pairs(path))
    if not items:
        raise InputError(f"{path} holds no segment: give at least one")
    return items


def rated_items(pairs: Iterable[PairRow]) -> list[AnnotationItem]:
    """The items of pairs from a file.

    Columns or keys: ``reference``, ``hypothesis``, optionally ``id`` (or ``item``; without: the number of the segment, from 1),
    ``system`` and ``language_pair``.
    Raises InputError that names file and line for a text that is no Unicode, for an output that stands there twice, for some items with and
    some without an id, for systems without ids, and for standard input.
    """
    rows = list(pairs)
    if rows and named(STANDARD_INPUT) in rows[0].place:
        raise InputError("standard input cannot be annotated: write the texts to a file, so that the work can be resumed")
    items = []
    for row in rows:
        item, system, language_pair = (str(row.cells.get(key) or "") for key in ("item", "system", "language_pair"))
        items.append(AnnotationItem(item or row.id, tuple(row.references), row.hypothesis, system, language_pair, row.place))
    if not any(item.item for item in items):
        if any(item.system for item in items):
            raise InputError(f"{items[0].place}: a system but no id: give outputs that answer the same input the same id")
        items = [replace(item, item=str(number)) for number, item in enumerate(items, start=1)]
    _check(items)
    return items


def in_order(items: Sequence[AnnotationItem], *, seed: int | None, annotator: str) -> list[AnnotationItem]:
    """The items in file order (seed None), or shuffled: the same order whenever seed, annotator and items are the same."""
    rows = list(items)
    if seed is not None:
        random.Random(f"{seed}\n{annotator}").shuffle(rows)
    return rows


def _check(items: list[AnnotationItem]) -> None:
    """Each item has an id, is there once, has references to compare with, and can be written as UTF-8."""
    seen: dict[Identity, str] = {}
    for item in items:
        if not item.item:
            raise InputError(f"{item.place}: no id, where other segments have one: give every segment an id, or none")
        if not all(text.strip() for text in item.references):
            raise InputError(f"{item.place}: the reference is empty: give a text to compare with")
        try:
            "".join((*item.identity, *item.references, item.hypothesis)).encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(f"{item.place}: a lone surrogate, which is no text: write the file again as UTF-8") from error
        if item.identity in seen:
            named = f"item {item.item}" + (f" of system {item.system}" if item.system else "")
            raise InputError(
                f"{item.place}: {named} stands in {seen[item.identity]} already: give each output an id of its own"
            )
        seen[item.identity] = item.place
