"""Spans of errors from made-up readers: what the reader marks becomes spans, weights and severities, whatever it says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from errors_laws import check_laws, check_same, severity_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rome.exceptions import ModelMissingError
from rome.features.errors.errors import Errors
from rome.features.errors.evidence import (
    BANDS,
    MAXIMUM,
    SEVERITIES,
    WEIGHTS,
    ErrorsConfig,
    ErrorsEvidence,
    PairErrorModel,
    Severity,
    value_of,
)
from rome.features.errors.prepared import match_words
from rome.features.errors.quantities import Quantity
from rome.features.errors.spans import Finding, PairWords, weigh
from rome.features.idf import IdfTable
from rome.features.protocol import AnalysedText, Resources

from handmade import analysis, guessing, prepared, saying

WORDS = st.lists(st.sampled_from("The red house on a hill . big dog dog not three 3 5 , The".split()), max_size=10).map(
    " ".join
)
MAJOR, SURE = ("major", 0.99, "noun"), ("critical", 0.99, "name")


def evidence(reader: PairErrorModel, reference: str, hypothesis: str, config: ErrorsConfig = ErrorsConfig()) -> ErrorsEvidence:
    """What is found between two hand-made texts, the laws checked."""
    pair = analysis(reference), analysis(hypothesis)
    found = Errors(reader, config).measure(*pair)
    check_laws(found, *pair)
    result: ErrorsEvidence = found.evidence
    return result


def texts_of(spans: Sequence[object]) -> list[tuple[str, str | None, str | None]]:
    """Kind, and the texts on both sides."""
    return [(e.kind, e.reference and e.reference.text, e.hypothesis and e.hypothesis.text) for e in spans]  # type: ignore[attr-defined]


@settings(max_examples=40, deadline=None)
@given(WORDS, WORDS, st.integers(0, 10**6), st.sampled_from((0.1, 1.0, 8.0, 60.0)))
@example("The three The", "5 The 5 The red", 0, 0.1)  # a different quantity within a repetition
def test_the_laws_hold_whatever_a_reader_says(a: str, b: str, seed: int, mean: float) -> None:
    """See errors_laws.py; a pair is measured alike in any company; no two spans of words share a character."""
    one, other = analysis(a), analysis(b)
    errors = Errors(guessing(seed, mean))
    found = errors.measure(one, other)
    check_laws(found, one, other)
    check_same(errors.measure(one, one))
    first, second = (errors.prepare(AnalysedText.of(text)) for text in (one, other))
    assert errors.compare_all([(second, first), (first, second), (first, first)])[1] == found
    for side in ("reference", "hypothesis"):
        spans = [
            getattr(e, side)
            for e in (*found.evidence.errors, *found.evidence.differences)
            if e.kind != "surface" and e.type != "repetition"
        ]
        places = sorted((span.start, span.end) for span in spans if span and span.text[:1].isalnum())
        assert all(left[1] <= right[0] for left, right in zip(places, places[1:], strict=False))
    weights = {name: [e.weight for e in found.evidence.errors if e.severity == name] for name in ("minor", "major", "critical")}
    assert max(weights["minor"], default=0.0) <= 2.5 < min(weights["major"], default=3.0)
    assert max(weights["major"], default=0.0) <= 7.5 < min(weights["critical"], default=8.0)


def finding(severity: Severity, confidence: float) -> Finding:
    """Return a finding whose words have this severity with this probability."""
    cost = confidence * WEIGHTS[SEVERITIES.index(severity)]
    return Finding("replacement", "noun", severity, cost, confidence, None, None)


CONFIDENCES = st.floats(0.01, 1.0)
FINDINGS = st.builds(finding, st.sampled_from(SEVERITIES[1:]), CONFIDENCES)
AMOUNTS = st.floats(0.0, 100.0)


@given(st.lists(FINDINGS, max_size=4), AMOUNTS, AMOUNTS)
def test_weights_grow_with_the_amount(findings: list[Finding], one: float, other: float) -> None:
    """The severity is the band of the weight, and never above the reader's."""
    less, more = (weigh(findings, amount, ErrorsConfig()) for amount in sorted((one, other)))
    for read, low, high in zip(findings, less, more, strict=True):
        assert low.weight <= high.weight
        for error in (low, high):
            assert severity_of(error.weight) == error.severity and error.weight <= BANDS[read.severity][1]


@given(st.sampled_from(SEVERITIES[1:]), st.tuples(CONFIDENCES, CONFIDENCES), AMOUNTS)
def test_a_sure_word_weighs_more_than_a_doubtful_one(
    severity: Severity, confidences: tuple[float, float], amount: float
) -> None:
    """Alone in a pair, and side by side."""
    findings = [finding(severity, confidence) for confidence in sorted(confidences)]
    alone = [error for one in findings for error in weigh([one], amount, ErrorsConfig())]
    for doubtful, sure in (alone, weigh(findings, amount, ErrorsConfig())):
        assert doubtful.weight <= sure.weight
    doubtful, sure = weigh([finding("critical", 0.4), finding("critical", 0.9)], 20.0, ErrorsConfig())
    assert doubtful.weight < sure.weight


