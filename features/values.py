"""The values that flow through RoMe: what is known of one text (Analysis) and what one feature says of a pair (Component)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .text import EditedText

CLASSES = {
    "semantic": "rome.features.semantic:Semantic",
    "syntax": "rome.features.syntax:Syntax",
    "grammar": "rome.features.grammar:Grammar",
    "errors": "rome.features.errors.errors:Errors",
}
"""The class of each feature, see features/protocol.py; docs/pages/design.md says what a new feature needs."""
FEATURES = tuple(CLASSES)
"""The features, in the order of every table and of the net's inputs."""


def form_of(word: str) -> str:
    """Return the form in which words are compared: lower-cased, and `a` for `an`, because the next word decides between them."""
    form = word.lower()
    return "a" if form == "an" else form


def equal_fields(one: object, other: object, names: Sequence[str]) -> bool:
    """Compare some fields of two objects; other classes differ, and arrays are compared element by element."""
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return type(one) is type(other) and all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


@dataclass(frozen=True, slots=True)
class Word:
    """One syntactic word (Universal Dependencies) with its place in the text.

    Attributes
    ----------
    start, end
        Character offsets into the analysed text, ``text[start:end]``; the words of a multi-word token such as ``don't`` share the span of their
        token unless the parser can split it.
    head
        Index of the governing word in ``Analysis.words``, -1 for the root of a sentence.
    sentence
        Index into ``Analysis.sentences``.
    """

    text: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    start: int
    end: int
    sentence: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its characters ``text[start:end]`` and the probability in [0, 1] that it is acceptable English."""

    start: int
    end: int
    acceptability_probability: float


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """Everything that the features may know of one text; made once for each distinct text, then stored.

    Attributes
    ----------
    words
        N words in reading order; n is 0 for an empty text.
    vectors
        (n, d) float32, one contextual vector a word (mean of its pieces).
    word_probabilities
        (n,) float32 in [0, 1], the probability that the word is the right one in its place.
    states
        (n, w) float16, what the reader of both texts starts from (mean of the word's pieces after a lower layer of the trunk); w is 0 where no
        reader needs them.
    written
        The user's text where `text` is only its compared form; stores do not keep it.
    """

    text: str
    sentences: tuple[Sentence, ...]
    words: tuple[Word, ...]
    vectors: NDArray[np.float32]
    word_probabilities: NDArray[np.float32]
    states: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    written: EditedText | None = None

    def span(self, start: int, end: int) -> tuple[str, int, int]:
        """Return the characters ``text[start:end]`` as the user wrote them, and their place in the user's text."""
        written = self.written or EditedText.of(self.text)
        start, end = written.place(start, end)
        return written.original[start:end], start, end

    def __eq__(self, other: object) -> bool:
        """Compare every column, the arrays element by element."""
        return equal_fields(self, other, ("text", "sentences", "words", "vectors", "word_probabilities", "states"))

    __hash__ = None  # type: ignore[assignment]


Evidence = TypeVar("Evidence")


@dataclass(frozen=True, slots=True)
class Component(Generic[Evidence]):
    """Hold the result of one feature for one pair.

    Attributes
    ----------
    value
        In [0, 1], 1 is best.
    raw
        The quantity before it was brought to [0, 1], in the unit named by ``unit``.
    evidence
        The feature's own frozen evidence value; None when the number was read from a stored table.
    """

    name: str
    value: float
    raw: float
    unit: str
    evidence: Evidence | Any = None
