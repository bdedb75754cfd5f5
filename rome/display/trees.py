"""The two dependency trees side by side, row by row as the edit operations pair their nodes: a drawing of our own.

The drawers that exist (displaCy, NLTK, deplacy, Graphviz) draw one sentence at a time, and none draws two trees with the edits between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rome.display.markup import Html, disclosure, drawing, element, escaped, number
from rome.text_table import display_width, shorten

if TYPE_CHECKING:
    from rome.features.syntax import SyntaxEvidence, Tree
    from rome.results import SegmentScore

__all__ = ["COMPARED", "ROWS", "TreeRow", "dependency_trees", "tree_rows"]

ROWS, COMPARED = 80, 250_000
"""Rows that are drawn at most; nodes of one tree times nodes of the other up to which the edit operations are looked for."""

HEIGHT, INDENT, DEEPEST, GUTTER, CHARACTER, SMALLER, WIDEST = 19.0, 12.0, 12, 38.0, 7.8, 7.1, 18
EDGE, BLOCK = 8.5, 14
SMALLEST = 80.0
SIGNS = {"match": "m-4-2h8m-8 4h8", "change": "m-4-2h8m-8 4h8m-1-6l-6 8", "insert": "m-4 0h8m-4-4v8", "delete": "m-4 0h8"}
"""What stands between the trees, drawn around the middle of its row: =, ≠, + and −."""
LEGEND = (
    ("match", "= the same, or near enough in meaning"),
    ("change", "≠ changed"),
    ("insert", "+ inserted: only in the reference"),
    ("delete", "− deleted: only in the hypothesis"),
)


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One line of the drawing: the edit, and its node on each side; None on the side that has none."""

    kind: str
    reference: int | None
    hypothesis: int | None


def dependency_trees(segment: SegmentScore) -> Html:
    """Both trees, unfolded; nothing without evidence or without words; a note in place of what is too large to compare or to draw."""
    evidence: SyntaxEvidence | None = segment.evidence.syntax
    if evidence is None or len(evidence.reference.labels) + len(evidence.hypothesis.labels) <= 2:
        return Html("")
    sizes = len(evidence.reference.labels) - 1, len(evidence.hypothesis.labels) - 1
    edits = f"{number(evidence.distance)} edit{'' if evidence.distance == 1 else 's'} from hypothesis to reference"
    if sizes[0] * sizes[1] > COMPARED:
        text = f"The trees have {sizes[0]} and {sizes[1]} nodes, too many to draw; segment.evidence.syntax has them."
        return disclosure("Dependency trees", element("p", escaped(text), class_="rome-note"), open=True, note=edits)
    rows = tree_rows(evidence)
    blocks = _blocks(evidence, rows[:ROWS])
    pictures = [
        element("div", _drawn(evidence, block, f"dependency trees, part {n} of {len(blocks)}, {edits}"), class_="rome-scroll")
        for n, block in enumerate(blocks, start=1)
    ]
    parts = [element("div", *pictures, _legend(), class_="rome-beside")]
    if len(rows) > ROWS:
        parts.append(element("p", escaped(f"Only the first {ROWS} of {len(rows)} rows are drawn."), class_="rome-note"))
    return disclosure("Dependency trees", *parts, open=True, note=edits)


def tree_rows(evidence: SyntaxEvidence) -> list[TreeRow]:
    """Every node of both trees once, each tree in depth-first order, what was mapped on each other in one row.

    A mapping of ordered trees keeps that order, so such rows always exist. The imaginary root stands on top only where it is needed:
    above several sentences, or where one tree is empty.
    """
    kinds = {(edit.reference, edit.hypothesis): edit.kind for edit in evidence.operations}
    partner = {r: h for r, h in kinds if r is not None and h is not None}
    partner_back = {h: r for r, h in partner.items()}
    waiting_r, waiting_h = _depth_first(evidence.reference)[::-1], _depth_first(evidence.hypothesis)[::-1]
    rows = []
    while waiting_r or waiting_h:
        if waiting_r and waiting_r[-1] not in partner:
            rows.append(TreeRow("insert", waiting_r.pop(), None))
        elif waiting_h and waiting_h[-1] not in partner_back:
            rows.append(TreeRow("delete", None, waiting_h.pop()))
        else:
            pair = waiting_r.pop(), waiting_h.pop()
            rows.append(TreeRow(kinds[pair], *pair))
    roots = [tree.parents.count(0) for tree in (evidence.reference, evidence.hypothesis)]
    return rows if max(roots) > 1 else [row for row in rows if row.reference != 0 and row.hypothesis != 0]


def _depth_first(tree: Tree) -> list[int]:
    """The nodes, each before its children, children in word order."""
    children: list[list[int]] = [[] for _ in tree.parents]
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            children[parent].append(node)
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children[order[-1]])
    return order


def _blocks(evidence: SyntaxEvidence, rows: Sequence[TreeRow]) -> list[list[TreeRow]]:
    """The rows cut between sentences, so that long texts flow side by side; the imaginary root stands on top of each block."""
    root = [row for row in rows[:1] if row.reference == 0]
    blocks: list[list[TreeRow]] = [[]]
    for row in rows[len(root) :]:
        tops = row.reference is not None and evidence.reference.parents[row.reference] == 0
        tops = tops and row.hypothesis is not None and evidence.hypothesis.parents[row.hypothesis] == 0
        if tops and len(blocks[-1]) >= BLOCK:
            blocks.append([])
        blocks[-1].append(row)
    return [[*root, *block] for block in blocks]


