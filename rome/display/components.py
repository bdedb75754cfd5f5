"""The four components as bars: value, raw quantity and its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rome.display.markup import Html, disclosure, element, escaped, number

if TYPE_CHECKING:
    from rome.features.values import Component
    from rome.results import SegmentScore

__all__ = ["bar", "components", "sentences"]


def bar(value: float, *, kind: str = "bar") -> Html:
    """A bar from 0 to 1 as wide as its place; decoration, because the number stands beside it. kind : a colour of the palette."""
    width = number(100.0 * min(1.0, max(0.0, value)), 1) if value == value else "0"
    parts = (
        element("path", d="M0 0H100V8H0Z", class_="rome-track"),
        element("path", d=f"M0 0H{width}V8H0Z", class_=f"rome-{kind}"),
    )
    return element("svg", *parts, viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true")


def components(segment: SegmentScore) -> Html:
    """One row a feature: name, bar, value, and the raw quantity in its unit."""
    rows = [
        element(
            "tr",
            element("th", escaped(component.name), scope="row"),
            element("td", bar(component.value)),
            element("td", escaped(f"{component.value:.3f}")),
            element("td", escaped(f"{number(component.raw, 3)} {_unit(component)}".replace("-", "\u2212", component.raw < 0))),
        )
        for component in segment.components
    ]
    caption = element("caption", escaped("Components"), element("small", escaped(" from 0 to 1, 1 is best")))
    return element("table", caption, element("tbody", *rows), class_="rome-bars")


def _unit(component: Component) -> str:
    """The unit of the raw quantity, in the singular for one."""
    return component.unit.removesuffix("s") if component.raw == 1.0 else component.unit


def sentences(segment: SegmentScore) -> Html:
    """What `grammar` was made of: each sentence of the hypothesis with its two probabilities; nothing without evidence or sentences."""
    evidence = segment.evidence.grammar
    if evidence is None or not evidence.sentences:
        return Html("")
    heads = element("tr", *(element("th", escaped(name), scope="col") for name in ("acceptable", "its words", "sentence")))
    rows = [
        element(
            "tr",
            element("td", escaped(f"{sentence.probability:.3f}")),
            element("td", escaped(f"{sentence.word_probability:.3f}")),
            element("td", escaped(" ".join(sentence.text.split())), dir="auto"),
        )
        for sentence in evidence.sentences
    ]
    table = element("table", element("thead", heads), element("tbody", *rows), class_="rome-table")
    count = len(evidence.sentences)
    return disclosure("Grammar by sentence", table, note=f"{count} sentence{'s' if count > 1 else ''}, two probabilities each")
