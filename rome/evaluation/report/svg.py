"""matplotlib's SVG made lean and safe to put into a page: no style attributes, no scripts, no names that clash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

__all__ = ["inline_svg", "standalone_svg"]

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_DROPPED = ("metadata", "style")
_TOKEN = re.compile(r"url\(#([^)]+)\)")
_FONT_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")
_POINT = 4 / 3


def inline_svg(drawn: str, prefix: str, description: str, ink: str) -> str:
    """An ``<svg>`` element for an HTML page whose ink takes the page's text colour.

    prefix : put before every name inside, so that several pictures share a page. description : its alternative text.
    """
    root = _lean(drawn, f"{prefix}-")
    root.set("role", "img")
    root.set("aria-label", _clean(description))
    for element in root.iter():
        for key in ("fill", "stroke"):
            if element.get(key) == ink:
                element.set(key, "currentColor")
    return ElementTree.tostring(root, encoding="unicode")


def standalone_svg(drawn: str, title: str, description: str) -> str:
    """An SVG file on white ground, so that it reads wherever it is put."""
    root = _lean(drawn, "")
    root.set("xmlns", "http://www.w3.org/2000/svg")
    ground = ElementTree.Element("rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    x, y, width, height = root.get("viewBox", "0 0 0 0").split()
    ground.attrib.update({"x": x, "y": y, "width": width, "height": height})
    texts = [ElementTree.Element(tag) for tag in ("title", "desc")]
    texts[0].text, texts[1].text = _clean(title), _clean(description)
    root[:0] = [*texts, ground]
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    """The text without characters that XML has no place for."""
    return "".join(char if char.isprintable() else " " for char in text)


def _lean(drawn: str, prefix: str) -> ElementTree.Element:
    """The drawing without namespaces, metadata, comments and unused names; sizes in pixels."""
    root = ElementTree.fromstring(drawn)
    for parent in root.iter():
        for child in [child for child in parent if child.tag in {_SVG + tag for tag in _DROPPED}]:
            parent.remove(child)
    used = set(_used(root))
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        attributes = dict(_attributes(element, used, prefix))
        element.attrib.clear()
        element.attrib.update(attributes)
        if element.tag not in ("text", "tspan"):
            element.text = None
        element.tail = None
    for side in ("width", "height"):
        root.set(side, f"{float(root.get(side, '0').removesuffix('pt')) * _POINT:.0f}")
    root.attrib.update({"stroke-linejoin": "round", "font-family": "'DejaVu Sans', Verdana, sans-serif"})
    return root


def _used(root: ElementTree.Element) -> Iterator[str]:
    """The names that something inside refers to."""
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == _XLINK + "href":
                yield value.removeprefix("#")
            yield from _TOKEN.findall(value)


def _attributes(element: ElementTree.Element, used: set[str], prefix: str) -> Iterator[tuple[str, str]]:
    """The attributes with every style declaration as an attribute of its own (a strict page refuses style attributes)."""
    for key, value in element.attrib.items():
        value = _TOKEN.sub(rf"url(#{prefix}\1)", value)
        if key == "style":
            yield from _declarations(value)
        elif key == "id":
            if value in used:
                yield "id", prefix + value
        elif key == _XLINK + "href":
            yield "href", "#" + prefix + value.removeprefix("#")
        elif not key.startswith("{") and key != "version":
            yield key, value


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    """Each declaration as an attribute; of a font its size and weight, the family stands at the root."""
    for declaration in style.split(";"):
        name, _, value = (piece.strip() for piece in declaration.partition(":"))
        if name == "font":
            yield from (("font-size", size) for size in _FONT_SIZE.findall(value)[:1])
            if "bold" in value or "700" in value:
                yield "font-weight", "bold"
        elif name and name != "font-family":
            yield name, value.removesuffix("px") if name == "font-size" else value
