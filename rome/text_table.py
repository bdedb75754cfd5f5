"""Align columns of plain text on a terminal, where a wide character takes two columns."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from rich.cells import cell_len as display_width
from rich.cells import set_cell_size

_GAP = "  "
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MEASURED = 1000
"""Rows that decide how wide the columns are; texts of later rows are cut to fit."""

__all__ = ["aligned", "clean", "display_width", "fixed", "shorten", "terminal_width", "visible"]


def fixed(value: float, digits: int) -> str:
    """Return the number with so many decimals, without a minus before a zero."""
    text = f"{value:.{digits}f}"
    return text if float(text) else text.lstrip("-")


def shorten(text: str, width: int) -> str:
    """Return the text on one line in at most `width` columns (at least 1), with an ellipsis where it is cut."""
    text = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    return text if display_width(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def clean(text: str) -> str:
    """Replace half a surrogate pair, which no UTF-8 file can hold, by the replacement character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def visible(text: str) -> str:
    """Return the text with its control characters, except line ends, as codes: ``<U+001B>``."""
    return _CONTROL.sub(lambda found: f"<U+{ord(found.group()):04X}>", text)


def terminal_width(output: str | None) -> int | None:
    """Return the columns of the terminal that a table is written to, None where it is written to a file or a pipe."""
    return shutil.get_terminal_size().columns if output in (None, "-") and sys.stdout.isatty() else None


def aligned(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[bool],
    room: int | None = None,
    last: Callable[[], Sequence[str]] | None = None,
) -> Iterator[str]:
    """Yield the lines of a table: header, rows, and below a second rule the row that ``last`` returns.

    Few rows are in memory at a time. Without rows, ``last`` is not called.

    Parameters
    ----------
    right
        For each column, whether it is aligned to the right. Such cells (numbers) are never cut.
    room
        Columns of a terminal. Lines are cut where there are too few.
    """
    rest = iter(rows)
    first = list(islice(rest, MEASURED))
    widths = [max(map(display_width, column)) for column in zip(header, *first, strict=True)]
    rule = ["-" * width for width in widths]
    for row in chain((header, rule), first, rest):
        yield _line(row, widths, right, room)
    if first and last is not None:
        yield from (_line(row, widths, right, room) for row in (rule, last()))


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool], room: int | None) -> str:
    """Return one line of a table."""
    cells = []
    for cell, width, to_right in zip(row, widths, right, strict=True):
        text = cell if to_right else shorten(cell, width)
        blanks = " " * (width - display_width(text))
        cells.append(blanks + text if to_right else text + blanks)
    line = _GAP.join(cells).rstrip()
    return line if room is None or display_width(line) <= room else set_cell_size(line, room - 1).rstrip() + "…"
