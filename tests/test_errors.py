"""Errors: the edit script on hand-made analyses: what is found, of which type, how severe, and the laws of the count."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from errors_laws import check_laws, check_same
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.combining.signature import feature_signature
from rome.features.analyser.config import set_folder
from rome.features.errors.edits import AlignmentConfig, match_words, out_of_order, repetitions
from rome.features.errors.estimator import ErrorsConfig, RuleBasedErrors, find_differences
from rome.features.errors.evidence import CRITICAL, MAXIMUM, MINOR, ErrorSpan, value_of
from rome.features.errors.lexicon import AntonymLexicon, number_value
from rome.features.errors.severity import SeverityConfig
from rome.features.errors.surface import TYPO_TYPES
from rome.features.grammar import GrammarConfig
from rome.features.idf import IdfTable
from rome.features.protocol import AnalysedText
from rome.features.semantic import SemanticConfig
from rome.features.syntax import SyntaxConfig
from rome.features.values import Analysis

from handmade import analysis, prepared

IDF = IdfTable(
    1000, {w: n for n, w in enumerate("red house big old man three five new town hill dog on a the".split(), start=5)}
)
ERRORS = RuleBasedErrors(IDF, AntonymLexicon.load(set_folder() / "lexicon" / "antonyms.tsv"))
WORDS = st.lists(st.sampled_from("The red house on a hill . big dog not three".split()), min_size=1, max_size=9).map(" ".join)


def tagged(text: str, **upos: str) -> Analysis:
    """An analysis in which the named words have the named classes."""
    words = analysis(text).words
    return analysis(text, upos=[upos.get(w.text, w.upos) for w in words])


def only(reference: Analysis, hypothesis: Analysis) -> ErrorSpan:
    found = ERRORS.measure(reference, hypothesis).evidence.errors
    assert len(found) == 1, found
    return found[0]


@settings(max_examples=80)
@given(WORDS, WORDS)
def test_the_laws_of_the_count(a: str, b: str) -> None:
    """The laws of the count (see errors_laws.py); nothing is said of a text against itself; a pair is measured alike in any company."""
    one, other = analysis(a), analysis(b)
    found = ERRORS.measure(one, other)
    check_laws(found, one, other)
    check_same(ERRORS.measure(one, one))
    first, second = (ERRORS.prepare(AnalysedText.of(text)) for text in (one, other))
    assert ERRORS.compare_all([(second, first), (first, second), (first, first)])[1] == found
    assert all(error.weight <= CRITICAL for error in (*found.evidence.errors, *found.evidence.differences))


@settings(max_examples=60)
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
            "critical",
        ),
        ("The man is old.", "The man is not old.", {}, "unnecessary", "negation", "critical"),
        ("The man is not old.", "The man is old.", {}, "missing", "negation", "critical"),
        ("The house is big.", "The house is small.", {"big": "ADJ", "small": "ADJ"}, "replacement", "antonym", "critical"),
        ("Watson is old.", "Adler is old.", {"Watson": "PROPN", "Adler": "PROPN"}, "replacement", "name", "critical"),
        ("The house is big.", "the house is big.", {}, "surface", "casing", "minor"),
        ('"The house is big."', '"the house is big."', {}, "surface", "casing", "minor"),
        ("The house is big.", "The house is big .", {}, "surface", "spacing", "minor"),
        ("The house is big.", "The house is big", {}, "missing", "punctuation", "minor"),
        ("The house is big.", "The house house is big.", {}, "unnecessary", "repetition", "minor"),
    ],
)
def test_closed_rules(reference: str, hypothesis: str, classes: dict[str, str], kind: str, type_: str, severity: str) -> None:
    """Numbers, negations, antonyms and names turn the meaning; casing, spacing, punctuation and a doubled word are minor."""
    error = only(tagged(reference, **classes), tagged(hypothesis, **classes))
    assert (error.kind, error.type, error.severity) == (kind, type_, severity)


@pytest.mark.parametrize(
    ("setting", "value", "reference", "hypothesis", "classes"),
    [
        ("negation_major", 0.1, "The man is not old.", "The man is old.", {}),
        ("negation_major", 0.1, "The man is old.", "The man is not old.", {}),
        ("number_major", 0.1, "It has three rooms.", "It has five rooms.", {"three": "NUM", "five": "NUM"}),
        ("equal_number", 0.4, "It has three rooms.", "It has 3 rooms.", {"three": "NUM", "3": "NUM"}),
        ("antonym_major", 0.1, "The house is big.", "The house is small.", {"big": "ADJ", "small": "ADJ"}),
        ("spelling", 0.5, "The new town house.", "The new town houuse.", {}),
        ("spelling_major", 0.5, "The new town house.", "The new town houuse.", {}),
        ("spelled_alike", 0.99, "The new town house.", "The new town houuse.", {}),
        ("name_forgiven", 0.9, "Watson is old.", "Wattson is old.", {"Watson": "PROPN", "Wattson": "PROPN"}),
        ("name_major", 0.1, "Watson is old.", "Wattson is old.", {"Watson": "PROPN", "Wattson": "PROPN"}),
        ("name_alike", 0.1, "Watson is old.", "Wattson is old.", {"Watson": "PROPN", "Wattson": "PROPN"}),
        ("likelihood_share", 0.1, "the dog ran", "the big dog ran", {}),
        ("order_major", 0.9, "red house big dog", "big dog red house", {}),
    ],
)
def test_what_the_rules_weigh_is_a_setting(
    setting: str, value: float, reference: str, hypothesis: str, classes: dict[str, str]
) -> None:
    """Another value gives an edit another weight, and another signature."""
    texts = prepared(tagged(reference, **classes), IDF), prepared(tagged(hypothesis, **classes), IDF)
    config = ErrorsConfig(severity=replace(SeverityConfig(), **{setting: value}))
    weights = [
        [judgement.weight for _, judgement in find_differences(*texts, ERRORS.idf, ERRORS.lexicon, used).edits]
        for used in (config, ErrorsConfig())
    ]
    assert weights[0] != weights[1]
    signatures = [
        feature_signature("s", "m", "i", SemanticConfig(), SyntaxConfig(), GrammarConfig(), used)
        for used in (config, ErrorsConfig())
    ]
    assert signatures[0] != signatures[1]


def test_pronouns_of_other_gender_are_no_antonyms() -> None:
    """A list of antonyms may hold "he" and "she"; what is wrong is the gender, and it weighs the same."""
    he, she = (
        replace(
            text, words=tuple(replace(w, feats=f"Gender={g}|Person=3") if w.text in ("He", "She") else w for w in text.words)
        )
        for text, g in ((tagged("He is old.", He="PRON"), "Masc"), (tagged("She is old.", She="PRON"), "Fem"))
    )
    error = only(he, she)
    assert (error.kind, error.type, error.severity) == ("replacement", "gender", "critical")


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
    """An added content word carries its severity, however unsure; what is more likely no mistake is a difference, and does not count."""
    for probability in (0.01, 0.4, 0.9):
        added = only(analysis("the dog ran"), analysis("the zebra dog ran", probability=probability))
        assert added.kind == "unnecessary" and added.severity in ("minor", "major") and added.confidence >= 0.5
    evidence = ERRORS.measure(analysis("the dog ran"), tagged("the on dog ran", on="ADP")).evidence
    (excused,) = evidence.differences
    assert not evidence.errors and excused.confidence < 0.5 and (excused.severity, excused.weight) == ("none", 0.0)


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
    matches = match_words(prepared(analysis("red house big hill")), prepared(analysis("big red house hill")), AlignmentConfig())
    assert {matches[k].hypothesis for k in out_of_order([match.hypothesis for match in matches])} == {0}


def test_tokenised_reference_excuses_spacing_and_lower_case_reference_excuses_casing() -> None:
    """A habit that the reference shares is no mistake."""
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


@pytest.mark.parametrize("hypothesis", ["the house is big.", "The house is big .", "The, house is big."])
def test_slips_weigh_little_and_are_listed(hypothesis: str) -> None:
    """Case, spacing and marks count their probability times a fifth of a minor error; unlikely slips are differences. A missing end counts in full."""
    found = ERRORS.measure(analysis("The house is big."), analysis(hypothesis))
    (error,) = found.evidence.errors
    assert error.type in TYPO_TYPES and found.raw == error.weight == ERRORS.config.surface.slip * error.confidence * MINOR
    end = ERRORS.measure(analysis("The house is big."), analysis("The house is big"))
    assert end.raw == ERRORS.config.surface.punctuation.no_end * MINOR
    strict = RuleBasedErrors(IDF, ERRORS.lexicon, replace(ERRORS.config, smallest_probability=0.95))
    assert not strict.measure(analysis("The house is big."), analysis(hypothesis)).evidence.errors
    assert strict.measure(analysis("The house is big."), analysis(hypothesis)).evidence.differences == (
        replace(error, weight=0.0, severity="none"),
    )


@pytest.mark.parametrize(
    ("reference", "hypothesis", "value", "count"),
    [
        ("", "", 1.0, 0.0),
        ("cat", "", 0.0, MAXIMUM),
        ("a", "", 0.0, MAXIMUM),
        ("Köln", "Köln", 1.0, 0.0),
        ("...", "...", 1.0, 0.0),
    ],
)
def test_edge_rows(reference: str, hypothesis: str, value: float, count: float) -> None:
    """Nothing against nothing is clean, nothing for something is the worst; non-ASCII and punctuation alone are texts like others."""
    found = ERRORS.measure(analysis(reference), analysis(hypothesis))
    assert (found.value, found.raw, found.evidence.count) == (value, count, count)


def test_words_for_nothing() -> None:
    """An empty reference: what the hypothesis says is unnecessary."""
    found = ERRORS.measure(analysis(""), analysis("red house"))
    assert {error.kind for error in found.evidence.errors} == {"unnecessary"} and found.value == value_of(found.raw) < 1.0


def test_more_than_the_most_is_scaled_down_together() -> None:
    """However bad, the count is 25 at most, and the errors keep their proportions; below the most nothing is scaled."""
    reference = analysis("red house")
    few, many, more = (
        ERRORS.measure(reference, analysis(" ".join(["zebra", *(f"word{n}" for n in range(count))]))) for count in (2, 40, 80)
    )
    assert few.raw < MAXIMUM == many.raw == more.raw and few.value > many.value == more.value
    first, second = (found.evidence.errors for found in (many, more))
    assert len(second) > len(first) and second[0].weight < first[0].weight
    assert math.fsum(error.weight for error in second) == pytest.approx(MAXIMUM)


def test_the_value_of_a_count() -> None:
    """One for no error, less for every further one, .92 for a minor one, .5 for twelve."""
    assert [value_of(count) for count in (0.0, 1.0, 12.0, 36.0)] == pytest.approx([1.0, 12 / 13, 0.5, 0.25])


def test_errors_come_in_the_order_of_the_hypothesis() -> None:
    """Errors of words and of characters, those of the reference alone at their own places."""
    found = ERRORS.measure(analysis("the red house is big today"), analysis("The zebra house  is small today , not"))
    for spans in (found.evidence.errors, found.evidence.differences):
        places = [(span.hypothesis or span.reference).start for span in spans if span.hypothesis or span.reference]
        assert places == sorted(places)
    assert len(found.evidence.errors) > 2
