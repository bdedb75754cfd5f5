"""One segment: the four components as bars, and the contributions as a waterfall from a perfect text down to the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rome.combining.provenance import fitted_on
from rome.features.values import FEATURES
from rome.figures.canvas import COLOURS, bare, canvas, drawing, label, ticks
from rome.text_table import fixed

if TYPE_CHECKING:
    from rome.figures.canvas import Figure
    from rome.results import SegmentScore

__all__ = ["segment_figure"]

TEXT = 118


@drawing
def segment_figure(segment: SegmentScore) -> Figure:
    """Both texts, the components in [0, 1] at the left, the waterfall of the contributions at the right; save it with `save`.

    Raises ModelMissingError without matplotlib.
    """
    figure = canvas(8.6, 3.3)
    kind = "supervised score" if fitted_on(segment.signature) else "score"
    flags = f"  ({', '.join(segment.flags)})" if segment.flags else ""
    title = f"segment {segment.segment}: {kind} {segment.score:.3f}{label(flags, 60)}"
    texts = f"reference:  {label(segment.reference, TEXT)}\nhypothesis:  {label(segment.hypothesis, TEXT) or 'empty'}"
    figure.suptitle(f"{title}\n{texts}", x=0.01, ha="left", fontsize=9, linespacing=1.5)
    left, right = figure.subplots(1, 2)
    _bars(left, segment)
    _waterfall(right, segment)
    return figure


def _bars(axes: Any, segment: SegmentScore) -> None:
    """One bar a component with its value at the end of the track."""
    values = [component.value for component in segment.components]
    places = range(len(values))
    axes.barh(places, [1.0] * len(values), height=0.5, color=COLOURS["raised"])
    axes.barh(places, values, height=0.5, color=COLOURS["bar"])
    for place, value in zip(places, values, strict=True):
        axes.text(1.03, place, f"{value:.3f}", va="center")
    axes.set(xlim=(0, 1.2), ylim=(len(values) - 0.4, -0.6), xticks=(0, 0.5, 1), title="components")
    axes.set_yticks(places, FEATURES)
    bare(axes)


def _waterfall(axes: Any, segment: SegmentScore) -> None:
    """A perfect text's 1, four steps down that hang on each other, and the score that is left."""
    names, shares = ["perfect", *FEATURES, "score"], list(segment.contributions)
    levels = [1.0]
    for share in shares:
        levels.append(levels[-1] + share)
    span = max(max(levels) - min(levels), 0.05)
    low, high = min(levels) - 0.08 * span, max(levels) + 0.32 * span
    for place, (share, before, after) in enumerate(zip(shares, levels[:-1], levels[1:], strict=True), start=1):
        axes.barh(place, share, left=before, height=0.55, color=COLOURS["down"], hatch="////", edgecolor="white", linewidth=0)
        axes.plot([after, after], [place - 0.28, place + 1.28], color=COLOURS["soft"], linewidth=0.8)
        axes.text(max(before, after) + 0.02 * span, place, fixed(share, 4).replace("-", "\u2212"), va="center")
    axes.plot([levels[0]] * 2, [-0.28, 1.28], color=COLOURS["soft"], linewidth=0.8)
    for place, level in ((0, levels[0]), (len(names) - 1, levels[-1])):
        axes.plot([level, level], [place - 0.3, place + 0.3], color=COLOURS["ink"], linewidth=3, solid_capstyle="butt")
        axes.text(level + 0.02 * span, place, f"{level:.4f}", va="center", fontweight="bold")
    axes.set(xlim=(low, high), ylim=(len(names) - 0.4, -0.6), title="contributions")
    axes.set_yticks(range(len(names)), names)
    axes.xaxis.set_major_locator(ticks(4))
    bare(axes)
