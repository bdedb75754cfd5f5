"""Rows of Parquet and JSON-lines files, read from any place in them, on any file system that Arrow knows."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any

from rome.batch.checkpoint import located
from rome.exceptions import InputError, StoreError
from rome.storage.rows import parse_json, repeated

FORMATS = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
READ_ROWS = 512


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one file that stand together and are scored by one worker.

    Attributes
    ----------
    number
        Among all parts, from 0.
    file
        Its path as the file system knows it.
    first
        Number of the first row, or line, from 1.
    rows
        How many rows.
    start, stop
        Bytes of a JSON-lines file, rows from 0 of a Parquet file.
    work
        About how long they take, see `rome.batch.plan`.
    digest
        Of what the rows held when they were shared out.
    """

    number: int
    file: str
    first: int
    rows: int
    start: int
    stop: int
    work: float
    digest: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row: its number in the file from 1, its values by column, what makes it unreadable (or None), and where it starts and stops."""

    number: int
    values: dict[str, Any]
    fault: str | None
    start: int
    stop: int


def kind_of(file: str) -> str | None:
    """``parquet`` or ``jsonl`` by the end of the name, None for any other."""
    return FORMATS.get(os.path.splitext(file)[1].lower())


def input_files(path: str | PathLike[str]) -> tuple[Any, list[str]]:
    """The file system and the files of a path: a file, or the Parquet or JSON-lines files of a folder by name (not of folders in it).

    Raises InputError when there is none, when both kinds stand together, and for a file of another kind.
    """
    from pyarrow.fs import FileSelector, FileType

    system, place = located(path)
    found = system.get_file_info(place)
    if found.type == FileType.NotFound:
        raise InputError(f"{path} does not exist: name a Parquet or JSON-lines file, or a folder of such files")
    if found.type == FileType.File:
        if kind_of(place) is None:
            raise InputError(f"{path} is neither .parquet nor .jsonl: convert it (a compressed file: decompress it)")
        return system, [place]
    inner = system.get_file_info(FileSelector(place))
    files = sorted(f.path for f in inner if f.type == FileType.File and kind_of(f.path) and f.base_name[0] not in "._")
    if len({kind_of(file) for file in files}) != 1:
        raise InputError(
            f"{path} holds {'both Parquet and JSON lines' if files else 'no .parquet or .jsonl file'}: name one kind"
        )
    return system, files


def read_rows(system: Any, file: str, columns: Sequence[str], part: Part | None = None) -> Iterator[SourceRow]:
    """The rows of a file, or of a part of it, with these columns; a blank line of JSON lines is no row.

    A line that is no JSON object comes back with its fault. Raises StoreError for a Parquet file that cannot be read and InputError
    for a column that it lacks.
    """
    return _parquet(system, file, columns, part) if kind_of(file) == "parquet" else _jsonl(system, file, part)


def _jsonl(system: Any, file: str, part: Part | None) -> Iterator[SourceRow]:
    """Lines with the bytes where they start and stop."""
    number, at, stop = (part.first, part.start, part.stop) if part else (1, 0, None)
    with system.open_input_file(file) as opened:
        opened.seek(at)
        stream = io.BufferedReader(opened)
        while stop is None or at < stop:
            line = stream.readline()
            if not line:
                break
            end = at + len(line)
            if line.strip():
                yield SourceRow(number, *_parsed(line), at, end)
            number, at = number + 1, end


def _parsed(line: bytes) -> tuple[dict[str, Any], str | None]:
    """The object of a line, or what is wrong with it."""
    try:
        row = parse_json(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return {}, f"the line is not JSON ({error}): give one object a line, in UTF-8"
    return (row, None) if isinstance(row, dict) else ({}, "the line holds no object: give one object a line")


@contextmanager
def opened_parquet(system: Any, file: str) -> Iterator[Any]:
    """A pyarrow.parquet.ParquetFile; what goes wrong while reading becomes StoreError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with system.open_input_file(file) as opened, pq.ParquetFile(opened) as table:
            if twice := repeated(table.schema_arrow.names):
                raise InputError(f"{file} has two columns {twice!r}: name each one once")
            yield table
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, (InputError, StoreError)):
            raise
        raise StoreError(f"{file} cannot be read as Parquet ({str(error).splitlines()[0]:.120}): write it again") from error


def _parquet(system: Any, file: str, columns: Sequence[str], part: Part | None) -> Iterator[SourceRow]:
    """Rows with their numbers; only the row groups of the part are read, batch by batch."""
    with opened_parquet(system, file) as table:
        start, stop = (part.start, part.stop) if part else (0, table.metadata.num_rows)
        end = 0
        for group in range(table.metadata.num_row_groups):
            at, end = end, end + table.metadata.row_group(group).num_rows
            if end <= start or at >= stop:
                continue
            for batch in table.iter_batches(batch_size=READ_ROWS, row_groups=[group], columns=list(columns)):
                first, last = max(start - at, 0), min(stop - at, len(batch))
                for n, values in enumerate(
                    batch.slice(first, max(last - first, 0)).to_pylist() if first < last else (), at + first
                ):
                    yield SourceRow(n + 1, values, None, n, n + 1)
                at += len(batch)
