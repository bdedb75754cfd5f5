"""Reports as text: coloured and as wide as the window on a terminal, plain everywhere else."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from rich.box import Box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from rome.reports import model
from rome.reports.segment import SIGNS, kind_of, pieces, places_of, sides_of
from rome.reports.tables import Column, shown_columns
from rome.text_table import display_width, shorten, visible

if TYPE_CHECKING:
    from rome.features.errors.evidence import ErrorSpan

STYLES = {
    "title": "bold",
    "quiet": "dim",
    "critical": "bold underline reverse red",
    "major": "bold underline red",
    "minor": "underline yellow",
    "down": "red",
    "up": "green",
    "change": "magenta",
    "insert": "green",
    "delete": "red",
}
RULED = Box("    \n    \n -- \n    \n -- \n    \n    \n    \n", ascii=True)
"""Two blanks between columns, a line of dashes below the header and below ruled rows."""
UNBOUNDED = 100_000
BAR, CELL, FOLDED, LISTED, DIFFERENCES = 20, 60, 12, 88, 8
"""Columns of a drawing, of a table's text, of a text that folds at least, of a text in a list; differences not counted that are listed."""


def takes_colours(stream: TextIO) -> bool:
    """Return True for a terminal with colours, unless NO_COLOR (https://no-color.org) is set or TERM is dumb."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def document_text(document: model.Document, *, width: int = UNBOUNDED, colours: bool = False) -> str:
    """Return a document as text, folded to so many columns, with escape sequences where colours are wanted."""
    shown = [part for each in document.parts for part in _shown(each)]
    signature = [Text(visible(f"signature  {document.signature}"), STYLES["quiet"])] if document.signature else []
    return "\n\n".join(_rendered(part, width, colours) for part in (*shown, *signature))


def terminal_text(document: model.Document, stream: TextIO) -> str:
    """Return a document as text for this stream: on a terminal as wide as its window, and coloured where colours are wanted."""
    width = shutil.get_terminal_size().columns if stream.isatty() else UNBOUNDED
    return document_text(document, width=width, colours=takes_colours(stream))


def table_text(table: model.Table, room: int = UNBOUNDED) -> str:
    """Return title, table and note, folded to so many columns."""
    return document_text(model.Document("", (table,)), width=room)


def _rendered(part: RenderableType, width: int, colours: bool) -> str:
    """Return the output of rich, without blanks at the ends of lines."""
    stream = io.StringIO()
    settings: Any = {"color_system": "standard" if colours else None, "legacy_windows": False, "force_jupyter": False}
    console = Console(file=stream, width=width, force_terminal=colours, **settings)
    console.print(part)
    return re.sub(r" +((?:\x1b\[[\d;]*m)*)$", r"\1", stream.getvalue().rstrip("\n"), flags=re.M)


def _shown(part: model.Part) -> Iterator[RenderableType]:
    """Yield a part as rich prints it; nothing for a part that only a page can show."""
    if isinstance(part, model.Head):
        words = f"  {part.words}" + (f"  [{', '.join(part.flags)}]" if part.flags else "")
        yield Text.assemble((part.number, STYLES["title"]), visible(words))
    elif isinstance(part, model.Note):
        yield Text(visible(part.text), "" if part.kind == "verdict" else STYLES["quiet"])
    elif isinstance(part, model.Texts):
        yield _texts(part.lines)
    elif isinstance(part, model.Errors):
        yield Group(*_errors(part))
    elif isinstance(part, model.Table):
        yield _table(part)
    elif isinstance(part, model.Alignment):
        grid = RichTable.grid(padding=(0, 2, 0, 0))
        for link in part.links:
            above, below = (Text(visible(word) or "∅") for word in (link.reference, link.hypothesis))
            grid.add_row(above, Text(link.text or ("" if link.alone else "|"), STYLES["quiet"]), below)
        yield grid
    elif isinstance(part, model.Trees):
        yield _trees(part)
    elif isinstance(part, model.Section):
        yield from _section(part)


def _section(part: model.Section) -> Iterator[RenderableType]:
    """Yield title and parts; only the shortened texts of a row in a list; nothing for a list that is folded."""
    if part.lead:
        lines = [line for inner in part.parts if isinstance(inner, model.Texts) for line in inner.lines]
        title = Text.assemble((part.lead, STYLES["title"]), f"  {visible(part.title)}")
        yield Group(title, Padding.indent(_texts(lines, LISTED), 2))
        return
    if not part.open and isinstance(part.parts[0], model.Section):
        return
    shown = [Padding.indent(one, 2) for inner in part.parts for one in _shown(inner)]
    if shown:
        note = f"  {visible(part.note)}" if part.note else ""
        yield Group(Text.assemble((visible(part.title), STYLES["title"]), (note, STYLES["quiet"])), *shown)


def _texts(lines: Sequence[model.Line], width: int | None = None) -> RenderableType:
    """Return the names, and the texts with their errors underlined, each on one line where there is room."""
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    for line in lines:
        text = Text()
        for piece, marks in pieces(line):
            words = re.sub(r"\s+", " ", visible(piece))
            words = words.lstrip() if not text.plain or text.plain.endswith(" ") else words
            text.append(words, STYLES[marks[0]["severity"]] if marks else "")
        text.rstrip()
        if width is not None:
            text.truncate(width, overflow="ellipsis")
        grid.add_row(Text(visible(line.name), STYLES["quiet"]), text)
    return grid


def _errors(part: model.Errors) -> Iterator[Text]:
    """Yield each error with its weight, texts, places and confidence, the worst first; then the differences that are not counted."""
    if not part.counted:
        yield Text("no errors found")
    for error in sorted(part.counted, key=lambda error: -error.weight):
        texts = " -> ".join(f'"{words}"' for words in dict.fromkeys(sides_of(error).values()))
        places = f"({places_of(error)}; confidence {error.confidence:.3f})"
        severity, rest = (error.severity, STYLES[error.severity]), visible(f" {kind_of(error)} {texts}  {places}")
        yield Text.assemble(f"{error.weight:6.3f}  ", severity, rest)
    if part.doubtful:
        words = ", ".join(map(_difference, part.doubtful[:DIFFERENCES]))
        more = f" and {len(part.doubtful) - DIFFERENCES} more" if len(part.doubtful) > DIFFERENCES else ""
        yield Text(visible(f"differences not counted: {words}{more}"), STYLES["quiet"])


def _difference(error: ErrorSpan) -> str:
    """Return the texts of a difference: ``before -> after``."""
    sides = sides_of(error)
    before, after = (shorten(sides.get(name, "nothing"), 20) for name in ("reference", "hypothesis"))
    return f"{before} -> {after}" if before != after else f"{before} (moved)"


def _table(table: model.Table) -> RenderableType:
    """Return title, rows and note; an asterisk precedes the best value of a column."""
    title = [Text(visible(table.title), STYLES["title"])] if table.title else []
    note = [Text(visible(f"{table.note.rstrip('.')}."), STYLES["quiet"])] if table.note and table.header else []
    best = [Text("* the best of its column", STYLES["quiet"])] if table.highest or table.lowest else []
    return Group(*title, Padding.indent(Fitting(table), 2 if title else 0), *note, *best)


class Fitting:
    """A table that fits the window: texts fold, and columns without room are shown below the others, after the first column again."""

    def __init__(self, table: model.Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table in as many parts as it needs; one with a header has no drawings, because the numbers are beside them."""
        columns = [column for column in shown_columns(self._table) if not (column.drawn and self._table.header)]
        if not self._table.header:
            columns = [replace(column, name="") for column in columns]
        groups = [columns[:1]]
        for column in columns[1:]:
            if sum(map(_least, (*groups[-1], column))) > options.max_width and len(groups[-1]) > 1:
                groups.append(columns[:1])
            groups[-1].append(column)
        for number, group in enumerate(groups):
            yield from [""] if number else []
            yield _grid(self._table, group)


