"""Two systems: the differences with their intervals, and the differences of all segments in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rome.display.comparison import p_text
from rome.figures.canvas import COLOURS, bare, canvas, drawing, label, signed, ticks
from rome.results.comparison import measures

if TYPE_CHECKING:
    from rome.figures.canvas import Figure
    from rome.results.comparison import Comparison

__all__ = ["comparison_figure"]

NAME, POINTS = 28, 2000
"""Characters of a system's name, and segments that the curve is drawn through at most."""


@drawing
def comparison_figure(comparison: Comparison) -> Figure:
    """The five differences with their intervals at the left; at the right every segment's difference of the score, sorted.

    Raises ModelMissingError without matplotlib.
    """
    a, b = (label(name, NAME) for name in comparison.names)
    figure = canvas(9.6, 3.4)
    figure.suptitle(f"{a} minus {b}, {len(comparison.a):,} segments", x=0.01, ha="left", fontsize=10)
    left, right = figure.subplots(1, 2, width_ratios=(1.35, 1.0))
    _intervals(left, comparison)
    _segments(right, comparison, a, b)
    return figure


def _intervals(axes: Any, comparison: Comparison) -> None:
    """A row a measure: the interval as a line, the difference as a point (filled where the interval leaves out 0), numbers beside it."""
    for place, found in enumerate(comparison):
        if np.isfinite(found.low):
            axes.plot(
                [found.low, found.high], [place, place], color=COLOURS["bar"], linewidth=4, alpha=0.5, solid_capstyle="butt"
            )
        fill = COLOURS["ink"] if found.decided else "white"
        axes.plot(found.difference, place, "o", color=COLOURS["ink"], markerfacecolor=fill, markersize=5)
        words = f"{signed(found.difference)}   p {p_text(found.p_value)}"
        axes.text(1.02, place, words, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.axvline(0, color=COLOURS["soft"], linewidth=1, linestyle=(0, (3, 2)))
    ends = [end for found in comparison for end in (found.low, found.high, found.difference) if np.isfinite(end)]
    reach = 1.08 * max(*(abs(end) for end in ends), 0.01)
    axes.set(xlim=(-reach, reach), ylim=(len(comparison) - 0.5, -0.5))
    axes.set_yticks(range(len(comparison)), [found.name for found in comparison])
    axes.set_title(f"difference and {comparison.level:.0%} interval (filled: leaves out 0)")
    axes.xaxis.set_major_locator(ticks(5))
    bare(axes)
    axes.spines["bottom"].set_visible(True)


def _segments(axes: Any, comparison: Comparison, a: str, b: str) -> None:
    """The differences from the highest to the lowest: how many segments each system wins, and by how much."""
    gaps = np.sort(measures(comparison.a)[:, 0] - measures(comparison.b)[:, 0])[::-1]
    shown = gaps[np.linspace(0, len(gaps) - 1, min(len(gaps), POINTS)).round().astype(int)]
    edges = np.linspace(0, 100, len(shown) + 1)
    for sign, colour, hatch in ((1, COLOURS["up"], None), (-1, COLOURS["down"], "////")):
        part = np.maximum(sign * shown, 0.0) * sign
        axes.stairs(
            part, edges, fill=True, color=colour, hatch=hatch, edgecolor=None if hatch is None else "white", linewidth=0
        )
    axes.axhline(0, color=COLOURS["soft"], linewidth=1)
    found = comparison.score
    reach = max(float(np.abs(gaps).max()), 0.01)
    axes.set(xlim=(0, 100), ylim=(-1.25 * reach, 1.25 * reach), xlabel="% of the segments")
    axes.text(0.99, 0.97, f"{a} better: {found.wins:,}", transform=axes.transAxes, ha="right", va="top", fontsize=8)
    axes.text(0.01, 0.03, f"{b} better: {found.losses:,}", transform=axes.transAxes, va="bottom", fontsize=8)
    axes.set_title("difference of the score, segments sorted")
    bare(axes)
    axes.spines["left"].set_visible(True)
