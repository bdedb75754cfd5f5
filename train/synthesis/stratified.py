"""A text under stratified error synthesis: edits that never touch what an earlier edit touched (SEScore §3.2, the table q)."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from rome.train.synthesis.pairs import Operation

__all__ = ["Change", "Draft", "words_of"]

WORD = re.compile(r"\w+(?:[-'’.,]\w+)*|[^\w\s]")
CLOSING = frozenset(".,;:!?)]}%…’”")
OPENING = frozenset("([{“‘\"'/-")


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, as they are edited: ``don't``, ``12,500`` and ``e-mail`` are one each."""
    return WORD.findall(text)


class Slot(NamedTuple):
    """A word with the white space before it. What was deleted stays as an empty, touched slot, so that nothing is put in its place."""

    space: str
    word: str
    touched: bool


class Change(NamedTuple):
    """One edit that fits: the operation that it is, and the slots after it."""

    operation: Operation
    slots: list[Slot]


class Draft:
    """The text as it stands, as slots. An edit is accepted only where nothing was edited before.

    Positions are slots, from 0. The table q of the paper counts, for each position, the untouched slots from there on: a span of
    n slots at h is free when q[h] >= n. (The paper's text asks for more than n, which would leave the end of every text unedited;
    its algorithm 1 asks for no overlap, as is done here.) An insertion stands between two untouched slots.
    """

    def __init__(self, text: str) -> None:
        self.slots: list[Slot] = []
        end = 0
        for match in WORD.finditer(text):
            self.slots.append(Slot(text[end : match.start()], match.group(), False))
            end = match.end()
        self.tail = text[end:]

    @property
    def text(self) -> str:
        """The text as it stands."""
        return "".join(f"{slot.space}{slot.word}" for slot in self.slots) + self.tail

    def table(self) -> list[int]:
        """q: how many slots from each position on are untouched."""
        q = [0] * (len(self.slots) + 1)
        for position in range(len(self.slots) - 1, -1, -1):
            q[position] = 0 if self.slots[position].touched else q[position + 1] + 1
        return q[:-1]

    def free(self, position: int, length: int) -> bool:
        """Whether ``length`` slots from ``position`` on are there and untouched."""
        return length >= 1 and position < len(self.slots) and self.table()[position] >= length

    def can_insert(self, position: int) -> bool:
        """Whether something may be inserted before a slot: it and the one before it are untouched."""
        return self.free(max(position - 1, 0), 2 if position else 1)

    def place(self, position: int, length: int) -> tuple[int, int]:
        """The characters from the first word of a span to its last; (n, n) before a word for length 0."""
        start = self._before(position) + len(self.slots[position].space)
        return start, start if not length else self._before(position + length)

    def insertion(self, position: int, filling: str) -> Change:
        """A filling put before a slot, with the white space that it needs; a mark such as a comma stands close to the word before."""
        space, word, _ = self.slots[position]
        at_start = self._is_start(position)
        start = self._before(position)
        if at_start:
            start += len(space)
            new = f"{filling} "
            slots = [Slot(space, new, True), Slot("", word, False)]
        else:
            apart = filling if filling[0] in CLOSING else f" {filling}"
            new = apart if space else self._spaced(filling, start, start)
            slots = [Slot("", new, True), Slot(space, word, False)]
        return self._change("insertion", start, start, new, [*self.slots[:position], *slots, *self.slots[position + 1 :]])

    def deletion(self, position: int, length: int) -> Change | None:
        """A span of words taken away with the white space on one side of it; None when it does not fit.

        It fits where it is free, words remain, the white space that goes is no other edit's, and no two words grow together.
        """
        if not self.free(position, length) or length >= sum(bool(slot.word) for slot in self.slots):
            return None
        start, end = self.place(position, length)
        text, space, after = self.text, self.slots[position].space, self.slots[position + length :]
        left, right = text[:start].rstrip(), text[end : end + 1]
        if not left or (not space and text[start - 1].isspace()):
            if left and (not right or right in CLOSING):
                return None
            if right.isspace():
                if not after or after[0].touched or not after[0].space:
                    return None
                end += len(after[0].space)
                after[0] = after[0]._replace(space="")
        elif space and (not right or right.isspace() or right in CLOSING):
            start, space = start - len(space), ""
        change = self._change("deletion", start, end, "", [*self.slots[:position], Slot(space, "", True), *after])
        return change if self._keeps_words(change) else None

    def replacement(self, position: int, length: int, filling: str) -> Change:
        """A filling put in the place of a span; a mark such as a comma stands close to the word before, words stand apart."""
        start, end = self.place(position, length)
        space = self.slots[position].space
        if filling[0] in CLOSING and not self._is_start(position):
            start -= len(space)
            space = ""
        new = self._spaced(filling, start, end)
        slots = [*self.slots[:position], Slot(space, new, True), *self.slots[position + length :]]
        return self._change("replacement", start, end, new, slots)

    def swap(self, position: int, distance: int) -> Change | None:
        """Two words change places, and what stands between them stays but counts as edited too; None when it does not fit.

        It fits where all of it is free, the two words differ, and no two words grow together.
        """
        if not self.free(position, distance + 1) or self.slots[position].word == self.slots[position + distance].word:
            return None
        start, end = self.place(position, distance + 1)
        span = self.slots[position : position + distance + 1]
        words = [span[-1].word, *(slot.word for slot in span[1:-1]), span[0].word]
        changed = [Slot(slot.space, word, True) for slot, word in zip(span, words, strict=True)]
        new = "".join(f"{slot.space}{slot.word}" for slot in changed)[len(span[0].space) :]
        slots = [*self.slots[:position], *changed, *self.slots[position + distance + 1 :]]
        change = self._change("swap", start, end, new, slots)
        return change if self._keeps_words(change) else None

    def apply(self, change: Change) -> Operation:
        """Carry a change of this draft out."""
        self.slots = change.slots
        return change.operation

    def _spaced(self, filling: str, start: int, end: int) -> str:
        """A filling with the blanks that it needs between ``text[:start]`` and ``text[end:]``: none before a mark or after a bracket."""
        before, after = self.text[:start][-1:], self.text[end : end + 1]
        left = "" if filling[0] in CLOSING or not before or before.isspace() or before in OPENING else " "
        return f"{left}{filling}{' ' if after.isalnum() else ''}"

    def _change(self, kind: str, start: int, end: int, new: str, slots: list[Slot]) -> Change:
        return Change(Operation(kind, start, end, self.text[start:end], new), slots)

    def _keeps_words(self, change: Change) -> bool:
        """Whether the words after a deletion or swap are those of before without the deleted ones."""
        operation, text = change.operation, self.text
        after = text[: operation.start] + operation.new + text[operation.end :]
        gone = Counter(words_of(operation.original)) - Counter(words_of(operation.new))
        return Counter(words_of(text)) - gone == Counter(words_of(after))

    def _before(self, position: int) -> int:
        """How many characters stand before a slot and its white space."""
        return sum(len(slot.space) + len(slot.word) for slot in self.slots[:position])

    def _is_start(self, position: int) -> bool:
        """Whether no word stands before a slot."""
        return not any(slot.word for slot in self.slots[:position])
