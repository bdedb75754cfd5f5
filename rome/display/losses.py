"""Where the points went: what each mistake, and each other feature, cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rome.combining.contributions import told
from rome.display.markup import Html, disclosure, element, escaped, joined

if TYPE_CHECKING:
    from rome.results import SegmentScore

__all__ = ["losses"]

UNFOLDED = 12
"""Losses of the list that are not folded away."""


def losses(segment: SegmentScore) -> Html:
    """One row a loss, the largest first: points, what it was, what kind of mistake."""
    rows = [_row(*loss) for loss in told(segment.losses, arrow="→")]
    if not rows:
        return element("p", escaped("No point lost."), class_="rome-note")
    parts = [_table(rows[:UNFOLDED], element("caption", escaped("Where the points went")))]
    if rows[UNFOLDED:]:
        parts.append(disclosure(f"Losses {UNFOLDED + 1} to {len(rows)}", _table(rows[UNFOLDED:])))
    return joined(parts)


def _table(rows: Sequence[Html], *caption: Html) -> Html:
    return element("table", *caption, element("tbody", *rows), class_="rome-table rome-lost")


def _row(points: str, what: str, kind: str) -> Html:
    cells = element("td", escaped(what), dir="auto"), element("td", escaped(kind))
    return element("tr", element("th", escaped(points.replace("-", "\u2212")), scope="row"), *cells)
