"""Which word of the hypothesis stands for which word of the reference, as an editor would see it.

Unlike the alignment of `semantic`, which follows the paper, this one also knows forms, lemmas and spelling, and leaves a word alone
when nothing is near enough: such words are missing or unnecessary.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist
from scipy.optimize import linear_sum_assignment

from ..cosine import cosine_matrix
from ..semantic import position_differences
from ..slips import typed_twice
from ..values import Analysis, Word
from .lexicon import number_value
from .once import once

__all__ = ["AlignmentConfig", "WordMatch", "is_mark", "match_words", "moved_pairs", "words_of"]


@dataclass(frozen=True, slots=True)
class AlignmentConfig:
    """threshold : likeness that a pair must exceed. position : likeness lost per unit of difference in relative position.

    lemma, spelling : the likeness that an equal lemma, or a word spelled almost alike, has at least. spelled_alike : the
    Jaro-Winkler similarity from which two words count as spelled almost alike.
    """

    threshold: float = 0.35
    position: float = 0.3
    lemma: float = 0.9
    spelling: float = 0.7
    spelled_alike: float = 0.88


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
    tails: list[int] = []
    ends: list[int] = []
    previous = [-1] * len(matches)
    for k, match in enumerate(matches):
        at = bisect_left(tails, match.hypothesis)
        previous[k] = ends[at - 1] if at else -1
        tails[at:] = [match.hypothesis, *tails[at + 1 :]]
        ends[at:] = [k, *ends[at + 1 :]]
    kept, k = set(), ends[-1] if ends else -1
    while k >= 0:
        kept.add(k)
        k = previous[k]
    return frozenset(range(len(matches))) - kept


def _equal(a: list[str], b: list[str]) -> NDArray[np.bool_]:
    return np.array(a, dtype=object)[:, None] == np.array(b, dtype=object)[None, :]


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
    """The words of one text that are compared, and the place of each among all."""

    words: tuple[Word, ...]
    vectors: NDArray[np.float32]
    places: tuple[int, ...]

    @staticmethod
    def of(analysis: Analysis) -> _Side:
        places = words_of(analysis)
        return _Side(tuple(analysis.words[n] for n in places), analysis.vectors[list(places)], places)


def _likeness(reference: _Side, hypothesis: _Side, config: AlignmentConfig) -> tuple[NDArray[np.float64], ...]:
    """(p, q) likeness, cosine and spelling of every pair of words; -1 where a symbol would stand for a word."""
    p, q = len(reference.words), len(hypothesis.words)
    cosine = cosine_matrix(reference.vectors, hypothesis.vectors)
    forms = [w.text.lower() for w in reference.words], [w.text.lower() for w in hypothesis.words]
    lemmas = [w.lemma.lower() for w in reference.words], [w.lemma.lower() for w in hypothesis.words]
    values = [[number_value(w.text) for w in side.words] for side in (reference, hypothesis)]
    spelled = np.asarray(cdist(*forms, scorer=JaroWinkler.similarity, dtype=np.float32), dtype=np.float64)
    same, marks = (
        _equal(*forms),
        [np.array([w.upos in ("PUNCT", "SYM") for w in side.words]) for side in (reference, hypothesis)],
    )
    alike = _equal(*lemmas) | np.array([[a is not None and a == b for b in values[1]] for a in values[0]]).reshape(p, q)
    likeness = np.where(spelled >= config.spelled_alike, np.maximum(cosine, config.spelling * spelled), cosine)
    likeness = np.where(alike, np.maximum(likeness, config.lemma), likeness)
    likeness = np.where(same, 1.0 + 0.1 * cosine, likeness) - config.position * position_differences(p, q)
    likeness[(marks[0][:, None] ^ marks[1][None, :]) | (marks[0][:, None] & ~same & (cosine < 0.5))] = -1.0
    return likeness, cosine, spelled


def _assign(gain: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The one-to-one pairs of highest total gain, those that gain nothing left out."""
    rows, columns = linear_sum_assignment(np.maximum(gain, 0.0), maximize=True)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if gain[i, j] > 0.0]


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
    reference: _Side, hypothesis: _Side, pairs: list[tuple[int, int]], cosine: NDArray[np.float64]
) -> list[tuple[int, int]]:
    """Pairs of words left over between the same two anchors and of one class: one was put in place of the other."""
    kept = sorted(pairs)
    moved = moved_pairs([WordMatch(i, j, 0.0, 0.0) for i, j in kept])
    anchors = [
        (-1, -1),
        *(pair for k, pair in enumerate(kept) if k not in moved),
        (len(reference.words), len(hypothesis.words)),
    ]
    taken = {i for i, _ in pairs}, {j for _, j in pairs}
    found: list[tuple[int, int]] = []
    for (i0, j0), (i1, j1) in zip(anchors, anchors[1:], strict=False):
        left = [i for i in range(i0 + 1, i1) if i not in taken[0]]
        right = [j for j in range(j0 + 1, j1) if j not in taken[1]]
        if left and right:
            kinds = (
                [CLASSES.get(reference.words[i].upos, 0) for i in left],
                [CLASSES.get(hypothesis.words[j].upos, 0) for j in right],
            )
            fits = (np.array(kinds[0])[:, None] == np.array(kinds[1])[None, :]) & (np.array(kinds[0])[:, None] > 0)
            gain = np.where(fits, 1.1 + cosine[np.ix_(left, right)], 0.0)
            found += [(left[a], right[b]) for a, b in _assign(gain)]
    return found


def match_words(reference: Analysis, hypothesis: Analysis, config: AlignmentConfig) -> tuple[WordMatch, ...]:
    """One-to-one matches with the highest total likeness, in the order of the reference, of what `words_of` names.

    Words that nothing is like are then paired when they take each other's place: between the same matched neighbours, of one class.
    """
    sides = _Side.of(reference), _Side.of(hypothesis)
    if not sides[0].words or not sides[1].words:
        return ()
    likeness, cosine, spelled = _likeness(*sides, config)
    pairs = _assign(likeness - config.threshold)
    pairs += _same_place(*sides, pairs, cosine)
    return tuple(
        WordMatch(sides[0].places[i], sides[1].places[j], float(cosine[i, j]), float(spelled[i, j])) for i, j in sorted(pairs)
    )
