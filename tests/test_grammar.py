"""Grammar: how the sentences' probabilities become one number."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.combining.signature import feature_signature
from rome.features.errors.evidence import ErrorsConfig
from rome.features.grammar import Grammar, GrammarConfig
from rome.features.semantic import SemanticConfig
from rome.features.syntax import SyntaxConfig
from rome.features.values import Analysis, Sentence

from handmade import analysis

REFERENCE = analysis("the cat sat")
ABSOLUTE = Grammar(GrammarConfig(relative=False))
"""The measure that does not look at the reference."""


def with_sentences(*rows: tuple[int, int, float]) -> Analysis:
    return replace(
        analysis("x" * max(end for _, end, _ in rows), probability=1.0), sentences=tuple(Sentence(*row) for row in rows)
    )


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_lies_between_the_worst_and_the_best_sentence(probabilities: list[float]) -> None:
    """A mean: never below the worst sentence (raised to the floor) nor above the best one."""
    rows = [(10 * n, 10 * n + 9, p) for n, p in enumerate(probabilities)]
    value = ABSOLUTE.measure(REFERENCE, with_sentences(*rows)).value
    assert max(1e-4, min(probabilities)) - 1e-9 <= value <= max(1e-4, max(probabilities)) + 1e-9


def test_one_sentence_is_its_own_probability() -> None:
    """For one sentence of certain words the component is the model's probability; raw is its logarithm; the evidence has the characters."""
    found = ABSOLUTE.measure(REFERENCE, analysis("cats sleep .", acceptable=0.8, probability=1.0))
    assert found.value == pytest.approx(0.8)
    assert found.raw == pytest.approx(math.log(0.8))
    assert [(s.text, s.probability) for s in found.evidence.sentences] == [("cats sleep .", 0.8)]


def test_raw_is_the_logarithm_of_colas_probability() -> None:
    """Without the words' probabilities, which count in the value; the evidence has it, None in files of earlier versions."""
    found = Grammar().measure(REFERENCE, analysis("cats sleep .", acceptable=0.8, probability=0.5))
    assert (found.raw, found.evidence.acceptability_probability) == (pytest.approx(math.log(0.8)), pytest.approx(0.8))
    row = {"sentences": [], "reference_probability": None}
    assert Grammar.evidence_from_dict(row).acceptability_probability is None
    two = ABSOLUTE.measure(REFERENCE, with_sentences((0, 30, 0.9), (31, 41, 0.4)))
    assert two.raw == pytest.approx(0.75 * math.log(0.9) + 0.25 * math.log(0.4))


def test_unlikely_words_lower_it() -> None:
    """The words' geometric mean counts ``fluency`` times: 0.8 * 0.5 ** 2, and less likely words never help."""
    found = ABSOLUTE.measure(REFERENCE, analysis("cats sleep .", acceptable=0.8, probability=0.5))
    assert found.value == pytest.approx(0.8 * 0.25)
    assert found.evidence.sentences[0].word_probability == pytest.approx(0.5)
    assert Grammar(GrammarConfig(fluency=0.0, relative=False)).measure(
        REFERENCE, analysis("cats", acceptable=0.8, probability=0.5)
    ).value == pytest.approx(0.8)


def test_longer_sentences_count_more() -> None:
    """The mean is weighted by length: a bad long sentence costs more than a bad short one."""
    good_long = ABSOLUTE.measure(REFERENCE, with_sentences((0, 90, 0.9), (91, 100, 0.1))).value
    bad_long = ABSOLUTE.measure(REFERENCE, with_sentences((0, 90, 0.1), (91, 100, 0.9))).value
    assert good_long > 0.7 > 0.2 > bad_long


def test_an_empty_hypothesis_is_not_acceptable() -> None:
    """Nothing to accept: 0, and the reference does not matter for any text."""
    assert ABSOLUTE.measure(REFERENCE, analysis("")).value == ABSOLUTE.measure(analysis(""), analysis("")).value == 0.0
    assert ABSOLUTE.measure(analysis(""), analysis("cats")).value == ABSOLUTE.measure(REFERENCE, analysis("cats")).value
    assert ABSOLUTE.measure(REFERENCE, analysis("cats")).evidence.reference_probability is None


# against the reference's own probability

PROBABILITY = st.floats(0.0, 1.0)
CHANGES: list[dict[str, Any]] = [{"relative": False}, {"floor": 0.02}, {"own": 0.1}, {"different": 0.5}]


