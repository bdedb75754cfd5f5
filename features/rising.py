"""The longest run of numbers that rises: which words of two texts keep their order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

__all__ = ["longest_rising"]


def longest_rising(numbers: Sequence[int]) -> list[int]:
    """The places of one longest run that rises strictly, in order (patience sorting, Fredman 1975); n log n steps."""
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for n, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(number)
            ends.append(n)
        else:
            tails[at], ends[at] = number, n
    chain, n = [], ends[-1] if ends else -1
    while n >= 0:
        chain.append(n)
        n = before[n]
    return chain[::-1]
