"""Large tables of evidence that hold one number nearly everywhere: kept as their exceptions, given back whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGE", "LargeTable"]

LARGE = 1 << 16
"""Numbers; smaller tables are kept as they are."""


@dataclass(frozen=True, slots=True)
class _Exceptions:
    """A table by its shape, the number that fills it, and the places (row by row) and values of all others."""

    shape: tuple[int, ...]
    filling: float
    places: NDArray[np.intp]
    values: NDArray[np.float64]

    def whole(self) -> NDArray[np.float64]:
        table = np.full(self.shape, self.filling)
        table.flat[self.places] = self.values
        return table


class LargeTable:
    """A dataclass's field for an array of float64: reading gives the array that was put in, made anew each time when it is large.

    filling : the number that stands nearly everywhere. A table with other numbers in every fourth place or more is kept as it is.
    """

    def __init__(self, filling: float) -> None:
        self.filling = filling

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the field's name."""
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """The table; on the class there is none, so the field has no default."""
        if instance is None:
            raise AttributeError(self.name)
        held = instance.__dict__[self.name]
        return held.whole() if isinstance(held, _Exceptions) else held

    def __set__(self, instance: Any, table: NDArray[np.float64]) -> None:
        """Keep a table."""
        held: Any = table
        if np.size(table) > LARGE:
            places = np.flatnonzero(table != self.filling)
            if 4 * len(places) < table.size:
                held = _Exceptions(table.shape, self.filling, places, table.flat[places])
        instance.__dict__[self.name] = held
