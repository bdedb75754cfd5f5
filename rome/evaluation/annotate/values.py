"""What annotators are shown and asked: scale, dimensions, categories, items, and the state of one item."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from rome.exceptions import InputError

__all__ = ["CATEGORIES", "DIMENSIONS", "SEVERITIES", "AnnotationItem", "Guideline", "Identity", "Mark", "Scale", "State"]

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

Identity = tuple[str, str, str]
"""Language pair, item and system: what tells one output from every other."""
_WIDEST = 1000


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole numbers from low to high, both included; high is best."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Scale:
        """The scale that ``LOW-HIGH`` names, such as ``1-3``. Raises InputError when it names none."""
        low, dash, high = text.partition("-")
        if not (dash and low.isascii() and low.isdigit() and high.isascii() and high.isdigit() and len(text) < 12):
            raise InputError(f"scale {text!r} is not LOW-HIGH: write for instance 1-3 or 0-100")
        if not int(low) < int(high) <= _WIDEST:
            raise InputError(f"scale {text!r} has no two values up to {_WIDEST}: write the lower end first, for instance 1-3")
        return cls(int(low), int(high))

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high


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


@dataclass(frozen=True, slots=True)
class AnnotationItem:
    """One output to be rated. place : ``file:line`` for messages. Annotators never see item, system or language pair."""

    item: str
    references: tuple[str, ...]
    hypothesis: str
    system: str = ""
    language_pair: str = ""
    place: str = ""

    @property
    def identity(self) -> Identity:
        """What tells this output from every other one."""
        return self.language_pair, self.item, self.system

    @property
    def key(self) -> str:
        """16 hexadecimal digits that change with the identity and with every text; they give no name away."""
        content = json.dumps([*self.identity, self.references, self.hypothesis])
        return hashlib.blake2b(content.encode("utf-8"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Mark:
    """One error: ``hypothesis[start:end]`` in code points; both None for an omission or for the whole text."""

    start: int | None
    end: int | None
    severity: str
    category: str


@dataclass(frozen=True, slots=True)
class State:
    """What one annotator says of one item, perhaps only in part, and how often it was saved (revision)."""

    ratings: Mapping[str, int] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    revision: int = 0

    def says_the_same(self, other: State) -> bool:
        """True when ratings and marks are equal, whatever the revision."""
        return dict(self.ratings) == dict(other.ratings) and self.marks == other.marks
