"""One annotation study: what each annotator sees, what was said so far, and the checks before anything is saved."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Sequence
from typing import Any

from rome.evaluation.annotate.items import in_order
from rome.evaluation.annotate.records import Record, last_records, record_line
from rome.evaluation.annotate.store import RatingsFile
from rome.evaluation.annotate.values import SEVERITIES, AnnotationItem, Guideline, Mark, State
from rome.exceptions import InputError

__all__ = ["Conflict", "Study", "UnknownItem", "as_dict"]

_LONGEST_NAME, _MOST_MARKS = 80, 500


class Conflict(Exception):
    """A save was made on an older state than the one that is saved; state : the saved one."""

    def __init__(self, state: State) -> None:
        super().__init__("the item was saved elsewhere meanwhile")
        self.state = state


class UnknownItem(InputError):
    """No item has this key."""


class Study:
    """The items, the file and everybody's states; safe to use from several threads.

    seed : None for file order, else every annotator has an own order that depends on the seed and the name.
    Raises InputError when the file holds ratings of other texts under the same ids, or on another scale.
    """

    def __init__(
        self, items: Sequence[AnnotationItem], ratings: RatingsFile, guideline: Guideline, *, seed: int | None
    ) -> None:
        self.items, self.guideline = {item.key: item for item in items}, guideline
        self._ratings, self._seed, self._lock = ratings, seed, threading.RLock()
        self._states: dict[str, dict[str, State]] = {}
        self.foreign = self._restore(ratings.records)

    def about(self) -> dict[str, Any]:
        """What the page asks before anybody has given a name."""
        scale = self.guideline.scale
        return {
            "count": len(self.items),
            "annotators": sorted(self._states),
            "dimensions": list(self.guideline.dimensions),
            "scale": {"low": scale.low, "high": scale.high},
            "severities": list(SEVERITIES),
            "categories": list(self.guideline.categories),
        }

    def start(self, name: object) -> dict[str, Any]:
        """The annotator's name as it is written in the file, the keys of the items in this annotator's order, and which are done."""
        annotator = self._named(name)
        with self._lock:
            rows = in_order(list(self.items.values()), seed=self._seed, annotator=annotator)
            keys = [item.key for item in rows]
            return {"annotator": annotator, "keys": keys, "done": [self._is_done(annotator, key) for key in keys]}

    def item(self, name: object, key: str) -> dict[str, Any]:
        """The texts of one item and what this annotator said of it. Raises UnknownItem."""
        annotator, item = self._named(name), self._item(key)
        with self._lock:
            state = self._state(annotator, key)
        return {"key": key, "references": list(item.references), "hypothesis": item.hypothesis, "state": as_dict(state)}

    def save(self, name: object, key: str, given: dict[str, Any]) -> dict[str, Any]:
        """Save a state; it is on the disk when this returns.

        given : ratings {dimension: number}, errors [{start, end, severity, category}], revision (that of the state it was made on).
        Raises InputError for what may not be saved, UnknownItem, Conflict when another tab saved meanwhile, StoreError.
        """
        annotator, item = self._named(name), self._item(key)
        with self._lock:
            old = self._state(annotator, key)
            wanted = self._checked(given, item, {*self.guideline.categories, *(mark.category for mark in old.marks)})
            if not wanted.says_the_same(old):
                if wanted.revision != old.revision:
                    raise Conflict(old)
                wanted = State(wanted.ratings, wanted.marks, old.revision + 1)
                self._ratings.append(record_line(item, annotator, wanted, self.guideline))
                self._states.setdefault(annotator, {})[key] = old = wanted
            return {"revision": old.revision, "done": self._is_done(annotator, key)}

    def _restore(self, records: Sequence[Record]) -> int:
        """Take up what was saved before; the number of outputs in the file that are none of this study's."""
        known = {item.identity: item for item in self.items.values()}
        foreign = 0
        for identity, group in last_records(records).items():
            item = known.get(identity)
            foreign += item is None
            for record in group.values() if item else ():
                if item and record.item.key != item.key:
                    raise InputError(
                        f"{record.place}: item {item.item} was rated with other texts than {item.place} has: "
                        "name another --output, or give changed items new ids"
                    )
                self._check_scale(record)
        for record in records:
            if record.item.identity in known:
                ratings = {name: int(value) for name, value in record.ratings.items() if name in self.guideline.dimensions}
                before = self._state(record.annotator, record.item.key).revision
                state = State(ratings, record.marks, before + 1)
                self._states.setdefault(record.annotator, {})[record.item.key] = state
        return foreign

    def _check_scale(self, record: Record) -> None:
        if record.scale not in ("", str(self.guideline.scale)):
            raise InputError(
                f"{record.place}: rated on the scale {record.scale}, not {self.guideline.scale}: "
                f"go on with --scale {record.scale}, or name another --output"
            )

    def _named(self, name: object) -> str:
        """The annotator's name, tidied; names that differ in case only are one annotator."""
        if not isinstance(name, str):
            raise InputError("annotator is no text: give a name")
        tidy = " ".join(unicodedata.normalize("NFC", name).split())
        if not tidy or len(tidy) > _LONGEST_NAME or not tidy.isprintable():
            raise InputError(f"annotator: give a name of 1 to {_LONGEST_NAME} printable characters")
        with self._lock:
            return next((known for known in self._states if known.casefold() == tidy.casefold()), tidy)

    def _item(self, key: str) -> AnnotationItem:
        if key not in self.items:
            raise UnknownItem("no such item: the file of pairs has changed; reload the page")
        return self.items[key]

    def _state(self, annotator: str, key: str) -> State:
        return self._states.get(annotator, {}).get(key, State())

    def _is_done(self, annotator: str, key: str) -> bool:
        return set(self._state(annotator, key).ratings) >= set(self.guideline.dimensions)

    def _checked(self, given: dict[str, Any], item: AnnotationItem, categories: set[str]) -> State:
        """The state that a request describes. Raises InputError that names what is wrong with it."""
        ratings, errors, revision = given.get("ratings"), given.get("errors"), given.get("revision")
        if not isinstance(ratings, dict) or not isinstance(errors, list) or not isinstance(revision, int):
            raise InputError("give ratings (an object), errors (a list) and revision (a number)")
        for name, value in ratings.items():
            if name not in self.guideline.dimensions:
                raise InputError(f"ratings: unknown dimension {name!r}: use {', '.join(self.guideline.dimensions)}")
            if value not in self.guideline.scale:
                raise InputError(f"ratings: {name} is {value!r}: give a whole number of the scale {self.guideline.scale}")
        if len(errors) > _MOST_MARKS:
            raise InputError(f"errors: {len(errors)} marks: give at most {_MOST_MARKS}")
        marks = tuple(_mark(row, f"errors[{number}]", item, categories) for number, row in enumerate(errors))
        if len(set(marks)) != len(marks):
            raise InputError("errors: one mark stands there twice: give each once")
        return State(dict(ratings), marks, revision)


