"""The learned estimator with made-up readers: how what a reader says becomes spans, and the laws of these; how it is chosen."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from errors_laws import check_laws, check_same
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.cli.metric import add_metric_arguments, make_metric
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import SETS, set_folder
from rome.features.errors.estimator import ErrorsConfig, RuleBasedErrors, find_differences
from rome.features.errors.evidence import MAXIMUM, SEVERITIES, TYPES, ErrorsEvidence, PairErrorModel, PairPrediction
from rome.features.errors.learned import LearnedErrors, forgiven
from rome.features.errors.lexicon import AntonymLexicon
from rome.features.idf import IdfTable
from rome.features.protocol import AnalysedText, Resources
from rome.features.values import Analysis
from rome.metric import RoMe

from handmade import analysis, prepared

IDF = IdfTable(
    1000, {w: n for n, w in enumerate("red house big old man three five new town hill dog on a the".split(), start=5)}
)
LEXICON = AntonymLexicon.load(set_folder() / "lexicon" / "antonyms.tsv")
CONFIG = ErrorsConfig(estimator="learned", forgiveness=0.0)
WORDS = st.lists(st.sampled_from("The red house on a hill . big dog dog not three , The".split()), max_size=9).map(" ".join)


def saying(amount: float, **wrong: tuple[str, float, str]) -> PairErrorModel:
    """A reader that finds these words, on both sides, wrong: the severity, how probably, and the type. _ : all others."""

    def row(form: str) -> tuple[np.ndarray, np.ndarray]:
        severity, chance, kind = wrong.get(form.lower(), wrong.get("_", ("minor", 0.0, "other")))
        probabilities, types = np.zeros(4), np.zeros(len(TYPES))
        probabilities[0], probabilities[SEVERITIES.index(severity)], types[TYPES.index(kind)] = 1.0 - chance, chance, 1.0
        return probabilities, types

    def read(pairs: Sequence[tuple[Analysis, Analysis]]) -> list[PairPrediction]:
        found = [[row(word.text) for side in pair for word in side.words] for pair in pairs]
        columns = [(np.array([p for p, _ in each]), np.array([t for _, t in each])) for each in found]
        return [PairPrediction(p.reshape(-1, 4), t.reshape(-1, len(TYPES)), amount) for p, t in columns]

    return read


def evidence(reader: PairErrorModel, reference: str, hypothesis: str) -> ErrorsEvidence:
    """What is found between two hand-made texts, the laws checked."""
    pair = analysis(reference), analysis(hypothesis)
    found = LearnedErrors(IDF, LEXICON, reader, CONFIG).measure(*pair)
    check_laws(found, *pair)
    result: ErrorsEvidence = found.evidence
    return result


@settings(max_examples=60)
@given(WORDS, WORDS, st.integers(0, 10**6))
def test_the_laws_of_the_count(a: str, b: str, seed: int) -> None:
    """Whatever a reader says: see errors_laws.py; a pair is measured alike in any company; words that stay in place are no errors."""

    def reader(pairs: Sequence[tuple[Analysis, Analysis]]) -> list[PairPrediction]:
        found = []
        for pair in pairs:
            chance = np.random.default_rng([seed, *(len(side.text) for side in pair)])
            count = sum(len(side.words) for side in pair)
            rows = chance.dirichlet(np.full(4, 0.4), count), chance.dirichlet(np.full(len(TYPES), 0.4), count)
            found.append(PairPrediction(*(row.astype(np.float32) for row in rows), float(chance.exponential(8.0))))
        return found

    one, other = analysis(a), analysis(b)
    errors = LearnedErrors(IDF, LEXICON, reader, CONFIG)
    found = errors.measure(one, other)
    check_laws(found, one, other)
    check_same(errors.measure(one, one))
    first, second = (errors.prepare(AnalysedText.of(text)) for text in (one, other))
    assert errors.compare_all([(second, first), (first, second)])[1] == found
    (words,) = errors.word_errors([find_differences(first, second, IDF, LEXICON, CONFIG)])
    for error in words:
        if error.reference and error.hypothesis and error.kind != "order":
            assert error.reference.text.lower() != error.hypothesis.text.lower()
    spans = sorted((error.hypothesis.start, error.hypothesis.end) for error in words if error.hypothesis)
    assert all(one[1] <= other[0] for one, other in zip(spans, spans[1:], strict=False))


def test_the_amount_is_shared_out_by_what_words_cost() -> None:
    """A sure critical word weighs ten times a sure minor one, and together they weigh what the reader says of the pair."""
    reader = saying(6.6, old=("critical", 1.0, "antonym"), new=("critical", 1.0, "antonym"), _=("minor", 1.0, "other"))
    found = evidence(reader, "the old dog saw a red house", "the new dog saw a red town")
    assert [(e.kind, e.type, e.severity, e.confidence) for e in found.errors] == [
        ("replacement", "antonym", "critical", 1.0),
        ("replacement", "noun", "minor", 1.0),
    ]
    assert [error.weight for error in found.errors] == pytest.approx([6.0, 0.6]) and found.count == pytest.approx(6.6)


def test_differences_take_no_share() -> None:
    """A word that is likely no mistake is listed as a difference; the whole amount is the other's."""
    reader = saying(4.0, new=("major", 0.6, "other"), old=("major", 0.6, "other"), town=("major", 0.2, "name"))
    found = evidence(reader, "the old dog saw a red house", "the new dog saw a red town")
    assert [(e.severity, e.weight) for e in found.errors] == [("major", pytest.approx(4.0))]
    assert [(e.hypothesis.text, e.confidence) for e in found.differences if e.hypothesis] == [("town", pytest.approx(0.1))]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "kinds", "expected"),
    [
        ("the old red dog ran", "the dog ran", ("number", "name"), [("old red", None)]),
        ("the dog ran", "the old red dog ran", ("number", "name"), [(None, "old red")]),
        ("the old red dog ran", "the big new dog ran", ("name", "name"), [("old red", "big new")]),
        ("the old red dog ran", "the big new dog ran", ("name", "number"), [("old", "big"), ("red", "new")]),
        ("old dog red", "new dog big", ("name", "name"), [("old", "new"), ("red", "big")]),
    ],
)
def test_neighbours_join(
    reference: str, hypothesis: str, kinds: tuple[str, str], expected: list[tuple[str | None, str | None]]
) -> None:
    """Words side by side with one severity make one span: what is missing or too much always, replacements of one type."""
    first, second = (("major", 1.0, kind) for kind in kinds)
    found = evidence(saying(7.0, old=first, big=first, red=second, new=second), reference, hypothesis).errors
    texts = [(e.reference.text if e.reference else None, e.hypothesis.text if e.hypothesis else None) for e in found]
    assert texts == expected and [error.weight for error in found] == pytest.approx([7.0 / len(expected)] * len(expected))


