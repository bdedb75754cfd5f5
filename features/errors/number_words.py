"""Write the numbers of an English text in digits: *two hundred and five*, *one and a half*, *two thirds*, *twenty-first*, *noon*."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ..packages import import_failed

SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}
"""What a number can be multiplied by; these words are kept."""
ALIKE = str.maketrans(dict(zip("\u00a0\u202f\u2009’−–—⁄İıſK", "   '---/IisK", strict=True)))
"""Characters that are read as another one."""
APART = ("million", "billion", "trillion", "o", "oh")
"""Words that are no part of the number before them: a scale may belong to both ends of a range."""
BEFORE_SECOND = frozenset("the - s my your his her its our their".split())
"""Words after which a second is no time."""
TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
PART = re.compile(
    r"([¼-¾⅐-⅞])|(?<![\w.,/-])(?:(?P<few>\d{1,3}|an?)[\s-])?(?:(?P<name>half|halves|quarters?)|(?<=[\s-])(?P<below>\d+)(?:rd|th)(?P<many>s?))(?![\w-])"
    r"|\b(?:12\s)?(?:(?P<noon>noon|midday)|midnight|(?P<two>twice|a\scouple))\b",
    re.IGNORECASE,
)
"""A fraction, after the first pass (*2 3rds*, *a 4th*, *3 quarters*), a named time, or two in other words."""


class _Token(str):
    """A word or mark, as text2num wants it."""

    def text(self) -> str:
        return str(self)

    text_lowercase = str.lower

    def nt_separated(self, _: _Token) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return not self.isalpha() and self != "-"


def in_digits(text: str) -> tuple[str, list[int]]:
    """Return the text with its numbers in digits.

    Returns
    -------
    tuple
        The rewritten text, and for each of its characters and its end the place in the original text.
    """
    written, places = _replaced(text.translate(ALIKE), list(range(len(text) + 1)), _words(text))
    return _replaced(written, places, _parts(written))


def _words(text: str) -> Iterable[tuple[int, int, str]]:
    """Yield the start, the end and the digits of each cardinal and ordinal in words; a second may be a time."""
    try:
        from text_to_num import find_numbers
    except ImportError as error:
        raise import_failed(error, "reading number words", '"rome-metric[models]"') from error
    found = list(TOKEN.finditer(text))
    words = [match[0].lower() for match in found]
    times = {n for n, word in enumerate(words) if word == "second" and (not n or words[n - 1] not in BEFORE_SECOND)}
    tokens = [_Token("." if n in times or word in APART else word) for n, word in enumerate(words)]
    for number in find_numbers(tokens, "en", threshold=0):
        start, end = found[number.start].start(), found[number.end - 1].end()
        if text[start:end].lower() not in SCALES and not text[start:end].isdigit():
            yield start, end, number.text


def _parts(text: str) -> Iterable[tuple[int, int, str]]:
    """Yield the start, the end and the digits of each fraction, noon and midnight."""
    for found in PART.finditer(text):
        below, few = found["below"], found["few"] if (found["few"] or "a").isdigit() else "1"
        if found[1]:
            space = " " if text[max(0, found.start() - 1) : found.start()].isdigit() else ""
            yield *found.span(), space + unicodedata.normalize("NFKD", found[1]).replace("⁄", "/")
        elif found["name"]:
            yield *found.span(), f"{few}/{2 if found['name'][:3].lower() == 'hal' else 4}"
        elif not below:
            yield *found.span(), "2" if found["two"] else "12:00 p.m." if found["noon"] else "00:00"
        elif found["few"] and bool(found["many"]) == (few != "1") and int(below) > 2:
            yield *found.span(), f"{few}/{below}"


def _replaced(text: str, places: list[int], edits: Iterable[tuple[int, int, str]]) -> tuple[str, list[int]]:
    """Return the text after some replacements, and the places of its characters."""
    pieces, kept, last = [], [], 0
    for start, end, new in edits:
        pieces += [text[last:start], new]
        kept += [*places[last:start], *[places[start]] * len(new)]
        last = end
    return "".join([*pieces, text[last:]]), [*kept, *places[last:]]
