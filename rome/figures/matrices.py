"""One segment's alignment and flow as heat maps: words of the reference down, words of the hypothesis across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.figures.canvas import COLOURS, bare, blank, canvas, drawing, label, shades
from rome.results.resampling import Rows

if TYPE_CHECKING:
    from rome.features.semantic import SemanticEvidence
    from rome.figures.canvas import Figure
    from rome.results import SegmentScore

__all__ = ["matrices_figure"]

SHOWN, NUMBERED, WIDEST, CELL, SMALLEST = 64, 24, 16, 0.27, 0.005
"""Words of a side that are drawn, words up to which cells hold numbers, characters of a word, inches of a cell, what stays empty."""


@drawing
def matrices_figure(segment: SegmentScore) -> Figure:
    """How close each two words are (1 minus the transport cost) and how much mass flows between them, in %; aligned pairs are framed.

    What has no evidence, or no words on one side, is a sentence. Raises ModelMissingError without matplotlib.
    """
    evidence: SemanticEvidence | None = segment.evidence.semantic
    if evidence is None or not evidence.reference_words or not evidence.hypothesis_words:
        figure = canvas(6.0, 1.0)
        blank(
            figure.subplots(),
            "no evidence: the number comes from a stored table" if evidence is None else "a text without words",
        )
        return figure
    rows, across = evidence.reference_words[:SHOWN], evidence.hypothesis_words[:SHOWN]
    cell = CELL if max(len(rows), len(across)) <= NUMBERED else CELL * 0.6
    figure = canvas(2 * (cell * len(across) + 1.6), cell * len(rows) + 1.7)
    left, right = figure.subplots(1, 2)
    flow = evidence.flow / max(float(evidence.flow.sum()), 1e-12)
    _heat(left, 1.0 - evidence.cost, rows, across, evidence, "alignment: 100 × (1 − cost), framed: aligned")
    _heat(right, flow, rows, across, evidence, "flow: % of the mass")
    if max(len(evidence.reference_words), len(evidence.hypothesis_words)) > SHOWN:
        figure.supxlabel(f"only the first {SHOWN} words of a side are drawn", fontsize=8, color=COLOURS["soft"])
    return figure


def _heat(axes: Any, values: Rows, rows: Sequence[str], across: Sequence[str], evidence: SemanticEvidence, title: str) -> None:
    """One heat map with its words; numbers where there is room."""
    values = values[: len(rows), : len(across)]
    highest = max(float(values.max()), 1e-12)
    axes.imshow(values, cmap=shades("heat5"), vmin=0.0, vmax=highest, aspect="equal", interpolation="nearest")
    for lines, ends in ((axes.hlines, values.shape), (axes.vlines, values.shape[::-1])):
        lines(np.arange(ends[0] + 1) - 0.5, -0.5, ends[1] - 0.5, color=COLOURS["line"], linewidth=0.5, clip_on=False)
    small = 8 if max(values.shape) <= NUMBERED else 5
    if max(values.shape) <= NUMBERED:
        for i, j in zip(*np.nonzero(values >= SMALLEST * highest), strict=True):
            ink = COLOURS["pale"] if values[i, j] > 0.62 * highest else COLOURS["ink"]
            axes.text(j, i, f"{100 * values[i, j]:.0f}", ha="center", va="center", fontsize=6.5, color=ink)
    for pair in evidence.pairs:
        if pair.reference < len(rows) and pair.hypothesis < len(across) and pair.distance < 1.0:
            i, j = pair.reference, pair.hypothesis
            corners = [j - 0.46, j + 0.46, j + 0.46, j - 0.46, j - 0.46], [i - 0.46, i - 0.46, i + 0.46, i + 0.46, i - 0.46]
            axes.plot(*corners, color=COLOURS["down"], linewidth=1.2 if small == 8 else 0.7)
    axes.set_yticks(range(len(rows)), [label(word, WIDEST) for word in rows], fontsize=small)
    axes.set_xticks(range(len(across)), [label(word, WIDEST) for word in across], rotation=90, fontsize=small)
    axes.xaxis.tick_top()
    axes.set_title(title)
    bare(axes)
