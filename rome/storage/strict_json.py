"""JSON that says one thing: a name that stands twice in an object, of which a reader would take either, is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError, for a name that stands twice too, and RecursionError where it is nested too deep."""
    return json.loads(text, object_pairs_hook=_object)


def repeated(names: Iterable[str]) -> str | None:
    """The first of the names that stands there twice; a blank one is none."""
    return next((name for name, number in Counter(names).items() if number > 1 and name), None)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError(f"the name {repeated([name for name, _ in pairs])!r} stands twice in one object")
    return row
