"""Errors: the edit script on hand-made analyses: what is found, of which type, how severe, and the laws of the count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.features.analyser.config import set_folder
from rome.features.errors.alignment import AlignmentConfig, match_words, moved_pairs
from rome.features.errors.edits import repetitions
from rome.features.errors.estimator import EditScriptErrors
from rome.features.errors.lexicon import Lexicon, number_value
from rome.features.errors.values import ErrorSpan
from rome.features.idf import IdfTable
from rome.features.values import Analysis

from handmade import analysis

IDF = IdfTable(
    1000, {w: n for n, w in enumerate("red house big old man three five new town hill dog on a the".split(), start=5)}
)
ERRORS = EditScriptErrors(IDF, Lexicon.load(set_folder() / "lexicon" / "antonyms.tsv"))
WORDS = st.lists(st.sampled_from("The red house on a hill . big dog not three".split()), min_size=1, max_size=9).map(" ".join)


def tagged(text: str, **upos: str) -> Analysis:
    """An analysis in which the named words have the named classes."""
    words = analysis(text).words
    return analysis(text, upos=[upos.get(w.text, w.upos) for w in words])


def only(reference: Analysis, hypothesis: Analysis) -> ErrorSpan:
    found = ERRORS.measure(reference, hypothesis).evidence.errors
    assert len(found) == 1, found
    return found[0]


@settings(max_examples=80, deadline=None)
@given(WORDS, WORDS)
def test_range_identity_and_spans(a: str, b: str) -> None:
    """In [0, 1], raw in [0, 25]; no error against itself; every span is the text at its place."""
    one, other = analysis(a), analysis(b)
    found = ERRORS.measure(one, other)
    assert 0.0 <= found.value <= 1.0
    assert 0.0 <= found.raw <= 25.0
    assert ERRORS.measure(one, one).value == 1.0
    for error in found.evidence.errors:
        for span, text in ((error.reference, a), (error.hypothesis, b)):
            assert span is None or text[span.start : span.end] == span.text
        assert 0.0 <= error.weight <= 5.0
        assert 0.0 <= error.confidence <= 1.0


@settings(max_examples=60, deadline=None)
@given(WORDS, st.integers(0, 8))
def test_another_added_word_never_helps(text: str, at: int) -> None:
    """Monotone: a foreign word put into the reference's own text lowers the value."""
    words = text.split()
    worse = [*words[:at], "zebra", *words[at:]]
    assert ERRORS.measure(analysis(text), analysis(" ".join(worse))).value < 1.0


@pytest.mark.parametrize(
    ("reference", "hypothesis", "classes", "kind", "type_", "severity"),
    [
        (
            "The house has three rooms.",
            "The house has five rooms.",
            {"three": "NUM", "five": "NUM"},
            "replacement",
            "number",
            "major",
        ),
        ("The man is old.", "The man is not old.", {}, "unnecessary", "negation", "major"),
        ("The man is not old.", "The man is old.", {}, "missing", "negation", "major"),
        ("The house is big.", "The house is small.", {"big": "ADJ", "small": "ADJ"}, "replacement", "antonym", "major"),
        ("The house is big.", "the house is big.", {}, "surface", "casing", "minor"),
        ("The house is big.", "The house is big .", {}, "surface", "spacing", "minor"),
        ("The house is big.", "The house is big", {}, "missing", "punctuation", "minor"),
        ("The house is big.", "The house house is big.", {}, "unnecessary", "repetition", "minor"),
    ],
)
def test_closed_rules(reference: str, hypothesis: str, classes: dict[str, str], kind: str, type_: str, severity: str) -> None:
    """Numbers, negations and antonyms are major; casing, spacing, punctuation and a doubled word are minor."""
    error = only(tagged(reference, **classes), tagged(hypothesis, **classes))
    assert (error.kind, error.type, error.severity) == (kind, type_, severity)


def test_pronouns_of_other_gender_are_no_antonyms() -> None:
    """A list of antonyms may hold "he" and "she"; what is wrong is the gender, and it weighs the same."""
    he, she = (
        replace(
            text, words=tuple(replace(w, feats=f"Gender={g}|Person=3") if w.text in ("He", "She") else w for w in text.words)
        )
        for text, g in ((tagged("He is old.", He="PRON"), "Masc"), (tagged("She is old.", She="PRON"), "Fem"))
    )
    error = only(he, she)
    assert (error.kind, error.type, error.severity) == ("replacement", "gender", "major")


def test_a_rare_word_lost_is_worse_than_a_frequent_one() -> None:
    """SEScore2's rule for deletions: severity grows with the TF-IDF weight of what was lost."""
    reference = analysis("the old dog ran")
    rare, frequent = (ERRORS.measure(reference, analysis(text)).raw for text in ("the old dog", "the dog ran"))
    assert rare > frequent


def test_an_unlikely_insertion_is_worse_than_a_likely_one() -> None:
    """SEScore2's rule for insertions: severity grows as the probability in context falls."""
    reference = analysis("the dog ran")
    likely, unlikely = (ERRORS.measure(reference, analysis("the big dog ran", probability=p)).raw for p in (0.9, 0.01))
    assert unlikely > likely


def test_a_likely_mistake_is_never_listed_as_none() -> None:
    """An added content word carries its severity, however unsure; only what is more likely no mistake is called none."""
    for probability in (0.01, 0.4, 0.9):
        added = only(analysis("the dog ran"), analysis("the zebra dog ran", probability=probability))
        assert added.kind == "unnecessary" and added.severity in ("minor", "major") and added.confidence >= 0.5
    excused = only(analysis("the dog ran"), tagged("the on dog ran", on="ADP"))
    assert excused.confidence < 0.5 and excused.severity == "none"


def test_equal_numbers_in_other_clothes_are_no_major_error() -> None:
    """Three is 3, and 1,000 is 1000."""
    assert number_value("three") == number_value("3") == 3.0
    assert number_value("1,000") == number_value("1000") == 1000.0
    assert number_value("house") is None
    assert ERRORS.measure(tagged("three dogs", three="NUM"), tagged("3 dogs")).raw < 0.5


def test_repetitions_and_moves() -> None:
    """A run that repeats what stands right before it; matches outside the longest common order."""
    assert repetitions(analysis("go home go home now").words) == {2, 3}
    assert repetitions(analysis("a b c").words) == set()
    matches = match_words(analysis("red house big hill"), analysis("big red house hill"), AlignmentConfig())
    assert {matches[k].hypothesis for k in moved_pairs(matches)} == {0}


def test_tokenised_reference_excuses_spacing_and_lower_case_reference_excuses_casing() -> None:
    """A habit that the reference shares is no mistake."""
    assert ERRORS.measure(analysis("the house is big ."), analysis("The House is big .")).value == 1.0


@pytest.mark.parametrize(
    ("reference", "hypothesis", "value"), [("", "", 1.0), ("cat", "", 0.0), ("Köln", "Köln", 1.0), ("...", "...", 1.0)]
)
def test_edge_rows(reference: str, hypothesis: str, value: float) -> None:
    """Nothing against nothing is clean, nothing for something is the worst; non-ASCII and punctuation alone are texts like others."""
    assert ERRORS.measure(analysis(reference), analysis(hypothesis)).value == value


def test_the_count_is_capped_smoothly() -> None:
    """However bad, raw stays below 25, and worse still counts more."""
    reference = analysis("red house")
    bad = ERRORS.measure(reference, analysis(" ".join(f"word{n}" for n in range(20))))
    worse = ERRORS.measure(reference, analysis(" ".join(f"word{n}" for n in range(40))))
    assert bad.raw < worse.raw < 25.0
