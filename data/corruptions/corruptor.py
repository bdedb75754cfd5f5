"""The choice among all corruptions: seeded operations on a tagged sentence."""

from __future__ import annotations

import random
from collections.abc import Sequence

from . import extra, forms, missing, order, words
from .lexicon import Lexicon
from .tokens import Corruption, Token, render

__all__ = ["OPERATIONS", "STILL_GRAMMATICAL", "corrupt", "corrupt_randomly"]

OPERATIONS = {**forms.OPERATIONS, **missing.OPERATIONS, **extra.OPERATIONS, **order.OPERATIONS, **words.OPERATIONS}
"""Every operation by its name: (tokens, random generator, lexicon) -> the new tokens, or None where it does not apply."""

STILL_GRAMMATICAL = frozenset(("tense", "same_class", "neighbour_word", "wrong_preposition"))
"""Operations after which the sentence may still be acceptable English; only its words are not the right ones."""

WEIGHTS = {
    "agreement": 4.0,
    "number": 2.0,
    "verb_form": 4.0,
    "neighbour_word": 4.0,
    "same_class": 3.0,
    "wrong_preposition": 2.0,
    "moved_word": 2.0,
    "swap_adjacent": 2.0,
    "missing_article": 1.5,
    "missing_auxiliary": 1.5,
    "missing_preposition": 1.5,
    "missing_noun": 1.5,
    "missing_verb": 1.5,
    "determiner": 1.5,
    "extra_word": 1.5,
    "shuffled": 0.3,
    "doubled_phrase": 0.7,
    "split_word": 0.4,
    "confusion": 1.5,
    "negation": 1.5,
    "inversion": 1.5,
    "extra_pronoun": 1.5,
}
ATTEMPTS = 12


def corrupt(tokens: Sequence[Token], operation: str, rng: random.Random, lexicon: Lexicon) -> Corruption | None:
    """Carry out one named operation on a tagged sentence; None where it does not apply or changes no word.

    The same tokens, generator state and lexicon give the same result. Raises KeyError for a name not in OPERATIONS.
    """
    new = _change(tokens, operation, rng, lexicon)
    return None if new is None else render(new, operation, None if operation in STILL_GRAMMATICAL else True)


def corrupt_randomly(tokens: Sequence[Token], rng: random.Random, lexicon: Lexicon, count: int = 1) -> Corruption | None:
    """Carry out ``count`` operations drawn by their weights, one on the other's result; the names are joined by ``+``.

    None when none of a dozen drawn operations applies. What an earlier operation marked wrong stays marked while it stands.
    """
    names = list(OPERATIONS)
    weights = [WEIGHTS.get(name, 1.0) for name in names]
    done: list[str] = []
    current = list(tokens)
    for name in rng.choices(names, weights, k=ATTEMPTS):
        new = _change(current, name, rng, lexicon)
        if new is not None and _letters(new) != _letters(tokens):  # words swapped twice are where they were
            current = new
            done.append(name)
        if len(done) == count:
            break
    if not done:
        return None
    return render(current, "+".join(done), None if STILL_GRAMMATICAL.issuperset(done) else True)


def _change(tokens: Sequence[Token], operation: str, rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    new = OPERATIONS[operation](list(tokens), rng, lexicon) if tokens else None
    if not new or not any(token.wrong for token in new) or _letters(new) == _letters(tokens):
        return None
    return new


def _letters(tokens: Sequence[Token]) -> list[str]:
    return render(tokens).text.lower().split()
