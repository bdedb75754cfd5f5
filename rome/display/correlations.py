"""How alike the score and the components are over a corpus: the figure 5 of the RoMe paper, as a drawing and as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rome.display.markup import Html, drawing, element, escaped, joined
from rome.results.resampling import Rows

__all__ = ["FEWEST", "correlation_map", "correlations", "undefined_note"]

FEWEST = 3
"""Two segments correlate by 1 or by -1 whatever they are."""

CELL, ROW, LEFT, TOP, DEEPEST = 64.0, 30.0, 72.0, 24.0, 0.55
"""Pixels of a cell, of the names beside and above, and the opacity of a correlation of 1 or -1."""


def correlations(table: Rows) -> Rows:
    """(k, k) Spearman's rank correlations between the columns of (n, k), in [-1, 1]; nan for a constant column and below 3 rows.

    Source: RoMe, figure 5, which draws such a matrix for metrics on BAGEL; ranks, because the components have scales of their own.
    """
    from scipy.stats import rankdata

    width = table.shape[1]
    if len(table) < FEWEST:
        return np.full((width, width), np.nan)
    ranks = rankdata(table, axis=0)
    ranks -= ranks.mean(axis=0)
    sizes = np.sqrt((ranks**2).sum(axis=0))
    sizes[sizes == 0.0] = np.nan
    values = np.clip(ranks.T @ ranks / np.outer(sizes, sizes), -1.0, 1.0)
    np.fill_diagonal(values, np.where(np.isnan(sizes), np.nan, 1.0))
    return np.asarray(values, dtype=np.float64)


def undefined_note(table: Rows, names: Sequence[str]) -> str:
    """Why correlations are missing, in words; empty where none is."""
    if len(table) < FEWEST:
        return f"Correlations need {FEWEST} segments or more."
    constant = [name for name, values in zip(names, table.T, strict=True) if (values == values[0]).all()]
    if not constant:
        return ""
    verb = "has" if len(constant) == 1 else "have"
    return f"{' and '.join(constant)} {verb} the same value for every segment: correlations with it are undefined."


def correlation_map(table: Rows, names: Sequence[str]) -> Html:
    """A labelled heat map with the number in each cell; blue for together, orange for against each other, the sign in the number."""
    values, note = correlations(table), undefined_note(table, names)
    caption = element(
        "figcaption",
        element("strong", escaped("Correlations")),
        element("small", escaped(" Spearman, over the segments (RoMe, figure 5)")),
    )
    parts = [caption]
    if len(table) >= FEWEST:
        size = LEFT + CELL * len(names) + 2, TOP + ROW * len(names) + 2
        label = "; ".join(_sentences(values, names)) or "no correlation is defined"
        parts.append(
            element(
                "div",
                drawing(*size, joined(_drawn(values, names)), label=label, class_="rome-correlations"),
                class_="rome-scroll",
            )
        )
    if note:
        parts.append(element("p", escaped(note), class_="rome-note"))
    return element("figure", *parts, class_="rome-figure")


def _drawn(values: Rows, names: Sequence[str]) -> Iterator[Html]:
    """The names beside and above, and the cells."""
    for place, name in enumerate(names):
        yield element("text", escaped(name), x=LEFT - 8, y=TOP + ROW * (place + 0.5) + 4, class_="rome-side")
        yield element("text", escaped(name), x=LEFT + CELL * (place + 0.5), y=TOP - 9, class_="rome-inside")
    for (row, column), value in np.ndenumerate(values):
        x, y = LEFT + CELL * column, TOP + ROW * row
        shape = f"M{x:g} {y:g}h{CELL:g}v{ROW:g}h-{CELL:g}Z"
        if np.isfinite(value):
            kind = "rome-negative" if value < 0 else "rome-positive"
            yield element("path", d=shape, class_=f"rome-cell {kind}", fill_opacity=DEEPEST * abs(float(value)))
        else:
            yield element("path", d=shape, class_="rome-void")
        yield element("text", escaped(_shown(float(value))), x=x + CELL / 2, y=y + ROW / 2 + 4.5, class_="rome-inside")


def _shown(value: float) -> str:
    """Two decimals with a real minus; a dash for what is undefined."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212") if np.isfinite(value) else "–"


def _sentences(values: Rows, names: Sequence[str]) -> Iterator[str]:
    """What the map shows, for who hears it."""
    for row, first in enumerate(names):
        for column in range(row):
            if np.isfinite(values[row, column]):
                yield f"{names[column]} and {first} {_shown(float(values[row, column]))}"
