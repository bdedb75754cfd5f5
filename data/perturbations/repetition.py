"""The last word said twice or four times (DEMETR 1, 2)."""

from __future__ import annotations

import random
import re

from rome.features.values import Analysis

from .surgery import finish
from .values import Materials, NotApplicable, Perturbation, Perturbed

__all__ = ["PERTURBATIONS"]

WORD = re.compile(r"(?:[A-Za-z]\.){2,}|\w+(?:[-'’.,]\w+)*%?")


def _repeated(analysis: Analysis, times: int) -> Perturbed | NotApplicable:
    """The last word stands ``times`` times; punctuation follows the last of them."""
    words = list(WORD.finditer(analysis.text))
    if not words:
        return NotApplicable("no word to repeat")
    last = words[-1]
    return finish(analysis, [(last.end(), last.end(), f" {last.group()}" * (times - 1))], "no word to repeat")


def repeated_twice(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """*duty free.* -> *duty free free.*."""
    return _repeated(analysis, 2)


def repeated_four_times(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """*duty free.* -> *duty free free free free.*."""
    return _repeated(analysis, 4)


PERTURBATIONS = (
    Perturbation("repeated_twice", "accuracy", "repetition", "minor", 1, repeated_twice),
    Perturbation("repeated_four_times", "accuracy", "repetition", "minor", 2, repeated_four_times),
)
