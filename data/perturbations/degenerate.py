"""What TextAttack does not make: severe cases (empty, unrelated, repeated, ...), wrong facts in fluent text, and slips of the surface."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Container
from functools import cache

from rome.data.perturbations.lexicons import embedded_antonyms, word_sequence

NUMBER = re.compile(r"\d+")
AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|will|would|has|had|have|should|must|may|does|did|do)\b")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
WORD = re.compile(r"[a-z]{4,}")
NAMES = word_sequence("degenerate.names")


def damage(operation: str, text: str, other: str, chance: random.Random) -> str | None:
    """The text after one operation of SEVERE or SINGLE, ``other`` being an unrelated sentence; None when it does not apply."""
    changed = {**SEVERE, **SINGLE_EDITS}[operation](text, other, chance)
    return None if changed == text else changed


def _repeated_words(text: str, other: str, chance: random.Random) -> str | None:
    """Two to four of its words, each several times: the "Elon elon elon ... tesla tesla" of RoMe's table 2."""
    words = [word.strip(".,;:!?\"'()") for word in text.split()]
    words = [word for word in words if word]
    kept = sorted(chance.sample(range(len(words)), min(chance.randint(2, 4), len(words))))
    return " ".join(" ".join([words[place]] * chance.randint(1, 5)) for place in kept).capitalize() + "."


def _repeated_phrase(text: str, other: str, chance: random.Random) -> str | None:
    """A phrase said two to four times, then a piece of something else: the second erroneous case of RoMe's table 3."""
    words, tail = text.split(), other.split()
    size = min(chance.randint(3, 6), len(words))
    start = chance.randint(0, len(words) - size)
    return " ".join(words[start : start + size] * chance.randint(2, 4) + tail[-chance.randint(1, 4) :])


def _mixed(text: str, other: str, chance: random.Random) -> str | None:
    """The first third of the text, then another sentence's end: fluent, mostly untrue."""
    words, tail = text.split(), other.split()
    return " ".join(words[: max(2, len(words) // 3)] + tail[len(tail) // 3 :])


def _shuffled(text: str, other: str, chance: random.Random) -> str | None:
    words = text.split()
    chance.shuffle(words)
    return " ".join(words)


def _truncated(text: str, other: str, chance: random.Random) -> str | None:
    words = text.split()
    return " ".join(words[: max(1, int(len(words) * chance.uniform(0.3, 0.6)))])


def _negation(text: str, other: str, chance: random.Random) -> str | None:
    if " not " in text:
        return text.replace(" not ", " ", 1)
    found = AUXILIARY.search(text)
    return f"{text[: found.end()]} not{text[found.end() :]}" if found else None


def _exchanged(
    pattern: re.Pattern[str],
    text: str,
    chance: random.Random,
    new: Callable[[str], object],
    known: Container[str] | None = None,
) -> str | None:
    """The text with another thing in the place of one match; None where there is no match (that is known)."""
    found = [match for match in pattern.finditer(text) if known is None or match.group() in known]
    place = chance.choice(found) if found else None
    return f"{text[: place.start()]}{new(place.group())}{text[place.end() :]}" if place else None


def _number(text: str, other: str, chance: random.Random) -> str | None:
    def changed(old: str) -> int:
        value = int(old) if len(old) < 9 else 7
        return value + chance.choice([-2, 3, 10, 111]) if value > 2 else value + 5

    return _exchanged(NUMBER, text, chance, changed)


def _name(text: str, other: str, chance: random.Random) -> str | None:
    return _exchanged(NAME, text, chance, lambda old: chance.choice(NAMES))


SEVERE: dict[str, Callable[[str, str, random.Random], str | None]] = {
    "empty": lambda text, other, chance: "",
    "unrelated": lambda text, other, chance: other,
    "repeated_words": _repeated_words,
    "repeated_phrase": _repeated_phrase,
    "mixed": _mixed,
    "shuffled": _shuffled,
    "truncated": _truncated,
    "doubled": lambda text, other, chance: f"{text} {text}",
    "negation": _negation,
    "number": _number,
    "name": _name,
}
"""Each maps (text, unrelated sentence, chance) to a new text, or None when it finds nothing to change."""


@cache
def _antonyms() -> dict[str, list[str]]:
    """Each word of the embedded lexicon with its antonyms."""
    table: dict[str, list[str]] = {}
    pairs = {(min(word, o), max(word, o)) for word, others in embedded_antonyms().items() for o in others}
    for word, other in sorted(pairs):
        table.setdefault(word, []).append(other)
        table.setdefault(other, []).append(word)
    return table


def _antonym(text: str, other: str, chance: random.Random) -> str | None:
    return _exchanged(WORD, text, chance, lambda old: chance.choice(_antonyms()[old]), _antonyms())


SINGLE_EDITS: dict[str, Callable[[str, str, random.Random], str | None]] = {
    "negation": _negation,
    "number": _number,
    "name": _name,
    "antonym": _antonym,
    "lower_case": lambda text, other, chance: text.lower(),
    "tokenised": lambda text, other, chance: re.sub(r"(?<=\w)([,.;:!?])(?=\s|$)", r" \1", text),
    "no_final_mark": lambda text, other, chance: text.rstrip(".!?"),
}
SINGLE = {
    "negation": 5.0,
    "number": 5.0,
    "name": 5.0,
    "antonym": 5.0,
    "lower_case": 2.0,
    "tokenised": 1.5,
    "no_final_mark": 0.7,
}
"""Single edits that leave the text fluent, and their severity: a wrong fact is major, a slip of the surface minor."""
