"""Tables as people and files see them: cells, columns, figures as tables, and the table of a corpus that `rome score` prints."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.combining.signature import supervision_note
from rome.features.values import FEATURES
from rome.reports.model import Bars, Cell, Figure, Heatmap, Strip, Table
from rome.reports.segment import error_note
from rome.text_table import aligned, shorten

if TYPE_CHECKING:
    from rome.results import CorpusScore, SegmentScore

DASH = "–"
DIGITS = 3
_FORMULA = tuple("=+-@＝＋－＠")
"""Characters that begin a formula in a spreadsheet; some programs accept the wide forms, too."""
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


@dataclass(frozen=True)
class Column:
    """A column as people see it.

    Attributes
    ----------
    numeric
        True for alignment to the right.
    texts
        The text of each cell.
    details
        The smaller text after it (an interval), or an empty text.
    cells
        The values themselves.
    best
        The rows that are emphasised.
    drawn
        True for a column of drawings.
    """

    name: str
    numeric: bool
    texts: tuple[str, ...]
    details: tuple[str, ...]
    cells: tuple[Any, ...]
    best: frozenset[int]
    drawn: bool


def is_missing(cell: Cell | Strip) -> bool:
    """Return True for None and nan."""
    return cell is None or (isinstance(cell, Real) and math.isnan(cell))


def _is_number(cell: Cell | Strip) -> bool:
    """Return True for a number, which a truth value is not."""
    return isinstance(cell, Real) and not isinstance(cell, bool)


def exact(cell: Cell | Strip) -> str:
    """Return the cell with every digit, so that reading it gives the same number; empty when missing."""
    if cell is None or isinstance(cell, Strip) or is_missing(cell):
        return ""
    if isinstance(cell, (str, bool)):
        return str(cell)
    return str(int(cell)) if isinstance(cell, Integral) else repr(float(cell))


def table_tsv(table: Table) -> str:
    """Return a header and one line per row: every digit, an empty cell for a missing value, texts escaped."""
    return "".join("\t".join(map(_tsv_cell, row)) + "\n" for row in (table.columns, *table.rows))


def _tsv_cell(cell: Cell) -> str:
    """Return every digit of a number; escape a text, after an apostrophe where a spreadsheet would read a formula."""
    text = exact(cell).translate(_ESCAPES)
    return f"'{text}" if isinstance(cell, str) and text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def shown(cell: Cell | Strip, digits: int = DIGITS, *, signed: bool = False) -> str:
    """Return the cell as people see it: a float with that many decimals, a dash when missing, nothing for a drawing."""
    if cell is None or is_missing(cell):
        return DASH
    if isinstance(cell, Strip):
        return ""
    if isinstance(cell, (str, bool, Integral)):
        return exact(cell)
    text = f"{float(cell):{'+' if signed else ''}.{digits}f}"
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.") else text


def shown_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table as people see them, intervals folded into the column of their value."""
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
    """Return both ends in brackets, or nothing when both are missing."""
    if is_missing(low) and is_missing(high):
        return ""
    return f"[{shown(low, digits, signed=signed)}, {shown(high, digits, signed=signed)}]"


def _best(table: Table, name: str, cells: Sequence[Any]) -> Iterator[int]:
    """Yield the rows with the best value of a column that has a best direction; none where there is nothing to compare."""
    if name not in (*table.highest, *table.lowest):
        return
    numbers = {row: float(cell or 0) for row, cell in enumerate(cells) if _is_number(cell) and not is_missing(cell)}
    if len(numbers) > 1:
        best = (max if name in table.highest else min)(numbers.values())
        yield from (row for row, number in numbers.items() if number == best)


def as_table(part: Table | Figure) -> Table:
    """Return a table as it is, and the data of a figure as a table of the same name and title."""
    if isinstance(part, Table):
        return part
    digits = part.digits if isinstance(part, Heatmap) else DIGITS
    columns, rows = _data(part)
    return Table(part.name, part.title, columns, rows, part.note, digits)


def _data(figure: Figure) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Return column names and rows of the data of a figure."""
    if isinstance(figure, Heatmap):
        numbers = [[float(value) for value in column] for column in np.transpose(figure.values)]
        return ("row", *figure.columns), tuple(zip(figure.rows, *numbers, strict=True))
    if isinstance(figure, Bars):
        rows = zip(figure.labels, figure.values, figure.low, figure.high, strict=True)
        return ("label", figure.axis or "value", "low", "high"), tuple(rows)
    named = [(figure.x_label or "x", figure.x), *figure.series.items()]
    return tuple(name for name, _ in named), tuple(zip(*(ys for _, ys in named), strict=True))


# a corpus, as `rome score` prints it

NUMBERS = ("segment", "score", *FEATURES, "complete", "faithful")
"""The columns of numbers, aligned to the right; the columns of texts follow them."""
HYPOTHESIS_WIDTH, NOTE_WIDTH, WORST = 36, 44, 3
WHOLE = 200
"""Columns of a text in a table of unlimited width; a longer one would fill every other row with blanks."""


def corpus_table(result: CorpusScore) -> str:
    """Return one line per segment (score, components, hypothesis, flags and worst errors), then the means and the signature."""
    header, rows = corpus_header(False), map(corpus_row, result.segments)
    right = [name in NUMBERS for name in header]
    means = (result.score, *result.components, result.completeness, result.faithfulness)
    table = "\n".join(aligned(header, rows, right, last=lambda: corpus_means(means, len(header))))
    return f"{table}\n\n{corpus_footer(len(result), result.score, result.signature)}"


def corpus_header(notes: bool, *, metrics: Sequence[str] = (), texts: Sequence[str] = ("hypothesis",)) -> list[str]:
    """Return the names of the columns of a corpus table: the numbers, those of other ``metrics`` too, then the texts."""
    return [*NUMBERS, *metrics, *(["example"] if notes else []), *texts, "flags and worst errors"]


def corpus_row(
    segment: SegmentScore, note: str | None = None, *, whole: bool = False, more: Sequence[float] = (), reference: bool = False
) -> list[str]:
    """Return the cells of one segment in a corpus table; ``whole`` cuts its texts at WHOLE columns only."""
    values = [shown(value) for value in (*segment.measures, *more)]
    narrow, wide = (WHOLE, WHOLE) if whole else (HYPOTHESIS_WIDTH, NOTE_WIDTH)
    errors = sorted((error for error in segment.errors if error.severity != "none"), key=lambda error: -error.weight)
    remarks = "; ".join([*segment.flags, *map(error_note, errors[:WORST])])
    sides = [segment.reference, segment.hypothesis] if reference else [segment.hypothesis]
    texts = [*(shorten(side, narrow) for side in sides), shorten(remarks, wide)]
    return [str(segment.segment), *values, *([] if note is None else [shorten(note, wide)]), *texts]


def corpus_means(means: Sequence[float], columns: int) -> list[str]:
    """Return the last line of a corpus table: the means."""
    return ["mean", *map(shown, means), *[""] * (columns - 1 - len(means))]


def corpus_footer(segments: int, score: float, signature: str) -> str:
    """Return the lines below a corpus table."""
    label = supervision_note(signature)
    named = f"{'supervised ' if label else ''}score {score:.3f}"
    return f"{segments} segments, {named}, signature {signature}" + (f"\n{label}" if label else "")
