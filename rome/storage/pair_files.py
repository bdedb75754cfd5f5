"""Pairs of reference and hypothesis from files: parallel text files, TSV and JSON lines, every text with its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, named, read_lines
from rome.text_table import shorten


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


def read_parallel(references: Sequence[str], hypotheses: str) -> list[PairRow]:
    """Read text files with one segment a line: one or more of references, one of hypotheses.

    Raises InputError when a file cannot be read, when two are named standard input, or when their numbers of lines differ.
    """
    check_standard_input([*references, hypotheses])
    columns, lines = [read_lines(path) for path in references], read_lines(hypotheses)
    return list(parallel_rows(columns, lines, references, hypotheses))


def check_standard_input(paths: Sequence[str]) -> None:
    """Raise InputError when several files are named standard input."""
    if paths.count(STANDARD_INPUT) > 1:
        raise InputError("standard input was named twice: give `-` for one file only")


def parallel_rows(
    columns: Sequence[Iterable[str]], lines: Iterable[str], references: Sequence[str], hypotheses: str
) -> Iterator[PairRow]:
    """One row a line of parallel files.

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
    return f"{counts}: give one segment a line, the same number in every file"


def read_pairs(path: str) -> list[PairRow]:
    """Read a TSV or JSON-lines file (or standard input) of pairs; see `pair_rows`."""
    return list(pair_rows(read_lines(path), path))


def pair_rows(lines: Iterable[str], path: str) -> Iterator[PairRow]:
    """The rows of TSV or JSON lines, one at a time; a first line that starts with ``{`` means JSON lines.

    TSV: a header with the columns ``reference`` (more in ``reference_2``, ...) and ``hypothesis``, optionally ``id`` and
    ``note``; no quoting.
    JSON lines: objects with ``reference`` (a text or a list of texts) and ``hypothesis``, optionally ``id`` and ``note``.

    Raises InputError that names the file, the line and the remedy.
    """
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        raise InputError(f"{named(path)} is empty: give a TSV file with a header, or JSON lines")
    reader: Callable[[Iterable[str], str], Iterator[PairRow]] = _jsonl if first.lstrip().startswith("{") else _tsv
    yield from reader(chain([first], rest), path)


def _tsv(lines: Iterable[str], path: str) -> Iterator[PairRow]:
    """The rows below the header; an empty cell of a further reference means that there is none."""
    rest = iter(lines)
    header = next(rest).split("\t")
    wanted = [name for name in header if name == "reference" or name.startswith("reference_")]
    if "reference" not in wanted or "hypothesis" not in header:
        raise InputError(
            f"{named(path)}:1: the header has the columns {shorten(', '.join(header), 200)}: "
            "it needs `reference` and `hypothesis`, separated by tabs"
        )
    for number, line in enumerate(rest, start=2):
        place, cells = f"{named(path)}:{number}", line.split("\t")
        if len(cells) != len(header):
            raise InputError(f"{place}: {len(cells)} columns, the header has {len(header)}: write no tab in a text")
        cell = dict(zip(header, cells, strict=True))
        references = [cell[name] for name in wanted if name == "reference" or cell[name]]
        yield PairRow(references, cell["hypothesis"], place, cell.get("id", ""), cell.get("note", ""), cell)


def _jsonl(lines: Iterable[str], path: str) -> Iterator[PairRow]:
    """One object a line; blank lines are skipped."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _object(f"{named(path)}:{number}", line)


def _object(place: str, line: str) -> PairRow:
    """The row of one JSON object."""
    try:
        row: Any = json.loads(line)
    except RecursionError as error:
        raise InputError(f"{place}: nested too deep: give one object a line") from error
    except ValueError as error:
        raise InputError(f"{place}: not JSON ({error}): give one object a line") from error
    if not isinstance(row, dict) or not {"reference", "hypothesis"} <= row.keys():
        raise InputError(f'{place}: not an object with "reference" and "hypothesis": give both')
    references = [row["reference"]] if isinstance(row["reference"], str) else row["reference"]
    if not isinstance(references, list) or not references or not all(isinstance(text, str) for text in references):
        raise InputError(f'{place}: "reference" is neither a text nor a list of texts: give one or the other')
    if not isinstance(row["hypothesis"], str):
        raise InputError(f'{place}: "hypothesis" is not a text: give one, "" for an empty one')
    known = {name: _writable(str(row[name])) for name in ("id", "note") if row.get(name) is not None}
    return PairRow(references, row["hypothesis"], place, **known, cells=row)


def _writable(text: str) -> str:
    """The text with a question mark for every lone surrogate, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
