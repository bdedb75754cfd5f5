"""The items to be rated, from the files that `rome score` reads, with the columns `system` and `language_pair` where given."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from rome.evaluation.annotate.values import AnnotationItem, Identity
from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, read_lines
from rome.storage.pair_files import read_pairs

__all__ = ["in_order", "read_items"]

_FURTHER = ("system", "language_pair")


def read_items(path: str) -> list[AnnotationItem]:
    """Read a TSV or JSON-lines file of pairs as items.

    Columns or keys: ``reference``, ``hypothesis``, optionally ``id`` (or ``item``; without: the number of the segment, from 1),
    ``system`` and ``language_pair``.
    Raises InputError that names file and line for whatever `read_pairs` refuses, for a text that is no Unicode, for an output that
    stands there twice, for some items with and some without an id, and for systems without ids.
    """
    if path == STANDARD_INPUT:
        raise InputError("standard input cannot be annotated: write the pairs to a file, so that the work can be resumed")
    pairs = read_pairs(path)
    if not pairs.hypotheses:
        raise InputError(f"{path} holds no segment: give at least one")
    names, further = _further(path)
    items = []
    for number, place in enumerate(pairs.places):
        system, language_pair = further[number]
        name = names[number] or (pairs.ids[number] if pairs.ids else "")
        references, hypothesis = tuple(pairs.references[number]), pairs.hypotheses[number]
        items.append(AnnotationItem(name, references, hypothesis, system, language_pair, place))
    return _checked(_numbered(items))


def in_order(items: Sequence[AnnotationItem], *, seed: int | None, annotator: str) -> list[AnnotationItem]:
    """The items in file order (seed None), or shuffled: the same order whenever seed, annotator and items are the same."""
    rows = list(items)
    if seed is not None:
        random.Random(f"{seed}\n{annotator}").shuffle(rows)
    return rows


def _further(path: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The `item` of each segment ("" where there is none) and its system and language pair, from a file that read_pairs accepted."""
    lines = read_lines(path)
    if lines[0].lstrip().startswith("{"):
        rows = [json.loads(line) for line in lines if line.strip()]
    else:
        header = lines[0].split("\t")
        rows = [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]

    def text(row: dict[str, object], name: str) -> str:
        return "" if row.get(name) is None else str(row[name])

    return [text(row, "item") for row in rows], [(text(row, _FURTHER[0]), text(row, _FURTHER[1])) for row in rows]


def _numbered(items: list[AnnotationItem]) -> list[AnnotationItem]:
    """The items themselves, or numbered from 1 when none has an id."""
    unnamed = [item for item in items if not item.item]
    if not unnamed:
        return items
    if len(unnamed) < len(items):
        raise InputError(f"{unnamed[0].place}: no id, where other segments have one: give every segment an id, or none")
    if any(item.system for item in items):
        raise InputError(f"{items[0].place}: a system but no id: give outputs that answer the same input the same id")
    return [
        AnnotationItem(str(number), item.references, item.hypothesis, item.system, item.language_pair, item.place)
        for number, item in enumerate(items, start=1)
    ]


def _checked(items: list[AnnotationItem]) -> list[AnnotationItem]:
    """The items, when each is there once, has a reference to compare with, and can be written as UTF-8."""
    seen: dict[Identity, str] = {}
    for item in items:
        if not all(text.strip() for text in item.references):
            raise InputError(f"{item.place}: the reference is empty: give a text to compare with")
        for text in (*item.identity, *item.references, item.hypothesis):
            try:
                text.encode("utf-8")
            except UnicodeEncodeError as error:
                raise InputError(f"{item.place}: a lone surrogate, which is no text: write the file again as UTF-8") from error
        if item.identity in seen:
            named = f"item {item.item}" + (f" of system {item.system}" if item.system else "")
            raise InputError(
                f"{item.place}: {named} stands in {seen[item.identity]} already: give each output an id of its own"
            )
        seen[item.identity] = item.place
    return items