def _drawn(evidence: SyntaxEvidence, rows: Sequence[TreeRow], label: str) -> Html:
    """The drawing of one block: bands behind the rows that are no match, the two trees, and the signs between them."""
    kinds = [row.kind for row in rows]
    left, left_width = _tree(evidence.reference, [row.reference for row in rows], kinds, 0.0)
    start = left_width + GUTTER
    right, right_width = _tree(evidence.hypothesis, [row.hypothesis for row in rows], kinds, start)
    width, height = start + right_width, HEIGHT * (len(rows) + 1) + 6
    heads = [_text(2, 13, "reference", "rome-head"), _text(start + 2, 13, "hypothesis", "rome-head")]
    middle = number(start - GUTTER / 2 - 4)
    bands, signs = [], []
    for kind in SIGNS:
        places = [_y(n) for n, row in enumerate(rows) if row.kind == kind]
        if kind != "match":
            bands += _grouped(
                f"rome-band rome-{kind}", [f"M0 {number(y - HEIGHT / 2)}h{number(width)}v{number(HEIGHT)}H0Z" for y in places]
            )
        signs += _grouped(f"rome-sign rome-{kind}", [f"M{middle} {number(y)}{SIGNS[kind]}" for y in places])
    return drawing(width, height, *bands, *signs, *heads, *left, *right, label=label, class_="rome-trees")


def _tree(tree: Tree, nodes: Sequence[int | None], kinds: Sequence[str], x: float) -> tuple[list[Html], float]:
    """One tree from x on, and its width: all edges in one path, all shapes of a kind in one, then a label a node."""
    depth, row_of = _depths(tree), {node: n for n, node in enumerate(nodes) if node is not None}
    outermost = min((depth[node] for node in row_of), default=0)
    across = {node: x + EDGE + INDENT * min(depth[node] - outermost, DEEPEST) for node in row_of}
    edges, labels, width = [], [], SMALLEST
    for node, n in row_of.items():
        left, y = across[node], _y(n)
        parent = tree.parents[node]
        if parent in row_of:
            edges.append(f"M{number(across[parent])} {number(_y(row_of[parent]))}V{number(y)}H{number(left)}")
        word, relation = shorten(tree.labels[node] if node else "imaginary root", WIDEST), shorten(tree.relations[node], WIDEST)
        labels.append(_label(left + 9, y + 4.5, word, relation))
        width = max(width, left - x + CHARACTER * display_width(word) + SMALLER * display_width(relation) + 16)
    shapes = []
    for kind in SIGNS:
        places = [(across[node], _y(n)) for node, n in row_of.items() if kinds[n] == kind]
        shapes += _shapes(kind, places)
    return [*_grouped("rome-edge", edges), *shapes, *labels], float(round(width))


def _depths(tree: Tree) -> list[int]:
    """How far each node is from the imaginary root."""
    depth = [0] * len(tree.parents)
    for node in _depth_first(tree)[1:]:
        depth[node] = depth[tree.parents[node]] + 1
    return depth


def _y(row: int) -> float:
    """The middle of a row."""
    return HEIGHT * (row + 1.5)


def _grouped(kind: str, drawn: Sequence[str]) -> list[Html]:
    """One path of all of them; none of nothing."""
    return [element("path", d="".join(drawn), class_=kind)] if drawn else []


def _shapes(kind: str, places: Sequence[tuple[float, float]]) -> list[Html]:
    """A disc for a match, a diamond for a change, a square with a plus or a minus in it for what one side has alone."""
    outline = {"match": "h0", "change": "m0-5l5 5l-5 5l-5-5Z"}.get(kind, "m-4.5-4.5h9v9h-9Z")
    starts = [f"M{number(x)} {number(y)}" for x, y in places]
    shapes = _grouped(f"rome-{kind}", [start + outline for start in starts])
    inner = {"insert": "m-2.5 0h5m-2.5-2.5v5", "delete": "m-2.5 0h5"}.get(kind)
    return shapes + (_grouped("rome-in", [start + inner for start in starts]) if inner else [])


def _label(x: float, y: float, word: str, relation: str) -> Html:
    """The lemma, then the relation in smaller letters."""
    small = element("tspan", escaped(relation), dx=5) if relation else Html("")
    return element("text", escaped(word), small, x=x, y=y)


def _text(x: float, y: float, text: str, kind: str) -> Html:
    """One text of the drawing."""
    return element("text", escaped(text), x=x, y=y, class_=kind)


def _legend() -> Html:
    """What shapes, signs and colours mean."""
    entries = []
    for kind, words in LEGEND:
        shape = drawing(14, 14, *_shapes(kind, [(7, 7)]), label=None, class_="rome-trees")
        entries.append(element("span", shape, escaped(f" {words}"), class_="rome-key"))
    return element("p", *entries, class_="rome-note")
