"""Find and mend the typos of one text: stray blanks and marks, words typed twice, a small first letter, a for an.

The models read a text without its typos (`tidy`), and features/errors/spans.py counts them. So a typo costs little, and does not change the
tags, trees and vectors of the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ..text import EditedText
from ..values import Analysis

SPACE_PATTERNS = (
    re.compile(r"(?<=\S)([ \t]+)(?=[,.;:!?%)\]}](?:\s|$)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b)", re.IGNORECASE),
    re.compile(r"(?<=[(\[{$£€#])([ \t]+)(?=\w)"),
    re.compile(r"(?<=[ \t])[ \t]+|(?<=\S)\t(?=\S)"),
)
"""Blanks where English writes none, and further blanks, or a tab, where it writes one."""
MISSING_SPACES = (
    re.compile(r"(?<=[^\W\d_]{2})\((?![a-z]{1,2}\))|(?<=[,;:])\((?=\w)"),
    re.compile(r"(?<=[^\W\d_])[,;](?=[^\W\d_])"),
    re.compile(r"(?<=[a-z]{2})\.(?=[A-Z][a-z])"),
)
"""Marks without a blank: a bracket right after a word, except for endings as in ``pass(es)``, and marks right before a word."""
WORD = re.compile(r"\w+(?:[-'’.,]\w+)*")
LONGEST_RUN, MOST_REPEATED = 8, 1 / 3
STRAY = re.compile(
    r"(?<=\w)(?:[_~^@*|]+(?=\s|$)|-(?=\s+(?!and\b|or\b|to\b))|[!?](?=\s+[a-z])|(?<=\w{4})[.](?=\s+[a-z]))|(?<=[,;:])[,;:._~^@-](?=\s|$)"
)
"""Misplaced marks: after a word and before a small letter, or after another mark."""
QUOTE = re.compile(r"""(?<=[\w,.;:!?])["”](?=\s|$)|(?<=[^\Wszx])['](?=\s|$)|(?<!\w)["“'](?=\w)""")
TERMINAL = re.compile(r"[.!?…:;][\"'”’)\]]*\s*$")
SHADE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""A variation or skin tone of an emoji."""
_PICTURE = "[\u2300-\u23ff\u2600-\u2775\u2794-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
EMOJI = re.compile(f"[\U0001f1e6-\U0001f1ff]{{2}}|{_PICTURE}(?:\u200d{_PICTURE})*|[0-9#*]\ufe0f?\u20e3")
"""A character of Unicode's blocks of pictures with its variation and skin tone, several joined ones, a flag or a keycap: one emoji."""
KEYS = re.compile("(?<=[0-9#*])\ufe0f?\u20e3")
"""What makes a keycap of a character."""
NOTES = re.compile(
    r"<sup\b[^<>]*>[^<>]*</sup>|</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]{0,200}=[^<>]{0,200})?\s?/?>|(?!\A)\^?\[[^\[\]\n]{1,40}\]|(?<=[.!?])[\u00b9\u00b2\u00b3\u2070-\u2079]+"
)
"""Tags and footnotes, which may follow the final mark."""
LEAST_WORDS = 4
"""A text with fewer words may lack a full stop."""
SILENT = ("hour", "honest", "honor", "honour", "heir")
"""Beginnings with a silent h."""
EITHER = ("herb", "historic", "histori", "hotel", "habitual", "homage", "hysteri", "hilario", "unionis", "unioniz")
"""Beginnings that are written after both."""
BEGINS = re.compile(
    r"one(?:$|[-'’s]|ness)|once|oui|ewe|eu"
    r"|u(?:ra[nl]|re[at]|ri[ncd]|ro|s[aeiu]|te[nr]|tili|top|biq|kul|kr|gand|nanim)|uni(?!n|de|m[aeiop])"
)
"""Vowel letters with the sound of a consonant: one, Europe, use, unit; not: urge, uninformed, unimportant."""
MARKS = "\"'“”‘’([ "


class RepeatedWords(NamedTuple):
    """Hold the characters ``text[start:end]`` of some words that repeat the words before them, which end at ``before``."""

    start: int
    end: int
    words: int
    before: int


def repeated_words(text: str) -> tuple[RepeatedWords, ...]:
    """Return the `repetitions` of a text, or none where they make up more than a third of the words: such a text is not a slip."""
    runs = repetitions(text)
    return runs if sum(run.words for run in runs) <= MOST_REPEATED * len(WORD.findall(text)) else ()


@lru_cache(maxsize=1024)
def repetitions(text: str) -> tuple[RepeatedWords, ...]:
    """Return the runs of up to eight words, in order, that repeat the run before them with only blanks between; case does not count."""
    words = list(WORD.finditer(text))
    forms = [word.group().lower() for word in words]
    blank = [text[a.end() : b.start()].isspace() for a, b in zip(words, words[1:], strict=False)]
    found: list[RepeatedWords] = []
    at = 1
    while at < len(words):
        sizes = (s for s in range(1, min(at, LONGEST_RUN) + 1) if forms[at - s] == forms[at])
        size = next((s for s in sizes if forms[at : at + s] == forms[at - s : at] and all(blank[at - s : at + s - 1])), 0)
        if size:
            found.append(RepeatedWords(words[at].start(), words[at + size - 1].end(), size, words[at - 1].end()))
        at += max(1, size)
    return tuple(found)


def tidy(text: str) -> EditedText:
    """Return the text without stray blanks, stray marks and words typed twice, with a capital at its start and a mark at its end.

    Emoji, tags and footnotes get blanks around them. A text without words stays as it is. No word is ever replaced by another one. A full stop
    that is added stands for no character.
    """
    tidied = EditedText.of(text)
    if not WORD.search(text):
        return tidied
    tidied = tidied.edited((*tab.span(), " ") for tab in re.finditer("\t", text))
    tidied = tidied.without(STRAY.finditer(tidied.text))
    tidied = tidied.without(_stray_quotes(tidied.text))
    for pattern in SPACE_PATTERNS:
        tidied = tidied.without(pattern.finditer(tidied.text))
    tidied = tidied.edited((run.before, run.end, "") for run in repeated_words(tidied.text))
    tidied = tidied.edited((place, place, " ") for place in _glued(tidied.text))
    tidied = tidied.without(KEYS.finditer(tidied.text))
    first, last = re.search(r"\w", tidied.text), len(tidied.text)
    if first and first.group().islower() and len(first.group().upper()) == 1:
        tidied = tidied.edited([(*first.span(), first.group().upper())])
    words = not TERMINAL.search(tidied.text) and tidied.text[-1:].isalnum() and WORD.findall(tidied.text)
    return tidied.edited([(last, last, ".")]) if words and len(words) >= LEAST_WORDS else tidied


def _glued(text: str) -> list[int]:
    """Return the places where emoji, tags and footnotes touch something else."""
    places = {n for pattern in (EMOJI, NOTES) for match in pattern.finditer(text) for n in match.span()}
    return sorted(n for n in places if len(text[n - 1 : n + 1].strip()) == 2)


def _stray_quotes(text: str) -> Iterator[re.Match[str]]:
    """Yield the quotation marks that close nothing."""
    opened = {'"': 0, "'": 0}
    for match in QUOTE.finditer(text):
        mark = '"' if match.group() in '"“”' else "'"
        if match.start() == 0 or (not text[match.start() - 1].isalnum() and text[match.end() : match.end() + 1].isalnum()):
            opened[mark] += 1
        elif opened[mark]:
            opened[mark] -= 1
        else:
            yield match


def wrong_articles(analysis: Analysis) -> tuple[tuple[int, int], ...]:
    """Return the articles that do not agree with the next word: (article, next word) as word indices.

    Initials, numbers and words with foreign letters are not judged, because they are pronounced in more than one way.
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
        if vowel_sound(after.text) is (word.text.lower() != "an"):
            found.append((n, n + 1))
    return tuple(found)


def vowel_sound(text: str) -> bool | None:
    """Return whether a word begins with a vowel sound, by its spelling and lists of exceptions; None where the spelling does not decide."""
    if len(text) < 2 or not text[:2].isascii() or not text[:2].isalpha() or not text[1:].islower():
        return None
    word = text.lower()
    if word.startswith(EITHER):
        return None
    if word.startswith(SILENT):
        return True
    return word[0] in "aeiou" and not BEGINS.match(word)
