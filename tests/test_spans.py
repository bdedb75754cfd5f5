"""Error spans by characters: hand-computed cases, the definition character by character as oracle, raters and edges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.data.readers.rated import ErrorMark
from rome.evaluation.statistics.spans import SpanScores, corpus_spans, segment_spans
from rome.exceptions import InputError

LENGTH = 12
spans = st.lists(
    st.tuples(st.integers(0, LENGTH), st.integers(0, 5), st.sampled_from(["minor", "major", "critical", "neutral"])), max_size=4
).map(lambda found: [ErrorMark(start, min(start + size, LENGTH), severity) for start, size, severity in found])


def three(scores: SpanScores) -> tuple[float, float, float]:
    return scores.precision, scores.recall, scores.f1


def character_by_character(predicted: list[ErrorMark], gold: list[ErrorMark], length: int) -> tuple[float, int, int]:
    """Credit, predicted and gold places, deciding each place of the text (and its end) by the words of the task's definition."""

    def severities(marks: list[ErrorMark], place: int) -> set[str]:
        found = set()
        for mark in marks:
            if mark.start is None or mark.end is None or mark.severity == "neutral":
                continue
            if mark.start <= place < mark.end or mark.start == place == mark.end:
                found.add("minor" if mark.severity == "minor" else "major")
        return found

    credit, ours, theirs = 0.0, 0, 0
    for place in range(length + 1):
        system, people = severities(predicted, place), severities(gold, place)
        ours += bool(system)
        theirs += bool(people)
        if system and people:
            credit += 1.0 if people == {"minor", "major"} or system & people else 0.5
    return credit, ours, theirs


def test_nothing_marked_on_either_side_is_full_agreement() -> None:
    """Both empty: precision, recall and F1 are 1, also in an empty text."""
    assert three(segment_spans([], [], 10)) == three(segment_spans([], [], 0)) == (1.0, 1.0, 1.0)


def test_marks_without_a_place_change_nothing() -> None:
    """An omission and a neutral remark change no figure."""
    gold = [ErrorMark(0, 4, "minor"), ErrorMark(None, None, "major"), ErrorMark(2, 8, "neutral")]
    found = segment_spans([ErrorMark(0, 4, "minor"), ErrorMark(None, None, "minor")], gold, 10)
    assert three(found) == (1.0, 1.0, 1.0)


@settings(max_examples=80, deadline=None)
@given(spans, spans)
def test_scores_equal_the_definition_read_character_by_character(predicted: list[ErrorMark], gold: list[ErrorMark]) -> None:
    """Credit and both totals, overlaps and empty spans among them."""
    found = segment_spans(predicted, gold, LENGTH)
    assert (found.credit, found.predicted, found.gold) == character_by_character(predicted, gold, LENGTH)


@settings(max_examples=80, deadline=None)
@given(spans, spans)
def test_laws_of_span_scores(predicted: list[ErrorMark], gold: list[ErrorMark]) -> None:
    """In [0, 1]; 1 with itself; swapping the sides swaps precision and recall; F1 lies between them or is 0."""
    forth, back, own = (segment_spans(*sides, LENGTH) for sides in ((predicted, gold), (gold, predicted), (gold, gold)))
    assert three(own) == (1.0, 1.0, 1.0)
    assert (forth.precision, forth.recall, forth.f1) == (back.recall, back.precision, back.f1)
    assert 0 <= forth.f1 <= 1 and 0 <= forth.precision <= 1 and 0 <= forth.recall <= 1
    assert forth.f1 == 0 or min(three(forth)[:2]) - 1e-12 <= forth.f1 <= max(three(forth)[:2]) + 1e-12


def test_a_corpus_sums_counts_before_dividing() -> None:
    """Micro average: 2 of 2 in one segment and 0 of 8 in the other give precision 2/10, where the mean of F1 is 1/2."""
    predicted = [[ErrorMark(0, 2, "minor")], [ErrorMark(0, 8, "minor")]]
    gold = [{"r": [ErrorMark(0, 2, "minor")]}, {"r": [ErrorMark(8, 10, "minor")]}]
    found = corpus_spans(predicted, gold, [10, 10])
    assert three(found.mean) == pytest.approx((2 / 10, 2 / 4, 2 / 7))
    assert (found.segment_f1, found.segments) == (0.5, 2)


def test_several_raters_are_averaged() -> None:
    """Against a rater who agrees and one who saw no error: the mean of their counts."""
    predicted = [[ErrorMark(0, 4, "major")]]
    found = corpus_spans(predicted, [{"one": [ErrorMark(0, 4, "major")], "two": []}], [10])
    assert (found.mean.credit, found.mean.predicted, found.mean.gold) == (2.0, 4.0, 2.0)
    assert (found.mean.precision, found.mean.recall, found.segment_f1) == (0.5, 1.0, 0.5)


def test_segments_without_a_rater_are_left_out() -> None:
    """No annotation is not the same as no error."""
    found = corpus_spans([[ErrorMark(0, 4, "minor")], []], [{}, {"r": []}], [10, 10])
    assert (found.mean.f1, found.segments) == (1.0, 1)


def test_marks_outside_the_text_are_refused() -> None:
    """A mark outside its text, and an unknown severity."""
    with pytest.raises(InputError, match="a gold mark covers characters 0 to 4 of a text of 3"):
        corpus_spans([[]], [{"r": [ErrorMark(0, 4, "minor")]}], [3])
    with pytest.raises(InputError, match="predicted severity 'bad' is unknown"):
        corpus_spans([[ErrorMark(0, 1, "bad")]], [{"r": []}], [3])
