"""HTML from templates: every text is escaped, a page fetches nothing, and its policy allows only its own style and script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from rome.reports.model import Document, Heatmap, Strip, TreeNode
from rome.reports.segment import kind_of, pieces, places_of, sides_of
from rome.reports.tables import Column, shown, shown_columns
from rome.text_table import clean, display_width, shorten

PALETTE: dict[str, list[str]] = json.loads(files("rome.reports").joinpath("palette.json").read_text(encoding="utf-8"))
"""Each colour in light and in dark. ``less`` are the shades of negative numbers. Texts on the fourth and fifth shade are ``pale``, others
``ink``."""

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}


@cache
def environment() -> Environment:
    """Return the templates of this package with the functions that they call."""
    made = Environment(
        loader=PackageLoader("rome.reports", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_clean,
    )
    made.filters |= {"display_width": display_width, "shorten": shorten, "pieces": pieces, "kind_of": kind_of}
    made.filters |= {"places_of": places_of, "sides_of": sides_of, "columns": shown_columns, "cell": _cell, "minus": _minus}
    made.filters |= {"node_width": _node_width, "numbers": _numbers, "places": _places}
    made.filters["part_name"] = lambda part: type(part).__name__
    made.tests["drawing"] = lambda cell: isinstance(cell, Strip)
    return made


def fragment(document: Document) -> str:
    """Render a document without its style and signature, for a page that has `STYLE` once and puts it under ``.rome``.

    It has no script and no ``id``, everything is escaped, and the same document gives the same text, so a page may hold many.
    """
    return environment().get_template("document.html").render(document=document)


def notebook(document: Document) -> str:
    """Render a document for a notebook: the fragment with its style and its signature; nothing is fetched and no script runs."""
    return f'<div class="rome"><style>{STYLE}</style>{_signed(document)}</div>'


def document_page(*documents: Document, title: str = "RoMe") -> str:
    """Render documents as a whole page for a file: it fetches nothing, and its policy forbids scripts."""
    frame = "body{margin:0 auto;padding:1rem;max-width:76rem}"
    dark = f"@media(prefers-color-scheme:dark){{body{{background:{PALETTE['ground'][1]}}}}}"
    body = f'<div class="rome">{_signed(*documents)}</div>'
    return page("single.html", title=title, style=frame + dark + STYLE, body=Markup(body))


def _signed(*documents: Document) -> str:
    """Render documents with their signatures below them, each once."""
    signatures = dict.fromkeys(document.signature for document in documents if document.signature)
    lines = [f'<p class="rome-signature">signature {escape(signature)}</p>' for signature in signatures]
    return "<hr>".join(map(fragment, documents)) + "".join(lines)


def page_style(name: str) -> str:
    """Return the palette in the scheme that the reader prefers, the rules that all pages share, and those of one page."""
    return _colours(":root") + asset("base.css") + asset(name)


def asset(name: str) -> str:
    """Return a style or a script of this package."""
    return files("rome.reports").joinpath(name).read_text(encoding="utf-8")


def page(template: str, *, title: str, style: str, script: str = "", connect: str = "'none'", **values: Any) -> str:
    """Render a whole page, to which `policy` allows only its own style and script."""
    trusted = {"policy": Markup(policy(style, script, connect)), "style": Markup(style), "script": Markup(script)}
    return environment().get_template(template).render(title=title, **trusted, **values)


def policy(style: str, script: str = "", connect: str = "'none'") -> str:
    """Return a content security policy: a style and a script by their hashes, and the addresses that the script may ask."""
    allowed = f"style-src {_hash(style)}; script-src {_hash(script) if script else chr(39) + 'none' + chr(39)}"
    return f"default-src 'none'; {allowed}; connect-src {connect}; img-src data:; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    """Return the name of an allowed style or script in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode('utf-8')).digest()).decode('ascii')}'"


def _clean(value: object) -> object:
    """Return a text as any page can hold it: replace control characters by their pictures, and half a surrogate pair."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return clean(value.translate(_PICTURES))
    return value


def _minus(text: str) -> str:
    """Replace the hyphen before a number by a minus; a hyphen between letters stays."""
    return re.sub(r"(?<!\w)-(?=[\d.])", "\u2212", text)


def _cell(column: Column, row: int) -> str:
    """Return the text of a cell, with a real minus where it is a number, or a number with its unit."""
    return _minus(column.texts[row]) if column.numeric or column.name == "raw" else column.texts[row]


def _numbers(figure: Heatmap) -> list[list[tuple[float, str]]]:
    """Return the values of a heat map with their texts."""
    return [[(value, _minus(shown(value, figure.digits))) for value in row] for row in figure.values.tolist()]


def _node_width(node: TreeNode) -> float:
    """Return the pixels from the left side of the drawing of a tree to the end of a node."""
    words = shorten(node.label, 18) + shorten(node.relation, 18)
    return round(24.5 + 12 * min(node.depth, 12) + 8.8 * display_width(words))


def _places(value: float) -> str:
    """Return a length in a drawing with at most two decimals."""
    return f"{round(value, 2):.6g}"


def _colours(scope: str) -> str:
    """Return the palette as CSS variables."""
    return environment().get_template("colours.css").render(scope=scope, palette=PALETTE)


def _squeezed(css: str) -> str:
    """Return CSS without comments and superfluous blanks."""
    rules = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", css, flags=re.S)).strip()
    return re.sub(r"\s*([{};,])\s*", r"\1", rules)


STYLE = _squeezed(_colours(".rome") + asset("style.css"))
"""The CSS of all fragments, for one ``<style>`` on a page."""
