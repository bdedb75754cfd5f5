"""`a` and `an`: which one goes with the next word, by sound."""

from __future__ import annotations

import pytest

from rome.features.errors.errors import Errors
from rome.features.errors.evidence import SurfaceConfig
from rome.features.errors.spans import surface_errors
from rome.features.errors.typos import wrong_articles
from rome.features.values import Analysis

from handmade import analysis, prepared, saying

ERRORS = Errors(saying(0.0))
VOWEL = "apple error idea owner uncle hour honest heiress unidentified unimportant uninteresting urge ultimate only oval umbrella".split()
CONSONANT = (
    "house banana university European one one-off once useful unit user union unique united year hotline usual ewe".split()
)
OPEN = "hotel historic MP UN 8 X-ray É é x unionise".split()


def tagged(text: str) -> Analysis:
    words = analysis(text).words
    return analysis(text, upos=["DET" if w.text.lower() in ("a", "an") else "NOUN" for w in words])


@pytest.mark.parametrize(
    ("word", "right", "wrong"), [*((word, "an", "a") for word in VOWEL), *((word, "a", "an") for word in CONSONANT)]
)
def test_the_article_follows_the_sound(word: str, right: str, wrong: str) -> None:
    """`an` before a vowel sound and `a` before a consonant sound, whatever the letters are; the place is that of the article."""
    assert wrong_articles(tagged(f"she saw {right} {word} there")) == ()
    assert wrong_articles(tagged(f"she saw {wrong} {word} there")) == ((2, 3),)


@pytest.mark.parametrize("word", OPEN)
def test_what_is_said_in_two_ways_is_not_judged(word: str) -> None:
    """Initials, numbers, foreign letters, and words that good writers put after both."""
    assert wrong_articles(tagged(f"she saw a {word} there")) == wrong_articles(tagged(f"she saw an {word} there")) == ()


@pytest.mark.parametrize("text", ["", "a", "an", "A", "plan a", "a, apple", "An Andre came", "vitamin A apple"])
def test_edges(text: str) -> None:
    """Nothing after the article, a mark between, names and letters: nothing is said."""
    made = analysis(text, upos=["NOUN"] * 3) if text.startswith("vitamin") else tagged(text)
    assert wrong_articles(made) == ()


def test_it_counts_once_and_only_in_the_hypothesis() -> None:
    """A minor error on the article; none where the reference writes the same."""
    wrong, right = prepared(tagged("it is an big town")), prepared(tagged("it is the big town"))
    (found,) = surface_errors(right, wrong, (), (), SurfaceConfig())
    assert (found.type, found.severity, found.hypothesis.text) == ("article", "minor", "an")  # type: ignore[union-attr]
    assert surface_errors(wrong, wrong, (), (), SurfaceConfig()) == ()
    assert surface_errors(wrong, right, (), (), SurfaceConfig()) == ()


def test_the_wrong_one_for_the_right_one_counts_too() -> None:
    """`an` in the place of the reference's `a` is the article's mistake and no other word's; both right, beside other words, is none."""
    big, enormous, wrong = (prepared(tagged(f"it is {words} town")) for words in ("a big", "an enormous", "an big"))
    found = ERRORS.compare(big, wrong).evidence.errors
    assert [(error.type, error.hypothesis.text) for error in found] == [("article", "an")]
    listed = ERRORS.compare(big, enormous).evidence
    assert not listed.errors and not listed.differences
