"""What a report must be before anything of it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

import numpy as np

from rome.evaluation.report.values import Bars, Figure, Heatmap, Lines, Report, Scatter, Table
from rome.exceptions import InputError

__all__ = ["check_report"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


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
        for fault in _table_faults(part) if isinstance(part, Table) else _figure_faults(part):
            raise InputError(f"the part {part.name!r} of the report: {fault}")


def _table_faults(table: Table) -> Iterator[str]:
    """Columns of one name, rows of another length than the header, and settings that name no column."""
    for number, row in enumerate(table.rows, start=1):
        if len(row) != len(table.columns):
            yield f"row {number} has {len(row)} cells, the header {len(table.columns)}"
    twice = [name for place, name in enumerate(table.columns) if name in table.columns[:place]]
    if twice:
        yield f"two columns are called {twice[0]!r}"
    settings = {*table.highest, *table.lowest, *(name for triple in table.intervals for name in triple)}
    unknown = settings - set(table.columns)
    if unknown:
        yield f"no column is called {sorted(unknown)[0]!r}, which its settings name"


def _figure_faults(figure: Figure) -> Iterator[str]:
    """Two sides of a figure that differ in length."""
    if isinstance(figure, Heatmap):
        wanted = (len(figure.rows), len(figure.columns))
        if np.shape(figure.values) != wanted:
            yield f"values have the shape {np.shape(figure.values)}, the labels {wanted}"
        if figure.groups and len(figure.groups) != len(figure.rows):
            yield f"{len(figure.groups)} groups for {len(figure.rows)} rows"
        elif len(set(figure.groups)) != len(list(groupby(figure.groups))):
            yield "rows of one group do not stand together"
        return
    for name, length, wanted_length in _lengths(figure):
        if length != wanted_length:
            yield f"{name} has {length} values, {wanted_length} were expected"


def _lengths(figure: Bars | Lines | Scatter) -> Iterator[tuple[str, int, int]]:
    """Each side with its length and the length it must have."""
    if isinstance(figure, Bars):
        yield "values", len(figure.values), len(figure.labels)
        yield from ((end, len(getattr(figure, end)), len(figure.labels)) for end in ("low", "high") if getattr(figure, end))
    elif isinstance(figure, Scatter):
        yield from ((side, len(getattr(figure, side)), len(figure.labels)) for side in ("x", "y"))
    else:
        for side, rows in (("series", figure.series), ("low", figure.low), ("high", figure.high)):
            yield from ((f"{side} {name!r}", len(ys), len(figure.x)) for name, ys in rows.items())