def test_the_likeliest_word_is_the_error_where_none_is_likely() -> None:
    """The pair as a whole has an error, no word is likely enough: the one that costs most has all of it."""
    reader = saying(3.0, new=("minor", 0.2, "name"), old=("minor", 0.2, "name"), town=("minor", 0.1, "name"))
    found = evidence(reader, "the old dog saw a red house", "the new dog saw a red town")
    assert [(e.hypothesis.text, e.weight) for e in found.errors if e.hypothesis] == [("new", pytest.approx(3.0))]
    assert [e.hypothesis.text for e in found.differences if e.hypothesis] == ["town"]


def test_a_smaller_amount_than_counts_is_a_difference() -> None:
    """However sure a word: where the whole pair weighs next to nothing, nothing is listed as an error."""
    found = evidence(saying(0.2, _=("critical", 1.0, "name")), "the old dog", "the new dog")
    assert not found.errors and found.count == 0.0 and [e.hypothesis.text for e in found.differences if e.hypothesis] == ["new"]


def test_a_huge_amount_is_cut() -> None:
    """All errors together weigh at most 25, in proportion; a single one may weigh all that the reader says."""
    reader = saying(400.0, old=("critical", 1.0, "name"), new=("critical", 1.0, "name"), _=("major", 1.0, "name"))
    found = evidence(reader, "the old dog saw a red house", "the new dog saw a red town")
    assert [error.weight for error in found.errors] == pytest.approx([MAXIMUM * 2 / 3, MAXIMUM / 3])
    (error,) = evidence(
        saying(16.0, old=("critical", 1.0, "name"), new=("critical", 1.0, "name")), "the old dog", "the new dog"
    ).errors
    assert error.weight == pytest.approx(16.0)
    found = evidence(reader, "the old dog saw a red house here", "the new dog heard a red town here")
    weights = [error.weight for error in found.errors]
    assert weights == pytest.approx([MAXIMUM / 2, MAXIMUM / 4, MAXIMUM / 4])


