"""Read pairs of reference and hypothesis from text files, TSV, CSV, JSON, JSON lines and Parquet, every text with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from json import JSONDecodeError
from pathlib import PurePath
from typing import Any, NamedTuple

from rome.checks import meant
from rome.exceptions import InputError
from rome.storage.files import named, read_lines
from rome.storage.rows import SEPARATORS, json_rows, json_value, parse_json, table_rows
from rome.text_table import shorten

REFERENCES, HYPOTHESES = ("reference", "references"), ("hypothesis", "prediction", "predictions")
"""Names of the columns or keys of the two sides; of several the first counts."""
ENDINGS = (".tsv", ".csv", ".json", ".jsonl", ".ndjson")
"""Endings of text files that hold both sides."""


class Columns(NamedTuple):
    """The names of the columns or keys of the two sides; None for those of REFERENCES and HYPOTHESES."""

    reference: str | None = None
    hypothesis: str | None = None

    def of(self, names: Iterable[str]) -> tuple[str | None, str | None]:
        """Return the names of the references and of the hypothesis among these, None for an absent one."""
        present = set(names)
        sides = ((self.reference,) if self.reference else REFERENCES), ((self.hypothesis,) if self.hypothesis else HYPOTHESES)
        reference, hypothesis = (next((name for name in side if name in present), None) for side in sides)
        return reference, hypothesis

    def missing(self, place: str, found: Iterable[str], what: str = "the columns or keys") -> InputError:
        """Return the error for a table, or an object, that has not both sides."""
        names, needed = list(map(str, found)), [own or side for own, side in zip(self, self._fields, strict=True)]
        absent = [side for side, name in zip(self._fields, self.of(names), strict=True) if name is None]
        others = " ".join(f"--{side}-column {meant(side, names) or 'NAME'}" for side in absent)
        got = shorten(", ".join(names), 200) or "none"
        return InputError(f"{place}: {what} must include {needed[0]} and {needed[1]}, got {got}. Name others with {others}")


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
        All columns of the segment.
    """

    references: list[str]
    hypothesis: str
    place: str
    id: str = ""
    note: str = ""
    cells: Mapping[str, Any] = field(default_factory=dict)


def parallel_rows(
    columns: Sequence[Iterable[str]], lines: Iterable[str], references: Sequence[str], hypotheses: str
) -> Iterator[PairRow]:
    """Yield one row per line of parallel files: one or more of references, one of hypotheses.

    Raises InputError when one of them ends too early.

    Parameters
    ----------
    references, hypotheses
        Their names.
    """
    names, rest = [*map(named, references), named(hypotheses)], [iter(column) for column in (*columns, lines)]
    for number, row in enumerate(zip_longest(*rest), start=1):
        if None in row:
            counts = [number - (text is None) + sum(1 for _ in column) for text, column in zip(row, rest, strict=True)]
            other = next(n for n, count in enumerate(counts) if count != counts[-1])
            remedy = "give one segment per line, the same number in every file"
            raise InputError(f"{names[other]} has {counts[other]} lines and {names[-1]} has {counts[-1]}: {remedy}")
        yield PairRow(list(row[:-1]), row[-1], f"{'+'.join(names)}:{number}")


def read_pairs(path: str, columns: Columns = Columns()) -> list[PairRow]:
    """Read a table (or standard input) of pairs; see `pair_rows`."""
    return list(pair_rows(read_lines(path), path, columns))


def is_table(first: str, path: str, columns: Columns = Columns()) -> bool:
    """Return True for a text file that holds both sides, by its ending or its first line; otherwise it is one text per line."""
    return _ending(path) in ENDINGS or _is_json(first) or _is_header(first, path, columns)


def pair_rows(lines: Iterable[str], path: str, columns: Columns = Columns()) -> Iterator[PairRow]:
    """Yield the rows of a table; its ending or its first line decides about the format.

    TSV: a header with the columns ``reference`` (more in ``reference_2``, ...) and ``hypothesis``, optionally ``id`` and ``note``. A line that is
    exactly what ``csv`` writes is unquoted; in any other, quotation marks are plain characters.
    CSV: the same, separated by commas or semicolons, with quotation marks where a text has one.
    JSON lines: objects with ``reference`` (a text or a list of texts) and ``hypothesis``, optionally ``id`` and ``note``.
    JSON: an array of such objects, or one object of lists. Parquet: as JSON lines.
    In all of them ``references``, ``prediction`` and ``predictions`` are accepted as well; ``columns`` names others.

    Raises InputError that names the file, the line and the remedy.
    """
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        raise InputError(f"{named(path)} is empty: give a TSV or CSV file with a header, or JSON lines")
    is_json = _is_json(first) or _ending(path) in (".json", ".jsonl", ".ndjson")
    read = _json_pairs if is_json and not _is_header(first, path, columns) else _table_pairs
    yield from read(first, chain([first], rest), path, columns)


