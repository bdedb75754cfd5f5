"""Figures as files: PNG and SVG of the same bytes for the same data, and SVG that fits a page's own colours."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from rome.evaluation.report import drawings
from rome.evaluation.report.svg import inline_svg, standalone_svg
from rome.evaluation.report.values import Bars, Figure, Heatmap, Lines
from rome.exceptions import ModelMissingError

__all__ = ["Picture", "is_empty", "plots_available", "render"]

DOTS_PER_INCH = 200
SETTINGS: Mapping[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rome",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.unicode_minus": False,
    **{key: drawings.INK for key in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")},
}


@dataclass(frozen=True)
class Picture:
    """One figure in its three forms: png and svg are files that read on any ground, inline is for a page's own colours."""

    png: bytes
    svg: str
    inline: str


def plots_available() -> bool:
    """Whether matplotlib is installed; it is not imported."""
    return find_spec("matplotlib") is not None


def is_empty(figure: Figure) -> bool:
    """Whether there is nothing to draw: not one number that is finite."""
    if isinstance(figure, Heatmap):
        numbers = np.ravel(figure.values).tolist()
    elif isinstance(figure, Lines):
        numbers = [y for ys in figure.series.values() for y in ys]
    elif isinstance(figure, Bars):
        numbers = list(figure.values)
    else:
        numbers = [x + y for x, y in zip(figure.x, figure.y, strict=True)]
    return not any(math.isfinite(number) for number in numbers)


def render(figure: Figure, description: str = "") -> Picture:
    """Draw one figure that is not empty. Same figure, same bytes, whatever matplotlib's own settings on this machine are.

    description : the text that stands for the picture where it cannot be seen. Raises ModelMissingError without matplotlib.
    """
    if not plots_available():
        raise ModelMissingError('plots need matplotlib: pip install "rome-metric[evaluate]"')
    with _settings():
        canvas = _draw(figure)
        png, svg = io.BytesIO(), io.BytesIO()
        canvas.savefig(svg, format="svg", bbox_inches="tight", pad_inches=0.08, transparent=True, metadata={"Date": None})
        canvas.savefig(png, format="png", bbox_inches="tight", pad_inches=0.08, facecolor="white", dpi=DOTS_PER_INCH)
    drawn = svg.getvalue().decode("utf-8")
    return Picture(
        png.getvalue(),
        standalone_svg(drawn, figure.title, description),
        inline_svg(drawn, figure.name, description or figure.title, drawings.INK),
    )


def _draw(figure: Figure) -> Any:
    """The drawing of the figure's kind."""
    if isinstance(figure, Heatmap):
        return drawings.draw_heatmap(figure)
    if isinstance(figure, Bars):
        return drawings.draw_bars(figure)
    return drawings.draw_lines(figure) if isinstance(figure, Lines) else drawings.draw_scatter(figure)


@contextmanager
def _settings() -> Iterator[None]:
    """Our settings over matplotlib's defaults, the user's own put back afterwards; letters without a glyph warn nobody."""
    import matplotlib

    parameters: Any = matplotlib.rcParams  # its type lists the keys of one version
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        parameters.update(SETTINGS)
        yield
