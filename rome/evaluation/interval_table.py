"""Tables of figures with intervals, written briefly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rome.reports.model import Cell, Table
from rome.reports.summaries import FEW

Row = tuple[Cell | tuple[float, float, float], ...]
"""Cells; a value with its low and high end is one cell of three numbers."""


def interval_table(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Row],
    note: str = "",
    digits: int | Mapping[str, int] = 3,
    *,
    joint: str = "_",
    highest: tuple[str, ...] = (),
    lowest: tuple[str, ...] = (),
) -> Table:
    """A table whose columns that end in ``*`` hold a value with its interval, which files keep as three columns.

    Parameters
    ----------
    joint
        What stands between the column's name and ``low`` or ``high``.
    """
    triples = {c: (c[:-1], f"{c[:-1]}{joint}low", f"{c[:-1]}{joint}high") for c in columns if c.endswith("*")}
    names = tuple(name for column in columns for name in triples.get(column, (column,)))
    flat = tuple(tuple(cell for cells in row for cell in _cells(cells)) for row in rows)
    return Table(name, title, names, flat, note, digits, highest, lowest, tuple(triples.values()))


def _cells(cell: Any) -> tuple[Cell, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def few_note(count: int, what: str) -> str:
    """What a note says at its end of intervals over so few of something; nothing where they are enough."""
    return f" {count} {what} are few: with fewer than {FEW} the intervals are too narrow." if count < FEW else ""
