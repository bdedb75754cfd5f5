"""Lines, tables and JSON from published files, every record with its place, so that whatever does not line up can be named."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Any

from rome.exceptions import InputError
from rome.storage.bounded_gzip import as_input_error, unpacked
from rome.storage.strict_json import parse_json

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def text_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 file, gzipped or plain, without their ends; LF and CR LF end a line and nothing else does.

    Raises InputError that names the file, and the line where it is not UTF-8; also for gzip that unpacks to over 200 times its
    size and over 64 MiB.
    """
    with as_input_error(str(path)), open(path, "rb") as stream:
        content = unpacked(stream, str(path)).read()
    rows = content.removeprefix(_BOM).split(b"\n")
    if rows[-1] == b"":
        rows.pop()
    lines = []
    for line, row in enumerate(rows, start=1):
        try:
            lines.append(row.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{line}: not UTF-8 at byte {error.start + 1} of the line: convert the file") from error
    return lines


def shown(text: str, most: int = 60) -> str:
    """A text of a file as a message quotes it: on one line, without control characters, its beginning."""
    return "".join(c if c.isprintable() else " " for c in text[:most])


def table(
    path: str | Path, needed: Sequence[str], delimiter: str = "\t", quoted: bool = False, lines: Sequence[str] | None = None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield ``(file:line, row by column name)`` of a table with a header.

    Raises InputError for a missing column, a row of another width, a column named twice.

    Parameters
    ----------
    quoted
        As in CSV, where a cell may hold line ends.
    lines
        Those of the file, where they were read before.
    """
    lines = text_lines(path) if lines is None else lines
    ended = (line + "\n" for line in lines)
    reader = csv.reader(ended, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, strict=quoted)
    header: list[str] = []
    first = 1
    try:
        for cells in reader:
            place, first = f"{path}:{first}", reader.line_num + 1
            if not header:
                header = cells
                _check_header(header, needed, place)
            elif cells and len(cells) != len(header):
                raise InputError(f"{place}: {len(cells)} columns where the header has {len(header)}: fetch the file again")
            elif cells:
                yield place, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}:{first}: not a row of the table ({error}): fetch the file again") from error
    if not header:
        raise InputError(f"{path} is empty: it needs a header with {', '.join(needed)}")


def _check_header(header: Sequence[str], needed: Sequence[str], place: str) -> None:
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            f"{place}: no column {', '.join(missing)} among {shown(', '.join(header), 400)}: the table needs {', '.join(needed)}"
        )
    if len(set(header)) < len(header):
        raise InputError(f"{place}: a column stands twice among {shown(', '.join(header), 400)}: name each one once")


def json_objects(path: str | Path, needed: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(file:line, object)`` of a JSON-lines file, blank lines skipped. Raises InputError for what is no object with these keys."""
    for line, text in enumerate(text_lines(path), start=1):
        if text.strip():
            yield f"{path}:{line}", json_object(text, f"{path}:{line}", needed)


def json_object(text: str, place: str, needed: Sequence[str] = ()) -> dict[str, Any]:
    """The object that a line holds. Raises InputError for what is no object with these keys."""
    return _object(json_value(text, place, "give one object a line"), needed, place)


def json_value(text: str, place: str, remedy: str = "fetch the file again") -> Any:
    """The value that a JSON text holds. Raises InputError for what is no JSON, is nested too deep, or holds half a character."""
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


def json_array(path: str | Path, needed: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(file:number of the entry, object)`` of a file that holds one JSON list. Raises InputError as json_objects does."""
    found = json_value("\n".join(text_lines(path)), f"{path}:1")
    if not isinstance(found, list):
        raise InputError(f"{path}:1: not a JSON list: fetch the file again")
    for entry, row in enumerate(found, start=1):
        yield f"{path}:entry {entry}", _object(row, needed, f"{path}:entry {entry}")


def _object(row: object, needed: Sequence[str], place: str) -> dict[str, Any]:
    """The row itself, once sure that it is an object with these keys."""
    if not isinstance(row, dict) or any(name not in row for name in needed):
        raise InputError(f"{place}: not an object with {', '.join(needed) or 'keys'}: give all of them")
    return row


def number(value: object, place: str, what: str) -> float:
    """The finite number that a cell or a JSON value holds. Raises InputError naming place and what."""
    try:
        found = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{place}: {what} is {shown(repr(value))}, not a finite number: correct it or leave the line out")
    return found


def texts_of(value: object, place: str, what: str) -> tuple[str, ...]:
    """A text, or a list of texts, as a tuple. Raises InputError for anything else."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise InputError(f"{place}: {what} is neither a text nor a list of texts: give one or the other")
    return tuple(found)


def same_words(one: str, other: str) -> bool:
    """Whether two texts are the same but for white space."""
    return one == other or "".join(one.split()) == "".join(other.split())


def set_name(path: str | Path) -> str:
    """How a set is called that was read from this file or folder: its name up to the first full stop."""
    name = Path(path).absolute().name
    return name.split(".")[0] or name


def check_counts(files: Iterable[tuple[object, Sized]]) -> int:
    """The number of lines that parallel files share. Raises InputError naming the first line that has no partner."""
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
