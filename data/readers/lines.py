"""Lines, tables and JSON from published files, each record with its place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Any

from rome.exceptions import InputError
from rome.storage.files import read_lines
from rome.storage.rows import json_rows, json_value, shown, table_rows


def text_lines(path: str | Path) -> list[str]:
    """Return the lines of a UTF-8 file, gzipped or plain, without their ends; see `rome.storage.files.read_lines`."""
    return read_lines(str(path))


def table(
    path: str | Path, needed: Sequence[str], separator: str = "\t", lines: Sequence[str] | None = None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield ``(file:line, row by column name)`` of a table with a header; see `rome.storage.rows.table_rows`.

    Raises InputError for a missing column, too.

    Parameters
    ----------
    lines
        Those of the file, where they were read before.
    """
    header, rows = table_rows(text_lines(path) if lines is None else lines, str(path), separator)
    if not header:
        raise InputError(f"{path} is empty: it needs a header with {', '.join(needed)}")
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            f"{path}:1: no column {', '.join(missing)} among {shown(', '.join(header), 400)}: the table needs {', '.join(needed)}"
        )
    yield from rows


def json_objects(path: str | Path, needed: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(file:line, object)`` of a JSON-lines file, skipping blank lines. Raises InputError for anything but an object with these keys."""
    for place, row in json_rows(text_lines(path), str(path)):
        yield place, _object(row, needed, place)


def json_object(text: str, place: str, needed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the object of a line. Raises InputError for anything but an object with these keys."""
    return _object(json_value(text, place, "give one object a line"), needed, place)


def json_array(path: str | Path, needed: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(file:number of the entry, object)`` of a file with one JSON list. Raises InputError as `json_objects` does."""
    results = json_value("\n".join(text_lines(path)), f"{path}:1")
    if not isinstance(results, list):
        raise InputError(f"{path}:1: not a JSON list: fetch the file again")
    for entry, row in enumerate(results, start=1):
        yield f"{path}:entry {entry}", _object(row, needed, f"{path}:entry {entry}")


def _object(row: object, needed: Sequence[str], place: str) -> dict[str, Any]:
    """Return the row after checking that it is an object with these keys."""
    if not isinstance(row, dict) or any(name not in row for name in needed):
        raise InputError(f"{place}: not an object with {', '.join(needed) or 'keys'}: give all of them")
    return row


def number(value: object, place: str, what: str) -> float:
    """Return the finite number of a cell or a JSON value. Raises InputError naming place and what."""
    try:
        results = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        results = math.nan
    if not math.isfinite(results):
        raise InputError(f"{place}: {what} must be a finite number, got {shown(repr(value))}. Correct it or leave the line out")
    return results


def texts_of(value: object, place: str, what: str) -> tuple[str, ...]:
    """Return a text, or a list of texts, as a tuple. Raises InputError for anything else."""
    results = [value] if isinstance(value, str) else value
    if not isinstance(results, list) or not all(isinstance(text, str) for text in results):
        raise InputError(f"{place}: {what} is neither a text nor a list of texts: give one or the other")
    return tuple(results)


def same_words(one: str, other: str) -> bool:
    """Return whether two texts are equal apart from white space."""
    return one == other or "".join(one.split()) == "".join(other.split())


def set_name(path: str | Path) -> str:
    """Return the name of the set in a file or folder: the file's name up to the first full stop."""
    name = Path(path).absolute().name
    return name.split(".")[0] or name


def check_counts(files: Iterable[tuple[object, Sized]]) -> int:
    """Return the number of lines of parallel files. Raises InputError naming the first line without a partner."""
    (first, lines), *others = files
    count = len(lines)
    for name, rows in others:
        if len(rows) != count:
            short, long = sorted([(len(rows), name), (count, first)], key=lambda one: one[0])
            raise InputError(
                f"{long[1]}:{short[0] + 1}: no partner, {short[1]} ends after {short[0]} of {long[0]} lines: "
                "give files that belong together"
            )
    return count
