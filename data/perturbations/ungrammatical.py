"""Rules that turn a good English sentence into one that is wrong in a known place: seeded operations on a tagged sentence.

They make the synthetic training data of the grammar model.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from rome.data.perturbations.treebank_lexicon import Corruption, Token, TreebankLexicon, render
from rome.data.perturbations.wrong_order import EXTRA, MISSING, ORDER
from rome.data.perturbations.wrong_words import FORMS, OTHER_WORDS

OPERATIONS = {**FORMS, **MISSING, **EXTRA, **ORDER, **OTHER_WORDS}
"""Every operation by its name: (tokens, random generator, lexicon) -> the new tokens, or None where it does not apply."""

STILL_GRAMMATICAL = frozenset(("tense", "same_class", "neighbour_word", "wrong_preposition"))
"""Operations after which the sentence may still be acceptable English; only its words are not the right ones."""

SHARES = {
    4.0: "agreement verb_form neighbour_word",
    3.0: "same_class",
    2.0: "number wrong_preposition moved_word swap_adjacent",
    1.5: "missing_article missing_auxiliary missing_preposition missing_noun missing_verb determiner "
    "extra_word confusion negation inversion extra_pronoun",
    0.7: "doubled_phrase",
    0.4: "split_word",
    0.3: "shuffled",
}
WEIGHTS = {name: weight for weight, names in SHARES.items() for name in names.split()}
"""How often an operation is drawn, 1 where it is not named."""
ATTEMPTS = 12


def corrupt(tokens: Sequence[Token], operation: str, rng: random.Random, lexicon: TreebankLexicon) -> Corruption | None:
    """Carry out one named operation on a tagged sentence; None where it does not apply or changes no word.

    The same tokens, generator state and lexicon give the same result. Raises KeyError for a name not in OPERATIONS.
    """
    new = _change(tokens, operation, rng, lexicon)
    return None if new is None else render(new, operation, None if operation in STILL_GRAMMATICAL else True)


def corrupt_randomly(
    tokens: Sequence[Token], rng: random.Random, lexicon: TreebankLexicon, count: int = 1
) -> Corruption | None:
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


def _change(tokens: Sequence[Token], operation: str, rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    new = OPERATIONS[operation](list(tokens), rng, lexicon) if tokens else None
    if not new or not any(token.wrong for token in new) or _letters(new) == _letters(tokens):
        return None
    return new


def _letters(tokens: Sequence[Token]) -> list[str]:
    return render(tokens).text.lower().split()
