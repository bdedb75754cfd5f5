"""Types of errors by the names of the perturbations that make them."""

from __future__ import annotations

import json
from pathlib import Path

from rome.features.errors.evidence import TYPES

NAMES: dict[str, list[str]] = json.loads((Path(__file__).parent / "types.json").read_text(encoding="utf-8"))
TYPE_OF: dict[str, str] = {name: kind for kind, names in NAMES.items() for name in names}


def type_number(name: str) -> int:
    """Return the number of a type by its own name or that of a perturbation, -1 for a perturbation of no known type."""
    found = name if name in TYPES else TYPE_OF.get(name, "omission" if name.startswith("omitted") else "")
    return TYPES.index(found) if found else -1
