"""Alignment and flow as heat maps: words of the reference down, words of the hypothesis across."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rome.display.markup import Html, disclosure, drawing, element, escaped, joined, number
from rome.text_table import display_width, shorten

if TYPE_CHECKING:
    from rome.results import SegmentScore

__all__ = ["SHOWN", "heat_maps", "shade"]

SHOWN, CHARACTER, WIDEST, SMALLEST = 64, 6.8, 14, 0.005
"""Words of a side that are drawn at most; pixels of a character; characters of a label; the share of the highest below which is blank."""

WIDE, NARROW, MANY = 21.0, 17.0, 32
"""Pixels of a cell, and of a cell where a side has more than MANY words."""

SHADES = 5


def heat_maps(segment: SegmentScore) -> Html:
    """Both tables, folded; nothing without evidence or where a side has no words."""
    evidence = segment.evidence.semantic
    if evidence is None or not evidence.reference_words or not evidence.hypothesis_words:
        return Html("")
    rows, across = evidence.reference_words, evidence.hypothesis_words
    flow = evidence.flow / max(float(evidence.flow.sum()), 1e-12)
    figures = [
        _figure("Alignment: 100 × (1 − transport cost)", 1.0 - evidence.cost, rows, across, 1.0, "closeness"),
        _figure("Flow: % of the mass that goes from word to word", flow, rows, across, max(float(flow.max()), 1e-12), "flow"),
    ]
    drawn = [element("div", *figures, class_="rome-beside")]
    if max(len(rows), len(across)) > SHOWN:
        text = f"Only the first {SHOWN} words of a side are drawn, of {len(rows)} in the reference and {len(across)} in the hypothesis."
        drawn.append(element("p", escaped(text), class_="rome-note"))
    return disclosure("Alignment and flow as matrices", *drawn, note="reference down, hypothesis across")


def shade(value: float, highest: float) -> int:
    """Which of the five shades a value has, from 1 to 5, in equal steps up to the highest."""
    return min(SHADES, 1 + int(SHADES * value / highest))


def _figure(
    title: str, values: NDArray[np.float64], rows: Sequence[str], across: Sequence[str], highest: float, name: str
) -> Html:
    """One heat map under its title, with its scale. Values are in [0, highest]; blank cells are (next to) nothing."""
    rows, across = rows[:SHOWN], across[:SHOWN]
    left = CHARACTER * max(display_width(shorten(word, WIDEST)) for word in rows) + 10
    top = CHARACTER * max(display_width(shorten(word, WIDEST)) for word in across) + 10
    cell = WIDE if max(len(rows), len(across)) <= MANY else NARROW
    width, height = left + cell * len(across) + 2, top + cell * len(rows) + 2
    cells = [
        _cell(values[i, j], highest, left + cell * j, top + cell * i, cell, f"{rows[i]} – {across[j]}")
        for i, j in zip(*np.nonzero(values[: len(rows), : len(across)] >= SMALLEST * highest), strict=True)
    ]
    parts = [_grid(left, top, len(rows), len(across), cell), *cells, *_labels(rows, across, left, top, cell)]
    label = f"heat map of the {name}: {len(rows)} words of the reference down, {len(across)} of the hypothesis across"
    picture = drawing(width, height, joined(parts), label=label, class_="rome-heat")
    caption = element("figcaption", escaped(title), _scale(highest))
    return element("figure", caption, element("div", picture, class_="rome-scroll"), class_="rome-figure")


def _grid(left: float, top: float, rows: int, across: int, cell: float) -> Html:
    """The lines between the cells, in one path."""
    right, bottom = left + cell * across, top + cell * rows
    lines = [f"M{number(left)} {number(top + cell * i)}H{number(right)}" for i in range(rows + 1)]
    lines += [f"M{number(left + cell * j)} {number(top)}V{number(bottom)}" for j in range(across + 1)]
    return element("path", d="".join(lines), class_="rome-grid")


def _cell(value: float, highest: float, x: float, y: float, size: float, words: str) -> Html:
    """A shaded square with its number in it and the words as its title."""
    square = element("path", d=f"M{number(x)} {number(y)}h{number(size)}v{number(size)}h-{number(size)}Z")
    figure = element("text", escaped(_short(100.0 * value)), x=x + size / 2, y=y + size / 2 + 3.5)
    title = element("title", escaped(f"{words}: {100.0 * value:.1f}"))
    return element("g", title, square, figure, class_=f"rome-h{shade(value, highest)}")


def _short(value: float) -> str:
    """At most three characters: ``97``, ``1.5``, ``.4``."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0").removeprefix("0")


def _labels(rows: Sequence[str], across: Sequence[str], left: float, top: float, cell: float) -> Iterable[Html]:
    """The words beside and above the table."""
    for i, word in enumerate(rows):
        y = top + cell * (i + 0.5) + 4
        yield element("text", escaped(shorten(word, WIDEST)), x=left - 5, y=y, class_="rome-side")
    for j, word in enumerate(across):
        x = left + cell * (j + 0.5) + 4
        turned = f"translate({number(x)} {number(top - 5)})rotate(-90)"
        yield element("text", escaped(shorten(word, WIDEST)), transform=turned)


def _scale(highest: float) -> Html:
    """The five shades with the values where they begin."""
    steps = [
        element("span", escaped(f"{number(100.0 * highest * n / SHADES, 1)}"), class_=f"rome-h{n + 1}") for n in range(SHADES)
    ]
    return element(
        "span", *steps, element("span", escaped(number(100.0 * highest, 1))), class_="rome-steps", aria_label="scale"
    )