def test_the_amount_is_shared_by_what_words_cost() -> None:
    """A critical word has twice the share of a major one."""
    reader = saying(15.0, old=SURE, new=SURE, house=MAJOR, town=MAJOR)
    found = evidence(reader, "the old dog saw a red house", "the new dog saw a red town")
    assert texts_of(found.errors) == [("replacement", "old", "new"), ("replacement", "house", "town")]
    assert [(e.type, e.severity) for e in found.errors] == [("name", "critical"), ("noun", "major")]
    assert [e.confidence for e in found.errors] == pytest.approx([0.99, 0.99])
    assert found.errors[0].weight == pytest.approx(2.0 * found.errors[1].weight)


@pytest.mark.parametrize(
    ("mark", "amount", "severity"),
    [
        (MAJOR, 5.0, "major"),
        (MAJOR, 60.0, "major"),
        (MAJOR, 0.1, "minor"),
        (MAJOR, 0.0, "minor"),
        (SURE, 16.0, "critical"),
        (SURE, 5.0, "critical"),
        (SURE, 2.0, "major"),
        (("critical", 0.2, "name"), 3.0, "minor"),
        (("minor", 0.9, "style"), 1.0, "minor"),
        (("minor", 0.9, "style"), 20.0, "minor"),
    ],
)
def test_the_severity_is_the_readers(mark: tuple[str, float, str], amount: float, severity: str) -> None:
    """Unless the amount is small or the word doubtful."""
    (error,) = evidence(saying(amount, old=mark, new=mark), "the old dog", "the new dog").errors
    assert error.severity == severity


def test_the_severity_is_that_of_the_costliest_word() -> None:
    """Not of the surest; how near the weight must come to the band is a setting."""
    cold = ("critical", 0.4, "name")
    (error,) = evidence(saying(9.0, wet=("minor", 0.9, "style"), cold=cold), "the dog ran", "the dog ran wet cold").errors
    assert (error.severity, error.confidence) == ("critical", pytest.approx(0.9))
    for nearness, severity in ((0.9, "minor"), (0.3, "major"), (0.0, "critical")):
        config = ErrorsConfig(nearness=nearness)
        (error,) = evidence(saying(5.0, cold=cold), "the dog ran", "the dog ran cold", config).errors
        assert error.severity == severity


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        ("the dog ran", "the dog ran, wet and cold and old", ("unnecessary", None, "wet and cold and old")),
        ("the dog ran, wet and cold and old", "the dog ran", ("missing", "wet and cold and old", None)),
        ("the wet cold dog ran", "the old new dog ran", ("replacement", "wet cold", "old new")),
        ("the wet dog ran", "the old new cold dog ran", ("replacement", "wet", "old new cold")),
        ("the wet dog and the cat ran", "the dog and the wet cat ran", ("order", "wet", "wet")),
    ],
)
def test_one_claim_is_one_span(reference: str, hypothesis: str, expected: tuple[str, str | None, str | None]) -> None:
    """Neighbouring marked words, also over a comma; what stands in one slot of both texts is a replacement."""
    reader = saying(8.0, **dict.fromkeys("wet cold old new".split(), SURE), **{"and": ("minor", 0.06, "style")})
    found = evidence(reader, reference, hypothesis).errors
    assert texts_of(found) == [expected] and found[0].severity == "critical"


def test_a_sentence_ends_a_span() -> None:
    """Two sentences of which both are marked are two errors."""
    one = analysis("the dog ran")
    other = analysis("the dog ran. old cold wet new")
    other = replace(other, words=tuple(replace(word, sentence=int(n >= 6)) for n, word in enumerate(other.words)))
    found = Errors(saying(8.0, **dict.fromkeys("wet cold old new".split(), SURE))).measure(one, other).evidence
    assert texts_of(found.errors) == [("unnecessary", None, "old cold"), ("unnecessary", None, "wet new")]


def test_a_run_goes_on_over_one_word_but_not_over_one_that_is_right() -> None:
    """Unmarked words of which the other text has the same, in the same order, end a span."""
    marks = dict.fromkeys("wet cold old new".split(), SURE)
    found = evidence(saying(8.0, **marks), "the dog ran", "the dog ran wet zebra cold").errors
    assert texts_of(found) == [("unnecessary", None, "wet zebra cold")]
    found = evidence(saying(8.0, **marks), "old dog wet", "new dog cold").errors
    assert texts_of(found) == [("replacement", "old", "new"), ("replacement", "wet", "cold")]


