"""A segment's display: texts that come back, errors under their lines, numbers that add up, pages that hold together."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from html_checks import Markup, checked
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.features.errors.evidence import ErrorsEvidence, ErrorSpan, TextSpan
from rome.features.semantic import AlignedPair, SemanticEvidence
from rome.features.syntax import Syntax, Tree, edit_operations
from rome.reports.html import PALETTE, STYLE, document_page, fragment, notebook
from rome.reports.model import Line, Mark, Strip
from rome.reports.segment import (
    LINKS,
    SEVERITIES,
    STEPS,
    WORDS,
    links_of,
    losses,
    pieces,
    segment_document,
    tree_rows,
    waterfall,
)
from rome.results import Contributions, SegmentScore

from handmade import analysis

Make = Callable[..., SegmentScore]

HOSTILE = (
    "<script>alert(1)</script>&\"'",
    "</dd></article></div><style>*{display:none}</style><!-- --> &amp; &lt;b&gt; ]]>",
    "\u202eevil\u202c e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 مرحبا 常 \ufeff",
    "two\nlines\r\nand\ttabs  blanks ",
    "javascript:alert(1)\" onload=\"x' id='y",
    "",
)


def segment_fragment(segment: SegmentScore, *, every: bool = True) -> str:
    return fragment(segment_document(segment, every=every))


def stripped(fragment: str) -> str:
    """The text without tags, unescaped."""
    return html.unescape(re.sub(r"<[^>]*>", "", fragment))


def shown_texts(fragment: str) -> list[str]:
    """Reference and hypothesis as the page shows them."""
    return [stripped(found) for found in re.findall(r"<dd[^>]*>(.*?)</dd>", fragment, re.S)]


def span(text: str, start: int, end: int) -> TextSpan:
    return TextSpan(text[start:end], start, end)


def error(text: str, start: int, end: int, severity: str = "minor") -> ErrorSpan:
    """An unnecessary piece of the hypothesis."""
    return ErrorSpan("unnecessary", "other", severity, 1.0, 0.5, None, span(text, start, end))  # type: ignore[arg-type]


def with_evidence(segment: SegmentScore, **evidence: Any) -> SegmentScore:
    """The segment with other evidence in the components named."""
    changed = {name: replace(getattr(segment.components, name), evidence=value) for name, value in evidence.items()}
    return replace(segment, components=replace(segment.components, **changed))


def without_evidence(segment: SegmentScore) -> SegmentScore:
    return with_evidence(segment, semantic=None, syntax=None, grammar=None, errors=None)


def long_segment(make: Make, words: int) -> SegmentScore:
    """A text of so many words, every one of them an error, with its trees and its alignment."""
    text = " ".join(f"word{n}" for n in range(words))
    found = analysis(text)
    pairs = tuple(AlignedPair(n, n, 0.9, 0.1) for n in range(words))
    masses, flow = np.full(words, 1 / words), np.eye(words) / words
    semantic = SemanticEvidence(
        tuple(text.split()), tuple(text.split()), masses, masses, pairs, 1.0 - 0.9 * np.eye(words), flow
    )
    errors = ErrorsEvidence(tuple(error(text, word.start, word.end) for word in found.words), float(words))
    segment = make(reference=text, hypothesis=text)
    return with_evidence(segment, semantic=semantic, errors=errors, syntax=Syntax().measure(found, found).evidence)


# texts and errors


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_come_back_whatever_they_hold(make_segment: Make, text: str) -> None:
    """Strip the tags, unescape: both texts are there to the last character, and nothing of them became markup."""
    fragment = segment_fragment(make_segment(reference=text, hypothesis=text[::-1]))
    assert shown_texts(fragment) == [text.replace("\r", "␍"), text[::-1].replace("\r", "␍")]
    tags = set(Markup(fragment).tags)
    assert not tags & {"script", "style", "iframe", "img", "a", "form", "object", "embed"}


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_every_character_of_an_error_is_under_its_line(data: st.DataObject) -> None:
    """However errors overlap, nest or are empty: each holds exactly its own characters, the worst outside, and ends once, at its end."""
    text = data.draw(st.text("ab <&", max_size=12))
    spans = st.tuples(*[st.integers(0, len(text))] * 2).map(sorted)
    rows = data.draw(st.lists(st.tuples(spans, st.sampled_from(SEVERITIES)), max_size=5))
    marks = tuple(Mark(n, severity, *place, "") for n, (place, severity) in enumerate(rows))
    found = pieces(Line("", text, marks))
    assert "".join(piece for piece, _ in found) == text
    held: dict[int, set[int]] = {mark.number: set() for mark in marks}
    ends: list[tuple[int, int]] = []
    at = 0
    for piece, over in found:
        order = [SEVERITIES.index(mark["severity"]) for mark in over]
        assert order == sorted(order)
        for mark in over:
            held[mark["number"]] |= set(range(at, at + len(piece)))
            ends += [(mark["number"], at + len(piece))] if mark["ends"] else []
        at += len(piece)
    assert held == {mark.number: set(range(mark.start, mark.end)) for mark in marks}
    assert sorted(ends) == [(mark.number, mark.end) for mark in marks]


def test_errors_are_listed_without_a_hover(make_segment: Make) -> None:
    """Number, severity, kind, type, both texts, weight and confidence stand in the list; doubtful ones are folded, with their count."""
    segment = make_segment()
    doubt = replace(segment.evidence.errors.errors[0], severity="none")
    fragment = segment_fragment(with_evidence(segment, errors=ErrorsEvidence((*segment.evidence.errors.errors, doubt), 5.75)))
    (counted, doubtful) = re.findall(r'<ol class="rome-errors">(.*?)</ol>', fragment, re.S)
    first, second = (" ".join(stripped(item).split()) for item in counted.split("<li>")[1:])
    assert first == "minor missing: adverb soundly weight 1.250 · confidence 0.500"
    assert second == "major replacement: number Five → Four weight 4.500 · confidence 0.900"
    assert re.findall(r'data-n="(\d)"', counted) == ["1", "2"]
    assert stripped(doubtful).strip().startswith("none missing: adverb")
    assert "1 difference not counted" in fragment


def test_header_shows_score_flags_and_supervision(make_segment: Make) -> None:
    """The score, every flag, and the label of a supervised score; no label on an unsupervised one."""
    segment = replace(make_segment(7, flags=("identical", "long")), signature="scorer:supervised.tac_2008|net:1")
    fragment = segment_fragment(segment)
    assert "<strong>0.500</strong><span>supervised score of segment 7</span>" in fragment
    for label in ("identical", "long", "supervised: fitted on human ratings (tac_2008)"):
        assert f'<span class="rome-flag">{label}</span>' in fragment
    assert "supervised" not in segment_fragment(make_segment())


# numbers


def rows_of(fragment: str, caption: str) -> list[str]:
    """The texts of a table's rows."""
    table = fragment.split(f"<caption>{caption}")[1].split("</table>")[0]
    return [
        "|".join(stripped(cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row))
        for row in table.split("<tr")[1:]
    ]


