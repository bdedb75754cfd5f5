"""What an error is called, and whether a word is a slip of another, a form of its stem, or was put in its place.

Nothing here changes what the errors of a pair weigh together.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from os.path import commonprefix

from rapidfuzz.distance import OSA, JaroWinkler

from ..values import Word
from .evidence import Kind
from .lexicon import is_negation, number_value
from .prepared import CLASSES
from .severity import CONTENT, genders

VAGUE = frozenset(("other", "addition", "omission", "substitution"))
"""What the reader calls a word when it has no better name than the rules have."""
CLOSED = frozenset(("number", "negation", "gender", "spelling", "repetition"))
"""What the rules know better."""
OF_ONE_WORD = frozenset(("negation", "quantifier", "condition", "modality", "frequency", "time"))
"""What the reader may call a word that has no counterpart; any other is named by its class."""
OF_PLACES = frozenset(("order", "roles", "cause"))
"""What the reader may call words that moved, and no other ones."""
SPELLED_ALIKE = 0.8
"""The Jaro-Winkler similarity from which two words may be forms of one stem."""
UNLIKE = 0.6
"""The cosine below which words of different classes do not stand for each other."""
RARER = 100
"""How many times rarer a word is that nobody would have meant."""
LEAST_STEM = 4
"""Letters that words of one stem share at least."""
SHORT = 4
"""Words of so many letters are misspelled in one place at most, longer ones in two."""
ENDINGS = ("s", "es", "ed", "d", "ing", "er", "r", "ly")
"""What a regular form of a known word ends in."""
SUFFIXES = frozenset(
    "s es d ed e ing y ly ily er or r st est ment ness al ial cial ally ive ative tive ion tion sion ation ition ate ated ating ful less able ible"
    " ity ty ic ical tic ous ious ence ance ce cy ent ant t ize ise ized ised ian an n ese ish ist ism en ened self selves hood ship th ied ies".split()
) | {""}
"""What words of one stem end in, the empty ending among them."""


def likeness(old: Word, new: Word) -> float:
    """The Jaro-Winkler similarity of two words in small letters."""
    return float(JaroWinkler.similarity(old.text.lower(), new.text.lower()))


def alike(old: str, new: str) -> bool:
    """Whether one word can be a slip in writing the other: letters left out, doubled, exchanged or swapped, one or two of them."""
    old, new = old.lower(), new.lower()
    most = 1 if min(len(old), len(new)) <= SHORT else 2
    return old != new and OSA.distance(old, new, score_cutoff=most) <= most


def unknown(word: Word, counts: Mapping[str, int]) -> bool:
    """Whether a word is written with letters alone and no text that was counted has it, nor what it is a form of."""
    lowered = word.text.lower()
    stems = {lowered, *(lowered.removesuffix(ending) for ending in ENDINGS)}
    return lowered.isalpha() and not any(stem in counts for stem in stems)


def slip(old: Word, new: Word, counts: Mapping[str, int]) -> bool:
    """Whether the new word is the old one, misspelled: it is unknown, or so much rarer that nobody would have meant it."""
    if old.upos == "PROPN" or not new.text.isalpha() or not alike(old.text, new.text):
        return False
    rarer = counts.get(new.text.lower(), 0) * RARER < counts.get(old.text.lower(), 0)
    return unknown(new, counts) or (rarer and old.lemma.lower() != new.lemma.lower() and not of_one_stem(old, new))


def misspelled(word: Word, counts: Mapping[str, int]) -> bool:
    """Whether an unknown word in small letters is one letter away from a word that was counted."""
    text = word.text
    if not (text.isascii() and text.islower() and len(text) >= SHORT and unknown(word, counts)):
        return False
    halves = [(text[:n], text[n:]) for n in range(len(text) + 1)]
    letters = string.ascii_lowercase
    return any(
        one in counts
        for a, b in halves
        for one in (a + b[1:], a + b[1:2] + b[:1] + b[2:], *(a + c + b for c in letters), *(a + c + b[1:] for c in letters))
    )


def of_one_stem(old: Word, new: Word) -> bool:
    """Whether two words are alike but for a suffix each, as `close` and `closely` are."""
    one, other = old.text.lower(), new.text.lower()
    stem = len(commonprefix((one, other)))
    return stem >= LEAST_STEM and one[stem:] in SUFFIXES and other[stem:] in SUFFIXES


def stand_for_each_other(old: Word, new: Word, cosine: float) -> bool:
    """Whether a person would say that one word was put in the other's place; else one is missing and the other too much."""
    if CLASSES.get(old.upos, 0) == CLASSES.get(new.upos, 0) or old.lemma.lower() == new.lemma.lower():
        return True
    if any(number_value(word.text) is not None for word in (old, new)) or is_negation(old.text) != is_negation(new.text):
        return True
    near = cosine >= UNLIKE and (old.upos in CONTENT) == (new.upos in CONTENT)
    return near or likeness(old, new) >= SPELLED_ALIKE


def name_of(kind: Kind, ruled: str, learned: str, old: Word | None, new: Word | None, counts: Mapping[str, int]) -> str:
    """What an error is about: a closed rule where one speaks, else the reader where it can be right, else what the rules say.

    Parameters
    ----------
    ruled, learned
        What the rules and the reader call it.
    old, new
        The word of the reference and that of the hypothesis; None on a side without one.
    counts
        In how many texts each word occurs.
    """
    if new is not None and (misspelled(new, counts) if old is None else slip(old, new, counts)):
        return "spelling"
    if ruled in CLOSED:
        return ruled
    if kind == "order":
        return learned if learned in OF_PLACES else "order"
    if old is None or new is None:
        return learned if learned in OF_ONE_WORD else ruled
    if genders(old, new):
        return "gender"
    if old.upos != "PROPN" and misspelled(new, counts):
        return "spelling"
    if learned not in VAGUE and _can_be(learned, old, new):
        return learned
    return "grammar" if of_one_stem(old, new) and ruled != "inflection" else ruled


def _can_be(learned: str, old: Word, new: Word) -> bool:
    """Whether what the reader calls a replacement can be right of these words."""
    if learned in OF_PLACES or old.lemma.lower() == new.lemma.lower():
        return False
    if learned == "name":
        return "PROPN" in (old.upos, new.upos)
    if learned == "grammar" and old.upos == new.upos:
        return of_one_stem(old, new) or _verb_form(old) != _verb_form(new)
    return True


def _verb_form(word: Word) -> list[str]:
    """Tense, form and voice of a verb; nothing of other words."""
    return [feature for feature in word.feats.split("|") if feature.startswith(("Tense=", "VerbForm=", "Voice="))]
