"""The two texts above each other with their errors underlined, and the errors as a list, so that nothing hides behind a hover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rome.display.markup import Html, disclosure, element, escaped, joined
from rome.text_table import shorten

if TYPE_CHECKING:
    from rome.features.errors.values import ErrorSpan
    from rome.results import SegmentScore

__all__ = ["SEVERITIES", "Side", "error_list", "marked_text", "numbered", "texts"]

Side = Literal["reference", "hypothesis"]
SEVERITIES = ("critical", "major", "minor")
"""The severities that are underlined, the worst first; an edit of severity ``none`` is listed only."""

QUOTED, SHORT, UNFOLDED = 40, 24, 30
"""Characters of a text in the list of errors; up to how many an underlined piece stays on one line with its number; errors of the list
that are not folded away."""


def texts(segment: SegmentScore) -> Html:
    """Both texts, underlined, and the list of errors under them; without evidence the bare texts."""
    evidence = segment.evidence.errors
    errors = () if evidence is None else (*evidence.errors, *evidence.differences)
    lines = [
        element("dt", escaped("reference" + (f" {segment.reference_index}" if segment.reference_index else ""))),
        element("dd", marked_text(segment.reference, errors, "reference"), dir="auto"),
        element("dt", escaped("hypothesis")),
        element("dd", marked_text(segment.hypothesis, errors, "hypothesis"), dir="auto"),
    ]
    listed = Html("") if evidence is None else error_list(errors)
    return element("section", element("dl", *lines, class_="rome-texts"), listed, aria_label="texts and errors")


def numbered(errors: Sequence[ErrorSpan]) -> list[tuple[int, ErrorSpan]]:
    """The errors that count as mistakes with their numbers from 1, in their order."""
    return list(enumerate((error for error in errors if error.severity in SEVERITIES), start=1))


def marked_text(text: str, errors: Sequence[ErrorSpan], side: Side) -> Html:
    """The text, every character of it, with each error of this side in a ``<mark>`` of its severity; its number follows its last piece.

    Where errors overlap the marks are nested piece by piece, the worst outside, so that both lines show. Without tags and unescaped it is
    the text again. An error without characters is an empty mark at its place.
    """
    placed = [(n, error, *_place(error, side, len(text))) for n, error in numbered(errors) if getattr(error, side) is not None]
    placed.sort(key=lambda row: (SEVERITIES.index(row[1].severity), row[2], -row[3]))
    cuts = sorted({0, len(text), *(place for row in placed for place in row[2:4])})
    parts = list(_points(placed, 0))
    for start, end in zip(cuts, cuts[1:], strict=False):
        piece = escaped(text[start:end])
        for n, error, first, last in reversed(placed):
            if first <= start and end <= last:
                piece = _mark(n, error, piece, ends=end == last, long=end - start > SHORT)
        parts += [piece, *_points(placed, end)]
    return joined(parts)


def error_list(errors: Sequence[ErrorSpan]) -> Html:
    """Every error with its number, severity, kind, type, texts, weight and confidence; differences without consequence are folded away."""
    counted = [_item(n, error) for n, error in numbered(errors)]
    doubtful = [_item(None, error) for error in errors if error.severity not in SEVERITIES]
    parts = [_list(counted[:UNFOLDED])] if counted else [_no_errors(bool(doubtful))]
    if counted[UNFOLDED:]:
        parts.append(disclosure(f"Errors {UNFOLDED + 1} to {len(counted)}", _list(counted[UNFOLDED:])))
    if doubtful:
        title = f"{len(doubtful)} {'difference' if len(doubtful) == 1 else 'differences'} without consequence"
        parts.append(disclosure(title, _list(doubtful)))
    return joined(parts)


def _list(items: Sequence[Html]) -> Html:
    """The items as a list; their numbers stand in them."""
    return element("ol", *items, class_="rome-errors")


def _no_errors(doubtful: bool) -> Html:
    """Says so in words."""
    return element(
        "p", escaped("No errors, only differences without consequence." if doubtful else "No errors found."), class_="rome-note"
    )


def _place(error: ErrorSpan, side: Side, length: int) -> tuple[int, int]:
    """Start and end of the error on this side, inside the text."""
    span = getattr(error, side)
    start = min(max(0, span.start), length)
    return start, min(max(start, span.end), length)


def _points(placed: Sequence[tuple[int, Any, int, int]], place: int) -> Iterator[Html]:
    """An empty mark for each error without characters at this place."""
    for n, error, start, end in placed:
        if start == end == place:
            yield _mark(n, error, Html(""), ends=True, long=False)


def _mark(n: int, error: ErrorSpan, inner: Html, *, ends: bool, long: bool) -> Html:
    """The piece under the line of its severity; the number is no part of the text, so it stands in an attribute."""
    kind = f"rome-{error.severity}" + (" rome-long" if long else "")
    return element("mark", inner, class_=kind, title=_words(error), data_n=n if ends else None)


def _words(error: ErrorSpan) -> str:
    """``major replacement: number, weight 4.58``."""
    return f"{error.severity} {_label(error)}, weight {error.weight:.2f}, confidence {error.confidence:.2f}"


def _label(error: ErrorSpan) -> str:
    """What was done, and what it is about."""
    return f"{error.kind}: {error.type}" if error.type and error.type != error.kind else error.kind


def _item(n: int | None, error: ErrorSpan) -> Html:
    """One line of the list."""
    figures = f"weight {error.weight:.2f} · confidence {error.confidence:.2f}"
    parts = [
        element("b", escaped(error.severity if n is not None else "none"), class_=f"rome-{error.severity}", data_n=n),
        escaped(_label(error)),
        *_change(error),
        element("small", escaped(figures)),
    ]
    return element("li", joined(parts, " "))


def _change(error: ErrorSpan) -> Iterator[Html]:
    """The texts concerned: ``before → after``, each with its place as a title."""
    shown = [_quoted(side, getattr(error, side)) for side in ("reference", "hypothesis") if getattr(error, side) is not None]
    yield joined(shown, " → ")


def _quoted(side: str, span: Any) -> Html:
    """The words of one side; blanks that would not show are named."""
    text = shorten(span.text, QUOTED)
    tag: Any = "q" if text.strip() else "i"
    name = text if text.strip() else "blank" if span.text else "nothing"
    return element(tag, escaped(name), title=f"{side}, characters {span.start} to {span.end}")
