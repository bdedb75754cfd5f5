"""How the rows of files are shared out: parts of even work, the same at every run, each row in exactly one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from operator import itemgetter
from os import PathLike
from typing import Any

import numpy as np

from rome.batch.blocks import cut
from rome.batch.row_files import Part, SourceRow, input_files, kind_of, opened_parquet, read_rows
from rome.batch.rows import RowOptions, key_text, plain_list
from rome.exceptions import InputError

PART_ROWS, PART_WORK = 1000, 200_000
"""A part is full at so many rows or so much work, whichever comes first; see `work_of`."""
KEY = 16
"""Bytes that stand for the key of a row."""


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
    parts: list[Part] = []
    content, keys, seen = hashlib.blake2b(digest_size=16), bytearray(), set[str]()
    for file in files:
        if kind_of(file) == "parquet":
            with opened_parquet(system, file) as table:
                options.check_columns(table.schema_arrow.names)
        work = ((row, work_of(row, options)) for row in read_rows(system, file, options.wanted))
        for held in cut(work, itemgetter(1), PART_WORK, count=part_rows):
            first, last = held[0][0], held[-1][0]
            place = (file, first.number, len(held), first.start, last.stop)
            digests = [_digest(row, options) for row, _ in held]
            parts.append(Part(len(parts), *place, sum(more for _, more in held), _hexadecimal(digests)))
            content.update(b"".join(digests))
            for row, _ in held:
                seen.update(name for name in options.wanted if name in row.values)
                keys += hashlib.blake2b(row_key(file, row, options).encode("utf-8", "replace"), digest_size=KEY).digest()
    if not parts:
        raise InputError(f"{source} holds no row: give at least one")
    missing = [name for name in options.wanted if name not in seen]
    if missing:
        raise InputError(
            f"no row has the column {missing[0]!r}: they have {', '.join(sorted(seen)) or 'others'}; name the right one"
        )
    twice = _first_duplicate(bytes(keys))
    if twice:
        one, other = (_place(position, system, parts, options) for position in twice)
        raise InputError(f"the rows {one} and {other} have one {options.key}: a key must name one row")
    description = {
        "format": 1,
        "files": [os.path.basename(file) for file in files],
        "content": content.hexdigest(),
        "signature": signature,
        "options": json.loads(json.dumps(asdict(options))),
        "output_format": output_format,
        "parts": [part.rows for part in parts],
    }
    return PartPlan(tuple(parts), description)


def check_unchanged(part: Part, rows: Sequence[SourceRow], options: RowOptions) -> None:
    """Raise InputError unless the rows of a part are those that were there when it was planned."""
    if len(rows) != part.rows or _hexadecimal([_digest(row, options) for row in rows]) != part.digest:
        raise InputError(
            f"{part.file} changed while it was read: its rows from number {part.first} on are others now; leave it alone, and begin again"
        )


def _hexadecimal(digests: Sequence[bytes]) -> str:
    return hashlib.blake2b(b"".join(digests), digest_size=16).hexdigest()


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


def _first_duplicate(keys: bytes) -> list[int]:
    """The positions of two equal keys, of KEY bytes each; empty where all differ."""
    rows = np.frombuffer(keys, dtype=f"S{KEY}")
    order = np.argsort(rows, kind="stable")
    same = np.flatnonzero(rows[order][1:] == rows[order][:-1])
    return order[same[0] : same[0] + 2].tolist() if same.size else []


def _place(position: int, system: Any, parts: Sequence[Part], options: RowOptions) -> str:
    """The file and the row, or line, that is the one at ``position`` of all."""
    ends = np.cumsum([part.rows for part in parts])
    part = parts[int(np.searchsorted(ends, position, side="right"))]
    rows = read_rows(system, part.file, options.wanted, part)
    return f"{part.file}:{next(islice(rows, position - int(ends[part.number]) + part.rows, None)).number}"
