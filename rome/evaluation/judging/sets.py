"""The rated sets of a run, by the short texts that users write."""

from __future__ import annotations

from collections.abc import Sequence

from rome.data.readers.rated import RatedSet
from rome.data.readers.registry import read_rated
from rome.exceptions import InputError

__all__ = ["read_sets"]


def read_sets(specifications: Sequence[str]) -> list[RatedSet]:
    """One set a specification, see read_rated. Raises InputError as that does, and when two sets have one name."""
    sets = [read_rated(specification) for specification in specifications]
    names = [rated.name for rated in sets]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two sets are called {twice[0]}: name each once, and give files different names")
    return sets
