"""Which word of the hypothesis stands for which word of the reference, as an editor would see it.

Unlike the alignment of `semantic`, which follows the paper, this one also knows forms, lemmas and spelling, and leaves a word alone
when nothing is near enough: such words are missing or unnecessary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from ..assignment import linear_sum_assignment
from ..cosine import cosines, unit_vectors
from ..equal_texts import equal_texts
from ..once import once
from ..rising import longest_rising
from ..semantic import position_differences
from ..slips import typed_twice
from ..values import Analysis, Word
from .lexicon import number_value

__all__ = ["AlignmentConfig", "WordMatch", "is_mark", "match_words", "moved_pairs", "words_of"]


@dataclass(frozen=True, slots=True)
class AlignmentConfig:
    """threshold : likeness that a pair must exceed. position : likeness lost per unit of difference in relative position.

    lemma, spelling : the likeness that an equal lemma, or a word spelled almost alike, has at least. spelled_alike : the
    Jaro-Winkler similarity from which two words count as spelled almost alike. same_cosine : what the cosine adds to the likeness of
    equal forms, which is 1. symbol_cosine : the cosine below which a symbol stands for no other symbol. same_place : gained by a pair
    of left-over words that take each other's place, beside their cosine; the more, the more such pairs rather than nearer ones.
    """

    threshold: float = 0.35
    position: float = 0.3
    lemma: float = 0.9
    spelling: float = 0.7
    spelled_alike: float = 0.88
    same_cosine: float = 0.1
    symbol_cosine: float = 0.5
    same_place: float = 1.1


@dataclass(frozen=True, slots=True)
class WordMatch:
    """Words of reference and hypothesis that stand for each other, with the cosine of their vectors and their spelling."""

    reference: int
    hypothesis: int
    cosine: float
    spelling_similarity: float


@once
def moved_pairs(matches: Sequence[WordMatch]) -> frozenset[int]:
    """Indices of the matches (sorted by reference) that stand outside one longest run in which both orders agree."""
    return _outside_longest_run([match.hypothesis for match in matches])


def _outside_longest_run(numbers: Sequence[int]) -> frozenset[int]:
    """The places of the numbers, all different, that stand outside one longest run that rises."""
    return frozenset(range(len(numbers))).difference(longest_rising(numbers))


def is_mark(word: Word) -> bool:
    """Whether a word is a punctuation mark; those are compared on the characters, by features/errors/punctuation.py."""
    return word.upos == "PUNCT" and not any(map(str.isalnum, word.text))


@once
def words_of(analysis: Analysis) -> tuple[int, ...]:
    """The places of the words that are compared: neither marks nor words typed twice (features/errors/surface.py counts those)."""
    runs = typed_twice(analysis.text)
    places = tuple(n for n, word in enumerate(analysis.words) if not is_mark(word))
    if not runs:
        return places
    words = analysis.words
    return tuple(n for n in places if not any(run.start <= words[n].start and words[n].end <= run.end for run in runs))


@dataclass(frozen=True, slots=True)
class _Side:
    """The words of one text that are compared: their places among all, and what is asked of each.

    units : (n, d) vectors of length 1. forms, lemmas : lower-cased. numbers : (n,) values, NaN for words that are none. symbols : (n,)
    bool. classes : one of CLASSES, 0 for none.
    """

    places: tuple[int, ...]
    units: NDArray[np.float64]
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    numbers: NDArray[np.float64]
    symbols: NDArray[np.bool_]
    classes: tuple[int, ...]


@once
def _side(analysis: Analysis) -> _Side:
    """One side of every pair that a text stands in."""
    places = words_of(analysis)
    words = [analysis.words[n] for n in places]
    values = [number_value(word.text) for word in words]
    return _Side(
        places,
        unit_vectors(analysis)[list(places)],
        tuple(word.text.lower() for word in words),
        tuple(word.lemma.lower() for word in words),
        np.array([math.nan if value is None else value for value in values], dtype=np.float64),
        np.array([word.upos in ("PUNCT", "SYM") for word in words], dtype=bool),
        tuple(CLASSES.get(word.upos, 0) for word in words),
    )


def _likeness(reference: _Side, hypothesis: _Side, config: AlignmentConfig) -> tuple[NDArray[np.float64], ...]:
    """(p, q) likeness, cosine and spelling of every pair of words; -1 where a symbol would stand for a word."""
    cosine = cosines(reference.units, hypothesis.units)
    forms = list(reference.forms), list(hypothesis.forms)
    spelled = np.asarray(cdist(*forms, scorer=JaroWinkler.similarity, dtype=np.float32), dtype=np.float64)
    same = equal_texts(*forms)
    alike = equal_texts(reference.lemmas, hypothesis.lemmas) | (reference.numbers[:, None] == hypothesis.numbers[None, :])
    likeness = cosine.copy()
    near = spelled >= config.spelled_alike  # so few that another whole table would be wasted
    likeness[near] = np.maximum(cosine[near], config.spelling * spelled[near])
    likeness[alike] = np.maximum(likeness[alike], config.lemma)
    likeness[same] = 1.0 + config.same_cosine * cosine[same]
    away = position_differences(*cosine.shape)
    away *= config.position
    likeness -= away
    old, new = reference.symbols[:, None], hypothesis.symbols[None, :]
    if old.any() or new.any():
        likeness[(old ^ new) | (old & ~same & (cosine < config.symbol_cosine))] = -1.0
    return likeness, cosine, spelled


def _assign(gain: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The one-to-one pairs of highest total gain, those that gain nothing left out. The table is written over."""
    np.maximum(gain, 0.0, out=gain)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    kept = gain[rows, columns] > 0.0
    return list(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))


