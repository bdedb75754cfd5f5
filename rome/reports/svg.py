"""Drawings of a report as shapes and texts, for SVG inside a page: strips, heat maps, trees."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from rome.reports.model import Heatmap, Strip, TreeNode, Trees
from rome.reports.tables import DASH, shown
from rome.text_table import display_width, shorten

__all__ = ["Drawing", "Label", "heat_drawing", "strip_drawing", "tree_drawing"]

HEIGHT, INDENT, DEEPEST, GUTTER, CHARACTER, WIDEST = 19.0, 12.0, 12, 38.0, 7.6, 18
"""Of trees: pixels of a row, of a level, levels that are told apart, pixels between the trees and of a character, characters of a word."""
SIGNS = {"match": "m-4-2h8m-8 4h8", "change": "m-4-2h8m-8 4h8m-1-6l-6 8", "insert": "m-4 0h8m-4-4v8", "delete": "m-4 0h8"}
"""What stands between the trees, drawn around the middle of its row: =, ≠, + and −."""
SHAPES = {"match": "h0", "change": "m0-5l5 5l-5 5l-5-5Z"}
"""A disc for a match, a diamond for a change; a square for what one side has alone."""
SHADES = 5


@dataclass(frozen=True)
class Label:
    """A text of a drawing.

    Attributes
    ----------
    small
        A quieter one after it.
    """

    x: float
    y: float
    text: str
    kind: str = ""
    small: str = ""
    turned: bool = False


@dataclass(frozen=True)
class Drawing:
    """Paths by class, and texts over them.

    Attributes
    ----------
    label
        What it shows, for who cannot see it; empty for a decoration.
    """

    width: float
    height: float
    kind: str
    paths: dict[str, str]
    texts: tuple[Label, ...] = ()
    label: str = ""
    stretched: bool = False


def strip_drawing(strip: Strip) -> Drawing:
    """As wide as its cell: pieces of one kind in one path, then the marks."""
    height = 20 if strip.tall else 10
    paths: defaultdict[str, str] = defaultdict(str)
    if strip.tall:
        paths["rome-under"] = f"M0 {height}H100"
    for start, end, kind, share in strip.pieces:
        top, bottom = (height - (height - 1) * share, height) if strip.tall else (2, height - 2)
        paths[f"rome-{kind}"] += f"M{_n(100 * start)} {_n(bottom)}H{_n(100 * end)}V{_n(top)}H{_n(100 * start)}Z"
    for place, kind in strip.marks:
        paths[f"rome-{kind}"] += f"M{_n(100 * place)} 0V{height}"
    return Drawing(100, height, "rome-tall" if strip.tall else "rome-flat", dict(paths), label=strip.label, stretched=True)


def heat_drawing(figure: Heatmap) -> Drawing:
    """A square a value, in one of five shades or in the colour of its sign, with its number in it."""
    numbers = [
        [shown(float(v), figure.digits).replace("-", "−").replace("−0.00", "0.00") for v in row] for row in figure.values
    ]
    high = max(abs(float(end)) for end in figure.ends or (1.0,)) or 1.0
    cell = max(21.0, 6.2 * max((len(n) for row in numbers for n in row), default=1) + 6)
    rows, columns = ([shorten(name, 14) for name in names] for names in (figure.rows, figure.columns))
    left, top = (6.8 * max(map(display_width, names), default=0) + 10 for names in (rows, columns))
    paths: defaultdict[str, str] = defaultdict(str)
    texts = [Label(left - 5, top + 21 * (i + 0.5) + 4, name, "rome-end") for i, name in enumerate(rows)]
    texts += [Label(left + cell * (j + 0.5) + 4, top - 5, name, turned=True) for j, name in enumerate(columns)]
    for i, row in enumerate(figure.values):
        for j, value in enumerate(row):
            kind, dark = "rome-blank", False
            if math.isfinite(value):
                shade = min(SHADES, 1 + int(SHADES * abs(value) / high))
                kind, dark = f"rome-{'less' if figure.signed and value < 0 else 'h'}{shade}", shade > 3
            x, y = left + cell * j, top + 21 * i
            paths[kind] += f"M{_n(x)} {_n(y)}h{_n(cell)}v21h-{_n(cell)}Z"
            if math.isfinite(value) or figure.signed:
                text = numbers[i][j] if math.isfinite(value) else DASH
                texts.append(Label(x + cell / 2, y + 14.5, text, "rome-middle rome-pale" if dark else "rome-middle"))
    label = f"{figure.title}: heat map of {len(rows)} rows and {len(columns)} columns"
    return Drawing(left + cell * len(columns) + 2, top + 21 * len(rows) + 2, "rome-heat", dict(paths), tuple(texts), label)


def tree_drawing(trees: Trees) -> Drawing:
    """Bands behind the rows that are no match, the two trees, and the signs between them."""
    sides = [[row.reference for row in trees.rows], [row.hypothesis for row in trees.rows]]
    width = max(80.0, *(_width(node) for node in sides[0] if node is not None), 0.0)
    right = width + GUTTER
    whole = right + max(80.0, *(_width(node) for node in sides[1] if node is not None), 0.0)
    paths: defaultdict[str, str] = defaultdict(str)
    texts = [Label(2, 13, "reference", "rome-quiet"), Label(right + 2, 13, "hypothesis", "rome-quiet")]
    for n, row in enumerate(trees.rows):
        y = HEIGHT * (n + 1.5)
        if row.kind != "match":
            paths[f"rome-band rome-{row.kind}"] += f"M0 {_n(y - HEIGHT / 2)}h{_n(whole)}v{_n(HEIGHT)}H0Z"
        paths[f"rome-sign rome-{row.kind}"] += f"M{_n(width + GUTTER / 2 - 4)} {_n(y)}{SIGNS[row.kind]}"
    for start, nodes in zip((0.0, right), sides, strict=True):
        for n, node in enumerate(nodes):
            if node is None:
                continue
            x, y = start + _indent(node), HEIGHT * (n + 1.5)
            parent = None if node.parent is None else nodes[node.parent]
            if parent is not None and node.parent is not None:
                paths["rome-edge"] += f"M{_n(start + _indent(parent))} {_n(HEIGHT * (node.parent + 1.5))}V{_n(y)}H{_n(x)}"
            kind = trees.rows[n].kind
            paths[f"rome-node rome-{kind}"] += f"M{_n(x)} {_n(y)}{SHAPES.get(kind, 'm-4.5-4.5h9v9h-9Z')}"
            texts.append(Label(x + 9, y + 4.5, shorten(node.label, WIDEST), small=shorten(node.relation, WIDEST)))
    return Drawing(whole, HEIGHT * (len(trees.rows) + 1) + 6, "rome-trees", dict(paths), tuple(texts), trees.label)


def _indent(node: TreeNode) -> float:
    return 8.5 + INDENT * min(node.depth, DEEPEST)


def _width(node: TreeNode) -> float:
    words = shorten(node.label, WIDEST), shorten(node.relation, WIDEST)
    return float(round(_indent(node) + CHARACTER * sum(map(display_width, words)) + 16))


def _n(value: float) -> str:
    """Two decimals at most, without zeros at the end."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