def test_words_are_marked_from_the_threshold() -> None:
    """A word below it is in no span, not even beside a marked one."""
    reader = saying(4.0, wet=SURE, cold=("major", 0.08, "noun"), old=("major", 0.03, "noun"), new=("major", 0.06, "noun"))
    found = evidence(reader, "the dog ran", "the new dog ran wet cold old")
    assert texts_of(found.errors) == [("unnecessary", None, "wet cold")] and not found.differences
    found = evidence(reader, "the dog ran", "the new dog ran wet cold old", ErrorsConfig(threshold=0.02))
    assert texts_of(found.errors) == [("unnecessary", None, "new"), ("unnecessary", None, "wet cold old")]


def test_the_type_is_the_likeliest_of_all_words() -> None:
    """Summed over the words of a span, each by how likely it is an error."""
    reader = saying(4.0, wet=("major", 1.0, "noun"), cold=("major", 0.6, "verb"), old=("major", 0.6, "verb"))
    (error,) = evidence(reader, "the dog ran", "the dog ran wet cold old").errors
    assert (error.type, error.confidence) == ("verb", 1.0)


def test_the_costliest_word_is_the_error_where_none_is_marked() -> None:
    """A large amount and no word at the threshold: the costliest word is a minor error."""
    reader = saying(3.0, new=("major", 0.06, "noun"), red=("minor", 0.05, "noun"), town=("minor", 0.02, "name"))
    (error,) = evidence(reader, "the dog saw a house", "the new red dog saw a town").errors
    assert error.hypothesis and (error.hypothesis.text, error.severity) == ("new", "minor")
    found = evidence(saying(3.0, new=("minor", 0.02, "noun")), "the dog saw a house", "the new red dog saw a town")
    assert [e.hypothesis.text for e in found.errors if e.hypothesis] == ["new"]
    assert not evidence(saying(2.4, new=("major", 0.06, "noun")), "the dog ran", "the new dog ran").errors


def test_a_huge_amount_is_cut() -> None:
    """All errors together count at most 25; each keeps its weight and its severity."""
    marks = dict.fromkeys("old new".split(), SURE) | dict.fromkeys("house town".split(), MAJOR)
    found = evidence(saying(400.0, **marks), "the old dog saw a red house", "the new dog saw a red town")
    assert [(e.weight, e.severity) for e in found.errors] == [(MAXIMUM, "critical"), (7.5, "major")] and found.count == MAXIMUM


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
    found = Errors(guessing(1)).measure(analysis(reference), analysis(hypothesis))
    assert (found.value, found.raw, found.evidence.count) == (value, count, count)
    assert all(error.kind == "missing" for error in found.evidence.errors)


def test_words_for_nothing() -> None:
    """An empty reference: what the hypothesis says is unnecessary."""
    found = Errors(saying(9.0, _=MAJOR)).measure(analysis(""), analysis("red house"))
    assert texts_of(found.evidence.errors) == [("unnecessary", None, "red house")] and found.value == value_of(found.raw)


def test_what_no_span_shows_is_doubt() -> None:
    """Half of the amount beyond the listed errors costs, and costs more the higher it is; without the setting the count alone does."""
    texts = "the dogs ran", "the old dogs ran"
    for amount in (0.0, 0.4, 2.0):
        found = evidence(saying(amount), *texts)
        assert (found.errors, found.count, found.cost) == ((), 0.0, amount / 2)
    listed = evidence(saying(9.0, old=("major", 0.9, "addition")), *texts)
    assert listed.count > 0.0 and listed.doubt == pytest.approx((9.0 - listed.count) / 2)
    assert evidence(saying(2.0), *texts, ErrorsConfig(doubt=0.0)).cost == 0.0
    assert evidence(saying(2.0), texts[0], texts[0]).cost == 0.0


# Quantities


def test_equal_quantities_cost_nothing() -> None:
    """However bad the reader finds them; what else it finds is weighed as usual."""
    nine = ("critical", 1.0, "number")
    reader = saying(9.0, nine=nine, **{"9": nine}, old=MAJOR)
    found = evidence(reader, "the nine dogs ran", "the 9 dogs ran")
    assert not found.errors and not found.differences and found.count == 0.0
    found = evidence(reader, "the nine dogs ran", "the 9 old dogs ran")
    assert texts_of(found.errors) == [("unnecessary", None, "old")]
    assert found.count == evidence(reader, "the dogs ran", "the old dogs ran").count


