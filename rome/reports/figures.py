"""Figures of leaderboards and diagnoses as files, drawn with matplotlib.

Importing this module loads no matplotlib; drawing does, without pyplot, so that no window, no global figure and no backend is touched.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
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
NO_DATES: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}}
INKS = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), COLOURS["ink"])
LABEL = 44
"""Columns of a label at most."""


@contextmanager
def _settings() -> Iterator[None]:
    """Apply our settings over matplotlib's defaults and restore the user's afterwards; missing glyphs give no warning."""
    if find_spec("matplotlib") is None:
        raise ModelMissingError('figures need matplotlib: run `pip install "rome-metric[evaluate]"`')
    from matplotlib import style

    with style.context(["default", "rome.reports.figures", INKS]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the name; the same figure gives the same bytes.

    The file appears whole or not at all. Raises InputError for another ending and for a path that cannot be written.
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in NO_DATES:
        raise InputError(f"{os.fspath(path)} must end in .png, .svg or .pdf, got {kind or 'no ending'}")
    with atomic_path(path) as temporary, _settings():
        figure.savefig(temporary, format=kind, metadata=NO_DATES[kind], dpi=200, bbox_inches="tight")


@_settings()
def draw(figure: Part) -> Figure:
    """Return a figure of `Findings.figures` as a matplotlib figure; the same figure gives the same file.

    Raises ModelMissingError without matplotlib.
    """
    from matplotlib.figure import Figure

    if isinstance(figure, Heatmap):
        canvas = Figure((3.0 + 0.7 * len(figure.columns), 1.4 + 0.25 * len(figure.rows)), layout="constrained")
        _heat(canvas.subplots(), figure)
    elif isinstance(figure, Bars):
        canvas = Figure((7.5, 0.7 + 0.29 * len(figure.labels)), layout="constrained")
        _bars(canvas.subplots(), figure)
    else:
        canvas = Figure((8.0, max(3.6, 0.4 + 0.2 * len(figure.series))), layout="constrained")
        _lines(canvas.subplots(), figure)
    return canvas


def _heat(axes: Any, figure: Heatmap) -> None:
    """Draw one cell per value with its number; a missing value is blank, or a dash."""
    from matplotlib.colors import LinearSegmentedColormap

    values = np.asarray(figure.values, dtype=np.float64)
    low, high = figure.ends or (float(np.nanmin(values)), float(np.nanmax(values)))
    ends = [COLOURS["down"], "#ffffff", COLOURS["up"]] if figure.signed else ["#f4f8fc", COLOURS["heat5"]]
    colours = LinearSegmentedColormap.from_list("rome", ends)
    axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value) or figure.signed:
            dark = abs(value) / high > 0.62 if figure.signed else value - low > 0.62 * (high - low)
            ink = "white" if dark else COLOURS["ink"]
            axes.text(column, row, shown(float(value), figure.digits), ha="center", va="center", color=ink)
    axes.set_yticks(range(len(figure.rows)), _labels(figure.rows))
    axes.set_xticks(range(len(figure.columns)), _labels(figure.columns), rotation=40, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _bars(axes: Any, figure: Bars) -> None:
    """Draw horizontal bars from zero in the order given, the interval as a line across the end, the number in the bar's name."""
    values = np.nan_to_num(np.asarray(figure.values, dtype=np.float64))
    low, high = (np.nan_to_num(np.asarray(ends, dtype=np.float64)) for ends in (figure.low, figure.high))
    names = [f"{name}  {shown(value)}" for name, value in zip(_labels(figure.labels), figure.values, strict=True)]
    axes.barh(range(len(values)), values, height=0.62, color=COLOURS["bar"], alpha=0.62)
    axes.hlines(range(len(values)), low, high, color=COLOURS["ink"], linewidth=1.1)
    axes.set_yticks(range(len(values)), names)
    axes.invert_yaxis()
    axes.set_xlabel(shorten(figure.axis, 90))
    axes.axvline(0, color=COLOURS["ink"], linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[:].set_visible(False)


def _lines(axes: Any, figure: Lines) -> None:
    """Draw one line per series with its own colour, marker and strokes, names at the right."""
    for name, ys in figure.series.items():
        axes.plot(figure.x, ys, label=shorten(name, LABEL))
    axes.set(xlabel=shorten(figure.x_label, 90), ylabel=shorten(figure.y_label, 60))
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, handlelength=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)


def _labels(names: tuple[str, ...] | list[str]) -> list[str]:
    return [shorten(name, LABEL) for name in names]
