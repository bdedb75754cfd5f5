"""What turns one text into another, word by word (SEScore2 section 4.1), the type of each edit, and chance that depends on a text alone."""

from __future__ import annotations

import hashlib
import random
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from rome.exceptions import InputError
from rome.train.synthesis.pairs import Operation

__all__ = [
    "EditScript",
    "SPACING",
    "Step",
    "TYPES",
    "Word",
    "diff_operations",
    "error_type",
    "identifier",
    "pair_seed",
    "poisson",
    "words_of",
]


def pair_seed(seed: int, text: str) -> int:
    """48 bits that depend on the run's seed and the text alone."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()[:6], "big")


def identifier(*parts: object) -> str:
    """16 hexadecimal digits that depend on the parts alone."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@lru_cache(maxsize=32)
def _distribution(mean: float) -> tuple[float, ...]:
    from scipy import stats

    return tuple(float(p) for p in stats.poisson.cdf(range(256), mean))


def poisson(chance: random.Random, mean: float) -> int:
    """One draw from the Poisson distribution with that mean, by inversion; at most 256."""
    return bisect_right(_distribution(mean), chance.random())


TYPES = ("addition", "omission", "mistranslation", "punctuation", "spelling", "grammar")


def error_type(operation: Operation) -> str:
    """One of TYPES: punctuation where only marks change, spelling where only casing or one word's accents do, else by its kind."""
    marks = [_is_marks(text) for text in (operation.original, operation.new) if text.strip()]
    if operation.kind == "swap":
        return "punctuation" if all(_is_marks(word) for word in operation.original.split()) else "grammar"
    if all(marks):
        return "punctuation"
    if operation.kind == "insertion":
        return "addition"
    if operation.kind == "deletion":
        return "omission"
    return "spelling" if _bare(operation.original) == _bare(operation.new) else "mistranslation"


def _is_marks(text: str) -> bool:
    return not any(character.isalnum() for character in text)


