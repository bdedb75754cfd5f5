"""Aligned columns of plain text, wide characters counted as two."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["aligned", "display_width", "shorten"]

_GAP = "  "


def display_width(text: str) -> int:
    """The number of terminal columns that a text takes: 0 for a combining mark, 2 for a wide character."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shorten(text: str, width: int) -> str:
    """The text on one line in at most `width` columns (at least 1); what is cut shows as an ellipsis."""
    text = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    if display_width(text) <= width:
        return text
    while display_width(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool], *, rule_after: Sequence[int] = ()) -> str:
    """Lines with every column as wide as its widest cell.

    right : for each column, whether it is aligned to the right (numbers). rule_after : rows that a line of dashes follows.
    Without rows: an empty string.
    """
    widths = [max(display_width(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for number, row in enumerate(rows):
        cells = [_pad(cell, width, to_right) for cell, width, to_right in zip(row, widths, right, strict=True)]
        lines.append(_GAP.join(cells).rstrip())
        if number in rule_after:
            lines.append(_GAP.join("-" * width for width in widths))
    return "\n".join(lines)


def _pad(cell: str, width: int, to_right: bool) -> str:
    """The cell filled with blanks on one side."""
    blanks = " " * (width - display_width(cell))
    return blanks + cell if to_right else cell + blanks
