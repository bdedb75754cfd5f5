"""Pairs of reference and hypothesis from files: parallel text files, TSV, CSV, JSON and JSON lines, every text with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from json import JSONDecodeError
from pathlib import PurePath
from typing import Any

from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, named, read_lines
from rome.storage.rows import SEPARATORS, json_rows, json_value, table_rows
from rome.text_table import shorten

REFERENCES, HYPOTHESES = ("reference", "references"), ("hypothesis", "prediction", "predictions")
"""What the columns or keys of the two sides may be called; of several the first counts."""
ENDINGS = (".tsv", ".csv", ".json", ".jsonl", ".ndjson")
"""Endings of files that hold both sides."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """One segment of a file.

    Attributes
    ----------
    place
        ``file:line``, for messages.
    id, note
        "" where the file has none.
    cells
        Everything that the file says of it, by column.
    """

    references: list[str]
    hypothesis: str
    place: str
    id: str = ""
    note: str = ""
    cells: Mapping[str, Any] = field(default_factory=dict)


def check_standard_input(paths: Sequence[str]) -> None:
    """Raise InputError when several files are named standard input."""
    if paths.count(STANDARD_INPUT) > 1:
        raise InputError("standard input was named twice: give `-` for one file only")


def parallel_rows(
    columns: Sequence[Iterable[str]], lines: Iterable[str], references: Sequence[str], hypotheses: str
) -> Iterator[PairRow]:
    """One row a line of parallel files: one or more of references, one of hypotheses.

    Raises InputError when one of them ends too early.

    Parameters
    ----------
    references, hypotheses
        Their names.
    """
    all_columns = [iter(column) for column in (*columns, lines)]
    where = "+".join(map(named, (*references, hypotheses)))
    for number, row in enumerate(zip_longest(*all_columns), start=1):
        if None in row:
            counts = [number - (text is None) + sum(1 for _ in column) for text, column in zip(row, all_columns, strict=True)]
            raise InputError(_unequal(dict(zip(references, counts, strict=False)), hypotheses, counts[-1]))
        yield PairRow(list(row[:-1]), row[-1], f"{where}:{number}")


def _unequal(references: dict[str, int], hypotheses: str, lines: int) -> str:
    """Which file of references has another number of lines than that of hypotheses."""
    path, count = next((path, count) for path, count in references.items() if count != lines)
    counts = f"{named(path)} has {count} lines and {named(hypotheses)} has {lines}"
    return f"{counts}: give one segment per line, the same number in every file"


def read_pairs(path: str) -> list[PairRow]:
    """Read a table (or standard input) of pairs; see `pair_rows`."""
    return list(pair_rows(read_lines(path), path))


def is_table(first: str, path: str) -> bool:
    """Whether a file holds both sides, by its ending or its first line; otherwise it is one text a line."""
    return _ending(path) in ENDINGS or _is_json(first) or _is_header(first, path)


def pair_rows(lines: Iterable[str], path: str) -> Iterator[PairRow]:
    """Yield the rows of a table; its ending or its first line decides about the format.

    TSV: a header with the columns ``reference`` (more in ``reference_2``, ...) and ``hypothesis``, optionally ``id`` and ``note``; no quoting.
    CSV: the same, separated by commas or semicolons, with quotation marks where a text holds one.
    JSON lines: objects with ``reference`` (a text or a list of texts) and ``hypothesis``, optionally ``id`` and ``note``.
    JSON: an array of such objects, or one object of lists.
    In all of them ``references``, ``prediction`` and ``predictions`` do as well.

    Raises InputError that names the file, the line and the remedy.
    """
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        raise InputError(f"{named(path)} is empty: give a TSV or CSV file with a header, or JSON lines")
    reader: Callable[[Iterable[str], str], Iterator[PairRow]]
    if _is_header(first, path):
        reader = _columns
    elif _ending(path) == ".json" or first.strip() == "{" or first.lstrip().startswith("["):
        reader = _json
    elif _is_json(first) or _ending(path) in (".jsonl", ".ndjson"):
        reader = _jsonl
    else:
        reader = _columns
    yield from reader(chain([first], rest), path)


def _ending(path: str) -> str:
    return PurePath(path.removesuffix(".gz")).suffix.lower()


def _is_header(first: str, path: str) -> bool:
    """Whether a first line names the columns of both sides."""
    header = [name.strip('"') for name in first.split(_separator(first, path))]
    return any(name in header for name in REFERENCES) and any(name in header for name in HYPOTHESES)


def _is_json(first: str) -> bool:
    """Whether a first line begins JSON. A text may begin with a bracket, too."""
    line = "".join(first.split())
    return line == "[" or line.startswith(("{", "[{"))


def _separator(first: str, path: str) -> str:
    return next((mark for mark in SEPARATORS if mark in first), "\t") if _ending(path) != ".tsv" else "\t"


def _columns(lines: Iterable[str], path: str) -> Iterator[PairRow]:
    """Yield the rows below the header; an empty cell of a further reference means that there is none."""
    rest = iter(lines)
    first = next(rest)
    separator = _separator(first, path)
    header, rows = table_rows(chain([first], rest), named(path), separator)
    first_reference = next((name for name in REFERENCES if name in header), None)
    hypothesis = next((name for name in HYPOTHESES if name in header), None)
    if first_reference is None or hypothesis is None:
        raise InputError(
            f"{named(path)}:1: the header has the columns {shorten(', '.join(header), 200)}: "
            f"it needs `reference` and `hypothesis`, separated by {SEPARATORS[separator]}"
        )
    wanted = [name for name in header if name == first_reference or name.startswith("reference_")]
    for place, cell in rows:
        references = [cell[name] for name in wanted if name == first_reference or cell[name]]
        yield PairRow(references, cell[hypothesis], place, cell.get("id", ""), cell.get("note", ""), cell)


def _jsonl(lines: Iterable[str], path: str) -> Iterator[PairRow]:
    """Yield one row per line of JSON."""
    return (_pair(row, place) for place, row in json_rows(lines, named(path)))


def _json(lines: Iterable[str], path: str) -> Iterator[PairRow]:
    """Yield the rows of an array of objects or of one object of lists; of JSON lines where the file turns out to hold those."""
    kept, remedy = list(lines), "give an array of objects, or one object a line"
    try:
        found = json_value("\n".join(kept), named(path), remedy)
    except InputError as error:
        cause = error.__cause__
        if not isinstance(cause, JSONDecodeError):
            raise
        if cause.msg != "Extra data":
            raise InputError(f"{named(path)}:{cause.lineno}: not JSON ({cause.msg}): {remedy}") from cause
        yield from _jsonl(kept, path)
        return
    rows = _transposed(found, path) if isinstance(found, dict) else found
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
        yield _pair(row, f"{named(path)}, entry {number}")


def _transposed(found: dict[str, Any], path: str) -> list[Any]:
    """Return the objects of an object of lists; without lists, the object itself."""
    if not any(isinstance(found.get(name), list) for name in HYPOTHESES):
        return [found]
    lists = {name: value for name, value in found.items() if isinstance(value, list)}
    if len(set(map(len, lists.values()))) > 1:
        counts = ", ".join(f'"{name}" has {len(value)} entries' for name, value in lists.items())
        raise InputError(f"{named(path)}: {counts}: give one entry a segment in each")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _pair(row: Any, place: str) -> PairRow:
    """Return the row of one JSON object."""
    known = row if isinstance(row, dict) else {}
    given = next((name for name in REFERENCES if name in known), None)
    hypothesis = next((name for name in HYPOTHESES if name in known), None)
    if given is None or hypothesis is None:
        raise InputError(f'{place}: not an object with "reference" and "hypothesis": give both')
    references = [row[given]] if isinstance(row[given], str) else row[given]
    if not isinstance(references, list) or not references or not all(isinstance(text, str) for text in references):
        raise InputError(f'{place}: "{given}" is neither a text nor a list of texts: give one or the other')
    if not isinstance(row[hypothesis], str):
        raise InputError(f'{place}: "{hypothesis}" is not a text: give one, "" for an empty one')
    said = {name: str(row[name]) for name in ("id", "note") if row.get(name) is not None}
    return PairRow(references, row[hypothesis], place, **said, cells=row)
