"""Numbers of a pair by value: those that both texts have in other clothes, and those that stand in each other's place.

Word vectors hardly tell nine from ten, and tell 25 from twenty-five; counting is surer than reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..values import Analysis
from .lexicon import SCALES, number_value

__all__ = ["Number", "NumbersCompared", "compare_numbers", "numbers_of"]


class Number(NamedTuple):
    """A number and the places of its words."""

    value: float
    places: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class NumbersCompared:
    """Places of words of reference and hypothesis.

    same : of numbers that the other text writes in another way. other : of numbers that stand in the place of another one. count : how
    many of the latter.
    """

    same: tuple[frozenset[int], frozenset[int]]
    other: tuple[frozenset[int], frozenset[int]]
    count: int


def numbers_of(analysis: Analysis) -> tuple[Number, ...]:
    """Every number of a text, in order; *twenty-five*, *3 million* and *two hundred* are one each."""
    words = [word.text for word in analysis.words]
    found: list[Number] = []
    n = 0
    while n < len(words):
        value, last = _value(words[n]), n
        while value is not None:
            following = last + 2 if words[last + 1 : last + 2] == ["-"] else last + 1
            more = _value(words[following]) if following < len(words) else None
            joined = None if more is None else _joined(value, more, words[following])
            if joined is None:
                break
            value, last = joined, following
        if value is not None:
            places = tuple(range(n, last + 1))
            found.append(Number(value, places, " ".join(words[n : last + 1]).lower()))
        n = last + 1
    return tuple(found)


def _value(word: str) -> float | None:
    """Of one word, or of two with a hyphen."""
    tens, hyphen, unit = word.partition("-")
    value = number_value(tens)
    return _joined(value, number_value(unit) or 0.0, unit) if hyphen and value is not None else number_value(word)


def _joined(value: float, more: float, word: str) -> float | None:
    """What two numbers mean side by side; None where they are two."""
    if word.isalpha() and value in range(20, 100, 10) and more in range(1, 10):
        return value + more
    return value * more if word.lower() in SCALES and value < more else None


def compare_numbers(reference: Sequence[Number], hypothesis: Sequence[Number], aligned: Mapping[int, int]) -> NumbersCompared:
    """Pair the numbers of both texts by what is written, then by value; those that are left are told by the alignment.

    aligned : for a word of the reference the place of the one that stands for it.
    """
    ones, others = list(reference), list(hypothesis)
    _paired(ones, others, lambda number: (number.value, number.text))
    same = _paired(ones, others, lambda number: number.value)
    other = [(one, two) for one in ones for two in others if not {aligned.get(n) for n in one.places}.isdisjoint(two.places)]
    return NumbersCompared(_places(same), _places(other), len(other))


def _paired(ones: list[Number], others: list[Number], key: Callable[[Number], Any]) -> list[tuple[Number, Number]]:
    """Take out of both lists what has the same key."""
    found = []
    for one in list(ones):
        twin = next((other for other in others if key(other) == key(one)), None)
        if twin is not None:
            ones.remove(one)
            others.remove(twin)
            found.append((one, twin))
    return found


def _places(pairs: list[tuple[Number, Number]]) -> tuple[frozenset[int], frozenset[int]]:
    one, other = (frozenset(n for pair in pairs for n in pair[side].places) for side in (0, 1))
    return one, other