def _bare(text: str) -> str:
    """Letters and digits alone, without casing and accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())


WORD = re.compile(r"\w+(?:[-.,:/’'&]\w+)*|[^\w\s]")
"""Words with what joins their parts (don't, 1,000.5, well-known), and every other sign by itself."""


class Word(NamedTuple):
    """A word or a sign: ``text[start:end]``."""

    text: str
    start: int
    end: int

    @property
    def is_sign(self) -> bool:
        """Whether it holds neither letter nor digit."""
        return not any(map(str.isalnum, self.text))


def words_of(text: str) -> list[Word]:
    """The words and signs of a text, in order; none for an empty text."""
    return [Word(match.group(), match.start(), match.end()) for match in WORD.finditer(text)]


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
        if self.start == self.end:
            return "insertion"
        return "deletion" if self.new_start == self.new_end else "replacement"

    @property
    def length(self) -> int:
        """Words of the longer side, >= 1."""
        return max(self.end - self.start, self.new_end - self.new_start)


class Place(NamedTuple):
    """Where a word of an intermediate text stands in the anchor and in the neighbour; -1 where it does not."""

    anchor: int
    neighbour: int


@dataclass(frozen=True)
class EditScript:
    """The steps from an anchor to its neighbour, of the fewest word edits there can be (Levenshtein, words compared exactly).

    Attributes
    ----------
    steps
        From left to right; none when the words are the same.
    """

    anchor: str
    neighbour: str
    steps: tuple[Step, ...]
    words: tuple[tuple[Word, ...], tuple[Word, ...]] = field(repr=False)
    places: tuple[Place, ...] = field(repr=False)

    @classmethod
    def between(cls, anchor: str, neighbour: str) -> EditScript:
        """The script of two texts, either of which may be empty."""
        old, new = tuple(words_of(anchor)), tuple(words_of(neighbour))
        places = [Place(n, -1) for n in range(len(old))]
        steps: list[Step] = []
        for code in Levenshtein.opcodes([word.text for word in old], [word.text for word in new]):
            step = Step(code.src_start, code.src_end, code.dest_start, code.dest_end)
            if code.tag == "equal":
                count = step.end - step.start
                places[step.start : step.end] = [Place(step.start + n, step.new_start + n) for n in range(count)]
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
            Of this script, or deletions of kept words (their neighbour side is empty).
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
        if not old:
            lead, trail = "", self.anchor
        else:
            lead, trail = self.anchor[: old[0].start], self.anchor[old[-1].end :]
        pieces = [lead]
        for n, place in enumerate(places):
            pieces += [self._word(place).text, self._gap(place, places[n + 1]) if n + 1 < len(places) else ""]
        return [*pieces, trail]

    def _operation(self, places: Sequence[Place], at: int, until: int, new: Sequence[Place], kind: str) -> Operation:
        """What the replacement of the words at:until by new words does to the characters of the text."""
        before, after = self._pieces(places), self._pieces([*places[:at], *new, *places[until:]])
        start = len("".join(before[: 2 * at]))  # behind the word before, which stays
        original = "".join(before[2 * at : 2 * until + 1])
        text = "".join(after[2 * at : 2 * (at + len(new)) + 1])
        head = _shared_space(original, text)
        original, text, start = original[head:], text[head:], start + head
        rear = _shared_space(original[::-1], text[::-1])
        original, text = original[: len(original) - rear], text[: len(text) - rear]
        return Operation(kind, start, start + len(original), original, text)

    def _word(self, place: Place) -> Word:
        """The word at a place."""
        return self.words[0][place.anchor] if place.anchor >= 0 else self.words[1][place.neighbour]

    def _gap(self, left: Place, right: Place) -> str:
        """The white space between two words."""
        for text, words, n, m in (
            (self.anchor, self.words[0], left.anchor, right.anchor),
            (self.neighbour, self.words[1], left.neighbour, right.neighbour),
        ):
            if n >= 0 and m == n + 1:
                return text[words[n].end : words[m].start]
        clings = self._clings(left, 1) or self._clings(right, -1)
        return "" if clings else " "

    def _clings(self, place: Place, side: int) -> bool:
        """Whether a sign stands without white space beside what follows it (side 1) or precedes it (-1) in its own text."""
        if not self._word(place).is_sign:
            return False
        text, words, n = (
            (self.anchor, self.words[0], place.anchor)
            if place.anchor >= 0
            else (self.neighbour, self.words[1], place.neighbour)
        )
        if not 0 <= n + side < len(words):
            return False
        first, second = (words[n], words[n + 1]) if side == 1 else (words[n - 1], words[n])
        return text[first.end : second.start] == ""


def _shared_space(one: str, other: str) -> int:
    """How much white space both texts begin with alike."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b or not a.isspace():
            break
        count += 1
    return count


SPACING = "spacing"
"""Kind of an operation that changes white space alone."""


def diff_operations(before: str, after: str, type: str = "") -> tuple[Operation, ...]:
    """The fewest word edits from ``before`` to ``after``, from left to right, without severities; none for equal texts.

    Unlike a chain of an edit script, whose white space is chosen anew, carrying all of them out gives ``after`` exactly: what
    stands between two kept words is replaced where it differs, white space and all.
    """
    script = EditScript.between(before, after)
    old, new = script.words
    kept = [(old[place.anchor], new[place.neighbour]) for place in script.places if place.neighbour >= 0]
    operations: list[Operation] = []
    at, new_at, shift = 0, 0, 0
    for end, new_end, next_at, next_new in [
        *((one.start, other.start, one.end, other.end) for one, other in kept),
        (len(before), len(after), 0, 0),
    ]:
        operation = _difference(before[at:end], after[new_at:new_end], at + shift, type)
        if operation is not None:
            operations.append(operation)
        shift = new_end - end
        at, new_at = next_at, next_new
    return tuple(operations)


def _difference(old: str, new: str, start: int, type: str) -> Operation | None:
    """One operation for what stands between two kept words, without the white space that both begin or end with."""
    if old == new:
        return None
    head = _shared(old, new)
    old, new = old[head:], new[head:]
    tail = _shared(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    kinds = {(True, True): "replacement", (False, True): "insertion", (True, False): "deletion", (False, False): SPACING}
    return Operation(kinds[bool(old.strip()), bool(new.strip())], start + head, start + head + len(old), old, new, type=type)


def _shared(one: str, other: str) -> int:
    """How much white space both texts begin with alike."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count] and one[count].isspace():
        count += 1
    return count
