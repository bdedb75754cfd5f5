"""Read long texts in windows of sentences that correspond to each other: nothing is cut, and memory grows with the length only."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from math import fsum
from typing import NamedTuple

import numpy as np

from .errors.errors import Errors
from .errors.evidence import ErrorSpan, TextSpan
from .flags import FLAGS, OF_WHOLE_TEXTS
from .values import Component

MOST_WORDS, MOST_CHARACTERS = 2_500, 20_000
"""Limits of a text that is compared as a whole, because the memory of an alignment grows with the square of its words, and its time faster.
A word is a run of letters and digits, or any other mark or symbol."""
WINDOW = 3_000
"""Characters of a window, about: 500 words."""
WORD = re.compile(r"\w+|[^\w\s]")
PIECE = re.compile(r"(?s).{1,500}?(?:[.!?][\"'”’)\]]*\s+|\n|\Z)|.{1,500}(?<=\s)|.{1,500}")
"""A sentence, or a part of a long one."""


Components = tuple[Component, ...]
Flags = tuple[str, ...]


class Window(NamedTuple):
    """Hold the parts of two texts that are compared with each other, and the places where they begin."""

    reference: str
    hypothesis: str
    places: tuple[int, ...] = (0, 0)


class Windows(NamedTuple):
    """Hold the windows of a pair that are read, and the number of characters in all of them, read or not."""

    read: Sequence[Window]
    length: int = 0

    def joined(self, found: Sequence[tuple[Components, Flags]]) -> tuple[Components, Flags]:
        """Return the components and the flags of the pair from those of each window that was read; the other windows lose nothing.

        The errors add up, and are the only evidence. The other values are means by length, their raw quantities of the windows that were read.
        """
        if not self.length:
            return found[0]
        parts, flags = zip(*found, strict=True)
        sizes = [len(window.reference) + len(window.hypothesis) for window in self.read]
        lost = np.dot(sizes, [[1.0 - one.value for one in part] for part in parts]) / self.length
        raw = np.average([[one.raw for one in part] for part in parts], axis=0, weights=sizes)
        rows = zip(parts[0], lost.tolist(), raw.tolist(), strict=True)
        means: Components = tuple(Component(one.name, 1.0 - loss, own, one.unit) for one, loss, own in rows)
        listed = [e for window, part in zip(self.read, parts, strict=True) for e in _errors(window, part[-1])]
        errors = Errors.component(listed, fsum(part[-1].evidence.doubt for part in parts))
        whole = OF_WHOLE_TEXTS if sum(sizes) == self.length else {"identical"}
        holds = {"windows"}.union(*flags) - OF_WHOLE_TEXTS | whole.intersection(*flags)
        components = (*means[:-1], errors if means[-1].value else replace(errors, value=0.0))
        return components, tuple(name for name in FLAGS if name in holds)


def is_long(text: str) -> bool:
    """Return whether a text has more than MOST_WORDS or MOST_CHARACTERS."""
    return len(text) > MOST_CHARACTERS or (len(text) > MOST_WORDS and len(WORD.findall(text)) > MOST_WORDS)


def windows_of(reference: str, hypothesis: str) -> Windows:
    """Return the windows of two texts: the texts themselves, unless one of them is long.

    Long texts are divided between sentences that they share, and evenly where they share none. Of windows that are the same in both texts none is
    read, or one when all are.
    """
    texts = reference, hypothesis
    if not any(map(is_long, texts)):
        return Windows([Window(*texts)])
    sides: list[list[str]] = [PIECE.findall(text) for text in texts]
    places, cuts = [[0, *accumulate(map(len, side))] for side in sides], [(0, 0)]
    blocks = SequenceMatcher(None, sides[0], sides[1]).get_matching_blocks()
    for cut in ((a + n, b + n) for a, b, size in blocks for n in range(size + 1)):
        spans = [(start, ends[n], ends) for start, n, ends in zip(cuts[-1], cut, places, strict=True)]
        count = max(round((end - start) / WINDOW) for start, end, _ in spans)
        for part in range(1, count + 1):
            one, other = (ends[bisect_left(ends, start + (end - start) * part / count)] for start, end, ends in spans)
            cuts.append((one, other))
    cuts[-1] = len(reference), len(hypothesis)
    windows = [Window(reference[a[0] : b[0]], hypothesis[a[1] : b[1]], a) for a, b in pairwise(cuts)]
    read = [window for window in windows if window.reference != window.hypothesis]
    return Windows(read or windows[:1], len(reference) + len(hypothesis))


def _errors(window: Window, component: Component) -> Iterator[ErrorSpan]:
    """Yield the errors and differences of a window with their places in the whole texts."""
    for error in (*component.evidence.errors, *component.evidence.differences):
        sides = zip((error.reference, error.hypothesis), window.places, strict=True)
        old, new = (span and TextSpan(span.text, span.start + place, span.end + place) for span, place in sides)
        yield replace(error, reference=old, hypothesis=new)
