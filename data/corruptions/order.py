"""Operations that put the right words in the wrong order."""

from __future__ import annotations

import random
from dataclasses import replace

from .lexicon import VERB_TAGS, Lexicon
from .tokens import Token

__all__ = ["OPERATIONS"]


def _movable(token: Token) -> bool:
    return token.text[0].isalnum() and token.tag not in ("POS", "UH")


def _arrange(tokens: list[Token], start: int, words: list[Token]) -> list[Token] | None:
    """Put the words into the places from start on; each place keeps its white space, each word that moved is wrong."""
    places = tokens[start : start + len(words)]
    new = [w if w.text.lower() == p.text.lower() else w.blame() for w, p in zip(words, places, strict=True)]
    if sum(token.wrong for token in new) < 2:
        return None
    spaced = [replace(w, space=p.space) for w, p in zip(new, places, strict=True)]
    return [*tokens[:start], *spaced, *tokens[start + len(words) :]]


def swap_adjacent(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """Two neighbours of different word classes change places: *dog the*."""
    pairs = zip(tokens, tokens[1:], strict=False)
    movable = [(i, a.tag, b.tag) for i, (a, b) in enumerate(pairs) if _movable(a) and _movable(b) and a.space]
    fits = [i for i, first, second in movable if first[:2] != second[:2] and "RB" not in (first, second)]
    if not fits:
        return None
    place = rng.choice(fits)
    return _arrange(tokens, place, [tokens[place + 1], tokens[place]])


def swap_distant(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """Two words of different classes, at least three apart, change places."""
    words = [i for i, token in enumerate(tokens) if _movable(token)]
    pairs = [(i, j) for i in words for j in words if j - i >= 3 and tokens[i].tag[:2] != tokens[j].tag[:2]]
    if not pairs:
        return None
    i, j = rng.choice(pairs)
    return _arrange(tokens, i, [tokens[j], *tokens[i + 1 : j], tokens[i]])


def shuffled_window(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """Three to six neighbouring words in random order."""
    length = min(rng.randint(3, 6), len(tokens) - 1)
    starts = [i for i in range(len(tokens) - length + 1) if all(_movable(token) for token in tokens[i : i + length])]
    if length < 3 or not starts:
        return None
    start = rng.choice(starts)
    window = tokens[start : start + length]
    rng.shuffle(window)
    return _arrange(tokens, start, window)


def shuffled(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """All words but the final mark in random order."""
    if len(tokens) < 5:
        return None
    words = tokens[:-1]
    rng.shuffle(words)
    return _arrange(tokens, 0, words)


def moved_word(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """One word (not an adverb) goes to another place; it alone is wrong there, its old and new neighbours are doubted."""
    fixed = ("RB", "CC")
    words = [i for i, t in enumerate(tokens) if _movable(t) and t.tag not in fixed and (i == 0 or tokens[i - 1].space)]
    pairs = [(i, j) for i in words for j in words if abs(i - j) >= 2]
    if not pairs:
        return None
    i, j = rng.choice(pairs)
    word = replace(tokens[i].blame(), space=True)
    rest = [token.doubt() if k in (i - 1, i + 1, j) else token for k, token in enumerate(tokens)]
    rest[j : j + 1] = [rest[j], word] if j > i else [word, rest[j]]
    if j > i and not rest[j].space:
        rest[j], rest[j + 1] = replace(rest[j], space=True), replace(word, space=False)
    del rest[i if j > i else i + 1]
    return rest


def verb_last(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A verb goes to the end, as in a clause of another language: *He the book bought*."""
    end = len(tokens) - 1 if not tokens[-1].text[0].isalnum() else len(tokens)
    places = [i for i, token in enumerate(tokens[: max(end - 2, 0)]) if token.tag in VERB_TAGS and token.space]
    if not places:
        return None
    i = rng.choice(places)
    window = [replace(token, unsure=True) if k == 0 else token for k, token in enumerate(tokens[i + 1 : end])]
    moved = replace(tokens[i].blame(), space=window[-1].space)
    return [*tokens[:i], *window[:-1], replace(window[-1], space=True), moved, *tokens[end:]]


def inversion(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """The subject after its auxiliary in a statement, or before it in a question: *Where he is?*, *Is he where knows*."""
    finite = ("VBZ", "VBP", "VBD", "MD")
    fits = [
        i
        for i, (a, b) in enumerate(zip(tokens, tokens[1:], strict=False))
        if a.space and ((a.tag in ("PRP", "NNP", "WP") and b.tag in finite) or (a.tag in finite and b.tag in ("PRP", "NNP")))
    ]
    if not fits:
        return None
    place = rng.choice(fits)
    return _arrange(tokens, place, [tokens[place + 1], tokens[place]])


OPERATIONS = {
    "swap_adjacent": swap_adjacent,
    "swap_distant": swap_distant,
    "shuffled_window": shuffled_window,
    "shuffled": shuffled,
    "moved_word": moved_word,
    "verb_last": verb_last,
    "inversion": inversion,
}
