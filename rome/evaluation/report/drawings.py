"""The four figures drawn with matplotlib: sizes follow the data, and no meaning rests on colour alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.report.cells import shown
from rome.evaluation.report.values import Bars, Heatmap, Lines, Scatter
from rome.text_table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["INK", "draw_bars", "draw_heatmap", "draw_lines", "draw_scatter"]

INK = "#1b1c1e"
"""Text and axes; the page puts its own text colour in its place."""

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f")
"""Okabe and Ito's colours, which colour-blind people tell apart, but for the yellow one, which white paper swallows."""

MARKERS, STROKES = "osD^vPX", ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))
GREY, BLUE = "#808080", PALETTE[0]
PALEST, DEPTH = 0.07, 0.88
LABEL = 44
AROUND = (
    *(("left", 6, dy) for dy in (0, 8, -8)),
    *(("right", -6, dy) for dy in (0, 8, -8)),
    *(("center", 0, dy) for dy in (11, -11)),
)
"""Where a label may stand around its point: the side of the text that is near, and how far to the right and up, in points."""

LOGARITHMIC_FROM = 30.0
"""An x axis whose last value is so many times its first is logarithmic (data sizes), unless the values stand at even steps (ranks)."""


def draw_heatmap(figure: Heatmap) -> Canvas:
    """One cell a value, a gap with the group's name before each group, and a scale of colours at the side."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure as Canvas

    values = np.asarray(figure.values, dtype=np.float64)
    tops, titles, height = _rows_of(figure)
    longest = max(len(shown(float(value), figure.digits)) for value in values.flat)
    wide, tall = max(0.5, 0.085 * longest + 0.16), 0.25
    size = (wide * len(figure.columns), tall * height)
    canvas = Canvas(figsize=(size[0] + 1.0, size[1]))
    axes: Any = canvas.add_axes((0, 0, size[0] / (size[0] + 1.0), 1), xlim=(0, len(figure.columns)), ylim=(height, 0))
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    norm, colours = Normalize(*((low, high) if high > low else (low - 1.0, low + 1.0))), colormaps["Blues"]
    for top, row in zip(tops, values, strict=True):
        _draw_cells(axes, top, row, [colours(PALEST + DEPTH * float(norm(value))) for value in row], figure.digits)
    for top, title in titles:
        axes.text(0, top + 0.68, shorten(title, LABEL), fontweight="bold", ha="left", va="center")
    axes.set_yticks([top + 0.5 for top in tops], [shorten(name, LABEL) for name in figure.rows])
    middles = np.arange(len(figure.columns)) + 0.5
    axes.xaxis.tick_top()
    axes.set_xticks(middles, [shorten(name, LABEL) for name in figure.columns], rotation=40, ha="left", rotation_mode="anchor")
    axes.tick_params(length=0, pad=4)
    axes.spines[:].set_visible(False)
    if high > low:
        _draw_scale(canvas, size, (low, high), colours, figure)
    return canvas


def _rows_of(figure: Heatmap) -> tuple[list[float], list[tuple[float, str]], float]:
    """Where each row starts, where each group's title stands, and the height of all, in rows."""
    tops, titles, place = [], [], 0.0
    for name, rows in groupby(figure.groups or [""] * len(figure.rows)):
        if name:
            titles.append((place, name))
            place += 1.2
        for _ in rows:
            tops.append(place)
            place += 1.0
    return tops, titles, place


def _draw_cells(axes: Any, top: float, row: NDArray[np.float64], colours: Sequence[Any], digits: int) -> None:
    """One row of cells, each with its number in the colour that reads better on it."""
    from matplotlib.patches import Rectangle

    for place, (value, colour) in enumerate(zip(row, colours, strict=True)):
        if math.isfinite(value):
            luminance = float(np.dot(np.asarray(colour[:3]) ** 2.2, (0.2126, 0.7152, 0.0722)))
            ink, text = "#ffffff" if luminance < 0.19 else "#08121c", shown(float(value), digits)
            cell = axes.add_patch(Rectangle((place + 0.02, top + 0.03), 0.96, 0.94, facecolor=colour, edgecolor="none"))
            number = axes.text(place + 0.5, top + 0.5, text, color=ink, ha="center", va="center", fontsize=8)
            cell.set_in_layout(False)
            number.set_in_layout(False)


def _draw_scale(canvas: Canvas, size: tuple[float, float], ends: tuple[float, float], colours: Any, figure: Heatmap) -> None:
    """The scale of colours right of the cells, with the ends' numbers."""
    width, height = size[0] + 1.0, min(size[1], 2.2)
    axes: Any = canvas.add_axes(
        ((size[0] + 0.25) / width, 1 - height / size[1], 0.14 / width, height / size[1]), xlim=(0, 1), ylim=ends
    )
    steps = np.linspace(*ends, 33)
    for start, end, share in zip(steps, steps[1:], np.linspace(0, 1, 32), strict=False):
        axes.axhspan(start, end, color=colours(PALEST + DEPTH * share), linewidth=0.3)
    axes.set_xticks([])
    axes.yaxis.tick_right()
    axes.set_yticks(ends, [shown(end, figure.digits) for end in ends])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if figure.axis:
        axes.yaxis.set_label_position("right")
        axes.set_ylabel(shorten(figure.axis, 30), labelpad=-10 if len(shown(ends[1], figure.digits)) < 6 else 0)


