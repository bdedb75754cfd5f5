"""Figures of leaderboards and diagnoses as files, drawn with matplotlib.

Importing this module loads no matplotlib; drawing does, without pyplot, so that no window, no global figure and no backend is touched.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.exceptions import InputError, ModelMissingError
from rome.reports.html import PALETTE
from rome.reports.model import Bars, Heatmap, Lines
from rome.reports.model import Figure as Part
from rome.reports.tables import shown
from rome.storage.files import atomic_path
from rome.text_table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure


COLOURS = {name: pair[0] for name, pair in PALETTE.items()}
"""The colours of the light scheme: files have a white background."""
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f")
"""The colours of Okabe and Ito, which colour-blind people can distinguish, without yellow, which is too pale on white."""
DOTS_PER_INCH = 200
FORMATS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
NO_DATES: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}}
INKS = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), COLOURS["ink"])
MARKERS, STROKES = "osD^vPX", ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))
LABEL = 44
LOGARITHMIC_FROM = 30.0
"""The ratio of the last to the first x from which the axis is logarithmic (data sizes), unless the steps are even (ranks)."""


@contextmanager
def _settings() -> Iterator[None]:
    """Apply our settings over matplotlib's defaults and restore the user's afterwards; missing glyphs give no warning."""
    if find_spec("matplotlib") is None:
        raise ModelMissingError('figures need matplotlib: run `pip install "rome-metric[evaluate]"`')
    from matplotlib import style

    with (
        style.context(["default", "rome.reports.figures", {**INKS, "axes.edgecolor": COLOURS["soft"]}]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the name; the same figure gives the same bytes.

    The file appears whole or not at all. Raises InputError for another ending and for a path that cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"{os.fspath(path)} must end in .png, .svg or .pdf, got {ending or 'no ending'}")
    sizes: dict[str, Any] = {"dpi": DOTS_PER_INCH, "facecolor": "white", "bbox_inches": "tight", "pad_inches": 0.1}
    kind = FORMATS[ending]
    with atomic_path(path) as temporary, _settings():
        figure.savefig(temporary, format=kind, metadata=NO_DATES[kind], **sizes)


@_settings()
def draw(figure: Part) -> Figure:
    """Return a figure of `Findings.figures` as a matplotlib figure; the same figure gives the same file.

    Raises ModelMissingError without matplotlib.
    """
    if isinstance(figure, Heatmap):
        longest = max(len(shown(float(value), figure.digits)) for value in figure.values.flat)
        rows = len(figure.rows) + len(set(figure.groups))
        canvas = _canvas(2.6 + max(0.5, 0.085 * longest + 0.16) * len(figure.columns), 1.4 + 0.25 * rows)
        image = heat(canvas.subplots(), figure)
        if figure.axis:
            canvas.colorbar(image, label=shorten(figure.axis, 30), shrink=0.6, fraction=0.05)
        return canvas
    if isinstance(figure, Bars):
        canvas = _canvas(7.5, 0.29 * len(figure.labels) + 0.7)
        _bars(canvas.subplots(), figure)
    else:
        canvas = _canvas(8.0, max(3.6, 0.2 * len(figure.series) + 0.4))
        _lines(canvas.subplots(), figure)
    return canvas


def _canvas(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, without a window and outside pyplot's list of open figures."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def heat(axes: Any, figure: Heatmap) -> Any:
    """Draw a heat map: one cell per value with its number, each group of rows below its name; a missing value is blank, or a dash."""
    values, names = _grouped(figure)
    finite = values[np.isfinite(values)]
    low, high = figure.ends or ((float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0))
    if low == high:
        low, high = low - 1.0, high + 1.0
    colours = _shades("both" if figure.signed else "heat5")
    image = axes.pcolormesh(values, cmap=colours, vmin=low, vmax=high, edgecolors="white", linewidth=1.2)
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value) or figure.signed:
            share = abs(value) / high if figure.signed else (value - low) / (high - low)
            ink = "white" if share > 0.62 else COLOURS["ink"]
            text = shown(float(value), figure.digits).replace("-", "−")
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=ink)
    axes.invert_yaxis()
    axes.set_yticks(np.arange(len(names)) + 0.5, [shorten(name, LABEL) for name, _ in names])
    for tick, (_, bold) in zip(axes.get_yticklabels(), names, strict=True):
        tick.set_fontweight("bold" if bold else "normal")
    axes.xaxis.tick_top()
    slant = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"}
    axes.set_xticks(np.arange(values.shape[1]) + 0.5, [shorten(name, LABEL) for name in figure.columns], **slant)
    _bare(axes)
    return image


def _grouped(figure: Heatmap) -> tuple[Any, list[tuple[str, bool]]]:
    """Return the values with an empty row before each group, and the names of the rows, True for those of groups."""
    if not figure.groups:
        return np.asarray(figure.values, dtype=np.float64), [(name, False) for name in figure.rows]
    rows, names, gap = [], list[tuple[str, bool]](), np.full(len(figure.columns), np.nan)
    for group, places in groupby(range(len(figure.rows)), key=lambda place: figure.groups[place]):
        rows.append(gap)
        names.append((group, True))
        for place in places:
            rows.append(np.asarray(figure.values[place], dtype=np.float64))
            names.append((figure.rows[place], False))
    return np.stack(rows), names


def _bars(axes: Any, figure: Bars) -> None:
    """Draw horizontal bars from zero in the order given, the interval as a line across the end, the number at the right."""
    values = np.nan_to_num(np.asarray(figure.values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    places = np.arange(len(values))
    axes.barh(places, values, height=0.62, color=COLOURS["bar"], alpha=0.62, linewidth=0)
    ends = [np.asarray(end or figure.values, dtype=np.float64) for end in (figure.low, figure.high)]
    if figure.low or figure.high:
        axes.hlines(places, *ends, color=COLOURS["ink"], linewidth=1.1)
        for end in ends:
            axes.plot(end, places, linestyle="none", marker="|", markersize=6, color=COLOURS["ink"])
    for place, (value, number) in enumerate(zip(figure.values, values, strict=True)):
        right = max(float(np.nan_to_num(ends[1][place], posinf=0.0, neginf=0.0)), float(number), 0.0)
        axes.annotate(shown(value, figure.digits), (right, place), (6, 0), textcoords="offset points", va="center", ha="left")
    axes.set_yticks(places, [shorten(name, LABEL) for name in figure.labels])
    axes.set(ylim=(len(values) - 0.4, -0.6), xlabel=shorten(figure.axis, 90))
    axes.margins(x=0.12)
    axes.axvline(0, color=COLOURS["ink"], linewidth=0.8)
    _bare(axes)
    axes.grid(axis="x", color=COLOURS["soft"], alpha=0.3, linewidth=0.6)


def _lines(axes: Any, figure: Lines) -> None:
    """Draw one line per series with its own markers and strokes, bands for intervals, names at the right; a wide x axis is logarithmic."""
    drawn = []
    for number, (name, ys) in enumerate(figure.series.items()):
        turn, rest = divmod(number, len(SERIES))
        style = {"marker": MARKERS[(number + turn) % len(MARKERS)], "linestyle": STROKES[(number + 2 * turn) % len(STROKES)]}
        if name in figure.low and name in figure.high:
            axes.fill_between(figure.x, figure.low[name], figure.high[name], color=SERIES[rest], alpha=0.15, linewidth=0)
        drawn += axes.plot(figure.x, ys, color=SERIES[rest], markersize=5, linewidth=1.6, **style)
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
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=COLOURS["soft"], alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)


def _shades(name: str) -> Any:
    """Return colours from white to one of the palette, or, for ``both``, from orange over white to blue."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [COLOURS["down"], "#ffffff", COLOURS["up"]] if name == "both" else ["#f4f8fc", COLOURS[name]]
    return LinearSegmentedColormap.from_list(f"rome-{name}", ends)


def _bare(axes: Any) -> None:
    """Remove the frame and the lines of the ticks."""
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
