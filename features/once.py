"""What depends on one text alone is worked out once, though many pairs and several steps of one pair ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from .values import Analysis

__all__ = ["once"]

KEPT = 256
"""Results that each function keeps: those of the texts it met last."""
KEPT_WORDS = 8_192
"""At most so many words of texts are kept alive by a function's results; the last result stays however long its text."""
Result = TypeVar("Result")


def once(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function with a memory of its last results, for arguments that never change and are the same objects.

    The arguments are kept with the result, so that no other object can take their place in memory. Results are shared: who gets one
    must not change it.
    """
    kept: dict[tuple[int, ...], tuple[tuple[object, ...], Result, int]] = {}
    words = 0

    @wraps(function)
    def remembering(*arguments: object) -> Result:
        nonlocal words
        key = tuple(map(id, arguments))
        known = kept.get(key)
        if known is not None:
            return known[1]
        result = function(*arguments)
        size = _words(arguments)
        words += size
        while kept and (len(kept) >= KEPT or words > KEPT_WORDS):
            try:
                words -= kept.pop(next(iter(kept)))[2]
            except (KeyError, RuntimeError, StopIteration):  # another thread was here first
                break
        kept[key] = arguments, result, size
        return result

    return remembering


def _words(arguments: tuple[object, ...]) -> int:
    """How many words the texts among the arguments have."""
    count = 0
    for argument in arguments:
        if isinstance(argument, Analysis):
            count += len(argument.words)
    return count