@pytest.mark.parametrize("amount", [0.0, 0.2, 2.0, 24.9, 25.0, 40.0])
def test_what_is_missing_weighs_more_than_what_is_added(amount: float) -> None:
    """The amount rises with what the hypothesis leaves out, stays where both are as long, and is never more than the most that counts."""
    reader = saying(amount, red=("critical", 0.9, "other"), big=("critical", 0.9, "other"), _=("minor", 0.4, "other"))
    counts = []
    for hypothesis in ("big dog", "big dog big man", "big dog big man on a hill , the old man"):
        pair = analysis("red dog red man"), analysis(hypothesis)
        both = [
            LearnedErrors(IDF, LEXICON, reader, replace(CONFIG, forgiveness=share)).measure(*pair).evidence.count
            for share in (0.0, 1.2)
        ]
        assert max(both) <= MAXIMUM
        counts.append(both[1] - both[0])
    assert counts[1] == pytest.approx(0.0) and counts[0] >= 0.0 >= counts[2]
    assert counts[0] > counts[2] or amount in (0.0, 0.2) or amount >= MAXIMUM


@pytest.mark.parametrize("lengths", [(1, 1000), (1000, 1)])
def test_no_length_says_everything(lengths: tuple[int, int]) -> None:
    """However long one text is beside the other, the amount is not more than e times to the power of the share, nor less than its inverse."""
    pair = analysis("red " * lengths[0]), analysis("big " * lengths[1])
    found = find_differences(*(prepared(one) for one in pair), IDF, LEXICON, CONFIG)
    told = forgiven(0.01, found, 0.7)
    assert told == pytest.approx(0.01 * math.exp(math.copysign(0.7, lengths[0] - lengths[1])), rel=1e-2)


@pytest.mark.parametrize(
    "hypothesis", ["The old dog, saw the red house", "The old dog saw the Red house.", "The old dog saw the red house ."]
)
def test_characters_decide_on_marks_blanks_and_case(hypothesis: str) -> None:
    """Whatever a reader says, they cost what the rules say of them."""
    reference = "The old dog saw the red house."
    rules = RuleBasedErrors(IDF, LEXICON, ErrorsConfig()).measure(analysis(reference), analysis(hypothesis)).evidence
    assert rules.count > 0.0
    for amount in (0.0, 9.0):
        found = evidence(saying(amount, _=("critical", 1.0, "name")), reference, hypothesis)
        assert (found.count, found.errors) == (rules.count, rules.errors)


def test_rules_decide_on_repeated_words() -> None:
    """A reader that overlooks that a word stands twice is overruled, and the name is the rules'."""
    found = evidence(saying(0.0), "the dog saw the house", "the dog saw saw the house").errors
    assert [(error.kind, error.type) for error in found] == [("unnecessary", "repetition")] and found[0].weight > 0.25


def test_the_rules_name_what_they_know_better_and_the_reader_the_rest() -> None:
    """A changed number is a number whatever the reader calls it; "other" is no name where the word's class is known."""
    other = saying(5.0, _=("major", 1.0, "name"))
    assert [error.type for error in evidence(other, "three dogs", "five dogs").errors] == ["number"]
    assert [error.type for error in evidence(other, "the red dogs", "the big dogs").errors] == ["noun"]  # neither is a name
    unit = saying(5.0, _=("major", 1.0, "unit"))
    assert [error.type for error in evidence(unit, "the red dogs", "the big dogs").errors] == ["unit"]
    vague = saying(5.0, _=("major", 1.0, "other"))
    assert [error.type for error in evidence(vague, "the red dogs", "the big dogs").errors] == ["noun"]


