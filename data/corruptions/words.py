"""Operations that put another word, or a misspelt one, in a word's place."""

from __future__ import annotations

import random
from dataclasses import replace

from rome.data.perturbations.lists import word_sequence

from .lexicon import Lexicon
from .tokens import Token

__all__ = ["OPERATIONS"]

CONTENT = ("NN", "NNS", "JJ", "VB", "VBD", "VBZ", "VBP", "VBN", "VBG", "RB", "NNP")
DRAWN = ("NN", "NNS", "JJ", "VB", "VBD", "VBZ", "VBG", "RB", "IN", "DT", "PRP", "CC", "WRB", "MD")
PREPOSITIONS = word_sequence("ungrammatical_forms.prepositions")
PARTICLES = ("up", "out", "off", "down", "on", "in", "over", "away", "back")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _places(tokens: list[Token], tags: tuple[str, ...] = ()) -> list[int]:
    return [i for i, token in enumerate(tokens) if token.text[0].isalpha() and (not tags or token.tag in tags)]


def _put(tokens: list[Token], place: int, word: str | None, tag: str) -> list[Token] | None:
    if not word or word.lower() == tokens[place].text.lower():
        return None
    return [*tokens[:place], tokens[place].put(word, tag), *tokens[place + 1 :]]


def wrong_preposition(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """Another preposition or particle: *depends of*, *picked down*."""
    places = [i for i in _places(tokens, ("IN", "RP", "TO")) if tokens[i].text.lower() in PREPOSITIONS + PARTICLES]
    if not places:
        return None
    place = rng.choice(places)
    return _put(tokens, place, rng.choice(PARTICLES if tokens[place].tag == "RP" else PREPOSITIONS), tokens[place].tag)


def other_class(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A word of another word class: *the quickly of the*."""
    places = _places(tokens)
    if not places:
        return None
    place = rng.choice(places)
    tag = rng.choice([tag for tag in DRAWN if tag[:2] != tokens[place].tag[:2]])
    return _put(tokens, place, lexicon.draw(tag, rng), tag)


def same_class(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """Another word with the same tag: grammatical more often than not, seldom what was meant."""
    places = _places(tokens, CONTENT)
    if not places:
        return None
    place = rng.choice(places)
    return _put(tokens, place, lexicon.draw(tokens[place].tag, rng), tokens[place].tag)


def neighbour_word(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """One to three words, each replaced by one that was seen beside its neighbours."""
    places = [i for i in _places(tokens) if 0 < i < len(tokens) - 1]
    if not places:
        return None
    new = list(tokens)
    for place in rng.sample(places, min(len(places), rng.choice((1, 1, 2, 3)))):
        word = lexicon.draw_between(tokens[place - 1].text, tokens[place + 1].text, rng)
        if word and word[0].isalnum() and word != tokens[place].text.lower():
            new[place] = tokens[place].put(word)
    return new if any(token.wrong for token in new) else None


def text_word(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A word of the same text stands a second time, in the place of a word of another class."""
    places = _places(tokens)
    pairs = [(i, j) for i in places for j in places if abs(i - j) > 1 and tokens[i].tag[:2] != tokens[j].tag[:2]]
    if not pairs:
        return None
    place, source = rng.choice(pairs)
    return _put(tokens, place, tokens[source].text, tokens[source].tag)


def misspelt(word: str, rng: random.Random) -> str:
    """The word with one letter dropped, doubled, exchanged for another, or two neighbours swapped; at least three letters."""
    i = rng.randrange(1, len(word))
    kind = rng.randrange(4)
    if kind == 0:
        return word[:i] + word[i + 1 :]
    if kind == 1:
        return word[:i] + word[i] + word[i:]
    if kind == 2:
        return word[:i] + rng.choice(LETTERS) + word[i + 1 :]
    return word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :]


def misspelling(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A word with a wrong letter; never one that is a word itself."""
    places = [i for i in _places(tokens) if len(tokens[i].text) > 3 and tokens[i].tag not in ("NNP", "NNPS")]
    if not places:
        return None
    place = rng.choice(places)
    word = misspelt(tokens[place].text, rng)
    return None if word.lower() in lexicon.tags else _put(tokens, place, word, tokens[place].tag)


def split_word(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A word broken in two: *im possible*."""
    places = [i for i in _places(tokens) if len(tokens[i].text) > 5]
    if not places:
        return None
    place = rng.choice(places)
    word = tokens[place].text
    cut = rng.randrange(2, len(word) - 1)
    parts = [replace(tokens[place].put(word[:cut]), space=True), tokens[place].put(word[cut:])]
    return [*tokens[:place], *parts, *tokens[place + 1 :]]


OPERATIONS = {
    "wrong_preposition": wrong_preposition,
    "other_class": other_class,
    "same_class": same_class,
    "neighbour_word": neighbour_word,
    "text_word": text_word,
    "misspelling": misspelling,
    "split_word": split_word,
}
