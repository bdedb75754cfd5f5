"""Means of more numbers than memory should hold."""

from __future__ import annotations

__all__ = ["Means"]


class Means:
    """Means of the score and the four components, with the rounding errors of the sums carried along (Neumaier 1974)."""

    def __init__(self) -> None:
        self.count = 0
        self._sums, self._errors = [0.0] * 5, [0.0] * 5

    def add(self, numbers: list[float]) -> None:
        """Take in the numbers of one segment."""
        self.count += 1
        for place, number in enumerate(numbers):
            before = self._sums[place]
            total = before + number
            self._errors[place] += (before - total) + number if abs(before) >= abs(number) else (number - total) + before
            self._sums[place] = total

    @property
    def values(self) -> list[float]:
        """The five means; nan without segments."""
        pairs = zip(self._sums, self._errors, strict=True)
        return [(total + error) / self.count if self.count else float("nan") for total, error in pairs]
