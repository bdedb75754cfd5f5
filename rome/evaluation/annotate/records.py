"""Records: one line of JSON for each saved state of an item by an annotator; reading them back, the last one wins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rome.evaluation.annotate.values import AnnotationItem, Guideline, Identity, Mark, State
from rome.exceptions import InputError

__all__ = ["Record", "last_records", "read_records", "record_line", "split_lines"]


@dataclass(frozen=True, slots=True)
class Record:
    """One saved state. ratings : the dimensions rated so far. place : ``file:line``."""

    item: AnnotationItem
    annotator: str
    ratings: Mapping[str, float]
    marks: tuple[Mark, ...]
    scale: str
    place: str


def record_line(item: AnnotationItem, annotator: str, state: State, guideline: Guideline) -> str:
    """The state as one line of JSON without its line end, as `rome evaluate` reads it."""
    row: dict[str, Any] = {"item": item.item, "system": item.system}
    if item.language_pair:
        row["language_pair"] = item.language_pair
    row["reference"] = item.references[0] if len(item.references) == 1 else list(item.references)
    row["hypothesis"] = item.hypothesis
    row["annotator"] = annotator
    row["ratings"] = {name: state.ratings[name] for name in guideline.dimensions if name in state.ratings}
    row["errors"] = [
        {"start": mark.start, "end": mark.end, "severity": mark.severity, "category": mark.category} for mark in state.marks
    ]
    row["scale"] = str(guideline.scale)
    row["time"] = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return json.dumps(row, ensure_ascii=False)


def split_lines(content: bytes) -> tuple[list[bytes], bytes]:
    """The complete lines of a file of records, and what a torn write left behind the last of them (usually nothing).

    A last line that lacks only its line end is complete.
    """
    *lines, rest = content.split(b"\n")
    if rest and _is_object(rest):
        return [*lines, rest], b""
    return lines, rest


def read_records(path: str) -> tuple[list[Record], str]:
    """Every record of a file, in the order of saving, and a note on a torn last line ("" when there is none).

    Raises InputError that names file and line when a line is no record.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): name a file that `rome annotate` wrote") from error
    lines, torn = split_lines(content)
    records = [_record(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]
    note = f"{path}:{len(lines) + 1}: a torn last line of {len(torn)} bytes was left out" if torn else ""
    return records, note


def last_records(records: Iterable[Record]) -> dict[Identity, dict[str, Record]]:
    """Output -> annotator -> the last record; both in the order in which they first appear.

    Raises InputError when one output has two different texts: such ratings must not be put together.
    """
    found: dict[Identity, dict[str, Record]] = {}
    for record in records:
        group = found.setdefault(record.item.identity, {})
        first = next(iter(group.values()), record)
        if first.item.key != record.item.key:
            raise InputError(
                f"{record.place}: item {record.item.item} has other texts than in {first.place}: give different items different ids"
            )
        group[record.annotator] = record
    return found


def _is_object(line: bytes) -> bool:
    """True for a line that holds a whole JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _record(line: bytes, place: str) -> Record:
    """The record of one line."""
    try:
        row: Any = json.loads(line)
        references = (row["reference"],) if isinstance(row["reference"], str) else tuple(row["reference"])
        system, language_pair = (str(row.get(name) or "") for name in ("system", "language_pair"))
        item = AnnotationItem(str(row["item"]), references, row["hypothesis"], system, language_pair, place)
        marks = tuple(_mark(mark, len(item.hypothesis)) for mark in row.get("errors") or ())
        if not all(isinstance(text, str) and text.encode("utf-8") is not None for text in (*references, item.hypothesis)):
            raise TypeError("a reference or hypothesis is no text")
        ratings = {str(name): value + 0 for name, value in row["ratings"].items() if value is not None}
        return Record(item, str(row["annotator"]), ratings, marks, str(row.get("scale") or ""), place)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{place}: not a record of `rome annotate` ({error!r}): restore the line, or remove it") from error


def _mark(row: Any, length: int) -> Mark:
    """One mark. Raises TypeError, KeyError or ValueError when it is none of a text of that length."""
    start, end = row.get("start"), row.get("end")
    if (start, end) != (None, None) and not 0 <= start <= end <= length:
        raise ValueError(f"characters {start} to {end} of a text of {length}")
    return Mark(start, end, str(row["severity"]), str(row.get("category") or ""))
