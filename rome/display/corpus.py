"""A corpus as HTML: distributions and means with intervals, correlations, the worst segments by component; and in short as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rome.combining.provenance import supervision_note
from rome.display.correlations import correlation_map
from rome.display.markup import Html, disclosure, element, escaped, number
from rome.display.summary import FEW, FEW_NOTE, cell, framed, heads, listing, segment_row, stretched
from rome.results.comparison import MEASURES, measures
from rome.results.resampling import LEVEL, Rows, mean_intervals
from rome.text_table import aligned, shorten

if TYPE_CHECKING:
    from rome.results import CorpusScore

__all__ = ["BINS", "corpus_fragment", "corpus_html", "corpus_text", "histogram", "worst_places"]

BINS, HEIGHT, WORST, TITLE = 25, 20.0, 5, 110
"""Bars of a histogram, its height where 100 is its width, segments of one list, characters of a segment's line."""


def corpus_html(result: CorpusScore) -> str:
    """What a notebook shows: the fragment with its style and signature."""
    return framed(Html(corpus_fragment(result)), result.signature)


def corpus_fragment(result: CorpusScore) -> str:
    """The corpus without style and signature: no script and no ``id``, everything escaped.

    Its length hangs on the texts of at most 25 segments, not on the number of segments.
    """
    table = measures(result)
    parts = [_head(result, table)]
    if len(result):
        parts.append(element("div", _distributions(table), correlation_map(table, MEASURES), class_="rome-beside"))
        parts.append(element("div", *_worst(result, table), role="group", aria_label="worst segments"))
    return element("article", *parts, class_="rome-summary", aria_label=f"scores of {_count(len(result))}")


def corpus_text(result: CorpusScore) -> str:
    """The means with their intervals and the worst segments as plain text, short for any number of segments."""
    table = measures(result)
    rows = [["", "mean", f"{LEVEL:.0%} interval", "lowest", "median", "highest"]]
    rows += [[name, *figures] for name, figures in zip(MEASURES, _figures(table), strict=True)] if len(table) else []
    lines = [aligned(rows, [False, *[True] * 5], rule_after=(0,))] if len(table) else ["no segments"]
    for place in worst_places(table[:, 0], WORST):
        segment = result[place]
        lines.append(f"segment {segment.segment}  {segment.score:.4f}  {shorten(segment.hypothesis, 80)}")
    return "\n".join([f"{_count(len(result))}, score {result.score:.4f}", *lines, f"signature  {result.signature}"])


def histogram(values: Rows) -> NDArray[np.int64]:
    """(25,) the number of values in each of 25 equal parts of [0, 1]; what lies outside counts at the ends."""
    return np.asarray(np.histogram(np.clip(values, 0.0, 1.0), bins=BINS, range=(0.0, 1.0))[0], dtype=np.int64)


def worst_places(values: Rows, count: int) -> list[int]:
    """The places of the lowest values below 1, the lowest first, the first of equals first."""
    return [int(place) for place in np.argsort(values, kind="stable")[:count] if values[place] < 1.0]


def _count(size: int) -> str:
    return "1 segment" if size == 1 else f"{size:,} segments"


def _head(result: CorpusScore, table: Rows) -> Html:
    """The mean score, how many segments it is of, and how often each flag was raised."""
    note = supervision_note(result.signature)
    flags = Counter(flag for segment in result for flag in segment.flags)
    if not len(table):
        return element("p", escaped("No segments: there is nothing to show."), class_="rome-score")
    low, high = mean_intervals(table[:, :1])[0]
    interval = f", {LEVEL:.0%} interval {low:.3f} to {high:.3f}" if np.isfinite(low) else ""
    words = f"{'supervised ' if note else ''}score of {_count(len(table))}{interval}"
    parts = [element("strong", escaped(f"{result.score:.3f}")), element("span", escaped(words))]
    parts += [element("span", escaped(note), class_="rome-flag")] if note else []
    parts += [element("span", escaped(f"{flag} × {count:,}"), class_="rome-flag") for flag, count in flags.most_common()]
    return element("p", *parts, class_="rome-score")


def _figures(table: Rows) -> Iterator[list[str]]:
    """For each measure: mean, interval, lowest, median, highest."""
    for values, (low, high) in zip(table.T, mean_intervals(table), strict=True):
        interval = f"{low:.3f} to {high:.3f}" if np.isfinite(low) else "–"
        yield [
            f"{values.mean():.3f}",
            interval,
            *(f"{float(value):.3f}" for value in (values.min(), np.median(values), values.max())),
        ]


def _distributions(table: Rows) -> Html:
    """One row a measure: a histogram with the mean in it, the mean, its interval, and the range."""
    rows = []
    for name, values, figures in zip(MEASURES, table.T, _figures(table), strict=True):
        drawn = element("td", _drawn_histogram(values), class_="rome-drawn")
        cells = [element("th", escaped(name), scope="row"), drawn, *(cell(figure) for figure in figures)]
        rows.append(element("tr", *cells, class_="rome-first rome-bold" if name == "score" else None))
    ends = element("td", *(element("span", escaped(end)) for end in ("0", "0.5", "1")), class_="rome-ends")
    scale = element("tr", element("td"), ends, aria_hidden="true")
    names = "", "distribution", "mean", f"{LEVEL:.0%} interval", "lowest", "median", "highest"
    head = heads(*names, drawn=["distribution"])
    caption = element(
        "caption", escaped("Components"), element("small", escaped(" from 0 to 1, 1 is best; the line is the mean"))
    )
    drawn_table = element("table", caption, head, element("tbody", *rows, scale), class_="rome-summing")
    note = [element("p", escaped(FEW_NOTE), class_="rome-note")] if 1 < len(table) < FEW else []
    return element("div", drawn_table, *note, class_="rome-scroll")


def _drawn_histogram(values: Rows) -> Html:
    """Bars from 0 to 1, the highest as high as the drawing; what is not empty shows; the mean as a line."""
    counts = histogram(values)
    width, steps = 100.0 / BINS, []
    for place, count in enumerate(counts):
        if count:
            tall = max(0.8, (HEIGHT - 1) * count / counts.max())
            steps.append(f"M{number(place * width)} {number(HEIGHT)}v-{number(tall)}h{number(width - 0.5)}v{number(tall)}Z")
    mean = number(100.0 * float(values.mean()))
    return stretched(
        HEIGHT,
        element("path", d=f"M0 {HEIGHT:g}H100", class_="rome-under"),
        element("path", d="".join(steps), class_="rome-bar"),
        element("path", d=f"M{mean} 0V{HEIGHT:g}", class_="rome-mean"),
    )


def _worst(result: CorpusScore, table: Rows) -> Iterator[Html]:
    """For the score and each component the segments that have the least of it; the first list stands open."""
    for column, name in enumerate(MEASURES):
        rows = []
        for place in worst_places(table[:, column], WORST):
            segment = result[place]
            title = f"segment {segment.segment}: {shorten(segment.hypothesis, TITLE) or 'empty hypothesis'}"
            rows.append(segment_row(segment, f"{table[place, column]:.3f}", title))
        label = f"Lowest {name}"
        if rows:
            yield disclosure(label, listing(rows, label), open=column == 0, note=_count(len(rows)))
        else:
            yield element("p", escaped(f"{label}: every segment has 1."), class_="rome-note")
