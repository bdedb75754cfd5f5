"""Two systems as text and as HTML: the differences with their intervals, and the segments that decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rome.combining.provenance import supervision_note
from rome.display.markup import Html, disclosure, element, escaped, joined, number, signed
from rome.display.summary import FEW, FEW_NOTE, cell, framed, heads, listing, opened, stretched, text_line, worst_errors
from rome.display.texts import error_list
from rome.features.values import FEATURES
from rome.text_table import aligned, shorten

if TYPE_CHECKING:
    from rome.results.comparison import Comparison, Difference, SegmentPair

__all__ = ["comparison_fragment", "comparison_html", "comparison_text", "verdict"]

TEXT_WIDTH, TITLE_WIDTH, NAME_WIDTH, DECIDING = 88, 70, 24, 10
"""Columns of a text, of a text in a line with others, of a system's name; segments that are shown."""


def comparison_text(comparison: Comparison) -> str:
    """A verdict, one line a measure, then the segments with the largest differences."""
    a, b = (shorten(name, NAME_WIDTH) for name in comparison.names)
    rows = [["", a, b, "difference", f"{comparison.level:.0%} interval", "p", "contribution", "wins", "losses", "ties"]]
    rows += [_row(found, share) for found, share in _shares(comparison)]
    table = aligned(rows, [False, *[True] * 9], rule_after=(0, 1))
    parts = [verdict(comparison), table, _deciding(comparison)]
    label = supervision_note(comparison.a.signature)
    return "\n\n".join([*parts, "\n".join([f"signature  {comparison.a.signature}", *([label] if label else [])])])


def verdict(comparison: Comparison) -> str:
    """One sentence: who is ahead, by how much, and whether the interval leaves 0 out."""
    found, (a, b), count = comparison.score, comparison.names, len(comparison.a)
    segments = "1 segment" if count == 1 else f"{count} segments"
    if not found.wins and not found.losses:
        return f"{a} and {b} have the same score on every one of {segments}."
    ahead, behind = (a, b) if found.difference >= 0 else (b, a)
    by = f"{ahead} is {abs(found.difference):.4f} ahead of {behind} on {segments}"
    if count == 1:
        return f"{by}: one segment says nothing about others."
    level, method = f"{comparison.level:.0%}", f"{comparison.resamples} paired resamples, seed {comparison.seed}"
    few = "" if count >= FEW else f" {FEW_NOTE[:-1]}; go by the p-value."
    if found.decided:
        return f"{by}; the {level} interval of the difference leaves out 0 ({method}).{few}"
    return f"{by}, which may be chance: the {level} interval of the difference holds 0 ({method}).{few}"


def interval_text(low: float, high: float) -> str:
    """Both ends with their signs, or that there is none."""
    return f"[{low:+.4f}, {high:+.4f}]" if math.isfinite(low) and math.isfinite(high) else "none"


def p_text(value: float) -> str:
    """A p-value in three decimals, or as below what three decimals tell."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def moved_text(pair: SegmentPair, count: int = len(FEATURES)) -> str:
    """What moved the score, the largest contribution first: ``errors +0.21, syntax -0.03``; so many of them."""
    shares = sorted(zip(FEATURES, pair.contributions, strict=True), key=lambda item: -abs(item[1]))[:count]
    return ", ".join(f"{name} {share:+.3f}" for name, share in shares if abs(share) >= 0.0005) or "nothing"


def _shares(comparison: Comparison) -> Iterator[tuple[Difference, float]]:
    """Each difference with what it has to do with the score's; the score with the sum."""
    yield from zip(comparison, (comparison.score.difference, *comparison.contributions), strict=True)


def _row(found: Difference, share: float) -> list[str]:
    """One line of the table."""
    numbers = [f"{found.a:.4f}", f"{found.b:.4f}", f"{found.difference:+.4f}", interval_text(found.low, found.high)]
    return [found.name, *numbers, p_text(found.p_value), f"{share:+.4f}", str(found.wins), str(found.losses), str(found.ties)]


