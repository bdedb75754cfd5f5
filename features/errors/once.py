"""What depends on one text alone is worked out once, though many pairs and several steps of one pair ask for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import TypeVar

__all__ = ["once"]

KEPT = 256
"""Results that each function keeps: those of the texts it met last."""
Result = TypeVar("Result")


def once(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function with a memory of its last results, for arguments that never change and are the same objects.

    The arguments are kept with the result, so that no other object can take their place in memory. Results are shared: who gets one
    must not change it.
    """
    kept: dict[tuple[int, ...], tuple[tuple[object, ...], Result]] = {}

    @wraps(function)
    def remembering(*arguments: object) -> Result:
        key = tuple(map(id, arguments))
        known = kept.get(key)
        if known is not None:
            return known[1]
        result = function(*arguments)
        if len(kept) >= KEPT:
            with suppress(KeyError, RuntimeError, StopIteration):  # another thread was here first
                del kept[next(iter(kept))]
        kept[key] = arguments, result
        return result

    return remembering
