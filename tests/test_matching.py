"""The longest rising run against every run there is."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from rome.features.matching import longest_increasing_subsequence


@given(st.lists(st.integers(0, 9), max_size=9))
def test_no_rising_run_is_longer(numbers: list[int]) -> None:
    """The places rise, so do their numbers, and of all choices of places none that rises is longer."""
    places = longest_increasing_subsequence(numbers)
    run = [numbers[n] for n in places]
    assert places == sorted(places) and all(a < b for a, b in zip(run, run[1:], strict=False))
    longer = combinations(numbers, len(places) + 1)
    assert not any(all(a < b for a, b in zip(other, other[1:], strict=False)) for other in longer)
