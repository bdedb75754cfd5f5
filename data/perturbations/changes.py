"""Texts with their changes, and what each text becomes with some of them.

A change is kept as its edits, so that a harmless and a critical one can be made of the same text at once. The words of the result
need no parser: outside the edits they are those of the text, inside the edits a simple rule cuts them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .perturbation import Perturbed, apply_edits

Spans = tuple[tuple[int, int], ...]
TOKEN = re.compile(r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\d+(?:[.,:]\d+)*|\w+|[^\w\s]")
"""Roughly the words of Universal Dependencies."""
ENDS = re.compile(r"(?<=[a-z0-9)\"])[.!?][\"”]?\s+(?=[A-Z\"“])")
"""The end of a sentence."""


@dataclass(frozen=True, slots=True)
class NamedChange:
    """One perturbation of a text.

    Attributes
    ----------
    edits
        (start, end, new), in reading order.
    """

    name: str
    severity: str
    edits: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text with the spans of its words and sentences, and its possible changes."""

    text: str
    words: Spans
    sentences: Spans
    changes: tuple[NamedChange, ...]

    def of(self, *severities: str) -> list[NamedChange]:
        """Return the changes of these severities."""
        return [change for change in self.changes if change.severity in severities]


@dataclass(frozen=True, slots=True)
class Mark:
    """One edit that is an error.

    Attributes
    ----------
    new
        The inserted words.
    old, forms
        The removed words of the old text, by place and in lower case.
    """

    name: str
    severity: str
    new: tuple[int, ...]
    old: tuple[int, ...]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A text after some changes.

    Attributes
    ----------
    words, sentences
        Spans in the new text.
    marks
        One for each edit that is an error.
    """

    text: str
    words: Spans
    sentences: Spans
    marks: tuple[Mark, ...]

    def forms(self) -> tuple[str, ...]:
        """Return the words in lower case."""
        return tuple(self.text[a:b].lower() for a, b in self.words)


def fits(changes: Sequence[NamedChange]) -> bool:
    """Return whether the edits of several changes of one text are apart from each other."""
    edits = sorted(edit for change in changes for edit in change.edits)
    return all(one[1] < other[0] for one, other in zip(edits, edits[1:], strict=False))


def made(text: Text, changes: Sequence[NamedChange]) -> Made:
    """Return the text after changes that fit together."""
    if not changes:
        return Made(text.text, text.words, text.sentences, ())
    named = sorted((edit, change) for change in changes for edit in change.edits)
    result = apply_edits(text.text, [edit for edit, _ in named])
    words = words_after(text.words, result)
    marks = []
    for edit, (_, change) in zip(result.edits, named, strict=True):
        if change.severity != "none":
            new = tuple(n for n, (a, b) in enumerate(words) if a < edit.new_end and b > edit.new_start)
            old = tuple(n for n, (a, b) in enumerate(text.words) if a < edit.end and b > edit.start)
            forms = tuple(text.text[slice(*text.words[n])].lower() for n in old)
            marks.append(Mark(change.name, change.severity, new, old, forms))
    return Made(result.text, words, _moved(text.sentences, result), tuple(marks))


def _place(result: Perturbed, place: int, end: bool) -> int:
    """Return the place in the new text of a character of the old one; an end is after what an edit inserts at it."""
    shift = 0
    for edit in result.edits:
        if edit.end <= place and (end or edit.start < place or edit.end < place):
            shift = edit.new_end - edit.end
        elif edit.start < place:
            return edit.new_end if end else edit.new_start
    return place + shift


def _moved(spans: Spans, result: Perturbed) -> Spans:
    """Return spans of the old text in the new one, without empty ones."""
    results = ((_place(result, a, False), _place(result, b, True)) for a, b in spans)
    return tuple((a, min(b, len(result.text))) for a, b in results if a < b)


def words_after(spans: Spans, result: Perturbed) -> Spans:
    """Return the words of a perturbed text, given those of the old one; what no old word covers is cut by a rule."""
    results: list[tuple[int, int]] = []
    at = 0
    for a, b in spans:
        if any(edit.start <= b and a <= edit.end for edit in result.edits) or b <= a:
            continue
        start = a + sum(len(edit.perturbed) - len(edit.original) for edit in result.edits if edit.end < a)
        results += _cut(result.text, at, start)
        if start >= at:
            results.append((start, start + b - a))
            at = start + b - a
    return (*results, *_cut(result.text, at, len(result.text)))


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text, start, end)]


def plain(text: str) -> Made:
    """Return a text whose words and sentences are cut by simple rules."""
    cuts = [0, *(match.end() for match in ENDS.finditer(text)), len(text)]
    sentences = tuple((a, b) for a, b in zip(cuts, cuts[1:], strict=False) if a < b)
    return Made(text, tuple(match.span() for match in TOKEN.finditer(text)), sentences, ())
