"""One segment's explanation as HTML: texts, errors, losses, components, contributions, alignment, trees and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rome.combining.provenance import supervision_note
from rome.display.alignment import alignment
from rome.display.components import components, sentences
from rome.display.losses import losses
from rome.display.markup import Html, element, escaped
from rome.display.matrices import heat_maps
from rome.display.style import STYLE
from rome.display.texts import texts
from rome.display.trees import dependency_trees
from rome.display.waterfall import waterfall

if TYPE_CHECKING:
    from rome.results import SegmentScore

__all__ = ["segment_fragment", "segment_html", "segment_page"]

STORED = "The numbers come from a stored table, which holds no evidence: no errors, alignment or trees to show."
SAFE = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def segment_html(segment: SegmentScore) -> str:
    """What a notebook shows: the fragment with its style and its signature; nothing is fetched and no script runs."""
    signature = (
        element("p", escaped(f"signature {segment.signature}"), class_="rome-signature") if segment.signature else Html("")
    )
    return element("div", Html(f"<style>{STYLE}</style>"), Html(segment_fragment(segment)), signature, class_="rome")


def segment_fragment(segment: SegmentScore, *, matrices: bool = True, trees: bool = True) -> str:
    """The explanation without its style and signature, for a page that has `style.STYLE` once and puts it under ``.rome``.

    No script and no ``id``, everything escaped, the same segment gives the same text: many may stand on one page. matrices, trees :
    False leaves these parts out, which are the longest.
    """
    bare = all(component.evidence is None for component in segment.components)
    numbers = element("div", components(segment), waterfall(segment), class_="rome-numbers")
    parts = [
        _head(segment),
        texts(segment),
        losses(segment),
        element("p", escaped(STORED), class_="rome-note") if bare else alignment(segment),
        numbers,
        sentences(segment),
        dependency_trees(segment) if trees else Html(""),
        heat_maps(segment) if matrices else Html(""),
    ]
    return element("article", *parts, class_="rome-segment", aria_label=f"explanation of segment {segment.segment}")


def segment_page(segment: SegmentScore, title: str = "RoMe") -> str:
    """A whole page for a file: it fetches nothing, and its policy forbids scripts."""
    policy = element("meta", http_equiv="Content-Security-Policy", content=SAFE)
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        policy,
        Html(
            '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        ),
        element("title", escaped(title)),
        Html(
            "<style>body{margin:0 auto;padding:1rem;max-width:76rem}@media(prefers-color-scheme:dark){body{background:#15181b}}</style>"
        ),
    )
    body = element("body", element("main", Html(segment_html(segment))))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _head(segment: SegmentScore) -> Html:
    """The score, the label of a supervised one, and the flags."""
    note = supervision_note(segment.signature)
    parts = [
        element("strong", escaped(f"{segment.score:.3f}")),
        element("span", escaped(f"{'supervised score' if note else 'score'} of segment {segment.segment}")),
    ]
    if note:
        parts.append(element("span", escaped(note), class_="rome-flag"))
    parts += [element("span", escaped(flag), class_="rome-flag") for flag in segment.flags]
    return element("p", *parts, class_="rome-score")
