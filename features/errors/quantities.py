"""Read the quantities of a text. This is a stub; the real module has the same names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """Hold one quantity at ``text[start:end]``."""

    start: int
    end: int
    dimension: str
    value: float
    sure: bool = True


@dataclass(frozen=True, slots=True)
class QuantitiesCompared:
    """Hold the quantities of reference and hypothesis that are equal, and those that differ in the same slot."""

    equal: tuple[tuple[Quantity, Quantity], ...] = ()
    different: tuple[tuple[Quantity, Quantity], ...] = ()


WORDS = {word: float(n) for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}
NUMBER = re.compile(rf"(?<!\w)(?:\d+(?:\.\d+)?|{'|'.join(WORDS)})(?!\w)", re.IGNORECASE)


def quantities_of(text: str) -> tuple[Quantity, ...]:
    """Return the plain numbers of a text."""
    found = ((m, m.group().lower()) for m in NUMBER.finditer(text))
    return tuple(Quantity(m.start(), m.end(), "number", WORDS[w] if w in WORDS else float(w)) for m, w in found)


def compare_quantities(
    ref_text: str, ref_quantities: Sequence[Quantity], hyp_text: str, hyp_quantities: Sequence[Quantity]
) -> QuantitiesCompared:
    """Pair equal values first, then what is left in order."""
    left, right, equal = list(ref_quantities), list(hyp_quantities), []
    for one in ref_quantities:
        twin = next((other for other in right if other.value == one.value), None)
        if twin is not None:
            left.remove(one)
            right.remove(twin)
            equal.append((one, twin))
    return QuantitiesCompared(tuple(equal), tuple(zip(left, right, strict=False)))
