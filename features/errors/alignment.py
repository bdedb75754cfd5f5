"""Match the words of two texts one to one, by form, lemma and vector.

Unlike the alignment of `semantic`, which follows the paper, this one also knows forms and lemmas, and leaves words without a similar
counterpart unmatched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..matching import best_assignment, cosines, equal_texts, longest_increasing_subsequence
from ..semantic import position_differences
from .prepared import PreparedText

THRESHOLD = 0.35
"""The similarity that a match must exceed."""
POSITION = 0.3
"""The similarity lost per unit of difference in relative position."""
SAME_LEMMA, SAME_FORM = 0.9, 1.0
"""The least similarity of words with the same lemma, and of words with the same form."""
SAME_COSINE = 0.1
"""How much the cosine adds to the similarity of words with the same form, which decides between several of them."""


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

    Only the words in ``places`` of both texts are matched.
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
