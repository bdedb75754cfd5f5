"""How a word is written, as numbers: its letters alone and in twos, threes and fours, capitals kept. The trunk is uncased and reads pieces."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["SPELLINGS", "spellings_of"]

SPELLINGS = 4096
"""Numbers that the parts of spellings fall on."""
LONGEST_PART = 4
LONGEST_WORD = 40
"""Letters; of a longer word only the first ones are read."""


def spellings_of(words: Sequence[str]) -> list[tuple[int, ...]]:
    """For each word of a sentence the numbers, from 0 to SPELLINGS - 1, of the parts of its spelling; at least one each.

    Parts are the word between marks of its ends, every n of its neighbouring characters, n from 1 to LONGEST_PART (the hashed n-grams
    of Bojanowski et al. 2017), and how it is capitalised. What stands up to the sentence's first letter is told apart from the rest:
    there a capital says little.
    """
    found, begun = [], False
    for word in words:
        found.append(_parts(word[:LONGEST_WORD], f"{capitals(word)} {begun}"))
        begun = begun or any(letter.isalpha() for letter in word)
    return found


@lru_cache(10_000)
def _parts(word: str, capitalised: str) -> tuple[int, ...]:
    marked = f"^{word}$"
    grams = [marked[n : n + size] for size in range(1, LONGEST_PART + 1) for n in range(len(marked) - size + 1)]
    return tuple(_number(part) for part in (capitalised, marked, *grams))


def capitals(word: str) -> str:
    """How a word is capitalised: ``digits``, ``none`` (no letters), ``lower``, ``one`` letter, ``upper``, ``title`` or ``mixed``."""
    letters = [letter for letter in word if letter.isalpha()]
    if any(map(str.isdigit, word)):
        return "digits"
    if not letters:
        return "none"
    large = [letter.isupper() for letter in letters]
    if not any(large):
        return "lower"
    if all(large):
        return "one" if len(large) == 1 else "upper"
    return "title" if large[0] and not any(large[1:]) else "mixed"


def _number(part: str) -> int:
    """The same on every machine."""
    return zlib.crc32(part.encode("utf-8", "surrogatepass")) % SPELLINGS
