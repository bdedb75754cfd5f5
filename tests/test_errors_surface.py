"""Errors on the surface, with a reader that marks nothing: casing, spacing, punctuation, words typed twice."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from errors_laws import check_laws
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.features.errors.errors import Errors
from rome.features.errors.evidence import MAXIMUM, MINOR_MOST, ErrorsConfig, SurfaceConfig
from rome.features.errors.prepared import compared_words
from rome.features.errors.quantities import Quantity
from rome.features.errors.quantity_pairs import QuantitiesCompared
from rome.features.errors.typos import repetitions

from handmade import analysis, saying

ERRORS = Errors(saying(0.0))
CONFIG = SurfaceConfig()
WORDS = st.lists(st.sampled_from("The the a an red Red house . , ? dog dog - not".split()), max_size=10).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS)
def test_surface_errors_are_minor(a: str, b: str) -> None:
    """And keep the laws of the count."""
    one, other = analysis(a), analysis(b)
    found = ERRORS.measure(one, other)
    check_laws(found, one, other)
    if other.words or not one.words:
        assert {error.severity for error in found.evidence.errors} <= {"minor"}


def test_tokenised_reference_excuses_spacing_and_lower_case_reference_excuses_casing() -> None:
    """A habit that the reference shares is not a mistake."""
    assert ERRORS.measure(analysis("the house is big ."), analysis("The House is big .")).value == 1.0


@pytest.mark.parametrize(
    ("hypothesis", "place"),
    [
        ("It lasts a short time(an hour).", "("),
        ("It lasts a while,an hour.", ","),
        ("It lasts a while.An hour.", "."),
        ("It lasts the hour(s).", None),
        ("It lasts 1,000 hours, e.g. f(x) of U.S.A. time.", None),
    ],
)
def test_a_blank_too_few_is_a_slip(hypothesis: str, place: str | None) -> None:
    """A bracket right after a word, and a mark right before one; endings in brackets, numbers and abbreviations are written so."""
    found = ERRORS.measure(analysis("It lasts a short while (an hour), so."), analysis(hypothesis)).evidence.errors
    texts = [error.hypothesis.text for error in found if error.type == "spacing" and error.hypothesis is not None]
    assert texts == ([] if place is None else [place])
    shared = ERRORS.measure(analysis("The(an hour) while,an hour.An end."), analysis(hypothesis)).evidence.errors
    assert not [error for error in shared if error.type == "spacing"]


@pytest.mark.parametrize(
    ("hypothesis", "type_", "likely"),
    [
        ("the house is big.", "casing", "likely"),
        ("The House is big.", "casing", "possible"),
        ("The house is big .", "spacing", "likely"),
        ("The house  is big.", "spacing", "likely"),
        ("The, house is big.", "punctuation", "possible"),
        ("The house is big?", "punctuation", "possible"),
        ("The house- is big.", "punctuation", "likely"),
    ],
)
def test_slips_weigh_a_fifth_of_their_probability(hypothesis: str, type_: str, likely: str) -> None:
    """Case, blanks and marks; whatever the reader says of the words."""
    for amount in (0.0, 0.4):
        found = Errors(saying(amount, _=("critical", 0.9, "name"))).measure(analysis("The house is big."), analysis(hypothesis))
        (error,) = (error for error in found.evidence.errors if error.type == type_)
        assert error.confidence == getattr(CONFIG, likely)
        assert error.weight == pytest.approx(CONFIG.slip * error.confidence)


def test_a_missing_end_counts_in_full() -> None:
    """A setting changes it."""
    pair = analysis("The house is big."), analysis("The house is big")
    assert ERRORS.measure(*pair).raw == CONFIG.likely
    assert Errors(saying(0.0), ErrorsConfig(surface=replace(CONFIG, likely=0.1))).measure(*pair).raw == 0.1


@pytest.mark.parametrize("other", ["At noon we saw the dog.", "Past noon the dog saw us."])
def test_marks_of_another_construction_are_differences(other: str) -> None:
    """Where the two words on either side of a mark do not follow each other in the other text."""
    found = ERRORS.measure(analysis("We saw, at noon, the dog."), analysis(other)).evidence
    assert {one.type for one in found.differences} == {"punctuation"} and "punctuation" not in {one.type for one in found.errors}


def test_words_typed_twice_are_counted_and_not_read() -> None:
    """The first with .9, further ones with .4, never more than minor; what the reference also repeats is right."""
    said = analysis("We saw saw the old dog and the cat of the man man in town.")
    found = ERRORS.measure(analysis("We saw the old dog and the cat of the man in town."), said).evidence.errors
    assert [(e.kind, e.type, e.weight) for e in found] == [("unnecessary", "repetition", one) for one in (CONFIG.sure, CONFIG.again)]
    assert [said.words[n].text for n in set(range(len(said.words))) - set(compared_words(said))] == ["saw", "man", "."]
    long = "one two three four five six seven eight"
    (error,) = ERRORS.measure(analysis(f"{long} and so on to the end"), analysis(f"{long} {long} and so on to the end")).evidence.errors
    assert error.weight == MINOR_MOST
    assert ERRORS.measure(analysis("We saw Bora Bora."), analysis("We saw Bora Bora .")).evidence.errors[0].type == "spacing"


def test_a_text_that_only_repeats_has_many_errors() -> None:
    """Each repeated word has the full weight, up to the cap of a segment."""
    counts = [ERRORS.measure(analysis("the cat sat"), analysis("the cat sat " + "cat " * n)).raw for n in (3, 6, 60)]
    assert counts == sorted(counts) and counts[1] > 4 * CONFIG.sure and counts[2] == MAXIMUM
    assert [run.words for run in repetitions("no no no it is")] == [1, 1]


def test_errors_come_in_the_order_of_the_hypothesis() -> None:
    """Errors of words and of characters, those of the reference alone at their own places."""
    reader = saying(9.0, zebra=("major", 1.0, "noun"), small=("major", 1.0, "noun"))
    found = Errors(reader).measure(analysis("The red house is big, today."), analysis("the zebra house  is small today , Not"))
    places = [(span.hypothesis or span.reference).start for span in found.evidence.errors if span.hypothesis or span.reference]
    assert places == sorted(places) and len(places) > 3
    assert found.raw == pytest.approx(math.fsum(error.weight for error in found.evidence.errors))


def test_marks_inside_a_quantity_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value is; the final mark still counts."""
    monkeypatch.setattr(
        "rome.features.errors.prepared.quantities_of",
        lambda text, _: tuple(Quantity(m.start(), m.end(), "score", m.group()) for m in re.finditer(r"\d-\d|\d+ p\.m\.", text)),
    )
    monkeypatch.setattr("rome.features.errors.errors.compare_quantities", lambda *_: QuantitiesCompared((), ()))
    for said in ("They won 2 to 1, at 5 p.m.", "They won 21, at 5 p.m."):
        found = ERRORS.measure(analysis("They won 2-1, at 5 p.m."), analysis(said)).evidence
        assert not found.errors and not found.differences
    (error,) = ERRORS.measure(analysis("They won at 5 p.m."), analysis("They won at 5 pm")).evidence.errors
    assert error.reference and (error.reference.text, error.weight) == (".", CONFIG.likely)