def _ending(path: str) -> str:
    return PurePath(path.removesuffix(".gz")).suffix.lower()


def _is_header(first: str, path: str, columns: Columns) -> bool:
    """Return True for a first line that names the columns of both sides."""
    header = [name.strip('"') for name in first.split(_separator(first, path))]
    return None not in columns.of(header)


def _is_json(first: str) -> bool:
    """Return True for a first line that begins JSON. A text may begin with a bracket, too."""
    line = "".join(first.split())
    return line == "[" or line.startswith(("{", "[{"))


def _separator(first: str, path: str) -> str:
    return next((mark for mark in SEPARATORS if mark in first), "\t") if _ending(path) != ".tsv" else "\t"


def _table_pairs(first: str, lines: Iterable[str], path: str, columns: Columns) -> Iterator[PairRow]:
    """Yield the rows below the header; an empty cell of a further reference means that there is none."""
    separator = _separator(first, path)
    header, rows = table_rows(lines, named(path), separator)
    reference, hypothesis = columns.of(header)
    if reference is None or hypothesis is None:
        raise columns.missing(f"{named(path)}:1", header, f"the columns, separated by {SEPARATORS[separator]},")
    more = f"{columns.reference or 'reference'}_"
    further = [name for name in header if name.startswith(more) and name.removeprefix(more).isdecimal()]
    for place, cell in rows:
        references = [cell[reference], *(cell[name] for name in further if cell[name])]
        yield PairRow(references, cell[hypothesis], place, cell.get("id", ""), cell.get("note", ""), cell)


def _json_pairs(first: str, lines: Iterable[str], path: str, columns: Columns) -> Iterator[PairRow]:
    """Yield the rows of JSON lines, or of a file with one value that the first line only begins."""
    if _ending(path) in (".jsonl", ".ndjson") or not _is_begun(first):
        values = json_rows(lines, named(path))
    else:
        remedy = "give an array of objects, or one object per line"
        values = iter([(named(path), json_value("\n".join(lines), named(path), remedy))])
    for place, value in values:
        rows = _objects(value, place, columns)
        for number, row in enumerate(rows, start=1):
            yield _pair(row, place if rows == [value] else f"{place}, entry {number}", columns)


def _is_begun(first: str) -> bool:
    """Return True for a line that only begins a JSON value."""
    try:
        parse_json(first)
    except (ValueError, RecursionError) as error:  # what is no unfinished value is reported with its line when it is read again
        return isinstance(error, JSONDecodeError) and bool(first.strip())
    return False


def _objects(value: Any, place: str, columns: Columns) -> list[Any]:
    """Return the entries of an array, the objects of an object of lists, or the value itself."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or not isinstance(value.get(columns.of(value)[1]), list):
        return [value]
    lists = {name: texts for name, texts in value.items() if isinstance(texts, list)}
    if len(set(map(len, lists.values()))) > 1:
        counts = ", ".join(f'"{name}" has {len(texts)} entries' for name, texts in lists.items())
        raise InputError(f"{place}: {counts}: give one entry per segment in each")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _pair(row: Any, place: str, columns: Columns) -> PairRow:
    """Return the row of one object."""
    if not isinstance(row, dict):
        raise InputError(f'{place}: must be an object with "reference" and "hypothesis", got {type(row).__name__}')
    reference, hypothesis = columns.of(row)
    if reference is None or hypothesis is None:
        raise columns.missing(place, row)
    references = [row[reference]] if isinstance(row[reference], str) else row[reference]
    if not isinstance(references, list) or not references or not all(isinstance(text, str) for text in references):
        raise InputError(f'{place}: "{reference}" must be a text or a list of texts')
    if not isinstance(row[hypothesis], str):
        raise InputError(f'{place}: "{hypothesis}" must be a text, "" for an empty one')
    names = {name: str(row[name]) for name in ("id", "note") if row.get(name) is not None}
    return PairRow(references, row[hypothesis], place, **names, cells=row)
