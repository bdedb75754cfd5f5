"""Operations that put in too much: doubled words and phrases, stray function words, a second negation."""

from __future__ import annotations

import random

from rome.data.perturbations.lists import replacements, word_set

from .lexicon import Lexicon
from .tokens import Token

__all__ = ["OPERATIONS"]

DETERMINERS = ("a", "the", "an", "this", "these", "some", "every")
PREPOSITIONS = ("of", "to", "in", "for", "on", "at", "with", "from", "by", "about", "that")
AUXILIARIES = ("is", "are", "was", "did", "does", "has", "have", "be", "been", "will", "do", "to")
PRONOUNS = ("he", "it", "they", "she", "him", "them", "there")
NEGATED = {"any": "no", "anything": "nothing", "anyone": "no one", "anybody": "nobody", "ever": "never", "anywhere": "nowhere"}
POLARITY = replacements("ungrammatical_order.polarity")
NEGATORS = word_set("ungrammatical_order.negators")


def _insert(tokens: list[Token], place: int, text: str) -> list[Token]:
    return [*tokens[:place], Token(text, wrong=True), *tokens[place:]]


def _inside(tokens: list[Token]) -> list[int]:
    """Places before which a word can stand: after white space, or at the start."""
    return [i for i in range(len(tokens)) if (i == 0 or tokens[i - 1].space) and tokens[i].text[0].isalnum()]


def doubled_word(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """One word stands twice; the second one is wrong."""
    fine = ("very", "had", "that")
    places = [i for i, token in enumerate(tokens) if token.text.isalnum() and token.space and token.text.lower() not in fine]
    if not places:
        return None
    place = rng.choice(places)
    return [*tokens[: place + 1], tokens[place].blame(), *tokens[place + 1 :]]


def doubled_phrase(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A phrase of two to six words stands two or four times; its repetitions are wrong."""
    if len(tokens) < 4:
        return None
    length = rng.randint(2, min(6, len(tokens) - 1))
    start = rng.randint(0, len(tokens) - length)
    phrase = tokens[start : start + length]
    spaced = [*phrase[:-1], Token(phrase[-1].text, True, phrase[-1].tag)]
    again = [token.blame() for token in spaced] * rng.choice((1, 1, 3))
    return [*tokens[:start], *spaced, *again, *tokens[start + length :]]


def extra_determiner(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A determiner before a pronoun, a name, another determiner or a verb: *the a dog*, *a she*."""
    fits = ("PRP", "NNP", "DT", "PRP$", "VBZ", "VBD", "VBP", "MD", "IN", "TO", "RB")
    places = [i for i in _inside(tokens) if tokens[i].tag in fits]
    return _insert(tokens, rng.choice(places), rng.choice(DETERMINERS)) if places else None


def extra_preposition(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A preposition where none belongs: *discuss about it*, *to of Paris*."""
    places = [i for i in _inside(tokens) if i]
    return _insert(tokens, rng.choice(places), rng.choice(PREPOSITIONS)) if places else None


def extra_auxiliary(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """An auxiliary too many: *he is goes*, *she did went*."""
    verbs = [i for i in _inside(tokens) if i and tokens[i].tag in ("VBZ", "VBD", "VBP", "MD", "VB")]
    return _insert(tokens, rng.choice(verbs), rng.choice(AUXILIARIES)) if verbs else None


def extra_pronoun(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A pronoun for what was already said: *the man he went*, *the book that I read it*."""
    before, after = ("VBZ", "VBD", "MD"), ("VBD", "VBZ", "VBN")
    places = [i for i in _inside(tokens) if i and (tokens[i].tag in before or tokens[i - 1].tag in after)]
    return _insert(tokens, rng.choice(places), rng.choice(PRONOUNS)) if places else None


def extra_word(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """Any word at any place, drawn by frequency or because it often follows the word before."""
    places = [i for i in _inside(tokens) if i]
    if not places:
        return None
    place = rng.choice(places)
    seen = lexicon.draw_between(tokens[place - 1].text, tokens[place].text, rng) if rng.random() < 0.5 else None
    word = seen or lexicon.draw(rng.choice(("NN", "VBD", "JJ", "IN", "RB", "NNS", "VB", "PRP", "VBZ", "WP")), rng)
    return _insert(tokens, place, word) if word and word[0].isalnum() else None


def negation(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A negation too many, too few, or beside its auxiliary: *didn't see nothing*, *he goes not*, *I have ever*."""
    lower = [token.text.lower() for token in tokens]
    negated = bool(NEGATORS & set(lower))
    table = NEGATED if negated else POLARITY
    places = [i for i, word in enumerate(lower) if word in table]
    if places and rng.random() < 0.8:
        place = rng.choice(places)
        return [*tokens[:place], tokens[place].put(table[lower[place]]), *tokens[place + 1 :]]
    finite = [i for i, t in enumerate(tokens) if t.tag in ("VBZ", "VBD", "VBP") and t.space]
    verbs = [i for i in finite if lower[i] not in ("is", "are", "was", "were", "am")]
    verbs = [i for i in verbs if i + 1 < len(tokens) and tokens[i + 1].tag not in ("VBN", "VB", "VBG", "RB")]
    return _insert(tokens, rng.choice(verbs) + rng.choice((0, 1)), "not") if verbs else None


OPERATIONS = {
    "doubled_word": doubled_word,
    "doubled_phrase": doubled_phrase,
    "extra_determiner": extra_determiner,
    "extra_preposition": extra_preposition,
    "extra_auxiliary": extra_auxiliary,
    "extra_pronoun": extra_pronoun,
    "extra_word": extra_word,
    "negation": negation,
}