def draw_bars(figure: Bars) -> Canvas:
    """Horizontal bars from zero in the order given, the interval as a line across the end, the number at the right."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(6.2, 0.29 * len(figure.labels) + 0.5))
    axes: Any = canvas.add_axes((0, 0, 1, 1))
    values = np.nan_to_num(np.asarray(figure.values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    places = np.arange(len(values))
    axes.barh(places, values, height=0.62, color=BLUE, alpha=0.62, linewidth=0)
    ends = [np.asarray(end or figure.values, dtype=np.float64) for end in (figure.low, figure.high)]
    if figure.low or figure.high:
        axes.hlines(places, *ends, color=INK, linewidth=1.1)
        for end in ends:
            axes.plot(end, places, linestyle="none", marker="|", markersize=6, color=INK)
    for place, (value, number) in enumerate(zip(figure.values, values, strict=True)):
        right = max(float(np.nan_to_num(ends[1][place], posinf=0.0, neginf=0.0)), float(number), 0.0)
        axes.annotate(shown(value), (right, place), (6, 0), textcoords="offset points", va="center", ha="left")
    axes.set_yticks(places, [shorten(label, LABEL) for label in figure.labels])
    axes.set(ylim=(len(values) - 0.4, -0.6), xlabel=shorten(figure.axis, 90))
    axes.margins(x=0.12)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.spines[["left", "top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GREY, alpha=0.3, linewidth=0.6)
    return canvas


def draw_lines(figure: Lines) -> Canvas:
    """A line a series with markers and strokes of its own, bands where there are intervals, names at the right; wide x logarithmic."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(6.2, max(3.6, 0.2 * len(figure.series) + 0.4)))
    axes: Any = canvas.add_axes((0, 0, 1, 1))
    drawn = []
    for number, (name, ys) in enumerate(figure.series.items()):
        turn, rest = divmod(number, len(PALETTE))
        colour, marker, stroke = (
            PALETTE[rest],
            MARKERS[(number + turn) % len(MARKERS)],
            STROKES[(number + 2 * turn) % len(STROKES)],
        )
        if name in figure.low and name in figure.high:
            axes.fill_between(figure.x, figure.low[name], figure.high[name], color=colour, alpha=0.15, linewidth=0)
        drawn += axes.plot(figure.x, ys, color=colour, marker=marker, markersize=5, linewidth=1.6, linestyle=stroke)
    even = len(figure.x) > 2 and np.allclose(np.diff(figure.x), figure.x[1] - figure.x[0])
    if min(figure.x) > 0 and max(figure.x) >= LOGARITHMIC_FROM * min(figure.x) and not even:
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if len(figure.x) <= 10:
        axes.set_xticks(figure.x, [f"{x:g}" for x in figure.x])
    axes.set(xlabel=shorten(figure.x_label, 90), ylabel=shorten(figure.y_label, 60))
    names = [shorten(name, LABEL) for name in figure.series]
    axes.legend(drawn, names, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, handlelength=3)
    _open_axes(axes)
    return canvas


def draw_scatter(figure: Scatter) -> Canvas:
    """A point a label; names stand beside their points where they find room, the data hold them all."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(6.2, 5.0))
    axes: Any = canvas.add_axes((0, 0, 1, 1))
    axes.plot(figure.x, figure.y, linestyle="none", marker="o", markersize=6, color=BLUE, markeredgewidth=0)
    axes.margins(0.08)
    axes.set(xlabel=shorten(figure.x_label, 90), ylabel=shorten(figure.y_label, 70))
    axes.get_xlim(), axes.get_ylim()  # settles the limits, which the places of the points depend on
    points = axes.transData.transform(np.column_stack([figure.x, figure.y]).astype(np.float64)) * 72 / canvas.dpi
    labels = [shorten(label, 24) for label in figure.labels]
    frame = axes.get_window_extent().transformed(canvas.dpi_scale_trans.inverted())
    for number, offset, side in _placed(points, labels, frame):
        place = (figure.x[number], figure.y[number])
        axes.annotate(labels[number], place, offset, textcoords="offset points", ha=side, va="center", fontsize=8.5)
    _open_axes(axes)
    return canvas


def _placed(points: NDArray[np.float64], labels: Sequence[str], frame: Any) -> Iterator[tuple[int, tuple[float, float], str]]:
    """Which labels find room, how far from their point, and which side of the text stands there; all in points of 1/72 inch.

    Each label tries eight places around its point and takes the first that touches no point, no earlier label and no edge.
    """
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    edges = (frame.x0 * 72, frame.y0 * 72, frame.x1 * 72 + 60, frame.y1 * 72 + 20)
    for number, ((x, y), label) in enumerate(zip(points, labels, strict=True)):
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        width = 5.4 * len(label)
        for side, dx, dy in AROUND:
            left = x + dx - {"left": 0.0, "right": width, "center": width / 2}[side]
            box = (left, y + dy - 5, left + width, y + dy + 5)
            inside = box[0] > edges[0] and box[1] > edges[1] and box[2] < edges[2] and box[3] < edges[3]
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield number, (dx, dy), side
                break


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two boxes (left, bottom, right, top) share a place."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _open_axes(axes: Any) -> None:
    """Axes at the left and below, and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=GREY, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
