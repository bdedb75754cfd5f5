"""Results of a judgement of metrics: tables and figures, shown as text, in a notebook and as data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rome.exceptions import InputError
from rome.features.packages import needed
from rome.reports.model import Cell, Document, Figure, Note, Table
from rome.reports.summaries import FEW
from rome.reports.tables import as_table
from rome.results.displayed import Displayed, plain

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Displayed):
    """Hold the results of `rome.evaluate` or `rome.diagnose`; displays its main tables as text and in a notebook.

    Attributes
    ----------
    parts
        Every table and figure, in the order of reading.
    shown
        Names of the tables that are displayed.
    main
        Default table of `to_dataframe`.
    signatures
        Metric -> every choice that changes its numbers.
    data
        Set or file -> a digest of its texts and ratings.
    """

    title: str
    introduction: str
    parts: tuple[Table | Figure, ...]
    shown: tuple[str, ...]
    main: Table
    signatures: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, Table]:
        """Return every table by its name, in the order of reading; a figure is the table of its numbers."""
        return {part.name: as_table(part) for part in self.parts}

    @property
    def figures(self) -> dict[str, Figure]:
        """Return every figure by its name; `rome.reports.figures` draws them."""
        return {part.name: part for part in self.parts if not isinstance(part, Table)}

    def to_dataframe(self, table: str | None = None) -> pandas.DataFrame:
        """Return one of `tables`, by default the main one, with every digit and the ends of an interval in columns of their own.

        Raises InputError for an unknown name, listing all; ModelMissingError without pandas.
        """
        if table is not None and table not in self.tables:
            raise InputError(f"table {table!r} is unknown: choose one of {', '.join(self.tables)}")
        with needed("to_dataframe", "pandas"):
            import pandas
        chosen = self.main if table is None else self.tables[table]
        return pandas.DataFrame([list(row) for row in chosen.rows], columns=list(chosen.columns))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON: the main tables, each row by its columns, signatures and digests."""
        tables = {
            name: {"title": table.title, "note": table.note, "rows": table_rows(table)}
            for name, table in self._shown_tables.items()
        }
        row = {"title": self.title, "introduction": self.introduction, "tables": tables}
        return dict(plain({**row, "signatures": self.signatures, "data": self.data}))

    @property
    def _shown_tables(self) -> dict[str, Table]:
        return {name: table for name, table in self.tables.items() if name in self.shown}

    def to_text(self, width: int | None = None) -> str:
        """Return the main tables as text, folded to a width if one is given."""
        from rome.reports.text import UNBOUNDED, table_text

        return "\n\n".join(table_text(table, room=width or UNBOUNDED) for table in self._shown_tables.values())

    def __repr__(self) -> str:
        """Return the main tables as text."""
        return self.to_text()

    __str__ = __repr__

    def _document(self) -> Document:
        """Return the main tables for a page."""
        tables = self._shown_tables.values()
        parts = [part for table in tables for part in (replace(table, note=""), Note(table.note)) if part != Note("")]
        return Document(self.title, tuple(parts))


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
    """Make a table whose columns that end in ``*`` hold a value with its interval; files keep them as three columns.

    Parameters
    ----------
    joint
        Text between the name of the column and ``low`` or ``high``.
    """
    triples = {c: (c[:-1], f"{c[:-1]}{joint}low", f"{c[:-1]}{joint}high") for c in columns if c.endswith("*")}
    names = tuple(name for column in columns for name in triples.get(column, (column,)))
    flat = tuple(tuple(cell for cells in row for cell in (cells if isinstance(cells, tuple) else (cells,))) for row in rows)
    return Table(name, title, names, flat, note, digits, highest, lowest, tuple(triples.values()))


def table_rows(table: Table) -> list[dict[str, Cell]]:
    """Return the rows of a table as dictionaries by column."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def few_note(count: int, what: str) -> str:
    """Return the end of a note on intervals over few inputs; an empty text if there are enough."""
    return f" {count} {what} are few: with fewer than {FEW} the intervals are too narrow." if count < FEW else ""