def _deciding(comparison: Comparison) -> str:
    """The segments that decide, each with both scores, what moved, and the two hypotheses."""
    pairs = comparison.deciding(DECIDING)
    if not pairs:
        return "No segment differs."
    names = [shorten(name, NAME_WIDTH) for name in comparison.names]
    lines = [f"The segments that decide (difference: {names[0]} minus {names[1]})"]
    width = max(map(len, ("reference", *names)))
    for pair in pairs:
        lines.append(f"  segment {pair.a.segment}  {pair.difference:+.4f}  {moved_text(pair)}")
        texts = (("reference", pair.a.reference, ""), (names[0], pair.a.hypothesis, f"{pair.a.score:.4f}"))
        for name, text, score in (*texts, (names[1], pair.b.hypothesis, f"{pair.b.score:.4f}")):
            lines.append(f"    {name:<{width}}  {score:6}  {shorten(text, TEXT_WIDTH)}".rstrip())
    return "\n".join(lines)


def comparison_html(comparison: Comparison) -> str:
    """What a notebook shows: the fragment with its style and signature."""
    return framed(Html(comparison_fragment(comparison)), comparison.a.signature)


def comparison_fragment(comparison: Comparison) -> str:
    """The comparison without style and signature: no script and no ``id``, everything escaped; short for any number of segments."""
    found, note = comparison.score, supervision_note(comparison.a.signature)
    head = [element("strong", escaped(signed(found.difference))), element("span", escaped("difference of the scores"))]
    head += [element("span", escaped(note), class_="rome-flag")] if note else []
    parts = [
        element("p", *head, class_="rome-score"),
        element("p", escaped(verdict(comparison)), class_="rome-verdict"),
        _table(comparison),
        _decisive(comparison),
    ]
    names = f"{comparison.names[0]} and {comparison.names[1]}"
    return element("article", *parts, class_="rome-summary", aria_label=f"comparison of {names}")


def _table(comparison: Comparison) -> Html:
    """One row a measure: both means, the difference with its interval as a drawing and as numbers, p-value, wins, losses and ties."""
    reach = (
        max(*(abs(end) for found in comparison for end in (found.low, found.high, found.difference) if end == end), 0.01) * 1.05
    )
    rows = [_measured(found, share, reach) for found, share in _shares(comparison)]
    ends = (f"\u2212{reach:.2f}", "0", f"+{reach:.2f}")
    scale = element("td", *(element("span", escaped(end)) for end in ends), class_="rome-ends")
    rows.append(element("tr", *(element("td") for _ in range(3)), scale, aria_hidden="true"))
    a, b = (shorten(name, NAME_WIDTH) for name in comparison.names)
    drawn, level = shorten(f"{a} minus {b}", NAME_WIDTH), f"{comparison.level:.0%} interval"
    head = heads(
        "", a, b, drawn, "difference", level, "p", "contribution", "wins, ties, losses", "", drawn=[drawn, "wins, ties, losses"]
    )
    aside = f" bold: the interval leaves out 0; the contributions add up to the score's difference; wins and losses are of {a}"
    caption = element("caption", escaped("Differences"), element("small", escaped(aside)))
    return element("div", element("table", caption, head, element("tbody", *rows), class_="rome-summing"), class_="rome-scroll")


def _measured(found: Difference, share: float, reach: float) -> Html:
    """One row of the table."""
    interval = interval_text(found.low, found.high).strip("[]").replace(", ", " to ").replace("-", "\u2212")
    cells = [
        element("th", escaped(found.name), scope="row"),
        cell(f"{found.a:.3f}"),
        cell(f"{found.b:.3f}"),
        element("td", _drawn_interval(found, reach), class_="rome-drawn"),
        cell(signed(found.difference, 4), "rome-decided" if found.decided else None),
        cell(interval, "rome-decided" if found.decided else None),
        cell(p_text(found.p_value)),
        cell(signed(share, 4)),
        element("td", _drawn_wins(found), class_="rome-drawn"),
        cell(f"{found.wins:,} · {found.ties:,} · {found.losses:,}"),
    ]
    return element("tr", *cells, class_="rome-first" if found.name == "score" else None)