def test_doubt_has_a_row_of_its_own(make_segment: Make) -> None:
    """It takes its share of the points of errors, and says that it has no place."""
    segment = make_segment(score=0.3)
    doubtful = with_evidence(segment, errors=replace(segment.evidence.errors, doubt=segment.evidence.errors.count))
    (lost,) = [loss.loss for loss in doubtful.losses if loss.feature == "errors" and loss.error is None]
    assert lost == pytest.approx(segment.contributions.errors / 2) and sum(one.loss for one in doubtful.losses) == pytest.approx(
        sum(one.loss for one in segment.losses)
    )
    assert "expected, at no certain place" in segment_fragment(doubtful)
    assert "expected, at no certain place" not in segment_fragment(segment)


def test_the_waterfall_adds_up(make_segment: Make) -> None:
    """From 1 the losses lead down to the score, in the printed numbers and in the drawing; it leads the display."""
    segment = make_segment(score=0.3)
    fragment = segment_fragment(segment)
    rows = [row.split("|") for row in rows_of(fragment, "Where the points went")]
    printed = [float(row[2].replace("\u2212", "-")) for row in rows[: len(segment.losses) + 1]]
    assert printed == [1.0, *(round(loss.loss, 3) for loss in segment.losses if loss.loss), 0.3]
    assert sum(printed[:-1]) == pytest.approx(printed[-1], abs=0.002)
    table = losses(segment)
    assert table.scale == ("0", "1")
    steps = [strip.pieces[0] for row in table.rows if isinstance(strip := row[1], Strip) and strip.pieces]
    ends = np.cumsum([1.0, *(loss.loss for loss in segment.losses)])[1:5]
    assert [start for start, *_ in steps] == pytest.approx(ends)
    assert {kind for _, _, kind, _ in steps} == {"down"}
    order = [fragment.index(words) for words in ("Where the points went", "<dl", "Word alignment", "Components", "Dependency")]
    assert order == sorted(order)


def test_many_small_losses_are_one_step() -> None:
    """At most so many steps; the rest, and what rounds to nothing, stands as one, and the waterfall still ends at the score."""
    steps = [*((-0.03, f"word{n}", "other, minor") for n in range(20)), (-0.0001, "a", ""), (-0.0002, "b", "")]
    rows = waterfall("losses", "", ("perfect", 1.0), steps, "score").rows
    assert [row[0] for row in rows[1:-1]] == [*(f"word{n}" for n in range(STEPS)), "10 smaller"]
    assert rows[-1][2] == "0.400"
    (row,) = waterfall("losses", "", ("perfect", 1.0), steps[-2:], "score").rows[1:-1]
    assert row[0] == "2 smaller" and row[2] == "0.000"