def _least(column: Column) -> int:
    """Return the least width of a column with its interval and the blanks behind it."""
    interval = max(map(len, column.details), default=0)
    return _width(column) + 2 + (interval and interval + 2)


def _width(column: Column) -> int:
    """Return the least width of the cells: a number is never cut, a text folds."""
    width = max(map(display_width, (*column.texts, *column.name.split())), default=0)
    return BAR if column.drawn else width if column.numeric else min(width, FOLDED)


def _grid(table: model.Table, columns: Sequence[Column]) -> RichTable:
    """Return these columns of a table, each interval in its own column."""
    grid = RichTable(box=RULED, show_edge=False, show_header=table.header, padding=(0, 1, 0, 0), header_style="")
    for column in columns:
        name = Text(shorten(visible(column.name), CELL))
        grid.add_column(name, justify="right" if column.numeric else "left", overflow="fold", min_width=_width(column))
        if any(column.details):
            grid.add_column("", overflow="fold")
    for row in range(len(table.rows)):
        cells = [cell for column in columns for cell in _cells(column, row)]
        grid.add_row(*cells, end_section=row in table.rules and table.header)
    return grid


def _cells(column: Column, row: int) -> Iterator[Text]:
    """Yield the cell of a row, and its interval where the column has intervals."""
    cell, best = column.cells[row], row in column.best
    if isinstance(cell, model.Strip):
        yield _bar(cell)
    else:
        yield Text(f"{'*' * best}{shorten(visible(column.texts[row]), CELL)}", STYLES["title"] if best else "")
    if any(column.details):
        yield Text(column.details[row])


def _bar(strip: model.Strip) -> Text:
    """Return the pieces as dashes, without the track behind them."""
    text = Text()
    for start, end, kind, _ in strip.pieces:
        if kind != "track":
            text = Text(" " * round(BAR * start) + "-" * max(1, round(BAR * end) - round(BAR * start)), STYLES.get(kind, ""))
    return text


def _trees(trees: model.Trees) -> RenderableType:
    """Return the two trees side by side, each lemma with its relation, and the sign of the edit between them."""
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    grid.add_row(*(Text(name, STYLES["quiet"]) for name in ("reference", "", "hypothesis")))
    for row in trees.rows:
        sides = _node(row.reference), _node(row.hypothesis)
        style = STYLES["quiet"] if row.kind == "match" else STYLES[row.kind]
        grid.add_row(sides[0], Text(SIGNS[row.kind], style), sides[1])
    return grid


def _node(node: model.TreeNode | None) -> Text:
    if node is None:
        return Text()
    relation = f" ({node.relation})" if node.relation else ""
    return Text.assemble("  " * node.depth + visible(node.label), (visible(relation), STYLES["quiet"]))
