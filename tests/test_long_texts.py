"""Texts beyond the bound of one comparison are read in windows of sentences to their end, with the shipped small set."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome import Combiner, CorpusScore, FeatureTable, RoMe
from rome.features.windows import MOST_CHARACTERS, MOST_WORDS, windows_of
from rome.results import SegmentScore

METRIC = RoMe(models="small", progress=False)
NAMES = "Anna Ben Carla David Eva Frank Greta Hans Ida Jan".split()
SENTENCES = [f"In chapter {n}, {NAMES[n % 10]} and {NAMES[n // 10 % 10]} walk to the old harbour." for n in range(400)]
"""About 6,000 words and marks."""
OTHER = "In the end nobody was hurt."
CHANGED = {
    "first sentence": ([OTHER, *SENTENCES], ["In the end twelve people died.", *SENTENCES]),
    "last sentence": ([*SENTENCES, OTHER], [*SENTENCES, "In the end twelve people died."]),
    "in the middle": ([*SENTENCES[:200], OTHER, *SENTENCES[200:]], [*SENTENCES[:200], "Nobody survived.", *SENTENCES[200:]]),
    "lost sentences": (SENTENCES, SENTENCES[:150] + SENTENCES[156:]),
    "added sentences": (SENTENCES[:150] + SENTENCES[156:], SENTENCES),
}


@cache
def scored(kind: str) -> SegmentScore:
    """Return the score of a changed text; it holds no place of an error that is not in the texts."""
    reference, hypothesis = map(" ".join, CHANGED[kind])
    (segment,) = METRIC.score(references=[reference], hypotheses=[hypothesis])
    assert (segment.reference, segment.hypothesis) == (reference, hypothesis)
    for error in segment.errors:
        for text, span in ((reference, error.reference), (hypothesis, error.hypothesis)):
            assert span is None or text[span.start : span.end] == span.text
    return segment


@pytest.mark.parametrize("kind", CHANGED)
def test_a_change_anywhere_in_a_long_text_counts(kind: str) -> None:
    """It is listed with a severity, at its place, the flag says how the texts were read, and the other features hardly change."""
    segment = scored(kind)
    assert segment.score < 0.9 and {"major", "critical"} & {error.severity for error in segment.errors}
    assert "windows" in segment.flags and not {"identical", "empty_hypothesis", "empty_reference"} & set(segment.flags)
    assert all(0.9 < component.value < 1.0 for component in list(segment.components)[:3])


def test_equal_long_texts_are_identical() -> None:
    """A long text against itself is perfect, and read once; one without the other has nothing in common."""
    text = " ".join(SENTENCES)
    same, none = METRIC.score(references=[text, text], hypotheses=[text, ""])
    assert same.score == 1.0 and set(same.flags) == {"identical", "windows"}
    assert none.score < 0.1 and "empty_hypothesis" in none.flags and none.components.errors.value == 0.0


def test_a_long_segment_is_shown_stored_and_changed_as_others_are(tmp_path: Path) -> None:
    """Text and HTML, a file and back, stored features, and the score without its errors."""
    segment = scored("last sentence")
    assert OTHER.split()[-1] in f"{segment}" and "windows" in segment._repr_html_()
    CorpusScore((segment,), segment.signature).save(str(tmp_path / "s.jsonl"))
    assert CorpusScore.load(str(tmp_path / "s.jsonl"))[0] == segment
    after = segment.counterfactual(without=range(len(segment.errors))).after
    assert after.components.errors.value > segment.components.errors.value and after.score > segment.score
    table: FeatureTable = METRIC.features(references=[segment.reference], hypotheses=[segment.hypothesis])
    assert table.flags_of(0) == segment.flags
    assert Combiner.load(models="small").score(table)[0] == pytest.approx(segment.score)


@given(
    st.lists(st.sampled_from(["The cat sat. ", "a, ", "word " * 30, "\n", "x" * 700, '"No!" ', *SENTENCES[:9]]), max_size=60),
    st.data(),
)
def test_windows_cover_both_texts(pieces: list[str], data: st.DataObject) -> None:
    """Windows are in order and do not overlap; what is between them is the same in both texts; each is bounded."""
    other = data.draw(st.permutations(pieces)) if pieces else []
    texts = "".join(pieces * 40), "".join(other * 40)
    windows = windows_of(*texts)
    ends = [0, 0]
    for window in windows.read:
        for side, part in enumerate(window[:2]):
            place = window.places[side]
            assert texts[side][place : place + len(part)] == part and len(part) <= MOST_CHARACTERS
        assert texts[0][ends[0] : window.places[0]] == texts[1][ends[1] : window.places[1]]
        ends = [place + len(part) for place, part in zip(window.places, window[:2], strict=True)]
    assert texts[0][ends[0] :] == texts[1][ends[1] :] or texts[0] == texts[1]
    assert windows.length in (0, sum(map(len, texts)))


@pytest.mark.parametrize("text", ["cat " * MOST_WORDS, "a" * MOST_CHARACTERS, " " * MOST_CHARACTERS, "," * MOST_WORDS])
def test_a_text_at_the_bounds_is_compared_as_a_whole(text: str) -> None:
    """The bounds themselves are allowed; blanks are not words. One word more makes windows."""
    assert len(windows_of(text, "").read) == 1 and windows_of(text, "a").length == 0
    assert windows_of(text + "b" * (len(text) == MOST_CHARACTERS) + " b", "a").length > 0


@pytest.mark.parametrize("unit", ["word ", "a", ",", "The cat sat. ", "a b\n", ". "])
def test_a_million_words_are_divided_soon(unit: str) -> None:
    """Whatever they are made of."""
    begin = time.process_time()
    assert len(windows_of(unit * 1_000_000, "cat " * 1_000_000).read) > 300
    assert time.process_time() - begin < 20.0
