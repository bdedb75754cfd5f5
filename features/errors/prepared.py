"""Prepare one text for the errors feature, once for all pairs that contain it, and match the words of two texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..matching import best_assignment, cosines, equal_texts, longest_increasing_subsequence
from ..protocol import AnalysedText
from ..semantic import position_differences
from ..values import Analysis, Word, form_of
from .evidence import TextSpan
from .quantities import Quantity, quantities_of
from .typos import EMOJI, repetitions, tidy, wrong_articles

ALIKE = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "."})
VISIBLE = re.compile(rf"(?P<emoji>{EMOJI.pattern})|[^\w\s]|_")
"""An emoji, or a character that is neither a letter, a digit nor a blank."""

THRESHOLD = 0.35
"""The similarity that a match must exceed."""
POSITION = 0.3
"""The similarity lost per unit of difference in relative position."""
SAME_LEMMA, SAME_FORM = 0.9, 1.0
"""The least similarity of words with the same lemma, and of words with the same form."""
SAME_COSINE = 0.1
"""Share of the cosine in the similarity of words with the same form, which decides between several of them."""


@dataclass(frozen=True, slots=True)
class PunctuationMark:
    """Hold one punctuation mark at ``text[place]``.

    Attributes
    ----------
    before, after
        The indices of the words around it, -1 where there is none.
    stray
        Whether `tidy` removes it.
    """

    character: str
    place: int
    before: int
    after: int
    stray: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PreparedText:
    """Hold one text of a pair.

    Attributes
    ----------
    places
        The indices of the n words that are compared, see `compared_words`.
    units
        (n, d) their vectors, of length 1.
    forms, lemmas
        Their forms (see `form_of`) and their lower-cased lemmas.
    marks
        See `marks_of`; without those inside a quantity, which is compared by value.
    articles, quantities
        See `wrong_articles` and `quantities_of`.
    """

    analysis: Analysis
    places: tuple[int, ...]
    units: NDArray[np.float64]
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    marks: tuple[PunctuationMark, ...]
    articles: tuple[tuple[int, int], ...]
    quantities: tuple[Quantity, ...]

    @property
    def text(self) -> str:
        """Return the text itself."""
        return self.analysis.text

    @property
    def words(self) -> tuple[Word, ...]:
        """Return all of its words."""
        return self.analysis.words

    def span(self, start: int, end: int) -> TextSpan:
        """Return the characters from ``start`` to ``end`` of the text, with their place in the user's text."""
        return TextSpan(*self.analysis.span(start, end))

    def span_at(self, mark: PunctuationMark | None) -> TextSpan | None:
        """Return the character of a mark; None without a mark."""
        return None if mark is None else self.span(mark.place, mark.place + 1)

    def span_of(self, places: Sequence[int]) -> TextSpan | None:
        """Return the characters from the first to the last of some words; None without words."""
        words = [self.words[n] for n in places]
        return self.span(min(word.start for word in words), max(word.end for word in words)) if words else None

    def words_in(self, start: int, end: int) -> range:
        """Return the indices of the words that share a character with ``text[start:end]``."""
        inside = [n for n, word in enumerate(self.words) if word.start < end and word.end > start]
        return range(inside[0], inside[-1] + 1) if inside else range(0)


def prepare(text: AnalysedText) -> PreparedText:
    """Prepare one text for all pairs that contain it."""
    analysis, places = text.analysis, compared_words(text.analysis)
    code = () if analysis.written is None else analysis.written.code
    words, quantities = [analysis.words[n] for n in places], quantities_of(analysis.text, code)
    inside = {n for quantity in quantities for n in range(quantity.start, quantity.end)}
    return PreparedText(
        analysis=analysis,
        places=places,
        units=text.units[list(places)],
        forms=tuple(form_of(word.text) for word in words),
        lemmas=tuple(word.lemma.lower() for word in words),
        marks=tuple(mark for mark in marks_of(analysis) if mark.after < 0 or mark.place not in inside),
        articles=wrong_articles(analysis),
        quantities=quantities,
    )


def is_mark(word: Word) -> bool:
    """Return whether a word is a punctuation mark or an emoji; features/errors/spans.py compares these on the characters."""
    return (word.upos == "PUNCT" and not any(map(str.isalnum, word.text))) or EMOJI.fullmatch(word.text) is not None


def compared_words(analysis: Analysis) -> tuple[int, ...]:
    """Return the indices of all words but marks and repetitions, which features/errors/spans.py counts."""
    runs = repetitions(analysis.text)
    return tuple(
        n
        for n, word in enumerate(analysis.words)
        if not is_mark(word) and not any(run.start <= word.start and word.end <= run.end for run in runs)
    )


def marks_of(analysis: Analysis) -> tuple[PunctuationMark, ...]:
    """Return every visible character outside words and emoji, in order; a mark repeated on the spot ("...") counts once, unless it is stray."""
    kept = set(tidy(analysis.text).starts)
    words = [n for n, word in enumerate(analysis.words) if not is_mark(word)]
    ends = list(accumulate((analysis.words[n].end for n in words), max))
    found: list[PunctuationMark] = []
    position = -1
    for match in VISIBLE.finditer(analysis.text):
        place = match.start()
        while position + 1 < len(words) and analysis.words[words[position + 1]].start <= place:
            position += 1
        if match["emoji"] or (position >= 0 and place < ends[position]):  # within a word
            continue
        shown, stray = match.group().translate(ALIKE), place not in kept
        if found and found[-1].place == place - 1 and (found[-1].character, found[-1].stray) == (shown, stray):
            found[-1] = PunctuationMark(shown, place, found[-1].before, found[-1].after, stray)
            continue
        before = words[position] if position >= 0 else -1
        after = words[position + 1] if position + 1 < len(words) else -1
        found.append(PunctuationMark(shown, place, before, after, stray))
    return tuple(found)


class WordMatch(NamedTuple):
    """Match a word of the reference with a word of the hypothesis, both as word indices.

    Attributes
    ----------
    same
        Whether both have the same form, see `form_of`.
    moved
        Whether the match crosses the matches that keep their order.
    """

    reference: int
    hypothesis: int
    same: bool
    moved: bool


def match_words(reference: PreparedText, hypothesis: PreparedText) -> tuple[WordMatch, ...]:
    """Return the one-to-one matches with the highest total similarity, in the order of the reference.

    Only the words in ``places`` of both texts are matched. Unlike the alignment of `semantic`, which follows the paper, this one also knows
    forms and lemmas, and leaves words without a similar counterpart unmatched.
    """
    if not reference.places or not hypothesis.places:
        return ()
    similarity = cosines(reference.units, hypothesis.units)
    same = equal_texts(reference.forms, hypothesis.forms)
    lemma = equal_texts(reference.lemmas, hypothesis.lemmas)
    gain = np.where(lemma, np.maximum(similarity, SAME_LEMMA), similarity)
    gain = np.where(same, SAME_FORM + SAME_COSINE * similarity, gain)
    gain = np.maximum(gain - POSITION * position_differences(*gain.shape) - THRESHOLD, 0.0)
    pairs = [(i, j) for i, j in zip(*map(np.ndarray.tolist, best_assignment(gain)), strict=True) if gain[i, j] > 0.0]
    kept = set(longest_increasing_subsequence([j for _, j in pairs]))
    return tuple(
        WordMatch(reference.places[i], hypothesis.places[j], bool(same[i, j]), k not in kept) for k, (i, j) in enumerate(pairs)
    )
