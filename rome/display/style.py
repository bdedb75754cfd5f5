"""The style of every fragment: the palette in light and dark, and the rules of style.css, all of them under ``.rome``."""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["PALETTE", "STYLE"]

PALETTE = {
    "ground": ("#ffffff", "#15181b"),
    "raised": ("#f1f4f7", "#20252a"),
    "line": ("#d0d6dc", "#3b434b"),
    "ink": ("#1b1c1e", "#e7e9eb"),
    "soft": ("#545b63", "#a7afb7"),
    "link": ("#0b5cad", "#7db8f2"),
    "bar": ("#0072b2", "#4a9fe3"),
    "up": ("#0072b2", "#4a9fe3"),
    "down": ("#b84a00", "#f2914f"),
    "critical": ("#8c0d4f", "#ff7ab8"),
    "major": ("#b3261e", "#ff8f85"),
    "minor": ("#7f5600", "#e3b558"),
    "change": ("#7b3fa0", "#cda4ec"),
    "insert": ("#00695c", "#5fc7b4"),
    "delete": ("#b84a00", "#f2914f"),
    "heat1": ("#e4eef7", "#1d2e3c"),
    "heat2": ("#b9d6ea", "#264a66"),
    "heat3": ("#84b6d9", "#33658c"),
    "heat4": ("#2473a8", "#69ade0"),
    "heat5": ("#00406b", "#a9d8fb"),
    "pale": ("#ffffff", "#0d1a25"),
}
"""Each colour in light and in dark. ``pale`` is the text on heat4 and heat5; on the others it is ``ink``."""

_LIGHT_PLACES = ("[data-theme=light]", "[data-jp-theme-light=true]", ".vscode-light", "[data-md-color-scheme=default]")
_DARK_PLACES = ("[data-theme=dark]", "[data-jp-theme-light=false]", ".vscode-dark", "[data-md-color-scheme=slate]")


def _variables(dark: bool) -> str:
    """The declarations of one side of the palette."""
    colours = "".join(f"--rome-{name}:{pair[dark]};" for name, pair in PALETTE.items())
    return f"color-scheme:{'dark' if dark else 'light'};{colours}"


def _under(places: tuple[str, ...]) -> str:
    """The selector of a ``.rome`` inside one of the places, or itself one of them."""
    return f":is({','.join(places)}) .rome,.rome:is({','.join(places)})"


def _style() -> str:
    """Palette, then rules, without comments and needless blanks."""
    rules = files("rome.display").joinpath("style.css").read_text(encoding="utf-8")
    rules = re.sub(r"/\*.*?\*/", "", rules, flags=re.S)
    rules = re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", rules)).strip()
    return (
        f".rome{{{_variables(False)}}}@media(prefers-color-scheme:dark){{.rome{{{_variables(True)}}}}}"
        f"{_under(_LIGHT_PLACES)}{{{_variables(False)}}}{_under(_DARK_PLACES)}{{{_variables(True)}}}{rules}"
    )


STYLE = _style()
"""The CSS of all fragments, for one ``<style>`` on a page: light or dark by the reader's preference, ``[data-theme=light|dark]`` or the
notebook's theme."""
