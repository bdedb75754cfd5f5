"""The word alignment between the lines, as linguists write glosses: aligned words above each other, wrapped together at any width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rome.display.markup import Html, Value, disclosure, element, escaped, joined
from rome.display.texts import SEVERITIES
from rome.features.matching import longest_increasing_subsequence

if TYPE_CHECKING:
    from rome.features.errors.values import ErrorSpan
    from rome.features.semantic import AlignedPair
    from rome.results import SegmentScore

__all__ = ["Column", "alignment", "columns", "letter", "word_places"]

COLUMNS, OPEN = 160, 72
"""Columns that are drawn at most, and up to how many the part is unfolded."""

LEGEND = (
    "Reference above, hypothesis below. A line links a word to itself; a number is the similarity of two different words; a letter in a "
    "ring stands at both ends of a link to another place; ∅ is no counterpart."
)


@dataclass(frozen=True, slots=True)
class Column:
    """One place between the lines.

    reference, hypothesis : word numbers; None on an empty side. pair : the link. moved : the link's letter, where its other end
    stands in another column.
    """

    reference: int | None
    hypothesis: int | None
    pair: AlignedPair | None = None
    moved: str = ""


def alignment(segment: SegmentScore) -> Html:
    """The gloss with its legend; nothing without evidence or where a side has no words."""
    evidence = segment.evidence.semantic
    if evidence is None or not evidence.reference_words or not evidence.hypothesis_words:
        return Html("")
    every = columns(evidence.pairs, len(evidence.reference_words), len(evidence.hypothesis_words))
    shades = {side: _shades(segment, side) for side in ("reference", "hypothesis")}
    drawn = joined(_column(column, evidence, shades) for column in every[:COLUMNS])
    cut = "" if len(every) <= COLUMNS else f" Only the first {COLUMNS} of {len(every)} places are drawn."
    linked = sum(pair.distance < 1.0 for pair in evidence.pairs)
    return disclosure(
        "Word alignment",
        element("div", drawn, class_="rome-gloss", dir="auto"),
        element("p", escaped(LEGEND + cut), class_="rome-note"),
        open=len(every) <= OPEN,
        note=f"{linked} links between {len(evidence.reference_words)} and {len(evidence.hypothesis_words)} words",
    )


def columns(pairs: Sequence[AlignedPair], reference: int, hypothesis: int) -> list[Column]:
    """Every word of both sides once, in the order of its side.

    The longest run of links that do not cross share their columns; the other links are lettered, each end in a column of its own. A pair
    of cost 1 is no link: its words have nothing to do with each other. reference, hypothesis : the numbers of words.
    """
    linked = sorted((pair for pair in pairs if pair.distance < 1.0), key=lambda pair: pair.reference)
    straight = [linked[n] for n in longest_increasing_subsequence([pair.hypothesis for pair in linked])]
    kept = {pair.reference for pair in straight}
    crossing = [pair for pair in linked if pair.reference not in kept]
    lettered = [(pair, letter(n)) for n, pair in enumerate(crossing)]
    above = {pair.reference: (pair, name) for pair, name in lettered}
    below = {pair.hypothesis: (pair, name) for pair, name in lettered}
    found: list[Column] = []
    i = j = 0
    for pair in [*straight, None]:
        last_i, last_j = (reference, hypothesis) if pair is None else (pair.reference, pair.hypothesis)
        found += [Column(n, None, *above.get(n, (None, ""))) for n in range(i, last_i)]
        found += [Column(None, n, *below.get(n, (None, ""))) for n in range(j, last_j)]
        if pair is not None:
            found.append(Column(last_i, last_j, pair))
        i, j = last_i + 1, last_j + 1
    return found


def letter(n: int) -> str:
    """a, b, … z, aa, ab, …"""
    name = ""
    while n >= 0:
        name, n = chr(ord("a") + n % 26) + name, n // 26 - 1
    return name


def word_places(text: str, words: Sequence[str]) -> list[tuple[int, int] | None]:
    """Where each word stands in the text, found from left to right; None for a word that the text does not spell out."""
    places: list[tuple[int, int] | None] = []
    start = 0
    for word in words:
        at = text.find(word, start)
        if not word or at < 0 or len(text[start:at].split()) > 2:
            places.append(None)
            continue
        start = at + len(word)
        places.append((at, start))
    return places


def _shades(segment: SegmentScore, side: Any) -> dict[int, str]:
    """For each word that an error touches, the worst severity."""
    evidence = segment.evidence.errors
    errors: Sequence[ErrorSpan] = () if evidence is None else evidence.errors
    spans = [(getattr(e, side), e.severity) for e in errors if e.severity in SEVERITIES and getattr(e, side) is not None]
    found: dict[int, str] = {}
    for n, place in enumerate(word_places(getattr(segment, side), getattr(segment.evidence.semantic, f"{side}_words"))):
        met = [severity for span, severity in spans if place and span.start < place[1] and place[0] < span.end]
        if met:
            found[n] = min(met, key=SEVERITIES.index)
    return found


def _column(column: Column, evidence: Any, shades: dict[str, dict[int, str]]) -> Html:
    """Word, link, word; what the link says stands in an attribute, because it is no part of a text."""
    cells = []
    for side in ("reference", "hypothesis"):
        n = getattr(column, side)
        severity = "" if n is None else shades[side].get(n, "")
        word = Html("") if n is None else escaped(getattr(evidence, f"{side}_words")[n])
        cells.append(element("b", word, class_=f"rome-{severity}" if severity else None))
    return element("span", *cells, **_link(column, evidence))


def _link(column: Column, evidence: Any) -> dict[str, Value]:
    """The attributes of a column: its kind, what its link shows, and the link in words."""
    pair = column.pair
    if pair is None:
        return {"class_": "rome-alone"}
    above, below = evidence.reference_words[pair.reference], evidence.hypothesis_words[pair.hypothesis]
    words = f"{above} – {below}: similarity {pair.similarity:.2f}, cost {pair.distance:.2f}"
    if column.moved:
        return {"class_": "rome-moved", "data_l": column.moved, "title": words}
    if above.casefold() == below.casefold():
        return {}
    return {"data_l": f"{max(pair.similarity, 0.0):.2f}".removeprefix("0"), "title": words}
