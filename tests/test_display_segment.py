"""A segment's display: texts that come back, errors under their lines, numbers that add up, pages that hold together."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.display.alignment import COLUMNS, columns, letter, word_places
from rome.display.markup import element, escaped, number, signed
from rome.display.matrices import SHOWN, shade
from rome.display.segment import segment_fragment, segment_html, segment_page
from rome.display.style import PALETTE, STYLE
from rome.display.texts import SEVERITIES, marked_text
from rome.display.trees import ROWS, tree_rows
from rome.features.errors.values import ErrorsEvidence, ErrorSpan, TextSpan
from rome.features.semantic import AlignedPair, SemanticEvidence
from rome.features.syntax import Syntax, Tree, edit_operations
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


class Balanced(HTMLParser):
    """Keeps the open tags; fails on one that is closed out of turn."""

    VOID = frozenset(("meta", "br", "link"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))
        assert len(attrs) == len(dict(attrs)), f"an attribute stands twice in {tag}"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


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
    assert shown_texts(fragment) == [text, text[::-1]]
    tags = {tag for tag, _ in Balanced(fragment).seen}
    assert not tags & {"script", "style", "iframe", "img", "a", "form", "object", "embed"}


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_escaping_is_undone_by_unescaping(text: str) -> None:
    """No text can become a tag, an entity or the end of an attribute, and none is lost."""
    safe = escaped(text)
    assert not set(safe) & set("<>\"'")
    assert html.unescape(safe) == text
    (seen,) = Balanced(element("p", safe, title=text)).seen
    assert seen == ("p", {"title": text})


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_every_character_of_an_error_is_under_its_line(data: st.DataObject) -> None:
    """However errors overlap, nest or are empty: each holds exactly its own characters, and its number stands once, at its end."""
    text = data.draw(st.text("ab <&", max_size=12))
    places = st.tuples(*[st.integers(0, len(text))] * 2).map(sorted)
    rows = data.draw(st.lists(st.tuples(places, st.sampled_from([*SEVERITIES, "none"])), max_size=5))
    errors = [replace(error(text, *place, severity), weight=float(n)) for n, (place, severity) in enumerate(rows)]
    fragment = marked_text(text, errors, "hypothesis")
    assert stripped(fragment) == text
    held = marks_of(fragment)
    counted = [(n, row) for n, row in enumerate(rows) if row[1] != "none"]
    assert len(held) == len(counted)
    for place, (n, ((start, end), severity)) in enumerate(counted, start=1):
        kinds, numbers, characters = held[f"{n}.00"]
        assert kinds == {f"rome-{severity}"}
        assert characters == set(range(start, end))
        assert numbers == [(str(place), end)]


def marks_of(fragment: str) -> dict[str, tuple[set[str], list[tuple[str, int]], set[int]]]:
    """By weight: the classes of its marks, its numbers with the place after which they stand, and the characters under it."""
    found: dict[str, tuple[set[str], list[tuple[str, int]], set[int]]] = {}
    opened: list[tuple[str, str | None]] = []
    at = 0
    for token in re.findall(r"<[^>]*>|&[^;]*;|.", fragment, re.S):
        if token.startswith("<mark"):
            (_, attributes), *_ = Balanced(token + "</mark>").seen
            weight = str(attributes["title"]).split("weight ")[1].split(",")[0]
            opened.append((weight, attributes.get("data-n")))
            found.setdefault(weight, (set(), [], set()))[0].add(str(attributes["class"]).split()[0])
        elif token == "</mark>":
            weight, n = opened.pop()
            found[weight][1].extend([(n, at)] if n else [])
        else:
            for weight, _ in opened:
                found[weight][2].add(at)
            at += 1
    return found


def test_overlapping_errors_are_nested_with_the_major_one_outside() -> None:
    """Three pieces: major alone, both, minor alone; the numbers stand where each ends."""
    text = "abcdef"
    fragment = marked_text(text, [error(text, 2, 6), error(text, 0, 4, "major")], "hypothesis")
    pieces = re.findall(r'rome-(\w+)"[^>]*?(?:data-n="(\d)")?>', fragment)
    assert pieces == [("major", ""), ("major", "2"), ("minor", ""), ("minor", "1")]
    assert re.sub(r"<(/?)mark[^>]*>", r"<\1>", fragment) == "<>ab</><><>cd</></><>ef</>"


def test_errors_are_listed_without_a_hover(make_segment: Make) -> None:
    """Number, severity, kind, type, both texts, weight and confidence stand in the list; doubtful ones are folded, with their count."""
    segment = make_segment()
    doubt = replace(segment.evidence.errors.errors[0], severity="none")
    fragment = segment_fragment(with_evidence(segment, errors=ErrorsEvidence((*segment.evidence.errors.errors, doubt), 5.75)))
    (counted, doubtful) = re.findall(r'<ol class="rome-errors">(.*?)</ol>', fragment)
    first, second = (stripped(item) for item in counted.split("<li>")[1:])
    assert first == "minor missing: adverb soundly weight 1.25 · confidence 0.50"
    assert second == "major replacement: number Five → Four weight 4.50 · confidence 0.90"
    assert re.findall(r'data-n="(\d)"', counted) == ["1", "2"]
    assert stripped(doubtful).startswith("none missing: adverb")
    assert "1 difference without consequence" in fragment


def test_a_text_without_errors_says_so(make_segment: Make) -> None:
    """Nothing found, and nothing above the threshold, are two things."""
    segment = make_segment()
    doubt = replace(segment.evidence.errors.errors[0], severity="none")
    assert "No errors found." in segment_fragment(with_evidence(segment, errors=ErrorsEvidence((), 0.0)))
    assert "No errors, only differences without consequence." in segment_fragment(
        with_evidence(segment, errors=ErrorsEvidence((doubt,), 0.1))
    )


def test_header_shows_score_flags_and_supervision(make_segment: Make) -> None:
    """The score, every flag, and the label of a supervised score; no label on an unsupervised one."""
    segment = replace(make_segment(7, flags=("identical", "long")), signature="scorer:supervised.tac_2008|net:1")
    fragment = segment_fragment(segment)
    assert "<strong>0.500</strong><span>supervised score of segment 7</span>" in fragment
    for label in ("identical", "long", "supervised: fitted on human ratings (tac_2008)"):
        assert f'<span class="rome-flag">{label}</span>' in fragment
    assert "supervised" not in segment_fragment(make_segment())


# numbers


def test_bars_show_their_components(make_segment: Make) -> None:
    """Each bar is as wide as its value is high, and value, raw quantity and unit stand beside it."""
    (table,) = re.findall(r'<table class="rome-bars">(.*?)</table>', segment_fragment(make_segment()))
    rows = [stripped(row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    assert rows[0] == "semantic0.9000.1 transport cost"
    assert rows[2] == "grammar0.875\u22120.134 log probability"
    assert re.findall(r'd="M0 0H([\d.]+)V8H0Z" class="rome-bar"', table) == ["90", "66.7", "87.5", "77"]


def test_the_waterfall_adds_up(make_segment: Make) -> None:
    """From 1 the contributions lead down to the score, in the printed numbers and in the drawing; without a loss there is no arrow."""
    segment = make_segment(score=0.3)
    (table,) = re.findall(r'<table class="rome-bars rome-fall">(.*?)</table>', segment_fragment(segment))
    printed = [float(text.replace("\u2212", "-")) for text in re.findall(r"<td>([+\u2212]?\d\.\d{4})</td>", table)]
    assert printed == [1.0, -0.0875, -0.175, 0.0, -0.4375, 0.3]
    assert math.isclose(sum(printed[:-1]), printed[-1])
    low, high = map(float, re.findall(r"<span[^>]*>([\d.]+)</span>", table))
    steps = [(float(a), float(b)) for a, b in re.findall(r'd="M([\d.]+) 2H[\d.]+L([\d.]+) 5', table)]
    levels = [low + (high - low) * x / 100 for x in [steps[0][0], *(after for _, after in steps)]]
    assert levels == pytest.approx([1.0, 0.9125, 0.7375, 0.3], abs=1e-3)
    assert table.count('class="rome-down"') == 3


def test_the_losses_are_listed(make_segment: Make) -> None:
    """One row a mistake or feature, the largest first, many folded away; a text that lost nothing says so."""
    (table,) = re.findall(r'<table class="rome-table rome-lost">(.*?)</table>', segment_fragment(make_segment()))
    assert [stripped(row) for row in re.findall(r"<tr>(.*?)</tr>", table)] == [
        *("\u2212.24Five → Fournumber, major", "\u2212.12syntax", "\u2212.07soundlymissing adverb, minor", "\u2212.06semantic"),
    ]
    assert "No point lost." in segment_fragment(make_segment(score=1.0))
    error = make_segment().evidence.errors.errors[0]
    many = with_evidence(make_segment(score=0.0), errors=ErrorsEvidence((error,) * 20, 25.0))
    assert "Losses 13 to 22" in segment_fragment(many)


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1), st.lists(st.floats(-0.3, 0.3), min_size=4, max_size=4), st.data())
def test_the_waterfall_stays_inside_its_scale(baseline: float, shares: list[float], data: st.DataObject) -> None:
    """Whatever the numbers, the scale is inside [0, 1] and holds every level that is."""
    from rome.display.waterfall import _scale

    levels = [min(1.0, max(0.0, baseline + sum(shares[:n]))) for n in range(5)]
    low, high = _scale(levels)
    assert -1e-9 <= low <= min(levels) + 1e-9
    assert max(levels) - 1e-9 <= high <= 1.0 + 1e-9
    assert high - low >= 0.1 - 1e-9


def test_numbers_are_short_and_signed() -> None:
    """No zeros behind, no negative zero, a real minus where people read."""
    assert [number(value) for value in (0.5, 12.0, -0.001, 0.126, -0.25, 100.0)] == ["0.5", "12", "0", "0.13", "-0.25", "100"]
    assert [signed(0.125), signed(-0.25, 2)] == ["+0.125", "\u22120.25"]


# alignment


def test_links_stand_above_each_other_or_are_lettered(make_segment: Make) -> None:
    """Straight links share a column; a crossing one has its letter at both ends; a pair of cost 1 is no link; every word stands once."""
    pairs = [AlignedPair(*row) for row in ((0, 1, 0.9, 0.1), (1, 2, 0.8, 0.2), (2, 0, 0.7, 0.3), (3, 3, 0.2, 1.0))]
    found = columns(pairs, 4, 5)
    assert [(c.reference, c.hypothesis, c.moved) for c in found] == [
        *((None, 0, "a"), (0, 1, ""), (1, 2, ""), (2, None, "a"), (3, None, "")),
        *((None, 3, ""), (None, 4, "")),
    ]
    assert columns([], 0, 0) == []
    assert [letter(n) for n in (0, 25, 26, 27, 702)] == ["a", "z", "aa", "ab", "aaa"]


@settings(max_examples=50, deadline=None)
@given(st.permutations(range(8)), st.integers(0, 8))
def test_every_word_has_one_place_in_its_order(order: list[int], linked: int) -> None:
    """Any one-to-one alignment: both sides read in order, every link is there, lettered in pairs or straight."""
    pairs = [AlignedPair(i, j, 0.5, 0.5) for i, j in list(enumerate(order))[:linked]]
    found = columns(pairs, 8, 8)
    assert [c.reference for c in found if c.reference is not None] == list(range(8))
    assert [c.hypothesis for c in found if c.hypothesis is not None] == list(range(8))
    straight = {(c.reference, c.hypothesis) for c in found if c.pair and not c.moved}
    crossing = [c.moved for c in found if c.moved]
    assert len(straight) + len(crossing) / 2 == linked
    assert all(crossing.count(name) == 2 for name in crossing)
    assert straight <= set(enumerate(order))


def test_words_are_found_in_their_text() -> None:
    """From left to right, each at its own place; a word that the text does not spell out has none and does not lose the others."""
    assert word_places("the cat the", ["the", "cat", "the"]) == [(0, 3), (4, 7), (8, 11)]
    assert word_places("he doesn't go", ["he", "does", "not", "go"]) == [(0, 2), (3, 7), None, (11, 13)]
    assert word_places("", ["x"]) == [None]


def test_words_under_an_error_carry_its_line(make_segment: Make) -> None:
    """In the alignment too: the word of a major and of a minor error, and no other."""
    gloss = segment_fragment(make_segment()).split('class="rome-gloss"')[1].split("</div>")[0]
    marked = re.findall(r'<b class="rome-(\w+)">([^<]*)</b>', gloss)
    assert marked == [("major", "Five"), ("major", "Four"), ("minor", "soundly")]


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
        hidden = 0 if rows and rows[0].reference == 0 else 1
        for side, tree in zip(("reference", "hypothesis"), trees, strict=True):
            nodes = [getattr(row, side) for row in rows if getattr(row, side) is not None]
            assert nodes == list(_depth_first(tree))[hidden:]
        shown = [row.kind for row in rows] + ["match"] * hidden
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
    drawn = fragment.split('class="rome-trees">')[1].split("</svg>")[0]
    texts = re.findall(r"<text[^>]*>(\w+)(?:<tspan[^>]*>(\w+))?", drawn)
    assert texts == [
        *(("reference", ""), ("hypothesis", "")),
        *(("sleep", "root"), ("cat", "nsubj"), ("five", "nummod")),
        *(("sleep", "root"), ("cat", "nsubj"), ("four", "nummod"), ("soundly", "advmod")),
    ]
    assert set(re.findall(r"rome-sign rome-(\w+)", drawn)) == {"match", "change", "delete"}
    assert all(
        words in fragment for words in ("≠ changed", "+ inserted: only in the reference", "− deleted: only in the hypothesis")
    )
    assert "Dependency trees" not in segment_fragment(make_segment(), trees=False)


def test_several_sentences_hang_under_the_imaginary_root(make_segment: Make) -> None:
    """Two sentences on one side: the imaginary root is drawn on both, and stands in each part of a long drawing."""
    tree = Tree(("<root>", "a", "b"), (-1, 0, 0), ("", "root", "root"), (-1, 0, 1))
    single = Tree(("<root>", "a"), (-1, 0), ("", "root"), (-1, 0))
    equal = np.array([[a == b for b in tree.labels] for a in single.labels])
    segment = make_segment()
    evidence = replace(segment.evidence.syntax, reference=tree, hypothesis=single, equal=equal, distance=1.0)
    assert segment_fragment(with_evidence(segment, syntax=evidence)).count(">imaginary root</text>") == 2
    assert "imaginary root" not in segment_fragment(segment)


# matrices


def test_matrices_show_value_words_and_scale(make_segment: Make) -> None:
    """Each cell has its number and, as a title, its words; next to nothing is left blank; matrices=False leaves both out."""
    fragment = segment_fragment(make_segment())
    flow = fragment.split("Flow:")[1]
    assert flow.count("<title>") == 12
    assert "<title>Five – Four: 8.3</title>" in flow
    assert re.findall(r'<span class="rome-h\d">([\d.]+)</span>', flow)[:5] == ["0", "1.7", "3.3", "5", "6.7"]
    assert fragment.split("Alignment:")[1].split("Flow:")[0].count("<title>") == 0
    assert "<title>" not in segment_fragment(make_segment(), matrices=False)


def test_shades_are_equal_steps() -> None:
    """Five shades from next to nothing to the highest."""
    assert [shade(value, 2.0) for value in (0.0, 0.39, 0.41, 1.0, 1.9, 2.0)] == [1, 1, 2, 3, 5, 5]


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
        page = Balanced(fragment)
        assert page.open == []
        for tag, attributes in page.seen:
            assert tag not in ("script", "style", "link", "h1", "h2", "h3", "h4")
            assert not {"id", "style", "href", "src", "xlink:href"} & set(attributes)
            assert not [name for name in attributes if name.startswith("on")]
            assert all(name.startswith("rome-") for name in (attributes.get("class") or "").split())
        assert segment_fragment(segment) == fragment


def test_a_stored_segment_shows_its_numbers(make_segment: Make) -> None:
    """Without evidence: texts, components and contributions, and a note that says why there is no more."""
    segment = without_evidence(make_segment())
    fragment = segment_fragment(segment)
    assert shown_texts(fragment) == [segment.reference, segment.hypothesis]
    assert "rome-bars" in fragment and "rome-fall" in fragment
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
    Balanced(fragment)
    assert shown_texts(fragment) == ["Good morning.", ""]
    assert "matrices" not in fragment and "Word alignment" not in fragment
    assert "rome-sign rome-insert" in fragment and "rome-sign rome-match" not in fragment


def test_long_texts_are_whole_and_their_drawings_capped(make_segment: Make) -> None:
    """Hundreds of words: every word and every error is there, what is drawn is cut and says so."""
    segment = long_segment(make_segment, 520)
    fragment = segment_fragment(segment)
    assert shown_texts(fragment) == [segment.reference, segment.hypothesis]
    assert len(re.findall("<li>", fragment)) == 520
    assert fragment.count("<title>") == 2 * SHOWN
    for note in (f"first {COLUMNS} of 520 places", f"first {SHOWN} words of a side", "520 and 520 nodes, too many to draw"):
        assert note in fragment
    assert len(fragment.encode()) < 390_000


def test_trees_of_many_rows_are_cut(make_segment: Make) -> None:
    """Trees that can be compared and are still too long to read end with a note."""
    star, chain = None, [-1, *range(44)]
    texts = [analysis(" ".join(f"{side}{n}" for n in range(45)), heads=heads) for side, heads in (("a", star), ("b", chain))]
    syntax = Syntax().measure(*texts).evidence
    fragment = segment_fragment(with_evidence(make_segment(), syntax=syntax))
    assert re.search(rf"Only the first {ROWS} of 8\d rows are drawn\.", fragment)


def test_a_short_fragment_is_small(make_segment: Make) -> None:
    """Ten thousand of them stand on one page: what a report embeds stays below eight kilobytes for a short pair."""
    assert len(segment_fragment(make_segment(), matrices=False).encode()) < 8000
    assert len(segment_fragment(make_segment(), matrices=False, trees=False).encode()) < 5500


def test_notebook_and_page(make_segment: Make) -> None:
    """A notebook gets style, fragment and signature in one element; a file gets a page that may fetch and run nothing."""
    segment = make_segment(hypothesis="</style><script>x</script>")
    shown = segment_html(segment)
    assert shown == segment._repr_html_()
    assert shown.startswith(f'<div class="rome"><style>{STYLE}</style><article')
    assert "signature rome:test" in shown
    bundle = segment._repr_mimebundle_()
    assert bundle == {"text/html": shown, "text/plain": str(segment)}
    page = segment_page(segment)
    tags = [tag for tag, _ in Balanced(page.removeprefix("<!doctype html>")).seen]
    assert "script" not in tags and tags[:2] == ["html", "head"]
    assert "default-src &#x27;none&#x27;" in page
    assert "http" not in page.replace("http-equiv", "")


# style


def test_style_is_scoped() -> None:
    """Every rule stands under .rome, nothing is fetched, nothing ends the style element."""
    assert "</" not in STYLE and "url(" not in STYLE and "@import" not in STYLE
    flat = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\}", r"\1", STYLE)
    selectors = [part for rule in re.findall(r"([^{}]+)\{", flat) for part in re.split(r",(?![^(]*\))", rule)]
    assert len(selectors) > 60
    assert [selector for selector in selectors if ".rome" not in selector] == []
    assert STYLE.count("{") == STYLE.count("}")


def test_every_class_and_colour_is_known(make_segment: Make) -> None:
    """No variable without a colour in the palette; no drawing whose class the style forgot."""
    assert set(re.findall(r"var\(--rome-(\w+)\)", STYLE)) <= set(PALETTE)
    classes = {name for text in re.findall(r'class="([^"]*)"', segment_fragment(make_segment())) for name in text.split()}
    unstyled = {name for name in classes if f".{name}" not in STYLE}
    assert unstyled <= {"rome-part"}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio (WCAG 2.2), from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def blended(colour: str, ground: str, share: float) -> str:
    """A colour laid over the ground with this opacity."""
    mixed = (share * int(colour[n : n + 2], 16) + (1 - share) * int(ground[n : n + 2], 16) for n in (1, 3, 5))
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_is_sufficient(dark: bool) -> None:
    """WCAG AA in light and in dark: 4.5 for text, also on bands, badges and heat; 3 for bars, lines and shapes."""
    colour = {name: pair[dark] for name, pair in PALETTE.items()}
    ground = colour["ground"]
    for name in ("ink", "soft", "link", "major", "minor", "change", "insert", "delete"):
        assert contrast(colour[name], ground) >= 4.5, name
    for name in ("bar", "up", "down"):
        assert contrast(colour[name], ground) >= 3.0, name
    for n in range(1, 6):
        assert contrast(colour["pale" if n > 3 else "ink"], colour[f"heat{n}"]) >= 4.5, n
    for kind in ("change", "insert", "delete"):
        band = blended(colour[kind], ground, 0.13)
        assert min(contrast(colour["ink"], band), contrast(colour["soft"], band)) >= 4.5, kind
        assert contrast(colour[kind], band) >= 3.0, kind
    assert "opacity:.13" in STYLE.replace(": ", ":")
