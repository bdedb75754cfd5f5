"""What turns one text into another, word by word (SEScore2 section 4.1), and the type of each edit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from rome.exceptions import InputError
from rome.train.synthesis.pairs import Operation

TYPES = ("addition", "omission", "mistranslation", "punctuation", "spelling", "grammar")
KINDS = {(True, True): "replacement", (False, True): "insertion", (True, False): "deletion"}
"""What an edit does, by whether it takes something and whether it brings something."""
SPACING = "spacing"
"""Kind of an operation that changes white space alone."""


def error_type(operation: Operation) -> str:
    """One of TYPES: punctuation where only marks change, spelling where only casing or one word's accents do, else by its kind."""
    swapped = operation.kind == "swap"
    if all(map(_is_sign, operation.original.split() if swapped else filter(str.strip, (operation.original, operation.new)))):
        return "punctuation"
    if operation.kind == "replacement":
        return "spelling" if _bare(operation.original) == _bare(operation.new) else "mistranslation"
    return {"insertion": "addition", "deletion": "omission", "swap": "grammar"}[operation.kind]


def _is_sign(text: str) -> bool:
    """Whether a text holds neither letter nor digit."""
    return not any(map(str.isalnum, text))


def _bare(text: str) -> str:
    """Letters and digits alone, without casing and accents."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text.casefold())))


WORD = re.compile(r"\w+(?:[-.,:/’'&]\w+)*|[^\w\s]")
"""Words with what joins their parts (don't, 1,000.5, well-known), and every other sign by itself."""


class WordSpan(NamedTuple):
    """A word or a sign: ``text[start:end]``."""

    text: str
    start: int
    end: int

    @property
    def is_sign(self) -> bool:
        """Whether it holds neither letter nor digit."""
        return _is_sign(self.text)


def words_of(text: str) -> list[WordSpan]:
    """The words and signs of a text, in order; none for an empty text."""
    return [WordSpan(match.group(), *match.span()) for match in WORD.finditer(text)]


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """Words ``start`` to ``end`` of the anchor give way to words ``new_start`` to ``new_end`` of the neighbour; either may be none."""

    start: int
    end: int
    new_start: int
    new_end: int

    @property
    def kind(self) -> str:
        """Insertion, deletion or replacement."""
        return KINDS[self.start < self.end, self.new_start < self.new_end]

    @property
    def length(self) -> int:
        """Words of the longer side, >= 1."""
        return max(self.end - self.start, self.new_end - self.new_start)


class Place(NamedTuple):
    """Where a word of an intermediate text stands in the anchor and in the neighbour; -1 where it does not."""

    anchor: int
    neighbour: int


@dataclass(frozen=True)
class EditSequence:
    """The steps from an anchor to its neighbour, of the fewest word edits there can be (Levenshtein, words compared exactly).

    Attributes
    ----------
    steps
        From left to right; none when the words are the same.
    """

    anchor: str
    neighbour: str
    steps: tuple[Step, ...]
    words: tuple[tuple[WordSpan, ...], tuple[WordSpan, ...]] = field(repr=False)
    places: tuple[Place, ...] = field(repr=False)

    @classmethod
    def between(cls, anchor: str, neighbour: str) -> EditSequence:
        """The steps between two texts, either of which may be empty."""
        old, new = tuple(words_of(anchor)), tuple(words_of(neighbour))
        places = [Place(n, -1) for n in range(len(old))]
        steps: list[Step] = []
        for code in Levenshtein.opcodes([word.text for word in old], [word.text for word in new]):
            step = Step(code.src_start, code.src_end, code.dest_start, code.dest_end)
            if code.tag == "equal":
                pairs = zip(range(step.start, step.end), range(step.new_start, step.new_end), strict=True)
                places[step.start : step.end] = [Place(*pair) for pair in pairs]
            elif steps and (steps[-1].end, steps[-1].new_end) == (step.start, step.new_start):
                steps[-1] = Step(steps[-1].start, step.end, steps[-1].new_start, step.new_end)
            else:
                steps.append(step)
        return cls(anchor, neighbour, tuple(steps), (old, new), tuple(places))

    def operations(self, steps: Iterable[Step]) -> tuple[Operation, ...]:
        """The chain of some steps, each with the characters of the text before it, from left to right, without severities.

        Raises InputError when two of them touch or overlap: such a chain would change what it wrote itself.

        Parameters
        ----------
        steps
            Of this sequence, or deletions of kept words (their neighbour side is empty).
        """
        ordered = sorted(steps)
        for before, after in zip(ordered, ordered[1:], strict=False):
            if after.start <= before.end:
                raise InputError(f"the steps {before} and {after} touch: leave a word between them")
        places, shift, found = list(self.places), 0, []
        for step in ordered:
            at, until = step.start + shift, step.end + shift
            new = [Place(-1, n) for n in range(step.new_start, step.new_end)]
            found.append(self._operation(places, at, until, new, step.kind))
            places[at:until] = new
            shift += len(new) - (until - at)
        return tuple(found)

    def _pieces(self, places: Sequence[Place]) -> list[str]:
        """Leading white space, then word and gap by turns, the last gap being the trailing white space."""
        old = self.words[0]
        pieces = [self.anchor[: old[0].start] if old else ""]
        for n, place in enumerate(places):
            _, words, where = self._side(place)
            pieces += [words[where].text, self._gap(place, places[n + 1]) if n + 1 < len(places) else ""]
        return [*pieces, self.anchor[old[-1].end if old else 0 :]]

    def _operation(self, places: Sequence[Place], at: int, until: int, new: Sequence[Place], kind: str) -> Operation:
        """What the replacement of the words at:until by new words does to the characters of the text."""
        before, after = self._pieces(places), self._pieces([*places[:at], *new, *places[until:]])
        start = len("".join(before[: 2 * at]))  # behind the word before, which stays
        original, text = "".join(before[2 * at : 2 * until + 1]), "".join(after[2 * at : 2 * (at + len(new)) + 1])
        start, original, text = _without_shared_space(start, original, text)
        return Operation(kind, start, start + len(original), original, text)

    def _side(self, place: Place) -> tuple[str, tuple[WordSpan, ...], int]:
        """The text that a word comes from, its words, and which one it is."""
        if place.anchor >= 0:
            return self.anchor, self.words[0], place.anchor
        return self.neighbour, self.words[1], place.neighbour

    def _gap(self, left: Place, right: Place) -> str:
        """The white space between two words."""
        for text, words, n, m in zip((self.anchor, self.neighbour), self.words, left, right, strict=True):
            if n >= 0 and m == n + 1:
                return text[words[n].end : words[m].start]
        return "" if self._clings(left, 1) or self._clings(right, -1) else " "

    def _clings(self, place: Place, side: int) -> bool:
        """Whether a sign stands without white space beside what follows it (side 1) or precedes it (-1) in its own text."""
        _, words, n = self._side(place)
        if not words[n].is_sign or not 0 <= n + side < len(words):
            return False
        return words[min(n, n + side)].end == words[max(n, n + side)].start


def _without_shared_space(start: int, old: str, new: str) -> tuple[int, str, str]:
    """A replacement without the white space that both texts begin or end with."""
    head = _shared_space(old, new)
    old, new = old[head:], new[head:]
    tail = _shared_space(old[::-1], new[::-1])
    return start + head, old[: len(old) - tail], new[: len(new) - tail]


def _shared_space(one: str, other: str) -> int:
    """How much white space both texts begin with alike."""
    shared = commonprefix([one, other])
    return len(shared) - len(shared.lstrip())


def diff_operations(before: str, after: str, type: str = "") -> tuple[Operation, ...]:
    """The fewest word edits from ``before`` to ``after``, from left to right, without severities; none for equal texts.

    Unlike a chain of an edit sequence, whose white space is chosen anew, carrying all of them out gives ``after`` exactly: what
    stands between two kept words is replaced where it differs, white space and all.
    """
    edits = EditSequence.between(before, after)
    old, new = edits.words
    kept = [(old[place.anchor], new[place.neighbour]) for place in edits.places if place.neighbour >= 0]
    ends = WordSpan("", len(before), len(before)), WordSpan("", len(after), len(after))
    operations: list[Operation] = []
    at, new_at, shift = 0, 0, 0
    for one, other in [*kept, ends]:
        start, took, brought = _without_shared_space(at + shift, before[at : one.start], after[new_at : other.start])
        if took != brought:
            kind = KINDS.get((bool(took.strip()), bool(brought.strip())), SPACING)
            operations.append(Operation(kind, start, start + len(took), took, brought, type=type))
        at, new_at, shift = one.end, other.end, other.start - one.start
    return tuple(operations)