# alignment


@settings(max_examples=50, deadline=None)
@given(st.permutations(range(8)), st.integers(0, 8))
def test_every_word_has_one_place(order: list[int], linked: int) -> None:
    """Any one-to-one alignment: every word of both sides is there once, each link holds its two words."""
    pairs = tuple(AlignedPair(i, j, 0.5, 0.5) for i, j in list(enumerate(order))[:linked])
    words, others, empty = tuple("abcdefgh"), tuple("ABCDEFGH"), np.zeros((8, 8))
    links = links_of(SemanticEvidence(words, others, empty[0], empty[0], pairs, empty, empty))
    assert "".join(link.reference for link in links) == "abcdefgh"
    assert sorted(link.hypothesis for link in links if link.hypothesis) == list(others)
    assert [(link.reference, link.hypothesis) for link in links if not link.alone] == [
        (words[pair.reference], others[pair.hypothesis]) for pair in pairs
    ]


# trees


def test_tree_rows_hold_every_node_once_in_both_orders() -> None:
    """Random trees: each tree is read depth first down its side, and the rows' kinds are those of the edit operations."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        trees = [_random_tree(rng, int(rng.integers(1, 12))) for _ in range(2)]
        equal = rng.random((len(trees[1].labels), len(trees[0].labels))) < 0.3
        equal[0, :], equal[:, 0], equal[0, 0] = False, False, True
        evidence: Any = _Evidence(trees[0], trees[1], edit_operations(trees[1], trees[0], equal))
        rows = tree_rows(evidence)
        hidden = 0 if rows and rows[0][1] == 0 else 1
        for side, tree in enumerate(trees, start=1):
            nodes = [row[side] for row in rows if row[side] is not None]
            assert nodes == list(_depth_first(tree))[hidden:]
        shown = [row[0] for row in rows] + ["match"] * hidden
        assert sorted(edit.kind for edit in evidence.operations) == sorted(shown)


class _Evidence:
    """What tree_rows looks at."""

    def __init__(self, reference: Tree, hypothesis: Tree, operations: Any) -> None:
        self.reference, self.hypothesis, self.operations = reference, hypothesis, operations


def _random_tree(rng: np.random.Generator, size: int) -> Tree:
    parents = (-1, *(int(rng.integers(0, n)) for n in range(1, size)))
    return Tree(tuple("abcdefghijkl"[:size]), parents, ("",) * size, tuple(range(-1, size - 1)))


def _depth_first(tree: Tree, node: int = 0) -> Iterator[int]:
    """The textbook's recursion."""
    yield node
    for child, parent in enumerate(tree.parents):
        if parent == node:
            yield from _depth_first(tree, child)


def test_tree_drawing_tells_the_edits_by_shape_and_sign(make_segment: Make) -> None:
    """One match band less, a change, a deletion; lemmas and relations of both sides; the legend in words."""
    fragment = segment_fragment(make_segment())
    drawn = fragment.split('<svg class="rome-trees"')[1].split("</svg>")[0]
    texts = re.findall(r"<text[^>]*>(\w+)(?:<tspan[^>]*>(\w+))?", drawn)
    assert texts == [
        *(("reference", ""), ("hypothesis", "")),
        *(("sleep", "root"), ("cat", "nsubj"), ("five", "nummod")),
        *(("sleep", "root"), ("cat", "nsubj"), ("four", "nummod"), ("soundly", "advmod")),
    ]
    assert set(re.findall(r"rome-sign rome-(\w+)", drawn)) == {"match", "change", "delete"}
    assert all(words in fragment for words in ("≠ changed", "+ inserted: only in the reference", "− deleted: only in the"))


# pages


def variants(make: Make) -> list[SegmentScore]:
    """Segments of every kind."""
    bare = without_evidence(make(hypothesis=HOSTILE[0]))
    still = replace(bare, contributions=Contributions(0.0, 0.0, 0.0, 0.0))
    wild = [make(reference=text or "x", hypothesis=text[::-1], flags=("identical",)) for text in HOSTILE]
    return [make(), bare, still, *wild]


def test_fragments_hold_together(make_segment: Make) -> None:
    """Balanced, no id, no script, no style attribute, no address, classes with the house's prefix; the same segment, the same bytes."""
    for segment in variants(make_segment):
        fragment = segment_fragment(segment)
        checked(fragment)
        assert segment_fragment(segment) == fragment


