"""Cells as text: exact for files, rounded for people, and the figures' data as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from numbers import Integral, Real

import numpy as np

from rome.evaluation.report.values import Bars, Cell, Figure, Heatmap, Lines, Scatter, Table

__all__ = ["DASH", "Column", "as_table", "exact", "is_missing", "shown", "shown_columns"]

DASH = "–"
DIGITS = 3


@dataclass(frozen=True)
class Column:
    """A column as people see it.

    numeric : whether every cell that is not missing is a number. texts : what each cell shows. details : what follows it in a
    smaller hand (an interval), or an empty text. cells : the values themselves. best : the rows that hold the best value.
    """

    name: str
    numeric: bool
    texts: tuple[str, ...]
    details: tuple[str, ...]
    cells: tuple[Cell, ...]
    best: frozenset[int]


def is_missing(cell: Cell) -> bool:
    """Whether there is no value: None or nan."""
    return cell is None or (isinstance(cell, Real) and math.isnan(cell))


def _is_number(cell: Cell) -> bool:
    """Whether a cell is a number; a truth value is none."""
    return isinstance(cell, Real) and not isinstance(cell, bool)


def exact(cell: Cell) -> str:
    """The cell with every digit, so that reading it back gives the same number; empty when missing."""
    if cell is None or is_missing(cell):
        return ""
    if isinstance(cell, (str, bool)):
        return str(cell)
    return str(int(cell)) if isinstance(cell, Integral) else repr(float(cell))


def shown(cell: Cell, digits: int = DIGITS) -> str:
    """The cell as people see it: a number that is not whole by type with that many decimals, a dash when missing."""
    if cell is None or is_missing(cell):
        return DASH
    if isinstance(cell, (str, bool, Integral)):
        return exact(cell)
    text = f"{float(cell):.{digits}f}"
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.") else text


def shown_columns(table: Table) -> tuple[Column, ...]:
    """The columns of a table as people see them, intervals folded into the column of their value."""
    folded = {value: (low, high) for value, low, high in table.intervals}
    hidden = {name for ends in folded.values() for name in ends}
    by_name = {name: tuple(row[place] for row in table.rows) for place, name in enumerate(table.columns)}
    columns = []
    for name, cells in by_name.items():
        if name in hidden:
            continue
        digits = table.digits if isinstance(table.digits, int) else table.digits.get(name, DIGITS)
        details = [""] * len(cells)
        if name in folded:
            low, high = (by_name[end] for end in folded[name])
            details = [_interval(*ends, digits) for ends in zip(low, high, strict=True)]
        present = [cell for cell in cells if not is_missing(cell)]
        numeric = bool(present) and all(_is_number(cell) for cell in present)
        texts = tuple(shown(cell, digits) for cell in cells)
        columns.append(Column(name, numeric, texts, tuple(details), cells, frozenset(_best(table, name, cells))))
    return tuple(columns)


def _interval(low: Cell, high: Cell, digits: int) -> str:
    """Both ends in brackets, or nothing when both are missing."""
    return "" if is_missing(low) and is_missing(high) else f"[{shown(low, digits)}, {shown(high, digits)}]"


def _best(table: Table, name: str, cells: Sequence[Cell]) -> Iterator[int]:
    """The rows that hold the best value of a column that has a best direction; none where there is nothing to compare."""
    if name not in (*table.highest, *table.lowest):
        return
    numbers = {row: float(cell or 0) for row, cell in enumerate(cells) if _is_number(cell) and not is_missing(cell)}
    if len(numbers) > 1:
        best = (max if name in table.highest else min)(numbers.values())
        yield from (row for row, number in numbers.items() if number == best)


def as_table(part: Table | Figure) -> Table:
    """A table as it is; a figure's data as a table of the same name and title, every number in it, its columns' names distinct."""
    if isinstance(part, Table):
        return part
    digits = part.digits if isinstance(part, Heatmap) else DIGITS
    columns, rows = _data(part)
    return Table(part.name, part.title, tuple(_distinct(columns)), rows, part.note, digits)


def _distinct(names: Sequence[str]) -> Iterator[str]:
    """The names, a number after those that were there before (two axes may bear one name)."""
    taken: set[str] = set()
    for name in names:
        candidates = chain([name], (f"{name} ({number})" for number in count(2)))
        free = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(free)
        yield free


def _data(figure: Figure) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Column names and rows of a figure's data."""
    if isinstance(figure, Heatmap):
        names = [figure.groups, figure.rows] if figure.groups else [figure.rows]
        numbers = [[float(value) for value in column] for column in np.transpose(figure.values)]
        return (*("group", "row")[-len(names) :], *figure.columns), tuple(zip(*names, *numbers, strict=True))
    if isinstance(figure, Bars):
        ends = [values for values in (figure.low, figure.high) if values]
        head = ("label", figure.axis or "value", *(["low"] if figure.low else []), *(["high"] if figure.high else []))
        return head, tuple(zip(figure.labels, figure.values, *ends, strict=True))
    if isinstance(figure, Lines):
        named = [(figure.x_label or "x", figure.x), *figure.series.items()]
        named += [(f"{name} {end}", ys) for end in ("low", "high") for name, ys in getattr(figure, end).items()]
        return tuple(name for name, _ in named), tuple(zip(*(ys for _, ys in named), strict=True))
    return ("label", figure.x_label or "x", figure.y_label or "y"), _points(figure)


def _points(figure: Scatter) -> tuple[tuple[Cell, ...], ...]:
    """Label, x and y of each point."""
    return tuple(zip(figure.labels, figure.x, figure.y, strict=True))
