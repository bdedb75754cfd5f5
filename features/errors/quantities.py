"""Read the quantities of a text. This is a stub; the real module has the same names."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """Hold one quantity at ``text[start:end]``."""

    start: int
    end: int
    dimension: str
    value: float
    sure: bool = True


WORDS = {word: float(n) for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}
NUMBER = re.compile(rf"(?<!\w)(?:\d+(?:\.\d+)?|{'|'.join(WORDS)})(?!\w)", re.IGNORECASE)


def quantities_of(text: str) -> tuple[Quantity, ...]:
    """Return the plain numbers of a text."""
    found = ((m, m.group().lower()) for m in NUMBER.finditer(text))
    return tuple(Quantity(m.start(), m.end(), "number", WORDS[w] if w in WORDS else float(w)) for m, w in found)
