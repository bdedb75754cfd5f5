"""Compare the quantities of two texts. This is a stub; the real module has the same names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .quantities import Quantity


@dataclass(frozen=True, slots=True)
class QuantitiesCompared:
    """Hold the quantities of reference and hypothesis that are equal, and those that differ in the same slot."""

    equal: tuple[tuple[Quantity, Quantity], ...] = ()
    different: tuple[tuple[Quantity, Quantity], ...] = ()


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
