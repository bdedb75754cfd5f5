"""The leaderboard: every system's means with their intervals, ranked, and each compared with the first on the same segments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rome.display.markup import Html, drawing, element, escaped, joined, signed
from rome.page.gathering import Gathered
from rome.results.comparison import MEASURES, Comparison, Difference, compare
from rome.results.resampling import LEVEL, bootstrap_intervals

__all__ = ["RESAMPLES", "Standing", "differences", "leaderboard", "standings"]

RESAMPLES = 2000
_WIDTH, _HEIGHT, _MARGIN = 180.0, 22.0, 6.0


@dataclass(frozen=True)
class Standing:
    """A system's place among all: its means of the MEASURES, their intervals (5, 2), and how it compares with the first.

    against : the first system minus this one; None for the first itself.
    """

    name: str
    rank: int
    means: NDArray[np.float64]
    intervals: NDArray[np.float64]
    against: Comparison | None


def standings(gathered: Gathered, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Standing]:
    """The systems, highest mean score first; equal means share a rank and stand in the order given.

    Intervals are percentiles of the means over ``resamples`` resamples of the segments, nan with one segment. The same seed gives the
    same numbers.
    """
    values, corpora = gathered.values, gathered.corpora
    means = values.mean(axis=1)
    order = [int(n) for n in np.argsort(-np.nan_to_num(means[:, 0], nan=-np.inf), kind="stable")]
    first, found = order[0], []
    for system in order:
        names = gathered.names[first], gathered.names[system]
        against = None
        if system != first:
            against = compare(corpora[first], corpora[system], names=names, resamples=resamples, seed=seed)
        intervals = np.asarray(bootstrap_intervals(values[system], resamples, seed), np.float64)
        rank = 1 + int((means[:, 0] > means[system, 0]).sum())
        found.append(Standing(gathered.names[system], rank, means[system], intervals, against))
    return found


def leaderboard(rows: Sequence[Standing], segments: int) -> Html:
    """The table of the systems, with a drawing of the scores' intervals on one axis, and what it says in words."""
    axis = _axis(rows)
    measures = [_head(name.capitalize(), "n") for name in MEASURES[1:]]
    compared = [_head("Difference to the first", "n"), _head("p", "n")] if len(rows) > 1 else []
    interval = [_head(f"{LEVEL:.0%} interval", "drawn")] if segments > 1 else []
    head = element("tr", _head("Rank", "n"), _head("System"), _head("Score", "n"), *interval, *compared, *measures)
    body = joined((_row(row, axis, segments, len(rows)) for row in rows), "\n")
    return _table("Leaderboard", head, body)


def differences(rows: Sequence[Standing]) -> Html:
    """The first system against each other one, component by component; nothing for a single system."""
    head = element(
        "tr", _head("Compared with"), *(_head(name.capitalize(), "n") for name in MEASURES), _head("Better, worse, tied", "n")
    )
    lines = [
        element(
            "tr",
            element("th", _name(row.name), scope="row"),
            *(_difference(found) for found in row.against),
            element("td", escaped(_counts(row.against)), class_="n"),
        )
        for row in rows
        if row.against is not None
    ]
    return _table(f"Differences to {rows[0].name}", head, joined(lines, "\n"))


def _table(title: str, head: Html, body: Html) -> Html:
    """A table in a box that scrolls."""
    caption = element("caption", escaped(title), class_="unseen")
    table = element("table", caption, element("thead", head), element("tbody", body), class_="data")
    return element("div", table, class_="scroll", role="region", tabindex="0", aria_label=f"{title}, table")


def _head(name: str, kind: str | None = None) -> Html:
    return element("th", escaped(name), scope="col", class_=kind)


def _name(name: str) -> Html:
    """A system's name, its direction kept to itself."""
    return element("bdi", escaped(name))


def _row(row: Standing, axis: tuple[float, float], segments: int, systems: int) -> Html:
    """One system."""
    drawn = [element("td", _drawn(row, axis), class_="drawn")] if segments > 1 else []
    score = element("td", element("strong", escaped(_number(row.means[0]))), _interval(row.intervals[0]), class_="n")
    parts = [
        element("td", escaped(_number(row.means[n])), _interval(row.intervals[n]), class_="n") for n in range(1, len(MEASURES))
    ]
    compared = []
    if systems > 1:
        compared = _compared(row.against)
    rank = element("td", escaped(row.rank), class_="n")
    return element("tr", rank, element("th", _name(row.name), scope="row"), score, *drawn, *compared, *parts)


def _compared(against: Comparison | None) -> list[Html]:
    """The score's difference to the first system, this one minus the first, and its p-value."""
    if against is None:
        return [element("td", escaped("–"), class_="n m"), element("td", escaped("–"), class_="n m")]
    return [_difference(against.score, -1.0), element("td", escaped(_p(against.score.p_value)), class_="n")]


def _difference(found: Difference, sign: float = 1.0) -> Html:
    """A difference with its interval; a sure one is bold and says so to a screen reader."""
    low, high = sorted((sign * found.low, sign * found.high))
    text = escaped(signed(sign * found.difference))
    shown = element("strong", text) if found.decided else text
    said = element("span", escaped(" sure" if found.decided else " may be chance"), class_="unseen")
    interval = Html("") if math.isnan(low) else element("small", escaped(f"[{signed(low)}, {signed(high)}]"))
    return element("td", shown, said if interval else Html(""), interval, class_="n")


def _counts(against: Comparison) -> str:
    """On how many segments the first system is better, worse, and neither."""
    found = against.score
    return f"{found.wins:,}, {found.losses:,}, {found.ties:,}"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _p(value: float) -> str:
    """Not more exact than a permutation test can be."""
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _interval(ends: NDArray[np.float64]) -> Html:
    """Both ends, small; nothing without an interval."""
    low, high = (float(end) for end in ends)
    return Html("") if math.isnan(low) else element("small", escaped(f"[{low:.3f}, {high:.3f}]"))


def _axis(rows: Sequence[Standing]) -> tuple[float, float]:
    """From the lowest to the highest end of the scores' intervals, with some air, never narrower than 0.02."""
    ends = [float(end) for row in rows for end in (*row.intervals[0], row.means[0]) if not math.isnan(end)] or [0.0, 1.0]
    low, high = min(ends), max(ends)
    air = max((high - low) * 0.08, (0.02 - (high - low)) / 2)
    return low - air, high + air


def _drawn(row: Standing, axis: tuple[float, float]) -> Html:
    """The interval as a line with its mean as a dot, on the axis that all rows share; a decoration, the numbers stand beside it."""

    def x(value: float) -> float:
        return round(_MARGIN + (_WIDTH - 2 * _MARGIN) * (value - axis[0]) / (axis[1] - axis[0]), 1)

    low, high, mean, middle = float(row.intervals[0][0]), float(row.intervals[0][1]), float(row.means[0]), _HEIGHT / 2
    if math.isnan(low) or math.isnan(mean):
        return Html("")
    ground = element("line", x1=0.0, x2=_WIDTH, y1=middle, y2=middle, class_="axis")
    whisker = element("path", d=f"M{x(low)} 6v10M{x(low)} 11H{x(high)}M{x(high)} 6v10", class_="whisker")
    return drawing(
        _WIDTH, _HEIGHT, ground, whisker, element("circle", cx=x(mean), cy=middle, r=4.0), label=None, class_="interval"
    )
