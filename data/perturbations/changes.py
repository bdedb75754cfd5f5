"""Texts with their changes: what each becomes with some of them, and texts worse than one mistake makes them.

A change is kept as its edits, so that a harmless and a critical one can be made of the same text at once, and the words of the
result are known without a parser: those of the text outside the edits, and what a simple rule finds within them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .perturbation import Perturbed, apply_edits

Spans = tuple[tuple[int, int], ...]
TOKEN = re.compile(r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\d+(?:[.,:]\d+)*|\w+|[^\w\s]")
"""Roughly the words of Universal Dependencies."""
ENDS = re.compile(r"(?<=[a-z0-9)\"])[.!?][\"”]?\s+(?=[A-Z\"“])")
"""Where a sentence ends."""
SHORT = 3
"""Letters of a word that is lost without much harm."""
TRIES = 4
"""For each change that is wanted."""


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
    """A text with the spans of its words and sentences, and what can be made of it."""

    text: str
    words: Spans
    sentences: Spans
    changes: tuple[NamedChange, ...]

    def of(self, *severities: str) -> list[NamedChange]:
        """The changes of these severities."""
        return [change for change in self.changes if change.severity in severities]


@dataclass(frozen=True, slots=True)
class Mark:
    """One edit that is an error.

    Attributes
    ----------
    new
        The words that it put in.
    old, forms
        The words of the old text that it took away, by place and as they are written.
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
        """The words in small letters."""
        return tuple(self.text[a:b].lower() for a, b in self.words)


def fits(changes: Sequence[NamedChange]) -> bool:
    """Whether the edits of several changes of one text touch each other nowhere."""
    edits = sorted(edit for change in changes for edit in change.edits)
    return all(one[1] < other[0] for one, other in zip(edits, edits[1:], strict=False))


def made(text: Text, changes: Sequence[NamedChange]) -> Made:
    """The text after changes that fit together."""
    if not changes:
        return Made(text.text, text.words, text.sentences, ())
    named = sorted((edit, change) for change in changes for edit in change.edits)
    result = apply_edits(text.text, [edit for edit, _ in named])
    words, kept = _words(text, result)
    marks = []
    for edit, (_, change) in zip(result.edits, named, strict=True):
        if change.severity != "none":
            new = tuple(n for n, (a, b) in enumerate(words) if a < edit.new_end and b > edit.new_start)
            old = tuple(n for n, (a, b) in enumerate(text.words) if a < edit.end and b > edit.start)
            forms = tuple(text.text[slice(*text.words[n])].lower() for n in old)
            marks.append(Mark(change.name, change.severity, new, old, forms))
    return Made(result.text, words, _moved(text.sentences, result), tuple(marks))


def _place(result: Perturbed, place: int, end: bool) -> int:
    """Where a character of the old text stands in the new one; an end stays behind what an edit at it puts in."""
    shift = 0
    for edit in result.edits:
        if edit.end <= place and (end or edit.start < place or edit.end < place):
            shift = edit.new_end - edit.end
        elif edit.start < place:
            return edit.new_end if end else edit.new_start
    return place + shift


def _moved(spans: Spans, result: Perturbed) -> Spans:
    """Spans of the old text in the new one; those of nothing are left out."""
    found = ((_place(result, a, False), _place(result, b, True)) for a, b in spans)
    return tuple((a, min(b, len(result.text))) for a, b in found if a < b)


def _words(text: Text, result: Perturbed) -> tuple[Spans, int]:
    """The words of a perturbed text: those that no edit touches, and what stands between them cut by a rule."""
    touched = [any(e.start <= b and a <= e.end for e in result.edits) for a, b in text.words]
    found: list[tuple[int, int]] = []
    at = 0
    for (a, b), changed in zip(text.words, touched, strict=True):
        if changed:
            continue
        start = a + sum(len(e.perturbed) - len(e.original) for e in result.edits if e.end < a)
        found += _cut(result.text, at, start)
        found.append((start, start + b - a))
        at = max(at, start + b - a)
    found += _cut(result.text, at, len(result.text))
    return tuple(found), at


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text, start, end)]


def plain(text: str) -> Made:
    """A text whose words and sentences simple rules find."""
    cuts = [0, *(match.end() for match in ENDS.finditer(text)), len(text)]
    sentences = tuple((a, b) for a, b in zip(cuts, cuts[1:], strict=False) if a < b)
    return Made(text, tuple(match.span() for match in TOKEN.finditer(text)), sentences, ())


def damages(text: Text, strangers: Sequence[str], wanted: int, chance: random.Random) -> list[NamedChange]:
    """Up to so many changes that fit together.

    Parameters
    ----------
    strangers
        Words that may stand in the place of others.
    """
    found: list[NamedChange] = []
    draw = _drawn(text, strangers, chance)
    for _ in range(TRIES * wanted if text.words else 0):
        change = next(draw)
        ((start, end, new),) = change.edits
        if len(found) < wanted and text.text[start:end] != new and fits([*found, change]):
            found.append(change)
    return found


def _drawn(text: Text, strangers: Sequence[str], chance: random.Random) -> Iterator[NamedChange]:
    """One change after the other, each anywhere in the text."""
    while True:
        kind = chance.choice(("lost", "lost", "stranger", "shuffled", "twice"))
        first = chance.randrange(len(text.words))
        count = {"lost": chance.choice((1, 1, 2, 4)), "shuffled": chance.choice((2, 3, 5)), "twice": chance.choice((1, 2, 3))}
        places = text.words[first : first + count.get(kind, 1)]
        start, end = places[0][0], places[-1][1]
        words = [text.text[a:b] for a, b in places]
        if kind == "lost":
            after = end + 1 if text.text[end : end + 1] == " " else end
            severity = "critical" if len(words) > 2 else "major" if max(map(len, words)) > SHORT else "minor"
            yield NamedChange("omitted_words", severity, ((start, after, ""),))
        elif kind == "stranger":
            yield NamedChange("words_by_token", "major", ((start, end, chance.choice(strangers)),))
        elif kind == "shuffled":
            chance.shuffle(words)
            yield NamedChange("word_swap", "major" if len(words) > 2 else "minor", ((start, end, " ".join(words)),))
        else:
            yield NamedChange("repeated_twice", "minor", ((end, end, " " + text.text[start:end]),))
