"""The parts of a report as tables and words: cells as people and files see them, figures' data, and what a report must be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from numbers import Integral, Real
from typing import Any

import numpy as np

from rome.exceptions import InputError
from rome.reports.model import Bars, Cell, Figure, Heatmap, Lines, Report, Strip, Table

DASH = "–"
DIGITS = 3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FORMULA = tuple("=+-@＝＋－＠")
"""What makes a spreadsheet take a cell for a formula; some take the wide forms too."""
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


@dataclass(frozen=True)
class Column:
    """A column as people see it.

    Attributes
    ----------
    numeric
        Whether it stands to the right.
    texts
        What each cell shows.
    details
        What follows it in a smaller hand (an interval), or an empty text.
    cells
        The values themselves.
    best
        The rows that stand out.
    drawn
        Whether it holds drawings.
    """

    name: str
    numeric: bool
    texts: tuple[str, ...]
    details: tuple[str, ...]
    cells: tuple[Any, ...]
    best: frozenset[int]
    drawn: bool


def is_missing(cell: Cell | Strip) -> bool:
    """Whether there is no value: None or nan."""
    return cell is None or (isinstance(cell, Real) and math.isnan(cell))


def _is_number(cell: Cell | Strip) -> bool:
    """Whether a cell is a number; a truth value is none."""
    return isinstance(cell, Real) and not isinstance(cell, bool)


def exact(cell: Cell | Strip) -> str:
    """The cell with every digit, so that reading it back gives the same number; empty when missing."""
    if cell is None or isinstance(cell, Strip) or is_missing(cell):
        return ""
    if isinstance(cell, (str, bool)):
        return str(cell)
    return str(int(cell)) if isinstance(cell, Integral) else repr(float(cell))


def table_tsv(table: Table) -> str:
    """A header and a line a row; every digit, an empty cell for what is missing, a text escaped."""
    return "".join("\t".join(map(_tsv_cell, row)) + "\n" for row in (table.columns, *table.rows))


def _tsv_cell(cell: Cell) -> str:
    """Every digit of a number; a text escaped, after an apostrophe where a spreadsheet would take it for a formula."""
    text = exact(cell).translate(_ESCAPES)
    return f"'{text}" if isinstance(cell, str) and text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def shown(cell: Cell | Strip, digits: int = DIGITS, *, signed: bool = False) -> str:
    """The cell as people see it: a number that is not whole by type with that many decimals, a dash when missing, nothing for a drawing."""
    if cell is None or is_missing(cell):
        return DASH
    if isinstance(cell, Strip):
        return ""
    if isinstance(cell, (str, bool, Integral)):
        return exact(cell)
    text = f"{float(cell):{'+' if signed else ''}.{digits}f}"
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.") else text


def shown_columns(table: Table) -> tuple[Column, ...]:
    """The columns of a table as people see them, intervals folded into the column of their value."""
    folded = {value: (low, high) for value, low, high in table.intervals}
    hidden = {name for ends in folded.values() for name in ends}
    by_place = [tuple(row[place] for row in table.rows) for place in range(len(table.columns))]
    by_name = dict(zip(table.columns, by_place, strict=True))
    columns = []
    for name, cells in zip(table.columns, by_place, strict=True):
        if name in hidden:
            continue
        digits = table.digits if isinstance(table.digits, int) else table.digits.get(name, DIGITS)
        signed = name in table.signed
        details = [""] * len(cells)
        if name in folded:
            low, high = (by_name[end] for end in folded[name])
            details = [_interval(*ends, digits, signed) for ends in zip(low, high, strict=True)]
        present = [cell for cell in cells if not is_missing(cell)]
        numeric = name in table.right or (bool(present) and all(_is_number(cell) for cell in present))
        texts = tuple(shown(cell, digits, signed=signed) for cell in cells)
        best = {*_best(table, name, cells), *(row for row, strong in table.strong if strong == name)}
        drawn = any(isinstance(cell, Strip) for cell in present)
        columns.append(Column(name, numeric, texts, tuple(details), cells, frozenset(best), drawn))
    return tuple(columns)


def _interval(low: Cell, high: Cell, digits: int, signed: bool) -> str:
    """Both ends in brackets, or nothing when both are missing."""
    if is_missing(low) and is_missing(high):
        return ""
    return f"[{shown(low, digits, signed=signed)}, {shown(high, digits, signed=signed)}]"


def _best(table: Table, name: str, cells: Sequence[Any]) -> Iterator[int]:
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
    digits = DIGITS if isinstance(part, Lines) else part.digits
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
    named = [(figure.x_label or "x", figure.x), *figure.series.items()]
    named += [(f"{name} {end}", ys) for end in ("low", "high") for name, ys in getattr(figure, end).items()]
    return tuple(name for name, _ in named), tuple(zip(*(ys for _, ys in named), strict=True))


def describe(figure: Figure) -> str:
    """One or two sentences: the kind of figure, its size, and where its highest and lowest values are."""
    if isinstance(figure, Heatmap):
        size = f"Heat map of {len(figure.rows)} rows by {len(figure.columns)} columns"
        names = [f"{row}, {column}" for row in figure.rows for column in figure.columns]
        return f"{figure.title}. {size}. {_ends(names, [float(value) for value in figure.values.flat], figure.digits)}"
    if isinstance(figure, Bars):
        ends = ", with intervals" if figure.low or figure.high else ""
        return (
            f"{figure.title}. Bars of {len(figure.labels)} values{ends}. {_ends(figure.labels, figure.values, figure.digits)}"
        )
    axis = f" over {figure.x_label}" if figure.x_label else ""
    turns = "; ".join(f"{name} from {_turn(ys)}" for name, ys in figure.series.items())
    return f"{figure.title}. Lines of {len(figure.series)} series{axis}: {turns}."


def _ends(names: Sequence[str], values: Sequence[float], digits: int) -> str:
    """The highest and the lowest value with their names."""
    finite = [(value, name) for value, name in zip(values, names, strict=True) if math.isfinite(value)]
    if not finite:
        return "No value is known."
    (low, lowest), (high, highest) = min(finite, key=lambda pair: pair[0]), max(finite, key=lambda pair: pair[0])
    return f"Highest {shown(high, digits)} ({highest}), lowest {shown(low, digits)} ({lowest})."


def _turn(ys: Sequence[float]) -> str:
    """The first and the last value that are known."""
    finite = [float(y) for y in ys if math.isfinite(y)]
    return f"{shown(finite[0])} to {shown(finite[-1])}" if finite else "nothing to nothing"


def check_report(report: Report) -> None:
    """Do nothing when every part has a name of its own that a file can bear, and sides whose lengths agree.

    Raises InputError that names the part and what is wrong with it.
    """
    seen: set[str] = set()
    for part in report.parts:
        if not _NAME.fullmatch(part.name):
            raise InputError(f"the part {part.name!r} cannot name a file: use letters, digits, dots, dashes and underscores")
        if part.name.lower() in seen:
            raise InputError(f"two parts of the report are called {part.name!r}: give each a name of its own")
        seen.add(part.name.lower())
        fault = _fault(part)
        if fault:
            raise InputError(f"the part {part.name!r} of the report: {fault}")


def _fault(part: Table | Figure) -> str:
    """What does not fit together in a part; empty where all does."""
    try:
        table = as_table(part)
    except ValueError as error:
        return f"its sides have not one length ({error})"
    columns, settings = set(table.columns), {*table.highest, *table.lowest, *chain.from_iterable(table.intervals)}
    if len(columns) < len(table.columns):
        return "two columns bear one name"
    if any(len(row) != len(table.columns) for row in table.rows):
        return f"a row does not have the {len(table.columns)} cells of the header"
    return f"no column is called {min(settings - columns)!r}, which its settings name" if settings - columns else ""
