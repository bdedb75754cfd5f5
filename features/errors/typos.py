"""Typos, found on the characters of one text: stray blanks and marks, a word typed twice, a small first letter, a for an.

The models read a text as it was meant (`tidy`); what was mended is counted, on the characters, by `features/errors/surface.py`.
So a typo costs what it is worth, and cannot shake the tags, trees and vectors of everything around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..values import Analysis

SPACE_PATTERNS = (
    re.compile(r"(?<=\S)([ \t]+)(?=[,.;:!?%)\]}](?:\s|$)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b)", re.IGNORECASE),
    re.compile(r"(?<=[(\[{$£€#])([ \t]+)(?=\w)"),
    re.compile(r"[ \t]{2,}"),
)
"""Blanks where English writes none, or one."""
MISSING_SPACES = (
    re.compile(r"(?<=[^\W\d_]{2})\((?![a-z]{1,2}\))|(?<=[,;:])\((?=\w)"),
    re.compile(r"(?<=[^\W\d_])[,;](?=[^\W\d_])"),
    re.compile(r"(?<=[a-z]{2})\.(?=[A-Z][a-z])"),
)
"""Marks with a blank too few: a bracket right after a word, but for endings as in ``pass(es)``, and marks right before one."""
WORD = re.compile(r"\w+(?:[-'’.,]\w+)*")
LONGEST_RUN = 8
MOST_REPEATED = 1 / 3
STRAY = re.compile(
    r"(?<=\w)(?:[_~^@*|]+(?=\s|$)|-(?=\s+(?!and\b|or\b|to\b))|[!?](?=\s+[a-z])|(?<=\w{4})[.](?=\s+[a-z]))|(?<=[,;:])[,;:._~^@-](?=\s|$)"
)
"""Marks that no writer puts there: after a word and before a small letter, or after another mark."""
QUOTE = re.compile(r"""(?<=[\w,.;:!?])["”](?=\s|$)|(?<=[^\Wszx])['](?=\s|$)|(?<!\w)["“'](?=\w)""")
TERMINAL = re.compile(r"[.!?…:;][\"'”’)\]]*\s*$")
LEAST_WORDS = 4
"""A text of fewer words may well do without a full stop."""
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


@dataclass(frozen=True, slots=True)
class RepeatedWords:
    """Characters ``text[start:end]`` that repeat, word for word, the words right before them.

    Attributes
    ----------
    words
        How many they are.
    """

    start: int
    end: int
    words: int


@dataclass(frozen=True, slots=True)
class Tidied:
    """A text as it was meant.

    Attributes
    ----------
    origin
        For each of its characters the place in the text as it stands.
    closed
        Whether a full stop was added at its end; that one has no place.
    """

    text: str
    origin: tuple[int, ...]
    closed: bool

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the tidied characters [start, end) stand in the text as it is."""
        return self.origin[start], self.origin[end - 1] + 1


@lru_cache(maxsize=1024)
def repeated_words(text: str) -> tuple[RepeatedWords, ...]:
    """Runs of up to eight words, in order, that repeat the run before them with nothing but blanks between; case does not count.

    Nothing where they make up more than a third of the words: such a text is no slip, and is judged as it stands.
    """
    words = list(WORD.finditer(text))
    forms = [word.group().lower() for word in words]
    blank = [text[a.end() : b.start()].isspace() for a, b in zip(words, words[1:], strict=False)]
    found: list[RepeatedWords] = []
    at = 1
    while at < len(words):
        form, earlier = forms[at], forms[max(0, at - LONGEST_RUN) : at]
        size = 0
        if form in earlier:
            size = next((s for s in range(1, len(earlier) + 1) if earlier[-s] == form and _repeats(forms, blank, at, s)), 0)
        if size:
            found.append(RepeatedWords(words[at].start(), words[at + size - 1].end(), size))
        at += max(1, size)
    return tuple(found) if sum(run.words for run in found) <= MOST_REPEATED * len(words) else ()


def _repeats(forms: list[str], blank: list[bool], at: int, size: int) -> bool:
    """Whether the run of ``size`` words from ``at`` on equals the run before it."""
    return at + size <= len(forms) and forms[at : at + size] == forms[at - size : at] and all(blank[at - size : at + size - 1])


def tidy(text: str) -> Tidied:
    """The text as it was meant: without stray blanks and marks and words typed twice, with a capital at its start and a mark at its end.

    A text without words stays as it is. Nothing is ever replaced by another word.
    """
    if not WORD.search(text):
        return Tidied(text, tuple(range(len(text))), False)
    characters, origin = text, list(range(len(text)))
    for spans in (
        lambda t: [m.span() for m in STRAY.finditer(t)],
        _stray_quotes,
        lambda t: [m.span() for m in SPACE_PATTERNS[0].finditer(t)],
        lambda t: [m.span() for m in SPACE_PATTERNS[1].finditer(t)],
        lambda t: [(m.start() + 1, m.end()) for m in SPACE_PATTERNS[2].finditer(t)],
        _repeated_spans,
    ):
        characters, origin = _without(characters, origin, spans(characters))
    first = re.search(r"\w", characters)
    if first and first.group().islower() and len(first.group().upper()) == 1:
        characters = characters[: first.start()] + first.group().upper() + characters[first.end() :]
    closed = not TERMINAL.search(characters) and len(WORD.findall(characters)) >= LEAST_WORDS and characters[-1:].isalnum()
    if closed:
        characters += "."
        origin.append(len(text))
    return Tidied(characters, tuple(origin), closed)


def _without(text: str, origin: list[int], spans: list[tuple[int, int]]) -> tuple[str, list[int]]:
    """The text and its places without some spans, which are in order and apart."""
    if not spans:
        return text, origin
    pieces, places, at = [], [], 0
    for start, end in [*spans, (len(text), len(text))]:
        pieces.append(text[at:start])
        places += origin[at:start]
        at = end
    return "".join(pieces), places


def _repeated_spans(text: str) -> list[tuple[int, int]]:
    """What `repeated_words` finds, with the blanks before it."""
    spans = []
    for run in repeated_words(text):
        start = run.start
        while text[start - 1].isspace():
            start -= 1
        spans.append((start, run.end))
    return spans


def _stray_quotes(text: str) -> list[tuple[int, int]]:
    """Quotation marks that close what nothing opened."""
    spans: list[tuple[int, int]] = []
    opened = {'"': 0, "'": 0}
    for found in QUOTE.finditer(text):
        mark = '"' if found.group() in '"“”' else "'"
        opens = found.start() == 0 or not text[found.start() - 1].isalnum() and text[found.end() : found.end() + 1].isalnum()
        if opens:
            opened[mark] += 1
        elif opened[mark]:
            opened[mark] -= 1
        else:
            spans.append(found.span())
    return spans


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
    """Whether a word begins with a vowel sound: spelling decides, with the words that are said otherwise; None where the letters do not say."""
    if len(text) < 2 or not text[:2].isascii() or not text[:2].isalpha() or not text[1:].islower():
        return None
    word = text.lower()
    if word.startswith(EITHER):
        return None
    if word.startswith(SILENT):
        return True
    return word[0] in "aeiou" and not BEGINS.match(word)