def as_dict(state: State) -> dict[str, Any]:
    """The state as the page has it."""
    errors = [{"start": m.start, "end": m.end, "severity": m.severity, "category": m.category} for m in state.marks]
    return {"ratings": dict(state.ratings), "errors": errors, "revision": state.revision}


def _mark(row: object, name: str, item: AnnotationItem, categories: set[str]) -> Mark:
    """One checked mark."""
    if not isinstance(row, dict) or set(row) != {"start", "end", "severity", "category"}:
        raise InputError(f"{name}: give an object with start, end, severity and category, and nothing else")
    start, end, length = row["start"], row["end"], len(item.hypothesis)
    ends = [end is None] if start is None else [_is_whole(start), _is_whole(end)]
    if not all(ends) or (start is not None and not 0 <= start < end <= length):
        raise InputError(
            f"{name}: characters {start} to {end} are no span of a text of {length}: give 0 <= start < end, or null twice"
        )
    if row["severity"] not in SEVERITIES:
        raise InputError(f"{name}: severity {row['severity']!r} is unknown: use {', '.join(SEVERITIES)}")
    if row["category"] not in categories:
        raise InputError(f"{name}: category {row['category']!r} is unknown: use one of the guideline")
    return Mark(start, end, row["severity"], row["category"])


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
