"""Closed lists of English words that the severity rules ask for: negations, numbers in words, antonyms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rome.exceptions import ModelMissingError

from ..model_files import checked

__all__ = ["Lexicon", "is_negation", "number_value"]

NEGATIONS = frozenset(
    "no not n't n’t nt never none nobody nothing nowhere neither nor without cannot hardly scarcely barely unable".split()
)
UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(UNITS.split())},
    **{word: 10 * value for value, word in enumerate(TENS.split(), start=2)},
    **SCALES,
    **ORDINALS,
    "dozen": 12,
}
NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "non-", "mis", "anti", "anti-")


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
class Lexicon:
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
    def load(cls, path: Path) -> Lexicon:
        """Read pairs from lines of two tab-separated lemmas; ModelMissingError when the file is not there."""
        if not Path(path).is_file():
            raise ModelMissingError(f"the lexicon {path} is missing: reinstall rome-metric")
        rows = (
            line.split("\t")
            for line in checked(Path(path)).read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")
        )
        return cls(frozenset(frozenset(row[:2]) for row in rows))
