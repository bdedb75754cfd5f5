"""What the displays of corpora, comparisons and changes share: their style, their frame, and one segment opened up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from rome.display.markup import Html, element, escaped, joined
from rome.display.style import STYLE
from rome.display.texts import SEVERITIES, Side, error_list, marked_text

if TYPE_CHECKING:
    from rome.features.errors.values import ErrorSpan
    from rome.results import SegmentScore

__all__ = [
    "CUT",
    "FEW",
    "FEW_NOTE",
    "SUMMARY_STYLE",
    "cell",
    "framed",
    "heads",
    "listing",
    "opened",
    "segment_row",
    "stretched",
    "text_line",
    "values_line",
    "worst_errors",
]

CUT, WORST = 1200, 3
"""Characters of a text that are shown in a list of segments, and errors of one segment."""

FEW = 20
"""Below so many segments the percentile interval holds the true mean clearly less often than it says."""

FEW_NOTE = f"Intervals from fewer than {FEW} segments are too narrow."


def _style() -> str:
    """The rules of summary.css without comments and needless blanks."""
    rules = files("rome.display").joinpath("summary.css").read_text(encoding="utf-8")
    rules = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", rules, flags=re.S))
    return re.sub(r"\s*([{};,])\s*", r"\1", rules).strip()


SUMMARY_STYLE = _style()
"""The CSS of the displays of corpora, comparisons and changes; it needs `style.STYLE` before it."""


def framed(fragment: Html, signature: str) -> Html:
    """What a notebook shows: the fragment with both styles and the signature; nothing is fetched and no script runs."""
    signed = [element("p", escaped(f"signature {signature}"), class_="rome-signature")] if signature else []
    return element("div", Html(f"<style>{STYLE}{SUMMARY_STYLE}</style>"), fragment, *signed, class_="rome")


def heads(*names: str, drawn: Sequence[str] = ()) -> Html:
    """The head of a table; an empty name makes an empty cell. drawn : the columns that hold drawings."""
    kinds = {name: "rome-drawn" for name in drawn}
    cells = (element("th", element("bdi", escaped(n)), scope="col", class_=kinds.get(n)) if n else element("td") for n in names)
    return element("thead", element("tr", *cells))


def cell(text: str, kind: str | None = None) -> Html:
    """One cell of text."""
    return element("td", escaped(text), class_=kind)


def stretched(height: float, *parts: Html, flat: bool = False) -> Html:
    """A drawing 100 wide that takes its cell's width; decoration, because the numbers stand beside it."""
    sizes = {"viewBox": f"0 0 100 {height:g}", "preserveAspectRatio": "none", "class_": "rome-flat" if flat else None}
    return element("svg", *parts, aria_hidden="true", **sizes)


def listing(rows: Sequence[Html], label: str) -> Html:
    """Rows that unfold, under each other."""
    return element("div", *rows, class_="rome-list", role="group", aria_label=label)


def opened(lead: str, title: str, *children: Html) -> Html:
    """One row of a list: a number and a line of text, which unfold into the rest."""
    summary = element("summary", element("b", escaped(lead)), element("bdi", escaped(title)))
    return element("details", summary, *children)


def worst_errors(segment: SegmentScore) -> tuple[ErrorSpan, ...]:
    """The heaviest errors of a segment that count as mistakes and stand in the part that is shown, in the order of the hypothesis."""
    evidence = segment.evidence.errors
    errors = [] if evidence is None else [error for error in evidence.errors if error.severity in SEVERITIES and _shown(error)]
    heaviest = sorted(range(len(errors)), key=lambda place: -errors[place].weight)[:WORST]
    return tuple(errors[place] for place in sorted(heaviest))


def text_line(name: str, text: str, errors: Sequence[ErrorSpan], side: Side) -> Html:
    """A text under its name with these errors marked; a long one is cut, and says so."""
    shown = marked_text(text[:CUT], [error for error in errors if _shown(error)], side)
    rest = [element("small", escaped(f" … and {len(text) - CUT} more characters"))] if len(text) > CUT else []
    return joined([element("dt", element("bdi", escaped(name))), element("dd", shown, *rest, dir="auto")])


def values_line(segment: SegmentScore) -> Html:
    """The score and the four components in one line."""
    values = [f"score {segment.score:.3f}", *(f"{part.name} {part.value:.3f}" for part in segment.components), *segment.flags]
    return element("p", escaped(" · ".join(values)), class_="rome-values")


def segment_row(segment: SegmentScore, lead: str, title: str) -> Html:
    """A segment that unfolds into its numbers, both texts and its worst errors."""
    errors = worst_errors(segment)
    lines = [text_line("reference", segment.reference, errors, "reference")]
    lines.append(text_line("hypothesis", segment.hypothesis, errors, "hypothesis"))
    if segment.evidence.errors is None:
        listed = element("p", escaped("No evidence: the numbers come from a stored table."), class_="rome-note")
    else:
        listed = element("section", error_list(errors))
    return opened(lead, title, values_line(segment), element("dl", *lines, class_="rome-texts"), listed)


def _shown(error: ErrorSpan) -> bool:
    """Whether the error stands before the cut on both sides."""
    return all(span is None or span.end <= CUT for span in (error.reference, error.hypothesis))
