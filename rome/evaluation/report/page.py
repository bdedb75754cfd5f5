"""The page of a report: one HTML file with tables that sort and filter, plots inside, and nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from rome.evaluation.report.cells import Column, as_table, exact, is_missing, shown_columns
from rome.evaluation.report.values import Figure, Report, Table
from rome.results.serialisation import plain

__all__ = ["page"]

FILTERED_FROM, LONG_TEXT, LONG_NAME, PINNED = 16, 32, 24, 30
MOST_ROWS = 1000
"""Rows of one table that the page shows; its file has them all."""

_PICTURES = {code: 0x2400 + code for code in (*range(9), *range(11, 13), *range(14, 32))} | {
    0x7F: 0x2421,
    9: 0x21E5,
    13: 0x240D,
}
ABSENT = (
    '<p class="absent">No plot: matplotlib was not installed when this report was made '
    '(<code>pip install "rome-metric[evaluate]"</code>). The numbers stand below.</p>'
)
NOTHING = '<p class="absent">There is nothing to plot.</p>'


def page(report: Report, plots: Mapping[str, str] | None) -> str:
    """The whole page as HTML, every text of the report escaped.

    plots : figure's name -> inline SVG for the figures that are not empty; None when matplotlib is absent: the page then says so
    and shows the figures' numbers. Its scripts and styles are allowed by their hashes, so that no text can ever become one.
    """
    assets = files("rome.evaluation.report")
    style, script = ((assets / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    parts = [_figure(part, plots) if not isinstance(part, Table) else _table_section(part) for part in report.parts]
    links = [(f"part-{part.name}", part.title) for part in report.parts] + [("manifest", "How this was made")]
    return Template((assets / "page.html").read_text(encoding="utf-8")).substitute(
        title=_text(report.title),
        introduction="\n".join(_paragraphs(report.introduction)),
        contents="\n".join(f'<li><a href="#{anchor}">{_text(title)}</a></li>' for anchor, title in links),
        parts="\n".join(parts),
        manifest=_manifest(plain(report.manifest)),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _hash(content: str) -> str:
    """How a content security policy names an allowed style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")