def test_a_stored_segment_shows_its_numbers(make_segment: Make) -> None:
    """Without evidence: texts, what was lost, components, and a note that says why there is no more."""
    segment = without_evidence(make_segment())
    fragment = segment_fragment(segment)
    assert shown_texts(fragment) == [segment.reference, segment.hypothesis]
    assert "<caption>Components" in fragment and "<caption>Where the points went" in fragment
    assert "stored table, which holds no evidence" in fragment
    assert not any(word in fragment for word in ("<mark", "Word alignment", "Dependency trees", "matrices", "No errors"))


def test_an_empty_hypothesis_has_a_display(make_segment: Make) -> None:
    """No word on one side: no alignment, no matrices, a tree of deletions' counterpart alone."""
    reference, nothing = analysis("Good morning."), analysis("")
    empty = np.zeros((3, 0))
    semantic = SemanticEvidence(("Good", "morning", "."), (), np.full(3, 1 / 3), np.zeros(0), (), empty, empty)
    segment = make_segment(reference="Good morning.", hypothesis="", flags=("empty_hypothesis",))
    syntax = Syntax().measure(reference, nothing).evidence
    fragment = segment_fragment(with_evidence(segment, semantic=semantic, syntax=syntax, errors=ErrorsEvidence((), 0.0)))
    checked(fragment)
    assert shown_texts(fragment) == ["Good morning.", ""]
    assert "matrices" not in fragment and "Word alignment" not in fragment
    assert "rome-sign rome-insert" in fragment and "rome-sign rome-match" not in fragment


def test_long_texts_are_whole_and_their_drawings_capped(make_segment: Make) -> None:
    """Hundreds of words: every word and every error is there, what is drawn is cut and says so."""
    segment = long_segment(make_segment, 520)
    fragment = segment_fragment(segment)
    assert shown_texts(fragment) == [segment.reference, segment.hypothesis]
    assert len(re.findall("<li>", fragment)) == 520
    for note in (f"first {LINKS} of 520 places", f"first {WORDS} words of a side", "520 and 520 nodes, too many to draw"):
        assert note in fragment
    assert len(fragment.encode()) < 600_000


def test_notebook_and_page(make_segment: Make) -> None:
    """A notebook gets style, fragment and signature in one element; a file gets a page that may fetch and run nothing."""
    segment = make_segment(hypothesis="</style><script>x</script>")
    shown = notebook(segment_document(segment))
    assert shown == segment._repr_html_()
    assert shown.startswith(f'<div class="rome"><style>{STYLE}</style>')
    assert "signature rome:test" in shown
    bundle = segment._repr_mimebundle_()
    assert bundle == {"text/html": shown, "text/plain": str(segment)}
    page = document_page(segment_document(segment))
    tags = Markup(page).tags
    assert "script" not in tags and tags[:2] == ["html", "head"]
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")


# style


def test_style_is_scoped() -> None:
    """Every rule stands under .rome, nothing is fetched, nothing ends the style element."""
    assert "</" not in STYLE and "url(" not in STYLE and "@import" not in STYLE
    flat = re.sub(r" ?@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\}", r"\1", STYLE)
    selectors = [part for rule in re.findall(r"([^{}]+)\{", flat) for part in re.split(r",(?![^(]*\))", rule)]
    assert len(selectors) > 50
    assert [selector for selector in selectors if ".rome" not in selector] == []
    assert STYLE.count("{") == STYLE.count("}")


def test_every_class_and_colour_is_known(make_segment: Make) -> None:
    """No variable without a colour in the palette; no drawing whose class the style forgot."""
    assert set(re.findall(r"var\(--rome-(\w+)\)", STYLE)) <= set(PALETTE)
    classes = {name for text in re.findall(r'class="([^"]*)"', segment_fragment(make_segment())) for name in text.split()}
    unstyled = {name for name in classes if f".{name}" not in STYLE}
    assert unstyled <= {"rome-flat", "rome-wide", "rome-table"}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio (WCAG 2.2), from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_is_sufficient(dark: bool) -> None:
    """WCAG AA in light and in dark: 4.5 for text, also on badges and heat; 3 for bars, lines and shapes."""
    colour = {name: pair[dark] for name, pair in PALETTE.items()}
    ground = colour["ground"]
    for name in ("ink", "soft", "link", "critical", "major", "minor", "change", "insert", "delete"):
        assert contrast(colour[name], ground) >= 4.5, name
    for name in ("bar", "up", "down"):
        assert contrast(colour[name], ground) >= 3.0, name
    for n in range(1, 6):
        for name in ("heat", "less"):
            assert contrast(colour["pale" if n > 3 else "ink"], colour[f"{name}{n}"]) >= 4.5, (name, n)
