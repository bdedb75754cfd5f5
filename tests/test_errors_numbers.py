"""Numbers by value: what a text counts, however it writes it, and which number stands in another one's place."""

from __future__ import annotations

import pytest

from rome.features.errors.edits import AlignmentConfig, match_words
from rome.features.errors.lexicon import NumbersCompared, compare_numbers, numbers_of

from handmade import analysis, prepared


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("no number here", []),
        ("", []),
        ("nine cars and 10 dogs", [9.0, 10.0]),
        ("twenty-five people", [25.0]),
        ("twenty - five people", [25.0]),
        ("twenty five people", [25.0]),
        ("the twenty-first day", [21.0]),
        ("3 million and two hundred", [3e6, 200.0]),
        ("two thousand million", [2e9]),
        ("1000 and 3rd", [1000.0, 3.0]),
        ("nine ten twenty eleven", [9.0, 10.0, 20.0, 11.0]),
        ("20 5", [20.0, 5.0]),
        ("a well-known man", []),
        ("million two", [1e6, 2.0]),
    ],
)
def test_values(text: str, values: list[float]) -> None:
    """One number for what is said as one; each word belongs to one number at most."""
    found = numbers_of(analysis(text))
    assert [number.value for number in found] == values
    places = [place for number in found for place in number.places]
    assert places == sorted(set(places)) and all(text.split()[n] for n in places)


def compared(reference: str, hypothesis: str) -> NumbersCompared:
    """The numbers of two hand-made texts, with words aligned as ever."""
    one, other = prepared(analysis(reference)), prepared(analysis(hypothesis))
    matches = match_words(one, other, AlignmentConfig())
    return compare_numbers(one.quantities, other.quantities, {match.reference: match.hypothesis for match in matches})


@pytest.mark.parametrize(
    ("reference", "hypothesis", "same", "other"),
    [
        ("nine cars here", "ten cars here", (set(), set()), ({0}, {0})),
        ("nine cars here", "9 cars here", ({0}, {0}), (set(), set())),
        ("twenty - five cars here", "25 cars here", ({0, 1, 2}, {0}), (set(), set())),
        ("nine cars here", "nine cars here", (set(), set()), (set(), set())),
        ("3 men and 7 women", "7 men and 3 women", (set(), set()), (set(), set())),
        ("nine cars here", "cars here", (set(), set()), (set(), set())),
        ("cars here", "cars", (set(), set()), (set(), set())),
    ],
)
def test_pairs(reference: str, hypothesis: str, same: tuple[set[int], set[int]], other: tuple[set[int], set[int]]) -> None:
    """Equal numbers in other clothes, and another number in a number's place; what is written alike, moved or missing is neither."""
    found = compared(reference, hypothesis)
    assert (found.same, found.other, found.count) == (same, other, int(bool(other[0])))


def test_a_number_is_never_its_own_contradiction() -> None:
    """Whatever stands on both sides is paired first by what is written, then by value."""
    found = compared("two of 2 cars", "2 of two cars")
    assert found == NumbersCompared((frozenset(), frozenset()), (frozenset(), frozenset()), 0)