@pytest.mark.parametrize("amount", [0.0, 0.1, 8.0, 20.0])
def test_a_different_quantity_is_critical(amount: float) -> None:
    """Whatever the reader says of it; it weighs at least 10, and marked words inside it are part of it."""
    reader = saying(amount, nine=MAJOR, ten=MAJOR)
    (error,) = evidence(reader, "the nine dogs ran", "the ten dogs ran").errors
    assert (error.kind, error.type, error.severity, error.confidence) == ("replacement", "number", "critical", 1.0)
    assert error.weight >= 10.0 and error.hypothesis and error.hypothesis.text == "ten"


def test_other_errors_keep_their_share_beside_a_quantity() -> None:
    """The quantity is lifted to 10, which takes nothing from the others."""
    reader = saying(8.0, nine=MAJOR, ten=MAJOR, old=MAJOR, new=MAJOR)
    found = evidence(reader, "the nine old dogs ran", "the ten new dogs ran")
    assert [(e.type, e.severity) for e in found.errors] == [("number", "critical"), ("noun", "major")]
    assert found.errors[0].weight == pytest.approx(10.0)


def test_a_doubtful_word_beside_a_quantity_belongs_to_it() -> None:
    """One claim is one span: only a likely error beside a different quantity is an error of its own."""
    for probability, count in ((0.2, 1), (0.9, 2)):
        mark = ("major", probability, "noun")
        found = evidence(saying(8.0, ten=MAJOR, nine=MAJOR, cats=mark), "the nine dogs ran", "the ten cats ran")
        assert len(found.errors) == count


@pytest.mark.parametrize("count", [3, 9])
def test_many_different_quantities_are_all_critical(count: int) -> None:
    """The cap of a segment turns none of them into a major or a minor error."""
    nouns = "dog men hills cats roads hats birds trees cars".split()[:count]
    texts = [" ".join(f"{n + shift} {noun}" for n, noun in enumerate(nouns)) for shift in (10, 40)]
    found = evidence(saying(0.0), *texts)
    assert [(e.severity, e.weight) for e in found.errors] == [("critical", 10.0)] * count and found.count == MAXIMUM


# Matching


def test_words_match_by_form_lemma_and_vector() -> None:
    """Equal forms first, then equal lemmas, then near vectors; what crosses the longest order is moved; far words have no match."""
    found = match_words(prepared(analysis("red house big hill")), prepared(analysis("big red house hill")))
    assert [(m.reference, m.hypothesis, m.same, m.moved) for m in found] == [
        (0, 1, True, False),
        (1, 2, True, False),
        (2, 0, True, True),
        (3, 3, True, False),
    ]
    one, other = analysis("dogs ran", lemmas=["dog", "run"]), analysis("dog zebra", lemmas=["dog", "zebra"])
    assert [(m.reference, m.hypothesis, m.same) for m in match_words(prepared(one), prepared(other))] == [(0, 0, False)]
    assert match_words(prepared(one), prepared(analysis(""))) == ()


def test_a_set_without_weights_says_so_at_the_first_pair(tmp_path: Path) -> None:
    """The reader is not loaded before."""
    errors = Errors.make(ErrorsConfig(), Resources(IdfTable(10, {}), tmp_path))
    with pytest.raises(ModelMissingError, match=r"reader\.safetensors is missing"):
        errors.measure(analysis("the dog"), analysis("a cat"))


def test_the_value_of_a_count() -> None:
    """One for no error, less for every further one, .92 for a minor one, .5 for twelve."""
    assert [value_of(count) for count in (0.0, 1.0, 12.0, 36.0)] == pytest.approx([1.0, 12 / 13, 0.5, 0.25])
    assert math.isfinite(value_of(MAXIMUM)) and np.all(np.diff([value_of(c) for c in range(26)]) < 0)


@pytest.mark.parametrize(
    ("old", "new", "texts", "expected"),
    [
        ("number", "number", ("nine", "ten"), "number"),
        ("number", "number", ("5 million", "5 billion"), "number"),
        ("money:USD", "money:EUR", ("$5", "€5"), "unit"),
        ("money:USD", "money:USD", ("-250 dollars", "250 dollars"), "number"),
        ("length", "mass", ("five miles", "five pounds"), "unit"),
        ("length", "length", ("1.5 km", "15 km"), "number"),
        ("date", "date range", ("7 March", "8 March"), "date"),
        ("time of day", "number", ("9 a.m.", "9"), "time"),
    ],
)
def test_the_type_of_a_different_quantity(old: str, new: str, texts: tuple[str, str], expected: str) -> None:
    """By its dimension, and by whether the amount or only the unit differs."""
    pair = PairWords(*(prepared(analysis(text)) for text in texts), saying(0.0)([(analysis(texts[0]), analysis(texts[1]))])[0])
    found = pair.quantity(*(Quantity(0, len(text), kind, 0.0) for text, kind in zip(texts, (old, new), strict=True)))
    assert (found.type, found.kind, found.confidence, found.cost) == (expected, "replacement", 1.0, 10.0)
