"""One annotation study: its guideline, the items of each annotator, saved states, and checks before saving."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rome.data.readers.rated import mark_of
from rome.evaluation.annotate.ratings import AnnotationItem, RatingsFile, Record
from rome.exceptions import InputError

_LONGEST_NAME, _MOST_MARKS = 80, 500
DIMENSIONS = ("fluency", "semantic", "grammar")
"""The dimensions that RoMe's annotators rated (appendix A.2)."""
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
"""MQM-like categories for text that is compared with a reference instead of a source."""
_WIDEST = 1000


@dataclass(frozen=True, slots=True)
class Scale:
    """Hold a scale of whole numbers from low to high, both included; high is best."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Parse ``LOW-HIGH``, such as ``1-3``. Raises InputError for another text."""
        match = re.fullmatch(r"([0-9]{1,4})-([0-9]{1,4})", text)
        if not match or not int(match[1]) < int(match[2]) <= _WIDEST:
            raise InputError(
                f"scale must be LOW-HIGH with a high end up to {_WIDEST}, got {text!r}: write for instance 1-3 or 0-100"
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Guideline:
    """Hold scale, dimensions and categories of errors. Raises InputError for no or empty dimensions or categories."""

    scale: Scale = Scale(1, 3)
    dimensions: tuple[str, ...] = DIMENSIONS
    categories: tuple[str, ...] = CATEGORIES

    def __post_init__(self) -> None:
        """Check the names."""
        for kind, names in (("dimension", self.dimensions), ("category", self.categories)):
            if not names or not all(name.strip() and name.isprintable() for name in names):
                raise InputError(f"every {kind} must have a short printable name, got {names}")


class Conflict(Exception):
    """Report a save that was based on an outdated state.

    Parameters
    ----------
    state
        The saved state, as on the page.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__("the item was saved elsewhere meanwhile")
        self.state = state


class UnknownItem(InputError):
    """Report a key that no item has."""


class Study:
    """Keep the items, the file and the ratings of all annotators; safe to use from several threads.

    Raises InputError if the file has ratings of other texts under the same ids, or on another scale.
    """

    def __init__(self, items: Sequence[AnnotationItem], ratings: RatingsFile, guideline: Guideline) -> None:
        self.items, self.guideline = {item.key: item for item in items}, guideline
        self._ratings, self._lock = ratings, threading.RLock()
        self._saved: dict[str, dict[str, list[Record]]] = {}
        known, scale = {item.identity: item for item in items}, str(guideline.scale)
        for record in ratings.records:  # those of other outputs stay in the file
            item = known.get(record.item.identity)
            if item is None:
                continue
            if record.item.key != item.key:
                raise InputError(
                    f"{record.place}: item {item.item} was rated with other texts than {item.place} has: "
                    "name another --output, or give changed items new ids"
                )
            if record.scale not in ("", scale):
                raise InputError(
                    f"{record.place}: rated on the scale {record.scale}, not {scale}: "
                    f"go on with --scale {record.scale}, or name another --output"
                )
            self._keep(record)

    def about(self) -> dict[str, Any]:
        """Return the guideline and the names of the annotators for the first page."""
        scale = self.guideline.scale
        return {
            "count": len(self.items),
            "annotators": sorted(self._saved),
            "dimensions": list(self.guideline.dimensions),
            "scale": {"low": scale.low, "high": scale.high},
            "severities": list(SEVERITIES),
            "categories": list(self.guideline.categories),
        }

    def start(self, name: object) -> dict[str, Any]:
        """Return the annotator's name as in the file, the keys of the items, and which are done."""
        with self._lock:
            annotator = self._named(name)
            keys = list(self.items)
            return {"annotator": annotator, "keys": keys, "done": [self._is_done(annotator, key) for key in keys]}

    def item(self, name: object, key: str) -> dict[str, Any]:
        """Return the texts of one item and this annotator's state of it. Raises UnknownItem."""
        with self._lock:
            item, state = self._item(key), self._state(self._named(name), key)
        return {"key": key, "references": list(item.references), "hypothesis": item.hypothesis, "state": state}

    def save(self, name: object, key: str, given: dict[str, Any]) -> dict[str, Any]:
        """Save a state to the disk.

        Raises InputError for an invalid state, UnknownItem, Conflict if another tab saved meanwhile, StoreError.

        Parameters
        ----------
        given
            Ratings {dimension: number}, errors [{start, end, severity, category}], revision (of the state that was changed).
        """
        with self._lock:
            annotator = self._named(name)
            state = self._state(annotator, key)
            record = self._checked(given, self._item(key), annotator, {error["category"] for error in state["errors"]})
            if record.answers() != {"ratings": state["ratings"], "errors": state["errors"]}:
                if given["revision"] != state["revision"]:
                    raise Conflict(state)
                self._ratings.append(record.line())
                self._keep(record)
            return {"revision": len(self._history(annotator, key)), "done": self._is_done(annotator, key)}

    def _keep(self, record: Record) -> None:
        self._saved.setdefault(record.annotator, {}).setdefault(record.item.key, []).append(record)

    def _history(self, annotator: str, key: str) -> list[Record]:
        return self._saved.get(annotator, {}).get(key, [])

    def _state(self, annotator: str, key: str) -> dict[str, Any]:
        """Return the last saved state, as on the page, with the number of saves."""
        history = self._history(annotator, key)
        saved = history[-1].answers() if history else {"ratings": {}, "errors": []}
        ratings = {name: int(value) for name, value in saved["ratings"].items() if name in self.guideline.dimensions}
        return {"ratings": ratings, "errors": saved["errors"], "revision": len(history)}

    def _is_done(self, annotator: str, key: str) -> bool:
        return self._state(annotator, key)["ratings"].keys() >= set(self.guideline.dimensions)

    def _named(self, name: object) -> str:
        """Return the annotator's name in normal form; names that differ in case only are one annotator."""
        tidy = " ".join(unicodedata.normalize("NFC", name).split()) if isinstance(name, str) else ""
        if not tidy or len(tidy) > _LONGEST_NAME or not tidy.isprintable():
            raise InputError(f"annotator: give a name of 1 to {_LONGEST_NAME} printable characters")
        return next((known for known in self._saved if known.casefold() == tidy.casefold()), tidy)

    def _item(self, key: str) -> AnnotationItem:
        if key not in self.items:
            raise UnknownItem("no such item: the file of pairs has changed; reload the page")
        return self.items[key]

    def _checked(self, given: dict[str, Any], item: AnnotationItem, annotator: str, used: set[str]) -> Record:
        """Return the record of a request.

        Raises InputError that names the wrong part.

        Parameters
        ----------
        used
            Categories of the saved state, which stay valid.
        """
        ratings, errors, dimensions = given.get("ratings"), given.get("errors"), self.guideline.dimensions
        if not isinstance(ratings, dict) or not isinstance(errors, list) or not isinstance(given.get("revision"), int):
            raise InputError("give ratings (an object), errors (a list) and revision (a number)")
        for name, value in ratings.items():
            if name not in dimensions:
                raise InputError(f"ratings: unknown dimension {name!r}: use {', '.join(dimensions)}")
            if value not in self.guideline.scale:
                raise InputError(f"ratings: {name} must be a whole number of the scale {self.guideline.scale}, got {value!r}")
        if len(errors) > _MOST_MARKS:
            raise InputError(f"errors: {len(errors)} marks: give at most {_MOST_MARKS}")
        categories, marks = used.union(self.guideline.categories), []
        for number, row in enumerate(errors):
            marks.append(mark_of(row, len(item.hypothesis), f"errors[{number}]"))
            if marks[-1].start is not None and marks[-1].start == marks[-1].end:
                raise InputError(f"errors[{number}]: no character is marked: give start and end, or neither")
            if marks[-1].severity not in SEVERITIES:
                raise InputError(f"errors[{number}]: severity {marks[-1].severity!r} is unknown: use {', '.join(SEVERITIES)}")
            if marks[-1].category not in categories:
                raise InputError(f"errors[{number}]: category {marks[-1].category!r} is unknown: use one of the guideline")
        if len(set(marks)) != len(marks):
            raise InputError("errors: one mark is given twice: give each once")
        ordered = {name: ratings[name] for name in dimensions if name in ratings}
        return Record(item, annotator, ordered, tuple(marks), str(self.guideline.scale))
