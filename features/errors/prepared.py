"""What the errors feature asks of one text alone, worked out once for all pairs that the text stands in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..idf import IdfTable
from ..protocol import AnalysedText
from ..values import Analysis, Word
from .clauses import VerbForm, conjunctions, verb_forms
from .evidence import TextSpan
from .lexicon import Number, form_of, number_value, numbers_of
from .typos import repeated_words, tidy, wrong_articles

GROUPS = ("NOUN PROPN X", "VERB AUX", "ADJ ADV", "NUM", "PRON", "DET", "ADP SCONJ", "CCONJ")
CLASSES = {tag: number for number, tags in enumerate(GROUPS, start=1) for tag in tags.split()}
"""Classes within which one word can take the place of another although nothing about them is alike."""
ALIKE = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "."})
VISIBLE = re.compile(r"[^\w\s]|_")
"""Characters that are neither letter nor digit nor blank."""


@dataclass(frozen=True, slots=True)
class PunctuationMark:
    """One punctuation mark at ``text[place]``.

    Attributes
    ----------
    before, after
        The words around it, -1 where there is none.
    stray
        Whether no writer puts it there, see `tidy`.
    """

    character: str
    place: int
    before: int
    after: int
    stray: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PreparedText:
    """One side of a pair.

    Attributes
    ----------
    places
        Of the n words that are compared, see `words_of`.
    following
        For each of them the next one, -1 for the last.
    units
        (n, d) their vectors, of length 1.
    forms
        See `form_of`.
    lemmas
        Lower-cased.
    numbers
        (n,) their values, NaN for words that are none.
    symbols
        (n,) bool.
    classes
        One of CLASSES each, 0 for none.
    salience
        Of every word the TF-IDF weight, relative to the text's average word (1); 0 for those that are not compared.
    marks, articles, quantities
        See `marks_of`, `wrong_articles` and `numbers_of`.
    verbs, conjunctions
        See `verb_forms` and `conjunctions`.
    """

    analysis: Analysis
    places: tuple[int, ...]
    following: Mapping[int, int]
    units: NDArray[np.float64]
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    numbers: NDArray[np.float64]
    symbols: NDArray[np.bool_]
    classes: tuple[int, ...]
    salience: NDArray[np.float64]
    marks: tuple[PunctuationMark, ...]
    articles: tuple[tuple[int, int], ...]
    quantities: tuple[Number, ...]
    verbs: Mapping[int, VerbForm]
    conjunctions: Mapping[int, tuple[int, ...]]

    @property
    def text(self) -> str:
        """The text itself."""
        return self.analysis.text

    @property
    def words(self) -> tuple[Word, ...]:
        """All of its words."""
        return self.analysis.words

    def span(self, start: int, end: int) -> TextSpan:
        """These characters."""
        return TextSpan(self.text[start:end], start, end)

    def span_at(self, mark: PunctuationMark) -> TextSpan:
        """The character of a mark."""
        return self.span(mark.place, mark.place + 1)

    def span_of(self, places: Sequence[int]) -> TextSpan | None:
        """The characters from the first to the last of some words; None for no words."""
        words = [self.words[n] for n in places]
        return self.span(min(word.start for word in words), max(word.end for word in words)) if words else None


def prepare(text: AnalysedText, idf: IdfTable) -> PreparedText:
    """One side of every pair that a text stands in."""
    analysis, places = text.analysis, words_of(text.analysis)
    words = [analysis.words[n] for n in places]
    values = [number_value(word.text) for word in words]
    salience = np.zeros(len(analysis.words))
    salience[list(places)] = idf.weights([word.text for word in words]) * len(places)
    return PreparedText(
        analysis=analysis,
        places=places,
        following=dict(zip(places, (*places[1:], -1), strict=False)),
        units=text.units[list(places)],
        forms=tuple(form_of(word.text) for word in words),
        lemmas=tuple(word.lemma.lower() for word in words),
        numbers=np.array([math.nan if value is None else value for value in values], dtype=np.float64),
        symbols=np.array([word.upos in ("PUNCT", "SYM") for word in words], dtype=bool),
        classes=tuple(CLASSES.get(word.upos, 0) for word in words),
        salience=salience,
        marks=marks_of(analysis),
        articles=wrong_articles(analysis),
        quantities=numbers_of(analysis),
        verbs=verb_forms(analysis.words),
        conjunctions=conjunctions(analysis.words),
    )


def is_mark(word: Word) -> bool:
    """Whether a word is a punctuation mark; those are compared on the characters, by features/errors/surface.py."""
    return word.upos == "PUNCT" and not any(map(str.isalnum, word.text))


def words_of(analysis: Analysis) -> tuple[int, ...]:
    """The places of the words that are compared: neither marks nor words typed twice (features/errors/surface.py counts those)."""
    runs = repeated_words(analysis.text)
    places = tuple(n for n, word in enumerate(analysis.words) if not is_mark(word))
    if not runs:
        return places
    words = analysis.words
    return tuple(n for n in places if not any(run.start <= words[n].start and words[n].end <= run.end for run in runs))


def marks_of(analysis: Analysis) -> tuple[PunctuationMark, ...]:
    """Every visible character of a text that belongs to no word, in order; a mark repeated on the spot ("...") counts once, unless it is stray."""
    kept = set(tidy(analysis.text).origin)
    words = [n for n, word in enumerate(analysis.words) if not is_mark(word)]
    ends = list(accumulate((analysis.words[n].end for n in words), max))
    found: list[PunctuationMark] = []
    position = -1
    for match in VISIBLE.finditer(analysis.text):
        place = match.start()
        while position + 1 < len(words) and analysis.words[words[position + 1]].start <= place:
            position += 1
        if position >= 0 and place < ends[position]:  # within a word
            continue
        shown, stray = match.group().translate(ALIKE), place not in kept
        if found and found[-1].place == place - 1 and (found[-1].character, found[-1].stray) == (shown, stray):
            found[-1] = PunctuationMark(shown, place, found[-1].before, found[-1].after, stray)
            continue
        before = words[position] if position >= 0 else -1
        after = words[position + 1] if position + 1 < len(words) else -1
        found.append(PunctuationMark(shown, place, before, after, stray))
    return tuple(found)
