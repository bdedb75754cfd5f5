"""A bounded memory for what depends on a word alone, so that no word is worked on twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

__all__ = ["Memory"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """Values by key, found once by ``find`` for all keys that are new; forgets everything when it holds more than ``limit``.

    find : one value for each of several different keys, in order; a value must depend on its key alone. Several threads may ask: what
    is known is never taken away from one that is reading it.
    """

    def __init__(self, find: Callable[[list[Key]], Sequence[Value]], limit: int = 50_000) -> None:
        self.limit = limit
        self._find = find
        self._known: dict[Key, Value] = {}

    def of(self, keys: Iterable[Key]) -> list[Value]:
        """The value of every key, in order."""
        wanted = list(keys)
        if len(self._known) > self.limit:
            self._known = {}
        known = self._known
        new = [key for key in dict.fromkeys(wanted) if key not in known]
        if new:
            known.update(zip(new, self._find(new), strict=True))
        return [known[key] for key in wanted]

    def __len__(self) -> int:
        return len(self._known)
