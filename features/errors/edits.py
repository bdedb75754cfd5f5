"""Which word of the hypothesis stands for which word of the reference, as an editor would see it, and what must be done to the others.

Unlike the alignment of `semantic`, which follows the paper, this one also knows forms, lemmas and spelling, and leaves a word alone
when nothing is near enough: such words are missing or unnecessary.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from ..matching import best_assignment, cosines, equal_texts, longest_increasing_subsequence
from ..semantic import position_differences
from ..values import Word
from .evidence import Kind
from .lexicon import form_of
from .prepared import PreparedText


@dataclass(frozen=True, slots=True)
class AlignmentConfig:
    """How alike two words must be to stand for each other.

    Attributes
    ----------
    threshold
        Likeness that a pair must exceed.
    position
        Likeness lost per unit of difference in relative position.
    lemma, spelling
        The likeness that an equal lemma, or a word spelled almost alike, has at least.
    spelled_alike
        The Jaro-Winkler similarity from which two words count as spelled almost alike.
    same_cosine
        What the cosine adds to the likeness of equal forms, which is 1.
    symbol_cosine
        The cosine below which a symbol stands for no other symbol.
    same_place
        Gained by a pair of left-over words that take each other's place, beside their cosine; the more, the more such pairs rather than nearer
        ones.
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


def out_of_order(numbers: Sequence[int]) -> frozenset[int]:
    """The places of the numbers, all different, that stand outside one longest run that rises."""
    return frozenset(range(len(numbers))).difference(longest_increasing_subsequence(numbers))


def _likeness(reference: PreparedText, hypothesis: PreparedText, config: AlignmentConfig) -> tuple[NDArray[np.float64], ...]:
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
    rows, columns = best_assignment(gain)
    kept = gain[rows, columns] > 0.0
    return list(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))


def _same_place(
    reference: PreparedText,
    hypothesis: PreparedText,
    pairs: list[tuple[int, int]],
    cosine: NDArray[np.float64],
    config: AlignmentConfig,
) -> list[tuple[int, int]]:
    """Pairs of words left over between the same two anchors and of one class: one was put in place of the other."""
    kept = sorted(pairs)
    moved = out_of_order([j for _, j in kept])
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


def match_words(reference: PreparedText, hypothesis: PreparedText, config: AlignmentConfig) -> tuple[WordMatch, ...]:
    """One-to-one matches with the highest total likeness, in the order of the reference, of what `words_of` names.

    Words that nothing is like are then paired when they take each other's place: between the same matched neighbours, of one class.
    """
    sides = reference, hypothesis
    if not sides[0].places or not sides[1].places:
        return ()
    likeness, cosine, spelled = _likeness(*sides, config)
    likeness -= config.threshold
    pairs = _assign(likeness)
    pairs += _same_place(*sides, pairs, cosine, config)
    return tuple(
        WordMatch(sides[0].places[i], sides[1].places[j], float(cosine[i, j]), float(spelled[i, j])) for i, j in sorted(pairs)
    )


@dataclass(frozen=True, slots=True)
class WordEdit:
    """One operation on words.

    Attributes
    ----------
    reference, hypothesis
        The word indices concerned on each side, consecutive; empty on a side that is not touched.
    distance
        For ``order``, how far the words moved, as a share of the text in [0, 1].
    repeated
        For ``unnecessary``, whether the words repeat what stands right before them.
    match
        For ``replacement``, the two words' cosine and spelling.
    """

    kind: Kind
    reference: tuple[int, ...]
    hypothesis: tuple[int, ...]
    distance: float = 0.0
    repeated: bool = False
    match: WordMatch | None = None


def repetitions(words: Sequence[Word], longest: int = 8) -> set[int]:
    """Indices of the words that repeat, word for word, the run of up to ``longest`` words that ends right before them."""
    forms = [word.text.lower() for word in words]
    repeated: set[int] = set()
    for size in range(1, longest + 1):
        for start in range(size, len(forms) - size + 1):
            if forms[start] != forms[start - size]:
                continue
            run = forms[start : start + size]
            if run == forms[start - size : start] and any(any(map(str.isalnum, form)) for form in run):
                repeated.update(range(start, start + size))
    return repeated


def _moves(matches: Sequence[WordMatch], moved: Collection[int], p: int, q: int) -> list[WordEdit]:
    """Moved matches, neighbours on both sides joined into one edit."""
    groups: list[list[WordMatch]] = []
    for k in sorted(moved):
        match = matches[k]
        if groups and match.reference == groups[-1][-1].reference + 1 and match.hypothesis == groups[-1][-1].hypothesis + 1:
            groups[-1].append(match)
        else:
            groups.append([match])
    return [
        WordEdit(
            "order",
            tuple(match.reference for match in group),
            tuple(match.hypothesis for match in group),
            distance=min(1.0, abs(q * (group[0].reference + 1) - p * (group[0].hypothesis + 1)) / (p * q)),
        )
        for group in groups
    ]


def edit_script(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], moved: Collection[int]
) -> tuple[WordEdit, ...]:
    """Every edit, word by word: replacements of words whose forms differ, missing and unnecessary words, and moved runs.

    Words of one form (`form_of`) are no replacement here, and punctuation marks are no words: features/errors/surface.py finds what is wrong
    with them.

    Parameters
    ----------
    moved
        The matches that are out of order, see `out_of_order`.
    """
    p, q = len(reference.words), len(hypothesis.words)
    matched = {m.reference for m in matches}, {m.hypothesis for m in matches}
    repeated = repetitions(hypothesis.words)
    edits = [WordEdit("missing", (i,), ()) for i in reference.places if i not in matched[0]]
    edits += [WordEdit("unnecessary", (), (j,), repeated=j in repeated) for j in hypothesis.places if j not in matched[1]]
    edits += [
        WordEdit("replacement", (m.reference,), (m.hypothesis,), match=m)
        for m in matches
        if form_of(reference.words[m.reference].text) != form_of(hypothesis.words[m.hypothesis].text)
    ]
    return tuple(edits + _moves(matches, moved, p, q))