def _text(text: str) -> str:
    """A text that means nothing to HTML; control characters become their pictures, lone surrogates a replacement character."""
    return escape(text.translate(_PICTURES).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs where blank lines stand."""
    yield from (f"<p>{_text(' '.join(block.split()))}</p>" for block in text.split("\n\n") if block.strip())


def _note(note: str) -> str:
    return f'<p class="note">{_text(note)}</p>\n' if note else ""


def _table_section(table: Table) -> str:
    """A table with its title, note and file."""
    columns = shown_columns(table)
    best = '<p class="best">Bold: the best value of its column.</p>\n' if any(column.best for column in columns) else ""
    return (
        f'<section id="part-{table.name}">\n<h2>{_text(table.title)}</h2>\n{_note(table.note)}{_table(table, columns)}{best}'
        f'<p class="files">With every digit: <a href="tables/{table.name}.tsv">tables/{table.name}.tsv</a></p>\n</section>'
    )


def _figure(figure: Figure, plots: Mapping[str, str] | None) -> str:
    """A figure with its title, note, plot, files and numbers."""
    name, data = figure.name, as_table(figure)
    picture, opened = ABSENT if plots is None else NOTHING, " open"
    links = f'<a href="tables/{name}.tsv">tables/{name}.tsv</a>'
    if plots is not None and name in plots:
        frame = f'<div class="plot" role="region" tabindex="0" aria-label="{_text(figure.title)}, plot">'
        picture, opened = f"<figure>{frame}{plots[name]}</div></figure>", ""
        links = " · ".join([*(f'<a href="figures/{name}.{end}">{end.upper()}</a>' for end in ("png", "svg")), links])
    return (
        f'<section id="part-{name}">\n<h2>{_text(figure.title)}</h2>\n{_note(figure.note)}{picture}\n'
        f'<p class="files">Files: {links}</p>\n'
        f"<details{opened}><summary>The numbers of this figure</summary>\n{_table(data, shown_columns(data))}</details>\n</section>"
    )


def _table(table: Table, columns: tuple[Column, ...]) -> str:
    """The table itself, in a box that scrolls; a long one with a filter."""
    if not table.rows:
        return '<p class="absent">This table has no rows.</p>\n'
    kinds = [_kind(column) for column in columns]
    named = bool(columns) and not columns[0].numeric
    pinned = " pinned" if named and max(map(len, columns[0].texts), default=0) <= PINNED else ""
    head = "".join(
        f'<th scope="col"{_class(_head_kind(kind, column.name))}>{_text(column.name)}</th>'
        for kind, column in zip(kinds, columns, strict=True)
    )
    rows = "\n".join(f"<tr>{''.join(_row(row, columns, kinds, named))}</tr>" for row in range(min(len(table.rows), MOST_ROWS)))
    cut = f'<p class="note">The first {MOST_ROWS} of {len(table.rows)} rows; the file has them all.</p>\n'
    ident, title = f"table-{table.name}", _text(table.title)
    tools = _tools(ident) if len(table.rows) >= FILTERED_FROM else ""
    return (
        f'{cut if len(table.rows) > MOST_ROWS else ""}{tools}<div class="scroll" role="region" tabindex="0" aria-label="{title}, table">\n'
        f'<table id="{ident}" class="data{pinned}"><caption class="unseen">{title}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n"
    )


def _tools(ident: str) -> str:
    """The filter, the button that shows all rows and the number of rows; hidden where no script runs."""
    return (
        f'<div class="tools" id="{ident}-tools" hidden><label for="{ident}-filter">Filter rows</label>'
        f'<input id="{ident}-filter" type="search" autocomplete="off" spellcheck="false"> <button type="button" hidden></button>'
        f'<output for="{ident}-filter"></output></div>\n'
    )


def _kind(column: Column) -> str:
    """n for numbers, t for long texts, otherwise nothing."""
    if column.numeric:
        return "n"
    return "t" if any(len(text) > LONG_TEXT or text != " ".join(text.split()) for text in column.texts) else ""


def _head_kind(kind: str, name: str) -> str:
    """The column's kind, and w for a name so long that it may wrap."""
    return f"{kind} w".strip() if len(name) > LONG_NAME else kind


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _row(row: int, columns: tuple[Column, ...], kinds: list[str], named: bool) -> Iterator[str]:
    """The cells of one row; the first one is its header when it is a text."""
    for place, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        text, cell = _text(column.texts[row]), column.cells[row]
        missing = " m" if is_missing(cell) else ""
        number = exact(cell).replace("inf", "Infinity") if column.numeric else text
        value = f' data-v="{number}"' if not missing and (number != text or column.details[row]) else ""
        content = f"<strong>{text}</strong>" if row in column.best else text
        if column.details[row]:
            content = f"{content} <small>{_text(column.details[row])}</small>"
        if named and place == 0:
            yield f'<th scope="row"{_class(kind)}>{content}</th>'
        else:
            yield f"<td{_class((kind + missing).strip())}{value}>{content}</td>"


def _manifest(value: Any) -> str:
    """Plain values as nested lists."""
    if isinstance(value, Mapping) and value:
        rows = (f"<dt>{_text(str(name))}</dt><dd>{_manifest(inner)}</dd>" for name, inner in value.items())
        return f'<dl class="manifest">{"".join(rows)}</dl>'
    if isinstance(value, list) and any(isinstance(inner, (list, Mapping)) for inner in value):
        return f"<ul>{''.join(f'<li>{_manifest(inner)}</li>' for inner in value)}</ul>"
    if isinstance(value, list):
        value = ", ".join(str(inner) for inner in value)
    return _text("–" if value is None or value in ("", {}) else str(value))
