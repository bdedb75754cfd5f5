"""Lessons as arrays in one file: texts once each, as pieces and words, and pairs with what is known of their errors.

What is packed once trains on any machine without a tokenizer or a parser. All arrays are concatenated; ``*_start`` says where the part of
each text or pair begins.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.data.perturbations.changes import Made
from rome.features.analyser.pieces import WordPieces, encode, touched
from rome.features.errors.evidence import SEVERITIES, TYPES
from rome.train.errors.groups import Group, Member

Array = NDArray[Any]
ANCHORED = ("synthesized",)
"""Sources whose references are compared with themselves, because they have no other acceptable text; elsewhere equal texts are left out."""
PIECES = 400
"""Word pieces of a text at most; longer ones teach nothing, because they would fill a batch alone."""

NAMES: dict[str, list[str]] = json.loads((Path(__file__).parent / "types.json").read_text(encoding="utf-8"))
TYPE_OF: dict[str, str] = {name: kind for kind, names in NAMES.items() for name in names}
"""Types of errors by the names of the perturbations that make them."""


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """T texts, P pairs of them in G groups, and L marked words.

    Attributes
    ----------
    pieces, piece_start
        Piece ids without marks, and (T + 1,) where those of each text begin.
    sentence_start, sentences
        (T + 1,) and for each sentence the number of its pieces.
    form, first, last, word_start
        For each word the number of its form, the half-open range of its pieces within the text; (T + 1,).
    reference, hypothesis, cost, level, sure, reference_sure, near, somewhere
        (P,) each; the first two number texts, the others are those of `Member`, ``cost`` NaN where it is not known.
    group_start, source
        (G + 1,) the pairs of each group, and (G,) the number of its source in ``sources``.
    label_start, place, severity, type
        (P + 1,) and for each marked word its place (the reference's words first), its severity and its type, -1 for none.
    sources
        Names.
    """

    pieces: Array
    piece_start: Array
    sentence_start: Array
    sentences: Array
    form: Array
    first: Array
    last: Array
    word_start: Array
    reference: Array
    hypothesis: Array
    cost: Array
    level: Array
    sure: Array
    reference_sure: Array
    near: Array
    somewhere: Array
    group_start: Array
    source: Array
    label_start: Array
    place: Array
    severity: Array
    type: Array
    sources: Array

    def save(self, path: Path) -> None:
        """Write the arrays to a file."""
        np.savez(path, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: Path) -> Lessons:
        """Read the arrays of a file."""
        with np.load(path) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.source)


class _Columns:
    """Texts and pairs on their way into arrays."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, Any], int] = {}
        self.made: list[Made] = []
        self.rows: list[tuple[int, int, float, float, float, float, bool, bool]] = []
        self.labels: list[list[tuple[int, int, int]]] = []
        self.groups: list[tuple[int, str]] = []

    def text(self, made: Made) -> int:
        """Return the number of a text, a new one for a new text."""
        key = made.text, made.words
        if key not in self.texts:
            self.texts[key] = len(self.made)
            self.made.append(made)
        return self.texts[key]

    def add(self, group: Group) -> None:
        """Append the pairs of a group that have words on both sides."""
        before = len(self.rows)
        for member in group.members:
            reference = member.reference or group.reference
            alike = reference.text == member.text.text and group.kind not in ANCHORED
            if reference.words and member.text.words and not alike:
                self._pair(reference, member)
        if len(self.rows) > before:
            self.groups.append((len(self.rows), group.kind))

    def _pair(self, reference: Made, member: Member) -> None:
        labels, sure = labels_of(reference, member)
        numbers = self.text(reference), self.text(member.text)
        known = member.cost, member.level, member.sure, sure, member.near, member.somewhere
        self.rows.append((*numbers, *known))
        self.labels.append(labels)


def labels_of(reference: Made, member: Member) -> tuple[list[tuple[int, int, int]], float]:
    """Return (place, severity, type) of each marked word of a pair, and how sure the labels of the reference's words are."""
    sure = member.sure if member.reference_sure is None else member.reference_sure
    forms, p, found = reference.forms(), len(reference.words), []
    for mark in member.text.marks:
        old = mark.old if member.near else tuple(forms.index(form) for form in mark.forms if forms.count(form) == 1)
        if not member.near and len(old) < len(mark.forms):
            sure *= 0.2  # which of the reference's words these are is not known
        label = SEVERITIES.index(mark.severity), type_number(mark.name)
        found += [(place, *label) for place in (*old, *(p + n for n in mark.new))]
    return found, sure


def pack(groups: Iterable[Group], tokenizer: WordPieces) -> Lessons:
    """Return lessons as arrays, without texts of more than PIECES word pieces."""
    columns = _Columns()
    for group in groups:
        columns.add(group)
    read = _texts(columns.made, tokenizer)
    usable = np.diff(read["piece_start"]) <= PIECES
    rows = np.array([row[:2] for row in columns.rows], dtype=np.int32).reshape(-1, 2)
    kept: Array = np.all(usable[rows], axis=1)
    ends = np.concatenate([[0], np.cumsum(kept)])[[end for end, _ in columns.groups]]
    starts = np.concatenate([[0], ends])
    full = np.diff(starts) > 0
    names = sorted({name for _, name in columns.groups})
    labels = [label for label, keep in zip(columns.labels, kept, strict=True) if keep]
    flat = np.array([row for label in labels for row in label], dtype=np.int32).reshape(-1, 3)
    values = [np.array(column)[kept] for column in zip(*(row[2:] for row in columns.rows), strict=True)]
    return Lessons(
        **read,
        reference=rows[kept, 0],
        hypothesis=rows[kept, 1],
        cost=values[0].astype(np.float32),
        level=values[1].astype(np.float32),
        sure=values[2].astype(np.float16),
        reference_sure=values[3].astype(np.float16),
        near=values[4],
        somewhere=values[5],
        group_start=np.concatenate([[0], starts[1:][full]]).astype(np.int32),
        source=np.array([names.index(name) for _, name in columns.groups], dtype=np.int8)[full],
        label_start=np.concatenate([[0], np.cumsum([len(label) for label in labels])]).astype(np.int32),
        place=flat[:, 0].astype(np.int16),
        severity=flat[:, 1].astype(np.int8),
        type=flat[:, 2].astype(np.int8),
        sources=np.array(names),
    )


def _texts(made: Sequence[Made], tokenizer: WordPieces) -> dict[str, Array]:
    """Return the arrays of all texts; every sentence is read alone, as the analyser reads it."""
    surfaces = [text.text[a:b] for text in made for a, b in text.sentences]
    encoded = iter(encode(tokenizer, surfaces, 10**6))
    forms: dict[str, int] = {}
    pieces, sentences, form, ranges, counts = [], [], [], [], []
    for text in made:
        own, spans = [next(encoded) for _ in text.sentences], []
        for (start, _), each in zip(text.sentences, own, strict=True):
            spans += [(start + a, start + b) for a, b in each.spans]
            pieces.append(np.array(each.ids, dtype=np.uint16))
            sentences.append(len(each.ids))
        ranges.append(touched(spans, text.words).astype(np.int16))
        form += [forms.setdefault(word, len(forms)) for word in text.forms()]
        counts.append((len(spans), len(text.sentences), len(text.words)))
    starts = np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(counts, 0)]).astype(np.int32)
    first, last = np.concatenate(ranges, 1)
    return {
        "pieces": np.concatenate(pieces),
        "piece_start": starts[:, 0],
        "sentence_start": starts[:, 1],
        "sentences": np.array(sentences, dtype=np.int16),
        "word_start": starts[:, 2],
        "form": np.array(form, dtype=np.int32),
        "first": first,
        "last": last,
    }


def type_number(name: str) -> int:
    """Return the number of a type by its own name or that of a perturbation, -1 for a perturbation of no known type."""
    found = name if name in TYPES else TYPE_OF.get(name, "omission" if name.startswith("omitted") else "")
    return TYPES.index(found) if found else -1