CLASSES = {
    "NOUN": 1,
    "PROPN": 1,
    "X": 1,
    "VERB": 2,
    "AUX": 2,
    "ADJ": 3,
    "ADV": 3,
    "NUM": 4,
    "PRON": 5,
    "DET": 6,
    "ADP": 7,
    "CCONJ": 8,
    "SCONJ": 7,
}
"""Classes within which one word can take the place of another although nothing about them is alike."""


def _same_place(
    reference: _Side,
    hypothesis: _Side,
    pairs: list[tuple[int, int]],
    cosine: NDArray[np.float64],
    config: AlignmentConfig,
) -> list[tuple[int, int]]:
    """Pairs of words left over between the same two anchors and of one class: one was put in place of the other."""
    kept = sorted(pairs)
    moved = _outside_longest_run([j for _, j in kept])
    anchors = [
        (-1, -1),
        *(pair for k, pair in enumerate(kept) if k not in moved),
        (len(reference.places), len(hypothesis.places)),
    ]
    taken = {i for i, _ in pairs}, {j for _, j in pairs}
    found: list[tuple[int, int]] = []
    for (i0, j0), (i1, j1) in zip(anchors, anchors[1:], strict=False):
        left = [i for i in range(i0 + 1, i1) if i not in taken[0]]
        right = [j for j in range(j0 + 1, j1) if j not in taken[1]]
        if left and right:
            kinds = [reference.classes[i] for i in left], [hypothesis.classes[j] for j in right]
            fits = (np.array(kinds[0])[:, None] == np.array(kinds[1])[None, :]) & (np.array(kinds[0])[:, None] > 0)
            if not fits.any():
                continue
            gain = np.where(fits, config.same_place + cosine[np.ix_(left, right)], 0.0)
            found += [(left[a], right[b]) for a, b in _assign(gain)]
    return found


def match_words(reference: Analysis, hypothesis: Analysis, config: AlignmentConfig) -> tuple[WordMatch, ...]:
    """One-to-one matches with the highest total likeness, in the order of the reference, of what `words_of` names.

    Words that nothing is like are then paired when they take each other's place: between the same matched neighbours, of one class.
    """
    sides = _side(reference), _side(hypothesis)
    if not sides[0].places or not sides[1].places:
        return ()
    likeness, cosine, spelled = _likeness(*sides, config)
    likeness -= config.threshold
    pairs = _assign(likeness)
    pairs += _same_place(*sides, pairs, cosine, config)
    return tuple(
        WordMatch(sides[0].places[i], sides[1].places[j], float(cosine[i, j]), float(spelled[i, j])) for i, j in sorted(pairs)
    )
