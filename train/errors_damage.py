"""Texts worse than one mistake makes them: words lost, exchanged, out of order or said twice, as often as one likes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from .errors_texts import Change, Text, fits

__all__ = ["damages"]

SHORT = 3
"""Letters of a word that is lost without much harm."""
TRIES = 4
"""For each change that is wanted."""


def damages(text: Text, strangers: Sequence[str], wanted: int, chance: random.Random) -> list[Change]:
    """Up to so many changes that fit together. strangers : words that may stand in the place of others."""
    found: list[Change] = []
    draw = _drawn(text, strangers, chance)
    for _ in range(TRIES * wanted if text.words else 0):
        change = next(draw)
        ((start, end, new),) = change.edits
        if len(found) < wanted and text.text[start:end] != new and fits([*found, change]):
            found.append(change)
    return found


def _drawn(text: Text, strangers: Sequence[str], chance: random.Random) -> Iterator[Change]:
    """One change after the other, each anywhere in the text."""
    while True:
        kind = chance.choice(("lost", "lost", "stranger", "shuffled", "twice"))
        first = chance.randrange(len(text.words))
        count = {"lost": chance.choice((1, 1, 2, 4)), "shuffled": chance.choice((2, 3, 5)), "twice": chance.choice((1, 2, 3))}
        places = text.words[first : first + count.get(kind, 1)]
        start, end = places[0][0], places[-1][1]
        words = [text.text[a:b] for a, b in places]
        if kind == "lost":
            after = end + 1 if text.text[end : end + 1] == " " else end
            severity = "critical" if len(words) > 2 else "major" if max(map(len, words)) > SHORT else "minor"
            yield Change("omitted_words", severity, ((start, after, ""),))
        elif kind == "stranger":
            yield Change("words_by_token", "major", ((start, end, chance.choice(strangers)),))
        elif kind == "shuffled":
            chance.shuffle(words)
            yield Change("word_swap", "major" if len(words) > 2 else "minor", ((start, end, " ".join(words)),))
        else:
            yield Change("repeated_twice", "minor", ((end, end, " " + text.text[start:end]),))
