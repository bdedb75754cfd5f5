"""Grammar: how the sentences' probabilities become one number."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.features.grammar import Grammar, GrammarConfig
from rome.features.values import Analysis, Sentence

from handmade import analysis

REFERENCE = analysis("the cat sat")


def with_sentences(*rows: tuple[int, int, float]) -> Analysis:
    return replace(
        analysis("x" * max(end for _, end, _ in rows), probability=1.0), sentences=tuple(Sentence(*row) for row in rows)
    )


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_lies_between_the_worst_and_the_best_sentence(probabilities: list[float]) -> None:
    """A mean: never below the worst sentence (raised to the floor) nor above the best one."""
    rows = [(10 * n, 10 * n + 9, p) for n, p in enumerate(probabilities)]
    value = Grammar().measure(REFERENCE, with_sentences(*rows)).value
    assert max(1e-4, min(probabilities)) - 1e-9 <= value <= max(1e-4, max(probabilities)) + 1e-9


def test_one_sentence_is_its_own_probability() -> None:
    """For one sentence of certain words the component is the model's probability; raw is its logarithm; the evidence has the characters."""
    found = Grammar().measure(REFERENCE, analysis("cats sleep .", acceptable=0.8, probability=1.0))
    assert found.value == pytest.approx(0.8)
    assert found.raw == pytest.approx(math.log(0.8))
    assert [(s.text, s.probability) for s in found.evidence.sentences] == [("cats sleep .", 0.8)]


def test_unlikely_words_lower_it() -> None:
    """The words' geometric mean counts ``fluency`` times: 0.8 * 0.5 ** 2, and less likely words never help."""
    found = Grammar().measure(REFERENCE, analysis("cats sleep .", acceptable=0.8, probability=0.5))
    assert found.value == pytest.approx(0.8 * 0.25)
    assert found.evidence.sentences[0].word_probability == pytest.approx(0.5)
    assert Grammar(GrammarConfig(fluency=0.0)).measure(
        REFERENCE, analysis("cats", acceptable=0.8, probability=0.5)
    ).value == pytest.approx(0.8)


def test_longer_sentences_count_more() -> None:
    """The mean is weighted by length: a bad long sentence costs more than a bad short one."""
    good_long = Grammar().measure(REFERENCE, with_sentences((0, 90, 0.9), (91, 100, 0.1))).value
    bad_long = Grammar().measure(REFERENCE, with_sentences((0, 90, 0.1), (91, 100, 0.9))).value
    assert good_long > 0.7 > 0.2 > bad_long


def test_an_empty_hypothesis_is_not_acceptable() -> None:
    """Nothing to accept: 0, and the reference does not matter for any text."""
    assert Grammar().measure(REFERENCE, analysis("")).value == 0.0
    assert Grammar().measure(analysis(""), analysis("cats")).value == Grammar().measure(REFERENCE, analysis("cats")).value
