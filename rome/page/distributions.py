"""How each system's numbers are spread: one small histogram a measure, all on the same axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rome.display.markup import Html, drawing, element, escaped, joined, number
from rome.page.gathering import Gathered
from rome.results.comparison import MEASURES

__all__ = ["distributions", "histogram"]

BINS = 20
_WIDTH, _HEIGHT, _FOOT = 150.0, 56.0, 14.0


def distributions(gathered: Gathered, order: list[str]) -> Html:
    """A table of histograms: one row a system (in this order), one column a measure; each says its mean and quartiles."""
    values = gathered.values
    head = element(
        "tr",
        element("th", escaped("System"), scope="col"),
        *(element("th", escaped(m.capitalize()), scope="col") for m in MEASURES),
    )
    rows = []
    for name in order:
        columns = values[gathered.names.index(name)].T
        cells = (
            element("td", histogram(column, f"{name}, {measure}")) for column, measure in zip(columns, MEASURES, strict=True)
        )
        rows.append(element("tr", element("th", element("bdi", escaped(name)), scope="row"), *cells))
    caption = element("caption", escaped("Distributions"), class_="unseen")
    table = element("table", caption, element("thead", head), element("tbody", joined(rows, "\n")), class_="data spread")
    return element("div", table, class_="scroll", role="region", tabindex="0", aria_label="Distributions, table")


def histogram(column: NDArray[np.float64], title: str) -> Html:
    """Bars of the shares of segments in BINS equal parts of [0, 1], a line at the mean, and mean and quartiles as text.

    The highest bar fills the height. Values that are no numbers are left out; a column without any gives a dash.
    """
    known = column[~np.isnan(column)]
    if not len(known):
        return escaped("–")
    counts = np.histogram(np.clip(known, 0.0, 1.0), bins=BINS, range=(0.0, 1.0))[0]
    low, middle, high = (float(value) for value in np.percentile(known, [25, 50, 75]))
    mean = float(known.mean())
    words = f"mean {mean:.3f}, median {middle:.3f}, middle half {low:.3f} to {high:.3f}"
    at = min(max(mean, 0.0), 1.0) * _WIDTH
    picture = drawing(
        _WIDTH,
        _HEIGHT + _FOOT,
        element("path", d=_bars(counts), class_="bars"),
        element("path", d=f"M0 {number(_HEIGHT)}H{number(_WIDTH)}", class_="axis"),
        element("path", d=f"M{number(at, 1)} 0V{number(_HEIGHT)}", class_="mean"),
        *(_tick(value) for value in (0.0, 0.5, 1.0)),
        label=f"{title}: {words}",
        class_="histogram",
    )
    return joined([picture, element("small", escaped(f"median {middle:.3f}, half in {low:.3f}–{high:.3f}"))])


def _bars(counts: NDArray[np.int_]) -> str:
    """One path for all bars; a bar of few segments still shows."""
    wide, most = _WIDTH / len(counts), int(counts.max())
    parts = []
    for place, count in enumerate(counts.tolist()):
        if count:
            tall = max(1.0, (_HEIGHT - 4) * count / most)
            parts.append(
                f"M{number(place * wide + 0.5, 1)} {number(_HEIGHT)}v-{number(tall, 1)}h{number(wide - 1, 1)}v{number(tall, 1)}z"
            )
    return "".join(parts)


def _tick(value: float) -> Html:
    anchor = "start" if value == 0 else "end" if value == 1 else "middle"
    return element("text", escaped(number(value)), x=value * _WIDTH, y=_HEIGHT + _FOOT - 2, text_anchor=anchor)
