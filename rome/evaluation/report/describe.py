"""What a figure shows, in words: the text that stands for it where it cannot be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rome.evaluation.report.cells import shown
from rome.evaluation.report.values import Bars, Figure, Heatmap, Lines

__all__ = ["describe"]


def describe(figure: Figure) -> str:
    """One or two sentences: the kind of figure, its size, and where its highest and lowest values are."""
    if isinstance(figure, Heatmap):
        size = f"Heat map of {len(figure.rows)} rows by {len(figure.columns)} columns"
        names = [f"{row}, {column}" for row in figure.rows for column in figure.columns]
        return f"{figure.title}. {size}. {_ends(names, [float(value) for value in figure.values.flat], figure.digits)}"
    if isinstance(figure, Bars):
        ends = ", with intervals" if figure.low or figure.high else ""
        return f"{figure.title}. Bars of {len(figure.labels)} values{ends}. {_ends(figure.labels, figure.values)}"
    if isinstance(figure, Lines):
        axis = f" over {figure.x_label}" if figure.x_label else ""
        turns = "; ".join(f"{name} from {_turn(ys)}" for name, ys in figure.series.items())
        return f"{figure.title}. Lines of {len(figure.series)} series{axis}: {turns}."
    axes = f"{figure.y_label or 'y'} against {figure.x_label or 'x'}"
    return f"{figure.title}. Scatter plot of {len(figure.labels)} points, {axes}."


def _ends(names: Sequence[str], values: Sequence[float], digits: int = 3) -> str:
    """The highest and the lowest value with their names."""
    finite = [(value, name) for value, name in zip(values, names, strict=True) if math.isfinite(value)]
    if not finite:
        return "No value is known."
    (low, lowest), (high, highest) = min(finite, key=lambda pair: pair[0]), max(finite, key=lambda pair: pair[0])
    return f"Highest {shown(high, digits)} ({highest}), lowest {shown(low, digits)} ({lowest})."


def _turn(ys: Sequence[float]) -> str:
    """The first and the last value that are known."""
    finite = [float(y) for y in ys if math.isfinite(y)]
    return f"{shown(finite[0])} to {shown(finite[-1])}" if finite else "nothing to nothing"
