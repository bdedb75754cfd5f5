"""A table of a report as aligned text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rome.evaluation.report.cells import Column, shown_columns
from rome.evaluation.report.values import Table
from rome.text_table import aligned, display_width, shorten

__all__ = ["table_text"]

WIDTH = 60


def table_text(table: Table, width: int = WIDTH) -> str:
    """Title, columns and note of a table as lines: numbers to the right and rounded, a dash for what is missing.

    width : columns of the terminal that one text may take; what is cut shows as an ellipsis. Intervals follow their value in
    brackets, and an asterisk follows the best value of a column that has a best direction. Without rows: the header alone.
    """
    columns = shown_columns(table)
    marked = any(column.best for column in columns)
    rows = [
        [shorten(column.name, width) for column in columns],
        *map(list, zip(*(_texts(c, width) for c in columns), strict=True)),
    ]
    lines = [table.title, "", aligned(rows, [column.numeric for column in columns], rule_after=(0,)) if columns else ""]
    notes = [*([table.note] if table.note else []), *(["* the best of its column"] if marked else [])]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _texts(column: Column, width: int) -> Iterator[str]:
    """The cells of a column; marks and intervals take the same room in every row, so that the numbers stay under each other."""
    room = max(map(display_width, column.details), default=0)
    for row, (text, detail) in enumerate(zip(column.texts, column.details, strict=True)):
        mark = "" if not column.best else "*" if row in column.best else " "
        blanks = " " * (room - display_width(detail) + bool(room))
        yield f"{shorten(text, width)}{mark}{blanks}{detail}"