def test_a_set_without_weights_says_so_at_the_first_pair(tmp_path: Path) -> None:
    """The reader is not loaded before."""
    errors = LearnedErrors.make(CONFIG, Resources(IDF, LEXICON, tmp_path))
    with pytest.raises(ModelMissingError, match=r"reader\.safetensors is missing"):
        errors.measure(analysis("the dog"), analysis("a cat"))


def test_the_choice_is_checked_and_signed() -> None:
    """An unknown estimator is refused, the learned one with foreign vectors too; the signature says which counts."""
    with pytest.raises(InputError, match="learned"):
        RoMe(errors="guessed")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="edit-script"):
        RoMe(models="paper", errors="learned")
    assert "errors:edit-script." in RoMe(errors="edit-script").feature_signature
    assert "errors:learned." in RoMe().feature_signature
    assert RoMe(models="paper").configs[3].estimator == "edit-script"


def test_the_command_line_chooses_too() -> None:
    """--errors edit-script makes the metric of RoMe(errors="edit-script"); without it the learned one."""
    parser = argparse.ArgumentParser()
    add_metric_arguments(parser)
    for words, errors in ((["--errors", "edit-script"], "edit-script"), ([], "learned")):
        made = make_metric(parser.parse_args(words))
        assert isinstance(made, RoMe) and made.feature_signature == RoMe(errors=errors).feature_signature  # type: ignore[arg-type]


# The models that ship


@pytest.fixture(scope="module", params=SETS)
def shipped(request: pytest.FixtureRequest) -> RoMe:
    """A set's metric with its own reader."""
    return RoMe(models=request.param, errors="learned", threads=1, progress=False)


MILLIONS, TREATY = "The firm paid {} million dollars in May.", "The two countries did{} sign the treaty."


@pytest.mark.parametrize(
    ("reference", "acceptable", "critical", "types"),
    [
        (MILLIONS.format(40), "In May, the company paid $40 million.", MILLIONS.format(90), {"number"}),
        (TREATY.format(" not"), "The treaty wasn't signed by the two countries.", TREATY.format(""), {"negation"}),
        (
            "Sales increased in the first quarter.",
            "In the first quarter, sales went up.",
            "Sales decreased in the first quarter.",
            {"antonym"},
        ),
    ],
)
def test_the_shipped_reader_puts_meaning_before_surface(
    shipped: RoMe, reference: str, acceptable: str, critical: str, types: set[str]
) -> None:
    """A rewrite far in words keeps more than a near copy with a fact turned; what turned it is named, and critical."""
    far, near = shipped.score(references=[reference] * 2, hypotheses=[acceptable, critical]).segments
    assert far.components.errors.value > near.components.errors.value
    errors = near.components.errors.evidence.errors
    assert "critical" in {error.severity for error in errors} and types & {error.type for error in errors}
    for segment in (far, near):
        pair = shipped.analyse([segment.reference, segment.hypothesis])
        check_laws(segment.components.errors, pair[segment.reference], pair[segment.hypothesis])
    assert shipped.score(references=[reference], hypotheses=[reference]).segments[0].components.errors.value == 1.0


@pytest.mark.parametrize("amount", [0.0, 0.1, 8.0])
def test_another_number_is_critical_whatever_the_reader_says(amount: float) -> None:
    """A reader that sees nothing is corrected by counting."""
    found = evidence(saying(amount), "the nine dogs ran", "the ten dogs ran")
    (error,) = found.errors
    assert (error.type, error.severity, error.confidence) == ("number", "critical", 1.0) and error.weight >= 10.0
    assert found.count == error.weight


def test_the_same_number_in_other_clothes_is_no_error() -> None:
    """However bad the reader finds it; what else it finds keeps its share of the amount."""
    reader = saying(12.0, nine=("critical", 1.0, "number"), **{"9": ("critical", 1.0, "number")}, old=("minor", 1.0, "name"))
    found = evidence(reader, "the nine dogs ran", "the 9 dogs ran")
    assert not found.errors and [one.hypothesis.text for one in found.differences if one.hypothesis] == ["9"]
    found = evidence(reader, "the nine dogs ran", "the 9 old dogs ran")
    assert [(e.hypothesis.text, e.severity) for e in found.errors if e.hypothesis] == [("old", "minor")]
    assert found.count == pytest.approx(12.0 / 11.0)
