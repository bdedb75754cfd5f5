"""How the rows of files are shared out: parts of even work, the same at every run, each row in exactly one."""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from operator import itemgetter
from os import PathLike
from typing import Any

import numpy as np

from rome.batch.blocks import cut
from rome.batch.row_files import Part, SourceRow, input_files, kind_of, opened_parquet, read_rows
from rome.batch.rows import RowOptions, key_text, plain_list
from rome.exceptions import InputError

__all__ = ["PART_ROWS", "PART_WORK", "PartPlan", "make_plan", "row_key"]

PART_ROWS, PART_WORK = 1000, 200_000
"""A part is full at so many rows or so much work, whichever comes first; see `work_of`."""


@dataclass(frozen=True)
class PartPlan:
    """All parts, and a description of everything that decides what they hold, as JSON can hold it."""

    parts: tuple[Part, ...]
    description: dict[str, Any]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(part.rows for part in self.parts)


def make_plan(
    source: str | PathLike[str], options: RowOptions, *, signature: str, output_format: str, part_rows: int = PART_ROWS
) -> PartPlan:
    """Read everything once and cut it into parts; the same data and options give the same plan.

    Raises InputError for no rows, a column that no row has, and two rows of one key.
    """
    if part_rows < 1:
        raise InputError(f"part_rows={part_rows} is no size of a part: give 1 or more")
    system, files = input_files(source)
    scan = _Scan(options, part_rows)
    for file in files:
        if kind_of(file) == "parquet":
            with opened_parquet(system, file) as table:
                options.check_columns(table.schema_arrow.names)
        scan.add(file, read_rows(system, file, options.wanted))
    if not scan.parts:
        raise InputError(f"{source} holds no row: give at least one")
    scan.check()
    description = {
        "format": 1,
        "files": [os.path.basename(file) for file in files],
        "content": scan.content.hexdigest(),
        "signature": signature,
        "options": json.loads(json.dumps(asdict(options))),
        "output_format": output_format,
        "parts": [part.rows for part in scan.parts],
    }
    return PartPlan(tuple(scan.parts), description)


def row_key(file: str, row: SourceRow, options: RowOptions) -> str:
    """The key of a row: that of its key column, else ``FILE:ROW#DIGEST`` of its place and its texts."""
    given = key_text(row.values.get(options.key)) if options.key else None
    return given if given is not None else f"{os.path.basename(file)}:{row.number}#{_digest(row, options).hex()[:8]}"


def work_of(row: SourceRow, options: RowOptions) -> float:
    """About the time that a row takes: its characters, and more for long texts, whose alignment grows faster (fitted on texts of 1,000
    to 20,000 characters)."""
    reference, hypothesis = plain_list(row.values.get(options.reference)), row.values.get(options.hypothesis)
    texts = [t for t in [*(reference if isinstance(reference, list) else [reference]), hypothesis] if isinstance(t, str)]
    if row.fault or any(len(text) > options.longest for text in texts):
        return 1.0
    size = sum(map(len, texts))
    return 1.0 + size + size * size / 5000


def _digest(row: SourceRow, options: RowOptions) -> bytes:
    """16 bytes of everything that is read of the row."""
    values = [plain_list(row.values.get(name)) for name in options.wanted]
    content = json.dumps([values, row.fault], default=lambda value: f"{type(value).__name__} {value!r}")
    return hashlib.blake2b(content.encode(), digest_size=16).digest()


class _Scan:
    """What is gathered while every row is read once."""

    def __init__(self, options: RowOptions, part_rows: int) -> None:
        self.options, self.part_rows = options, part_rows
        self.parts: list[Part] = []
        self.content = hashlib.blake2b(digest_size=16)
        self.seen: set[str] = set()
        self.keys = bytearray()
        self.numbers: array[int] = array("Q")
        self.starts: dict[int, str] = {}

    def add(self, file: str, rows: Iterator[SourceRow]) -> None:
        """Cut one file into parts."""
        self.starts[len(self.numbers)] = file
        work = ((row, work_of(row, self.options)) for row in rows)
        for held in cut(work, itemgetter(1), PART_WORK, count=self.part_rows):
            first, last = held[0][0], held[-1][0]
            place = (file, first.number, len(held), first.start, last.stop)
            self.parts.append(Part(len(self.parts), *place, sum(more for _, more in held)))
            for row, _ in held:
                self._note(file, row)

    def _note(self, file: str, row: SourceRow) -> None:
        self.seen.update(name for name in self.options.wanted if name in row.values)
        self.content.update(_digest(row, self.options))
        self.keys += hashlib.blake2b(row_key(file, row, self.options).encode("utf-8", "replace"), digest_size=16).digest()
        self.numbers.append(row.number)

    def check(self) -> None:
        """Refuse a column that no row has, and two rows of one key."""
        missing = [name for name in self.options.wanted if name not in self.seen]
        if missing:
            raise InputError(
                f"no row has the column {missing[0]!r}: they have {', '.join(sorted(self.seen)) or 'others'}; name the right one"
            )
        keys = np.frombuffer(bytes(self.keys), dtype="S16")
        order = np.argsort(keys, kind="stable")
        same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
        if same.size:
            one, other = (self._place(int(order[n])) for n in (same[0], same[0] + 1))
            raise InputError(f"the rows {one} and {other} have one {self.options.key}: a key must name one row")

    def _place(self, position: int) -> str:
        """The file and the row, or line, that was the one at ``position`` of all."""
        file = self.starts[max(start for start in self.starts if start <= position)]
        return f"{file}:{self.numbers[position]}"
