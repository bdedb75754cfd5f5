"""One segment's two dependency trees side by side, row by row as the edit operations pair their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rome.display.trees import COMPARED, TreeRow, tree_rows
from rome.figures.canvas import COLOURS, blank, canvas, drawing, label

if TYPE_CHECKING:
    from rome.features.syntax import Tree
    from rome.figures.canvas import Figure
    from rome.results import SegmentScore

__all__ = ["trees_figure"]

ROWS, HEIGHT, INDENT, WIDEST, DEEPEST = 60, 0.2, 0.16, 20, 12
"""Rows that are drawn, inches of a row and of a level, characters of a lemma, and levels that are told apart."""

SIGNS = {"match": "=", "change": "≠", "insert": "+", "delete": "−"}
LEGEND = "= the same   ≠ changed   + inserted: only in the reference   − deleted: only in the hypothesis"


@drawing
def trees_figure(segment: SegmentScore) -> Figure:
    """Reference left, hypothesis right, a sign between them for each edit; what is too large or has no evidence is a sentence.

    Raises ModelMissingError without matplotlib.
    """
    evidence = segment.evidence.syntax
    if evidence is None:
        return _instead("no evidence: the number comes from a stored table")
    sizes = len(evidence.reference.labels) - 1, len(evidence.hypothesis.labels) - 1
    if not sum(sizes):
        return _instead("both texts are without words")
    if sizes[0] * sizes[1] > COMPARED:
        return _instead(f"the trees have {sizes[0]} and {sizes[1]} nodes: too many to draw beside each other")
    rows = tree_rows(evidence)
    shown = rows[:ROWS]
    figure = canvas(8.0, HEIGHT * (len(shown) + 2) + 0.5)
    axes: Any = figure.subplots()
    axes.set(xlim=(0, 8.0), ylim=(len(shown) + 0.6, -1.6))
    axes.axis("off")
    axes.set_title(f"{evidence.distance:g} tree edits from hypothesis to reference")
    _side(axes, evidence.reference, [row.reference for row in shown], 0.0, "reference")
    _side(axes, evidence.hypothesis, [row.hypothesis for row in shown], 4.4, "hypothesis")
    _signs(axes, shown)
    cut = f"   (the first {ROWS} of {len(rows)} rows)" if len(rows) > ROWS else ""
    axes.text(0, len(shown) + 0.2, LEGEND + cut, fontsize=8, color=COLOURS["soft"], va="center")
    return figure


def _instead(text: str) -> Figure:
    """A figure that says why there is no drawing."""
    figure = canvas(6.0, 1.0)
    blank(figure.subplots(), text)
    return figure


def _signs(axes: Any, rows: Sequence[TreeRow]) -> None:
    """A band behind every row that is no match, and the sign in the middle."""
    for place, row in enumerate(rows):
        if row.kind != "match":
            axes.axhspan(place - 0.5, place + 0.5, color=COLOURS[row.kind], alpha=0.1, linewidth=0)
        colour = COLOURS["soft"] if row.kind == "match" else COLOURS[row.kind]
        weight = "normal" if row.kind == "match" else "bold"
        axes.text(4.1, place, SIGNS[row.kind], ha="center", va="center", color=colour, fontweight=weight)


def _side(axes: Any, tree: Tree, nodes: Sequence[int | None], left: float, name: str) -> None:
    """One tree: each node below its parent and a step to the right, an angled line to the parent, the relation after the lemma."""
    rows = {node: place for place, node in enumerate(nodes) if node is not None}
    first = 0 if 0 in rows else 1
    axes.text(left, -1.1, name, fontsize=8, color=COLOURS["soft"], va="center")
    for node, place in rows.items():
        x = left + INDENT * min(DEEPEST, max(0, _depth(tree, node) - first))
        parent = tree.parents[node]
        if parent in rows:
            corner = left + INDENT * min(DEEPEST, max(0, _depth(tree, parent) - first)) + 0.05
            axes.plot([corner, corner, x], [rows[parent] + 0.4, place, place], color=COLOURS["soft"], linewidth=0.6)
        text = axes.annotate(label(tree.labels[node], WIDEST) or " ", (x + 0.03, place), va="center")
        if tree.relations[node]:
            relation = {
                "textcoords": "offset points",
                "xycoords": text,
                "va": "center",
                "fontsize": 7,
                "color": COLOURS["soft"],
            }
            axes.annotate(label(tree.relations[node], WIDEST), (1, 0.45), (4, 0), **relation)


def _depth(tree: Tree, node: int) -> int:
    """Steps up to the imaginary root."""
    steps = 0
    while tree.parents[node] >= 0:
        node, steps = tree.parents[node], steps + 1
    return steps
