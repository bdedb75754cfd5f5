"""Closed lists of English words: negations, antonyms, numbers; and the numbers of a pair, compared by value.

Word vectors hardly tell nine from ten, and tell 25 from twenty-five; counting is surer than reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from rome.exceptions import ModelMissingError

from ..model_files import verified
from ..values import Analysis

NEGATIONS = frozenset(
    "no not n't n’t nt never none nobody nothing nowhere neither nor without cannot hardly scarcely barely unable".split()
)
UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(UNITS.split())},
    **{word: 10 * value for value, word in enumerate(TENS.split(), start=2)},
    **{word: value for value, word in enumerate(ORDINALS.split(), start=1)},
    **SCALES,
    "dozen": 12,
}
NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "non-", "mis", "anti", "anti-")


def form_of(word: str) -> str:
    """A word as it is compared: in small letters, `an` as `a`, because the next word says which of them is right."""
    form = word.lower()
    return "a" if form == "an" else form


def is_negation(word: str) -> bool:
    """Whether a word turns what it stands with into its opposite."""
    return word.lower() in NEGATIONS


@lru_cache(maxsize=16384)
def number_value(word: str) -> float | None:
    """The value of a number in digits (1,000.5; 3rd; 20%; $5) or in one word (three, third, dozen); None for anything else."""
    lowered = word.lower()
    if lowered in NUMBER_WORDS:
        return float(NUMBER_WORDS[lowered])
    digits = re.fullmatch(r"[^\w]*(\d[\d,]*(?:\.\d+)?)(?:st|nd|rd|th|s|%)?[^\w]*", lowered)
    return float(digits.group(1).replace(",", "")) if digits else None


@dataclass(frozen=True)
class AntonymLexicon:
    """Unordered pairs of antonymous lemmas."""

    pairs: frozenset[frozenset[str]] = frozenset()

    def antonyms(self, a: str, b: str) -> bool:
        """Whether two lemmas mean opposite things: listed, or one is the other with a negative prefix, or -ful against -less."""
        a, b = a.lower(), b.lower()
        if a == b or not a or not b:
            return False
        short, long = (a, b) if len(a) <= len(b) else (b, a)
        if len(short) > 3 and long.endswith(short) and long[: -len(short)] in NEGATIVE_PREFIXES:
            return True
        if short.endswith("ful") and long == f"{short[:-3]}less":
            return True
        return frozenset((a, b)) in self.pairs

    @classmethod
    def load(cls, path: Path) -> AntonymLexicon:
        """Read pairs from lines of two tab-separated lemmas; ModelMissingError when the file is not there."""
        if not Path(path).is_file():
            raise ModelMissingError(f"the lexicon {path} is missing: reinstall rome-metric")
        rows = (
            line.split("\t")
            for line in verified(Path(path)).read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")
        )
        return cls(frozenset(frozenset(row[:2]) for row in rows))


class Number(NamedTuple):
    """A number and the places of its words."""

    value: float
    places: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class NumbersCompared:
    """Places of words of reference and hypothesis.

    Attributes
    ----------
    same
        Of numbers that the other text writes in another way.
    other
        Of numbers that stand in the place of another one.
    count
        How many of the latter.
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

    Parameters
    ----------
    aligned
        For a word of the reference the place of the one that stands for it.
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
