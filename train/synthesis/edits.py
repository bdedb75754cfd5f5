"""Edits of a text: one type for every pipeline, the white space that they need, and the differences between two texts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os.path import commonprefix
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

WORD = re.compile(r"\w+(?:[-.,:/’'&]\w+)*|[^\w\s]")
"""A word with what joins its parts (don't, 1,000.5, well-known), or any other sign."""
CLOSING = frozenset(".,;:!?)]}%…’”")
OPENING = "([{“‘\"'/-"
TYPES = ("addition", "omission", "mistranslation", "punctuation", "spelling", "grammar")
KINDS = {(True, True): "replacement", (False, True): "insertion", (True, False): "deletion"}
"""Kind of an edit, by whether it removes something and whether it adds something."""
MINOR, MAJOR = ("minor", -1.0), ("major", -5.0)
"""Severities of an edit and their labels (SEScore §4.1)."""
SPACING = "spacing"
"""Kind of an edit that changes white space alone."""


class Word(NamedTuple):
    """A word or a sign: ``text[start:end]``."""

    text: str
    start: int
    end: int

    @property
    def is_sign(self) -> bool:
        """Tell whether it has neither letter nor digit."""
        return _is_sign(self.text)


def words_of(text: str) -> list[Word]:
    """Return the words and signs of a text, in order."""
    return [Word(match.group(), *match.span()) for match in WORD.finditer(text)]


@dataclass(frozen=True, slots=True)
class Operation:
    """One edit.

    Attributes
    ----------
    start, end
        Characters of the text **before** this edit: ``original`` is replaced by ``new``.
    kind
        Insertion, deletion, replacement, swap or spacing.
    type
        One of TYPES, or the pipeline's own word.
    severity
        None, minor or major.
    label
        Cost, at most 0 (SEScore: -1 or -5; None where a pipeline gives no severity).
    details
        Numbers behind the severity, such as the probabilities of entailment or the likelihood in context.
    """

    kind: str
    start: int
    end: int
    original: str
    new: str
    severity: str = "none"
    label: float | None = None
    type: str = ""
    details: Mapping[str, float] = field(default_factory=dict)


def applied(text: str, *operations: Operation) -> str:
    """Return the text after some operations, carried out one after the other."""
    for one in operations:
        text = text[: one.start] + one.new + text[one.end :]
    return text


def chained(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Return separate edits of one text as a chain from left to right, each with the characters of the text before it."""
    chain: list[Operation] = []
    shift = 0
    for one in sorted(operations, key=lambda one: one.start):
        chain.append(replace(one, start=one.start + shift, end=one.end + shift))
        shift += len(one.new) - len(one.original)
    return tuple(chain)


def error_type(operation: Operation) -> str:
    """Return one of TYPES: punctuation if only signs change, spelling if only casing or accents do, else by the kind."""
    parts = operation.original.split() if operation.kind == "swap" else (operation.original, operation.new)
    if all(map(_is_sign, parts)):
        return "punctuation"
    if operation.kind == "replacement":
        return "spelling" if _bare(operation.original) == _bare(operation.new) else "mistranslation"
    return {"insertion": "addition", "deletion": "omission", "swap": "grammar"}[operation.kind]


def _is_sign(text: str) -> bool:
    return not any(map(str.isalnum, text))


def _bare(text: str) -> str:
    """Return letters and digits alone, without casing and accents."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text.casefold())))


def filling(text: str, start: int, end: int, new: str) -> Operation:
    """Return the insertion of words before the word at ``start`` (for ``end == start``), or the replacement of some words.

    White space follows the words: a mark such as a comma is put directly behind the previous word.
    """
    kind, before = KINDS[start < end, True], text[:start].rstrip()
    if start == end and not before:
        return Operation(kind, start, start, "", f"{new} ")
    if start == end and len(before) < start:
        return Operation(kind, len(before), len(before), "", new if new[0] in CLOSING else f" {new}")
    if new[0] in CLOSING:
        start = len(before) or start
    before = text[:start]
    apart = before and not before[-1].isspace() and not _opens(before) and new[0] not in CLOSING
    new = f"{' ' if apart else ''}{new}{' ' if text[end : end + 1].isalnum() else ''}"
    return Operation(kind, start, end, text[start:end], new)


def deletion(text: str, start: int, end: int) -> Operation | None:
    """Return the deletion of some words with the white space on one side, or None if it does not leave whole words in order."""
    left, right = text[:start], text[end:]
    closed = not right or right[0].isspace() or right[0] in CLOSING
    if left[-1:].isspace() and closed:
        start = len(left.rstrip())
    elif right[:1].isspace() and (not left or _opens(left)):
        end = len(text) - len(right.lstrip())
    if not left.strip() and (not right or right[0] in CLOSING):
        return None
    return _if_words_stay(text, Operation("deletion", start, end, text[start:end], ""))


def swap(text: str, one: Word, other: Word) -> Operation | None:
    """Return the exchange of two different words, or None if they are equal or a word grows together with a neighbour."""
    if one.text == other.text:
        return None
    new = other.text + text[one.end : other.start] + one.text
    return _if_words_stay(text, Operation("swap", one.start, other.end, text[one.start : other.end], new))


def _opens(left: str) -> bool:
    """Tell whether a text ends with an opening mark: one after white space, unlike a closing quote."""
    outer = left.rstrip(OPENING)
    return outer != left and (not outer or outer[-1].isspace())


def _if_words_stay(text: str, operation: Operation) -> Operation | None:
    """Return the operation if the words after it are those before it without the deleted ones."""
    parts = (text, applied(text, operation), operation.original, operation.new)
    before, after, old, new = (Counter(WORD.findall(part)) for part in parts)
    return operation if after and before - (old - new) == after else None


class Draft:
    """A text under change: no edit may touch what an earlier edit wrote or removed (the table q of SEScore §3.2).

    Attributes
    ----------
    steps
        The edits, each with the text before it.
    """

    def __init__(self, text: str) -> None:
        self.text, self.steps = text, list[tuple[str, Operation]]()
        self.untouched = [True] * len(text)

    def allows(self, operation: Operation) -> bool:
        """Tell whether an operation touches no earlier edit; an insertion needs an untouched character on both sides."""
        start, end = operation.start, operation.end
        return all(self.untouched[start:end] if start < end else self.untouched[max(start - 1, 0) : end + 1])

    def apply(self, *operations: Operation) -> bool:
        """Carry out a chain of operations, or nothing if one of them touches an earlier edit; return whether it was done."""
        before = self.text, list(self.untouched), list(self.steps)
        for one in operations:
            if not self.allows(one):
                self.text, self.untouched, self.steps = before
                return False
            self.steps.append((self.text, one))
            self.text = applied(self.text, one)
            self.untouched[one.start : one.end] = [False] * len(one.new)
            if not one.new and self.untouched:  # so that nothing is put in the place of a deletion
                self.untouched[one.start if self.text[one.start : one.start + 1].isspace() else max(one.start - 1, 0)] = False
        return True


def differences(before: str, after: str) -> list[Operation]:
    """Return the fewest word edits between two texts (Levenshtein), in order, each as an edit of ``before`` alone.

    White space is part of a difference: all of them together give ``after`` exactly. Between two differences there is a common word.
    """
    old, new = words_of(before), words_of(after)
    blocks = Levenshtein.opcodes([word.text for word in old], [word.text for word in new]).as_matching_blocks()
    common = [(old[block.a + n], new[block.b + n]) for block in blocks for n in range(block.size)]
    start, new_start, found = 0, 0, list[Operation]()
    for one, other in [*common, (Word("", len(before), len(before)), Word("", len(after), len(after)))]:
        was, now = before[start : one.start], after[new_start : other.start]
        head = _shared_space(was, now)
        tail = _shared_space(was[head:][::-1], now[head:][::-1])
        was, now = was[head : len(was) - tail], now[head : len(now) - tail]
        if was != now:
            kind = KINDS.get((bool(was.strip()), bool(now.strip())), SPACING)
            found.append(Operation(kind, start + head, one.start - tail, was, now))
        start, new_start = one.end, other.end
    return found


def _shared_space(one: str, other: str) -> int:
    """Return how much white space both texts begin with."""
    shared = commonprefix([one, other])
    return len(shared) - len(shared.lstrip())


def diff_operations(before: str, after: str, type: str = "") -> tuple[Operation, ...]:
    """Return the chain of edits that makes ``after`` of ``before``, without severities."""
    return tuple(replace(one, type=type) for one in chained(differences(before, after)))
