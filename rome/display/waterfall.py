"""The contributions as a waterfall: from a perfect text down four steps to the score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rome.display.markup import Html, element, escaped, number
from rome.features.values import FEATURES
from rome.text_table import fixed

if TYPE_CHECKING:
    from rome.results import SegmentScore

__all__ = ["waterfall"]

STEP, TIP = 0.05, 1.6
"""The grid of the scale's ends, and the length of an arrow's tip where 100 is the whole width."""


def waterfall(segment: SegmentScore) -> Html:
    """A perfect text's 1, one arrow a feature to the left, as long as what it lost, and the score that is left.

    The scale is a part of [0, 1] that holds them all, and says so; a thin line carries each result down to the next row.
    """
    levels = [1.0]
    for share in segment.contributions:
        levels.append(levels[-1] + share)
    low, high = _scale(levels)

    def across(value: float) -> float:
        return 100.0 * (value - low) / (high - low)

    rows = [_row("perfect", f"{1.0:.4f}", _level(across(levels[0]), above=False))]
    for name, share, before, after in zip(FEATURES, segment.contributions, levels[:-1], levels[1:], strict=True):
        rows.append(_row(name, fixed(share, 4).replace("-", "\u2212"), _step(across(before), across(after), share)))
    rows.append(_row("score", f"{levels[-1]:.4f}", _level(across(levels[-1]), above=True)))
    scale = element("span", escaped(number(low))), element("span", escaped(number(high)))
    rows.append(element("tr", element("th"), element("td", *scale, class_="rome-scale"), element("td"), aria_hidden="true"))
    caption = element("caption", escaped("Contributions"), element("small", escaped(" the points that each component lost")))
    return element("table", caption, element("tbody", *rows), class_="rome-bars rome-fall")


def _scale(levels: list[float]) -> tuple[float, float]:
    """Ends on the grid with room around the lowest and the highest level, inside [0, 1], at least two grid steps apart."""
    low = math.floor((min(levels) - STEP / 5) / STEP) * STEP
    high = math.ceil((max(levels) + STEP / 5) / STEP) * STEP
    low = max(0.0, min(low, 1.0 - 2 * STEP))
    return low, max(min(high, 1.0), low + 2 * STEP)


def _row(name: str, figure: str, drawn: Html) -> Html:
    """Name, drawing, number."""
    return element("tr", element("th", escaped(name), scope="row"), element("td", drawn), element("td", escaped(figure)))


def _drawn(*parts: Html) -> Html:
    """A drawing as wide as its place; decoration, because the number stands beside it."""
    return element("svg", *parts, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")


def _level(x: float, *, above: bool) -> Html:
    """A thick mark at the level, with the thin line that comes from above or goes on below."""
    thin = f"M{number(x)} 0V2" if above else f"M{number(x)} 8V10"
    return _drawn(
        element("path", d=thin, class_="rome-thin"),
        element("path", d=f"M{number(x)} 2V8", class_="rome-level"),
    )


def _step(before: float, after: float, share: float) -> Html:
    """An arrow between two levels; without a contribution the thin line goes through."""
    if abs(share) < 5e-5:
        return _drawn(element("path", d=f"M{number(before)} 0V10", class_="rome-thin"))
    tip = math.copysign(min(TIP, abs(after - before)), share)
    x, neck, y = number(before), number(after - tip), number(after)
    arrow = element("path", d=f"M{x} 2H{neck}L{y} 5L{neck} 8H{x}Z", class_="rome-down")
    return _drawn(element("path", d=f"M{x} 0V2M{y} 5V10", class_="rome-thin"), arrow)
