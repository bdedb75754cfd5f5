"""`a` before a vowel sound and `an` before a consonant sound: spelling decides, with the words that are said otherwise."""

from __future__ import annotations

import re

from ..values import Analysis

__all__ = ["vowel_sound", "wrong_articles"]

SILENT = ("hour", "honest", "honor", "honour", "heir")
"""Beginnings whose h is not said."""
EITHER = ("herb", "historic", "histori", "hotel", "habitual", "homage", "hysteri", "hilario", "unionis", "unioniz")
"""Beginnings that good writers put after both."""
BEGINS = re.compile(
    r"one(?:$|[-'’s]|ness)|once|oui|ewe|eu"
    r"|u(?:ra[nl]|re[at]|ri[ncd]|ro|s[aeiu]|te[nr]|tili|top|biq|kul|kr|gand|nanim)|uni(?!n|de|m[aeiop])"
)
"""Vowel letters that are said with a consonant first: one, Europe, use, unit; not: urge, uninformed, unimportant."""
MARKS = "\"'“”‘’([ "


def wrong_articles(analysis: Analysis) -> tuple[tuple[int, int], ...]:
    """The articles of a text that do not go with the word that follows: (article, next word) as indices into its words.

    Only plain words that begin with a small letter, or a capital followed by small ones, are judged: initials, numbers and foreign
    letters are said in more than one way.
    """
    found = []
    for n, (word, after) in enumerate(zip(analysis.words, analysis.words[1:], strict=False)):
        if word.text not in ("a", "A", "an", "An", "aN") or word.sentence != after.sentence:
            continue
        between = analysis.text[word.end : after.start]
        if not between or between.strip(MARKS) or not between[0].isspace() or word.upos != "DET":
            continue
        if word.text[0].isupper() and after.text[:1].isupper():  # a name or a title
            continue
        vowel = vowel_sound(after.text)
        if vowel is not None and vowel != (word.text.lower() == "an"):
            found.append((n, n + 1))
    return tuple(found)


def vowel_sound(text: str) -> bool | None:
    """Whether a word begins with a vowel sound; None where the letters do not say."""
    if len(text) < 2 or not text[:2].isascii() or not text[:2].isalpha() or not text[1:].islower():
        return None
    word = text.lower()
    if word.startswith(EITHER):
        return None
    if word.startswith(SILENT):
        return True
    return word[0] in "aeiou" and not BEGINS.match(word)
