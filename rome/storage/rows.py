"""Read the rows of tables and of JSON files, each with its place ``file:line``."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from rome.exceptions import InputError

SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def shown(text: str, most: int = 60) -> str:
    """Return the beginning of a text of a file for a message, on one line and without control characters."""
    return "".join(c if c.isprintable() else " " for c in text[:most])


def table_rows(
    lines: Iterable[str], name: str, separator: str = "\t"
) -> tuple[list[str], Iterator[tuple[str, dict[str, str]]]]:
    """Return the header of a table, [] of an empty one, and its rows by column name, each with its place.

    A line with tabs is read as `csv`'s excel-tab dialect where it is as that writes it, else its quotation marks are plain characters; other tables
    are CSV, and so is one with tabs whose header is quoted. Empty lines are skipped. Raises InputError, at once or when the row is reached, for a
    column named twice, a row of another width, and wrong CSV.
    """
    rest = iter(lines)
    lines = chain([first := next(rest, "")], rest)
    is_csv = separator != "\t" or first.startswith('"')
    tabbed = ((number, _cells(line)) for number, line in enumerate(lines, start=1) if line)
    rows = _split_csv(lines, name, separator) if is_csv else tabbed
    header = next(rows, (1, []))[1]
    if twice := repeated(header):
        raise InputError(f"{name}:1: the header has the column {shown(twice)} twice: name each column once")
    return header, _named_cells(rows, name, separator, header)


def _named_cells(
    rows: Iterator[tuple[int, list[str]]], name: str, separator: str, header: list[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    remedy = "leave tabs and line breaks out" if separator == "\t" else f"put a text with a {separator!r} in quotation marks"
    for number, cells in rows:
        if len(cells) != len(header):
            raise InputError(f"{name}:{number}: {len(cells)} columns, the header has {len(header)}: {remedy}")
        yield f"{name}:{number}", dict(zip(header, cells, strict=True))


def _cells(line: str) -> list[str]:
    """Return the cells of a line with tabs, without quotation marks where the line is what `csv` writes for them."""
    cells, written = list[str](), io.StringIO()
    with suppress(csv.Error):
        (cells,) = csv.reader([line], "excel-tab")
        csv.writer(written, "excel-tab", lineterminator="").writerow(cells)
    return cells if written.getvalue() == line else line.split("\t")


def _split_csv(lines: Iterable[str], name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line where each row begins, and its cells."""
    rows, number = csv.reader((f"{line}\n" for line in lines), delimiter=separator, strict=True), 1
    try:
        for cells in rows:
            if separator == "\t" and rows.line_num > number:
                raise InputError(f"{name}:{number}: a line break in a text: write a blank instead of it")
            if cells:
                yield number, cells
            number = rows.line_num + 1
    except csv.Error as error:
        remedy = "put a text with a quotation mark in quotation marks, and double each mark in it"
        raise InputError(f"{name}:{number}: not CSV ({error}): {remedy}") from error


def json_rows(lines: Iterable[str], name: str) -> Iterator[tuple[str, Any]]:
    """Yield the value of each line of JSON with its place, skipping blank lines; see `json_value`."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield f"{name}:{number}", json_value(line, f"{name}:{number}", "give one object per line")


def json_value(text: str, place: str, remedy: str = "fetch the file again") -> Any:
    """Return the value of a JSON text.

    Raises InputError for what is not JSON, is nested too deep, names a key twice or contains half a character.
    """
    try:
        value = parse_json(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{place}: a lone surrogate, half a character, in a text: {remedy}") from error
    except RecursionError as error:
        raise InputError(f"{place}: nested too deep: {remedy}") from error
    except ValueError as error:
        raise InputError(f"{place}: not JSON ({error}): {remedy}") from error
    return value


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError, for a repeated name too, and RecursionError for too deep nesting."""
    return json.loads(text, object_pairs_hook=_checked_object)


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs twice; blank names are ignored."""
    return next((name for name, number in Counter(names).items() if number > 1 and name), None)


def _checked_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError(f"the name {repeated([name for name, _ in pairs])!r} occurs twice in one object")
    return row
