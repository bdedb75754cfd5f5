"""Aligned columns of plain text, wide characters counted as two."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence

_GAP = "  "
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def display_width(text: str) -> int:
    """Return the number of terminal columns of a text: 0 for a combining mark, 2 for a wide character."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals; one that rounds to zero has no minus."""
    text = f"{value:.{digits}f}"
    return text if float(text) else text.lstrip("-")


def shorten(text: str, width: int) -> str:
    """Return the text on one line in at most `width` columns (at least 1); a cut one ends with an ellipsis."""
    text = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    if display_width(text) <= width:
        return text
    kept, used = 0, 0
    for character in text:
        used += display_width(character)
        if used > width - 1:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def visible(text: str) -> str:
    """Return the text as a terminal may show it: line ends stay, other control characters become their codes, ``<U+001B>``."""
    return _CONTROL.sub(lambda found: f"<U+{ord(found.group()):04X}>", text)


def clean(text: str) -> str:
    """Replace half a surrogate pair, which no UTF-8 file can hold, by the replacement character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


LEAST = 8
"""The least columns of a cell that is cut to fit."""


def aligned(
    rows: Sequence[Sequence[str]], right: Sequence[bool], *, rule_after: Sequence[int] = (), room: int | None = None
) -> str:
    """Return lines with every column as wide as its widest cell; where there is little room, the widest columns are cut.

    Parameters
    ----------
    right
        For each column, True to align it to the right (numbers).
    rule_after
        Rows that a line of dashes follows. Without rows: an empty string.
    room
        The columns of a terminal.
    """
    widths = widest(rows)
    if room is not None:
        widths = fitted(widths, [min(width, LEAST) for width in widths], room)
        rows = [list(map(shorten, row, widths)) for row in rows]
    lines = []
    for number, row in enumerate(rows):
        lines.append(aligned_row(row, widths, right))
        if number in rule_after:
            lines.append(rule(widths))
    return "\n".join(lines)


def widest(rows: Iterable[Sequence[str]]) -> list[int]:
    """Return the width of each column, with one row in memory at a time."""
    widths: list[int] = []
    for row in rows:
        widths = [max(width, display_width(cell)) for width, cell in zip(widths or [0] * len(row), row, strict=True)]
    return widths


def fitted(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths, the widest reduced until a row has at most ``room`` columns, but none below its ``least``."""
    found = list(widths)
    excess = sum(found) + len(_GAP) * (len(found) - 1) - room
    while excess > 0:
        most = max(range(len(found)), key=lambda n: found[n] - least[n] and found[n])
        if found[most] <= least[most]:
            break
        found[most] -= 1
        excess -= 1
    return found


def terminal_width(output: str | None) -> int | None:
    """Return the columns of the terminal that a table is written to; None, without a limit, for a file or a pipe."""
    return shutil.get_terminal_size().columns if output in (None, "-") and sys.stdout.isatty() else None


def aligned_row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """Return one line of a table with columns of these widths."""
    cells = (_pad(cell, width, to_right) for cell, width, to_right in zip(row, widths, right, strict=True))
    return _GAP.join(cells).rstrip()


def rule(widths: Sequence[int]) -> str:
    """Return a line of dashes below every column."""
    return _GAP.join("-" * width for width in widths)


def _pad(cell: str, width: int, to_right: bool) -> str:
    """Return the cell filled with blanks on one side."""
    blanks = " " * (width - display_width(cell))
    return blanks + cell if to_right else cell + blanks
