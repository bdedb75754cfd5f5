"""What annotators are asked: scale, dimensions and kinds of error."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rome.exceptions import InputError

DIMENSIONS = ("fluency", "semantic", "grammar")
"""The three that RoMe's annotators rated (appendix A.2)."""
SEVERITIES = ("minor", "major", "critical")
CATEGORIES = (
    "Accuracy/Addition",
    "Accuracy/Omission",
    "Accuracy/Wrong content",
    "Fluency/Grammar",
    "Fluency/Spelling",
    "Fluency/Punctuation",
    "Fluency/Word order",
    "Fluency/Repetition",
    "Style/Awkward",
    "Other",
)
"""An MQM-like typology for text that is compared with a reference instead of a source."""
_WIDEST = 1000


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole numbers from low to high, both included; high is best."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Scale:
        """The scale that ``LOW-HIGH`` names, such as ``1-3``. Raises InputError when it names none."""
        found = re.fullmatch(r"([0-9]{1,4})-([0-9]{1,4})", text)
        if not found or not int(found[1]) < int(found[2]) <= _WIDEST:
            raise InputError(f"scale {text!r} is not LOW-HIGH with a high end up to {_WIDEST}: write for instance 1-3 or 0-100")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Guideline:
    """What is asked of each item. Raises InputError for no, empty or repeated dimensions or categories."""

    scale: Scale = Scale(1, 3)
    dimensions: tuple[str, ...] = DIMENSIONS
    categories: tuple[str, ...] = CATEGORIES

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        for kind, names in (("dimension", self.dimensions), ("category", self.categories)):
            if not names or not all(name.strip() and name.isprintable() for name in names):
                raise InputError(f"a {kind} without a name: give each a short printable name")
            if len(set(names)) != len(names):
                raise InputError(f"a {kind} is named twice in {', '.join(names)}: name each once")