def _drawn_interval(found: Difference, reach: float) -> Html:
    """Zero in the middle, the interval as a band, the difference as a mark."""

    def across(value: float) -> str:
        return number(50.0 + 50.0 * value / reach)

    parts = [element("path", d="M50 0V10", class_="rome-zero")]
    if found.low == found.low:
        parts.append(element("path", d=f"M{across(found.low)} 5H{across(found.high)}", class_="rome-reach"))
    parts.append(element("path", d=f"M{across(found.difference)} 1.5V8.5", class_="rome-mean"))
    return stretched(10, *parts, flat=True)


def _drawn_wins(found: Difference) -> Html:
    """Wins from the left, ties in the middle, losses to the right; as wide as their shares."""
    total, start, parts = max(1, found.wins + found.ties + found.losses), 0.0, []
    for kind, count in (("wins", found.wins), ("ties", found.ties), ("losses", found.losses)):
        width = 100.0 * count / total
        if count:
            parts.append(element("path", d=f"M{number(start)} 2h{number(width)}v6h-{number(width)}Z", class_=f"rome-{kind}"))
        start += width
    return stretched(10, *parts, flat=True)


def _decisive(comparison: Comparison) -> Html:
    """The segments that decide, each unfolding into its texts and what moved."""
    pairs, names = comparison.deciding(DECIDING), comparison.names
    if not pairs:
        return element("p", escaped("No segment differs."), class_="rome-note")
    rows = [opened(signed(pair.difference), _title(pair), _moved(pair, names), _pair_texts(pair, names)) for pair in pairs]
    label = f"The segments that decide: {shorten(names[0], NAME_WIDTH)} minus {shorten(names[1], NAME_WIDTH)}"
    note = f"the {len(rows)} largest differences" if len(rows) > 1 else "the largest difference"
    return disclosure(label, listing(rows, label), open=True, note=note)


def _title(pair: SegmentPair) -> str:
    """The segment, what moved its score most, and the reference."""
    moved = moved_text(pair, 2).replace("-", "\u2212")
    return f"segment {pair.a.segment} · {moved} · {shorten(pair.a.reference, TITLE_WIDTH)}"


def _moved(pair: SegmentPair, names: tuple[str, str]) -> Html:
    """A small table: each component of both systems, the difference, and what it did to the score's."""
    rows = []
    for x, y, gap, share in zip(pair.a.components, pair.b.components, pair.components, pair.contributions, strict=True):
        cells = [cell(f"{x.value:.3f}"), cell(f"{y.value:.3f}"), cell(signed(gap)), cell(signed(share))]
        rows.append(element("tr", element("th", escaped(x.name), scope="row"), *cells))
    scores = [
        cell(f"{pair.a.score:.3f}"),
        cell(f"{pair.b.score:.3f}"),
        cell(signed(pair.difference)),
        cell(signed(pair.difference)),
    ]
    rows.append(element("tr", element("th", escaped("score"), scope="row"), *scores, class_="rome-last rome-bold"))
    head = heads("", *(shorten(name, NAME_WIDTH) for name in names), "difference", "contribution")
    return element("div", element("table", head, element("tbody", *rows), class_="rome-summing"), class_="rome-scroll")


def _pair_texts(pair: SegmentPair, names: tuple[str, str]) -> Html:
    """The reference and both hypotheses, each with its worst errors marked and listed."""
    lines = [text_line("reference", pair.a.reference, (), "reference")]
    if pair.b.reference != pair.a.reference:
        lines.append(text_line(f"reference of {shorten(names[1], NAME_WIDTH)}", pair.b.reference, (), "reference"))
    for name, side in zip(names, (pair.a, pair.b), strict=True):
        errors = worst_errors(side)
        lines.append(text_line(shorten(name, NAME_WIDTH), side.hypothesis, errors, "hypothesis"))
        if errors:
            lines.append(joined([element("dt"), element("dd", element("section", error_list(errors)))]))
    return element("dl", *lines, class_="rome-texts")
