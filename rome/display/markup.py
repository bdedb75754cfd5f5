"""HTML made safely: texts are escaped once, here; a fragment is a str of its own type, so that a checker sees a forgotten escape."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import NewType

__all__ = ["Html", "Value", "disclosure", "drawing", "element", "escaped", "joined", "number", "signed"]

Html = NewType("Html", str)
"""Text that is HTML already: what `escaped` and `element` return."""

Value = str | int | float | bool | None
"""Of an attribute: True writes its bare name, None and False leave it out."""

_VOID = frozenset(("br", "hr", "img", "input", "meta", "link", "wbr"))
_DRAWN = frozenset(("circle", "line", "path", "polygon", "polyline", "rect"))
_ODD = {ord("\r"): "&#13;", ord("\0"): "\ufffd"}


def escaped(text: object) -> Html:
    """The text with everything that HTML could take for markup made harmless, in content and in attributes alike.

    Unescaping gives the text back, but for a NUL character, which HTML has no place for (it becomes U+FFFD).
    """
    return Html(html.escape(str(text)).translate(_ODD))


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Fragments one after the other; ``between`` is escaped."""
    return Html(escaped(between).join(parts))


def element(tag: str, *children: Html, **attributes: Value) -> Html:
    """``<tag attribute="…">children</tag>``; the children are HTML, the attributes' values are escaped here.

    ``class_`` and ``for_`` lose their last underscore, the others become hyphens: ``aria_label="…"``. Floats are written short.
    """
    start = tag + "".join(
        _attribute(name, value) for name, value in attributes.items() if value is not None and value is not False
    )
    if tag in _VOID:
        return Html(f"<{start}>")
    if tag in _DRAWN and not children:
        return Html(f"<{start}/>")
    return Html(f"<{start}>{''.join(children)}</{tag}>")


def drawing(width: float, height: float, *children: Html, label: str | None, **attributes: Value) -> Html:
    """An ``<svg>`` of this size in pixels; label is read aloud in its place, None makes it decoration."""
    spoken: dict[str, Value] = {"role": "img", "aria_label": label} if label is not None else {"aria_hidden": "true"}
    sizes: dict[str, Value] = {"viewBox": f"0 0 {number(width)} {number(height)}", "width": width, "height": height}
    return element("svg", *children, **{**sizes, **spoken, **attributes})


def disclosure(title: str, *children: Html, open: bool = False, note: str = "") -> Html:
    """A part that unfolds: ``<details>`` with its summary; note stands beside the title, quieter."""
    aside = [element("small", escaped(note))] if note else []
    summary = element("summary", escaped(title), *aside)
    return element("details", summary, *children, class_="rome-part", open=open)


def number(value: float, digits: int = 2) -> str:
    """At most this many decimals, without zeros at the end: ``0.5``, ``12``, ``-0.25`` (a hyphen, because drawings need one)."""
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def signed(value: float, digits: int = 3) -> str:
    """With its sign, a real minus and all decimals: ``+0.125``, ``−0.250``."""
    return f"{value:+.{digits}f}".replace("-", "\u2212")


def _attribute(name: str, value: Value) -> str:
    """`` name="value"``."""
    name = name.removesuffix("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{escaped(number(value) if isinstance(value, float) else value)}"'
