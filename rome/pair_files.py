"""Pairs of reference and hypothesis from files: parallel text files, TSV and JSON lines, every text with its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rome.exceptions import InputError
from rome.files import STANDARD_INPUT, named, read_lines

__all__ = ["PairTexts", "read_pairs", "read_parallel"]


@dataclass(frozen=True)
class PairTexts:
    """The texts of a file, as ``RoMe.score`` takes them, and where each segment came from.

    references : one list of texts a segment. ids : one a segment, or None when the file has none. notes : likewise.
    places : ``file:line`` of each segment.
    """

    references: list[list[str]]
    hypotheses: list[str]
    places: list[str]
    ids: list[str] | None = None
    notes: list[str] | None = None


def read_parallel(references: Sequence[str], hypotheses: str) -> PairTexts:
    """Read text files with one segment a line: one or more of references, one of hypotheses.

    Raises InputError when a file cannot be read, when two are named standard input, or when their numbers of lines differ.
    """
    if [*references, hypotheses].count(STANDARD_INPUT) > 1:
        raise InputError("standard input was named twice: give `-` for one file only")
    columns, lines = [read_lines(path) for path in references], read_lines(hypotheses)
    for path, column in zip(references, columns, strict=True):
        if len(column) != len(lines):
            raise InputError(
                f"{named(path)} has {len(column)} lines and {named(hypotheses)} has {len(lines)}: "
                "give one segment a line, the same number in every file"
            )
    places = [f"{'+'.join([*map(named, references), named(hypotheses)])}:{number}" for number in range(1, len(lines) + 1)]
    return PairTexts([list(row) for row in zip(*columns, strict=True)], lines, places)


def read_pairs(path: str) -> PairTexts:
    """Read a TSV or JSON-lines file (or standard input) of pairs; a first line that starts with ``{`` means JSON lines.

    TSV: a header with the columns ``reference`` (more in ``reference_2``, ...) and ``hypothesis``, optionally ``id`` and
    ``note``; no quoting.
    JSON lines: objects with ``reference`` (a text or a list of texts) and ``hypothesis``, optionally ``id`` and ``note``.

    Raises InputError that names the file, the line and the remedy.
    """
    lines = read_lines(path)
    if not lines:
        raise InputError(f"{named(path)} is empty: give a TSV file with a header, or JSON lines")
    reader: Callable[[list[str], str], list[_Row]] = _read_jsonl if lines[0].lstrip().startswith("{") else _read_tsv
    rows = reader(lines, path)
    ids = [row.id for row in rows]
    notes = [row.note for row in rows]
    return PairTexts(
        references=[row.references for row in rows],
        hypotheses=[row.hypothesis for row in rows],
        places=[row.place for row in rows],
        ids=[name or "" for name in ids] if any(ids) else None,
        notes=[note or "" for note in notes] if any(notes) else None,
    )


@dataclass(frozen=True)
class _Row:
    """One line of a file of pairs."""

    references: list[str]
    hypothesis: str
    place: str
    id: str | None = None
    note: str | None = None


def _read_tsv(lines: list[str], path: str) -> list[_Row]:
    """The rows below the header; an empty cell of a further reference means that there is none."""
    header = lines[0].split("\t")
    wanted = [name for name in header if name == "reference" or name.startswith("reference_")]
    if "reference" not in wanted or "hypothesis" not in header:
        raise InputError(
            f"{named(path)}:1: the header has the columns {', '.join(header)}: "
            "it needs `reference` and `hypothesis`, separated by tabs"
        )
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        place, cells = f"{named(path)}:{number}", line.split("\t")
        if len(cells) != len(header):
            raise InputError(f"{place}: {len(cells)} columns, the header has {len(header)}: write no tab in a text")
        cell = dict(zip(header, cells, strict=True))
        references = [cell[name] for name in wanted if name == "reference" or cell[name]]
        rows.append(_Row(references, cell["hypothesis"], place, cell.get("id"), cell.get("note")))
    return rows


def _read_jsonl(lines: list[str], path: str) -> list[_Row]:
    """One object a line; blank lines are skipped."""
    numbered = [(f"{named(path)}:{number}", line) for number, line in enumerate(lines, start=1)]
    return [_object(place, line) for place, line in numbered if line.strip()]


def _object(place: str, line: str) -> _Row:
    """The row of one JSON object."""
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: not JSON ({error}): give one object a line") from error
    if not isinstance(row, dict) or not {"reference", "hypothesis"} <= row.keys():
        raise InputError(f'{place}: not an object with "reference" and "hypothesis": give both')
    references = [row["reference"]] if isinstance(row["reference"], str) else row["reference"]
    if not isinstance(references, list) or not references or not all(isinstance(text, str) for text in references):
        raise InputError(f'{place}: "reference" is neither a text nor a list of texts: give one or the other')
    if not isinstance(row["hypothesis"], str):
        raise InputError(f'{place}: "hypothesis" is not a text: give one, "" for an empty one')
    known = {name: str(row[name]) for name in ("id", "note") if row.get(name) is not None}
    return _Row(references, row["hypothesis"], place, **known)