@given(PROBABILITY, PROBABILITY)
def test_the_value_is_a_share_of_the_reference(wanted: float, found: float) -> None:
    """The quotient of the two probabilities, at most 1, times a power of the hypothesis' own, both raised to the floor; raw and evidence
    keep both as they are.
    """
    reference, hypothesis = (analysis(t, acceptable=p, probability=1.0) for t, p in (("cats sleep", wanted), ("dogs", found)))
    share = min(1.0, max(found, 0.01) / max(wanted, 0.01))
    part = Grammar().measure(reference, hypothesis)
    assert part.value == pytest.approx(share * max(found, 0.01) ** GrammarConfig().own)
    assert Grammar(GrammarConfig(own=0.0)).measure(reference, hypothesis).value == pytest.approx(share)
    assert part.raw == ABSOLUTE.measure(reference, hypothesis).raw == pytest.approx(math.log(max(found, 1e-4)))
    assert part.evidence.reference_probability == pytest.approx(max(wanted, 1e-4))
    assert [s.text for s in part.evidence.sentences] == ["dogs"]


@pytest.mark.parametrize(
    ("hypothesis", "different", "power"),
    [
        ("the old cat sat on a mat and slept", 0.0, 0.0),
        ("a mat sat on the old cat and slept", 0.0, 0.0),
        ("the old cat sat on a mat and slept slept", 1 / 19, 8 / 19),
        ("the old cat sat on a mat and dozed", 1 / 9, 8 / 9),
        ("the old cat sat on a mat", 1 / 8, 1.0),
        ("all dogs bark", 1.0, 1.0),
    ],
)
def test_words_of_its_own_stand_for_themselves(hypothesis: str, different: float, power: float) -> None:
    """The more of its words differ, the more of its own probability counts, up to a share; the same words count as the reference's do."""
    reference = analysis("the old cat sat on a mat and slept", acceptable=0.2, probability=1.0)
    part = Grammar(GrammarConfig(own=0.5, different=0.125)).measure(
        reference, analysis(hypothesis, acceptable=0.36, probability=1.0)
    )
    assert part.evidence.different_words == pytest.approx(different)
    assert part.value == pytest.approx(0.6**power)
    at_once = Grammar(GrammarConfig(own=0.5, different=0.0)).measure(
        reference, analysis(hypothesis, acceptable=0.36, probability=1.0)
    )
    assert at_once.value == pytest.approx(0.6 if different else 1.0)


@given(PROBABILITY, PROBABILITY)
def test_a_text_against_itself_is_one(acceptable: float, word: float) -> None:
    """Exactly, however bad its grammar is; and no text is above it."""
    text = analysis("cats sleep .", acceptable=acceptable, probability=word)
    assert Grammar().measure(text, text).value == 1.0
    assert Grammar().measure(text, analysis("cats sleep", acceptable=1.0, probability=1.0)).value == 1.0


@given(PROBABILITY, PROBABILITY, PROBABILITY)
def test_a_likelier_text_is_no_worse(wanted: float, one: float, other: float) -> None:
    """Against the same reference the value rises with the hypothesis' probability, or stays."""
    reference = analysis("cats sleep", acceptable=wanted)
    low, high = (Grammar().measure(reference, analysis("dogs", acceptable=p)).value for p in sorted((one, other)))
    assert 0.0 < low <= high <= 1.0


def test_texts_without_sentences() -> None:
    """Nothing against something: 0; nothing against nothing: 1; something against nothing: its own probability."""
    cats = analysis("cats")
    assert Grammar().measure(REFERENCE, analysis("")).value == 0.0
    assert Grammar().measure(analysis(""), analysis("")).value == 1.0
    found = Grammar().measure(analysis(""), cats)
    assert found.value == ABSOLUTE.measure(REFERENCE, cats).value and found.evidence.reference_probability is None


def test_every_setting_changes_the_signature() -> None:
    """So does ``relative``: the two measures are told apart."""
    configs = [GrammarConfig(), *(GrammarConfig(**change) for change in CHANGES)]
    signatures = [feature_signature("s", "m", "i", (SemanticConfig(), SyntaxConfig(), one, ErrorsConfig())) for one in configs]
    assert len(set(signatures)) == 1 + len(CHANGES)
