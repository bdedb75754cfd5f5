"""Mistakes with single words: what a new word asks of the article before it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from rome.data.perturbations.random_words import WORD_PROBES, Vocabulary
from rome.features.values import Analysis

from handmade import analysis


def noun_last(text: str) -> Analysis:
    """A text whose last word is a noun, and the only word that can be replaced."""
    found = analysis(text)
    return replace(found, words=(*found.words[:-1], replace(found.words[-1], xpos="NN")))


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        ("hour", "We lost a day", "We lost an hour"),
        ("university", "We left an office", "We left a university"),
        ("owl", "A dog", "An owl"),
        ("day", "It took an hour", "It took a day"),
        ("uncle", "She is an aunt", "She is an uncle"),
    ],
)
def test_the_article_follows_the_sound_of_the_new_word(word: str, text: str, expected: str) -> None:
    """As for the perturbations: by how the word begins to sound, not by its first letter."""
    found = WORD_PROBES["replaced_word"][1](noun_last(text), random.Random(0), Vocabulary([noun_last(word)] * 2))
    assert found is not None and found[0] == expected
