"""Punctuation, compared on the characters: a mark belongs where the reference has the same one beside the same word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ..once import once
from ..values import Analysis
from .alignment import WordMatch, is_mark, words_of
from .values import MINOR, ErrorSpan, TextSpan

__all__ = ["Mark", "PunctuationConfig", "marks_of", "punctuation_errors"]

ALIKE = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "."})
TERMINAL = frozenset(".!?")
VISIBLE = re.compile(r"[^\w\s]|_")
"""Characters that are neither letter nor digit nor blank."""


@dataclass(frozen=True, slots=True)
class PunctuationConfig:
    """The probability that each difference is a mistake; all are minor.

    no_end : the text ends without the reference's final mark. other_end : with another one, or with one where the reference has none.
    missing, added : a mark is missing, or too much, between words that stand side by side in both texts. loose : the same where the
        words around it differ too, so that the sentence may be built another way. stray : a mark that splits what no mark can split.
    slip : what a mistake counts beside another minor one (in MQM .1, Freitag et al. 2021), but for the missing final mark.
    """

    no_end: float = 0.6
    other_end: float = 0.3
    missing: float = 0.3
    added: float = 0.4
    loose: float = 0.1
    stray: float = 0.6
    slip: float = 0.2


@dataclass(frozen=True, slots=True)
class Mark:
    """One punctuation mark at ``text[place]``. before, after : the words around it, -1 where there is none."""

    character: str
    place: int
    before: int
    after: int


@once
def marks_of(analysis: Analysis) -> tuple[Mark, ...]:
    """Every visible character of a text that belongs to no word, in order; a mark repeated on the spot ("...") counts once."""
    words = [n for n, word in enumerate(analysis.words) if not is_mark(word)]
    ends = list(accumulate((analysis.words[n].end for n in words), max))
    found: list[Mark] = []
    position = -1
    for match in VISIBLE.finditer(analysis.text):
        place = match.start()
        while position + 1 < len(words) and analysis.words[words[position + 1]].start <= place:
            position += 1
        if position >= 0 and place < ends[position]:  # within a word
            continue
        shown = match.group().translate(ALIKE)
        if found and found[-1].place == place - 1 and found[-1].character == shown:
            found[-1] = Mark(shown, place, found[-1].before, found[-1].after)
            continue
        before = words[position] if position >= 0 else -1
        found.append(Mark(shown, place, before, words[position + 1] if position + 1 < len(words) else -1))
    return tuple(found)


def punctuation_errors(
    reference: Analysis, hypothesis: Analysis, matches: Sequence[WordMatch], config: PunctuationConfig
) -> Iterator[ErrorSpan]:
    """Marks that are missing, too much or others than the reference's; a reference without any mark says nothing about them."""
    sides = marks_of(reference), marks_of(hypothesis)
    if not any(map(is_mark, reference.words)):
        return
    ends = [next((m for m in reversed(side) if m.after < 0 and m.character in TERMINAL), None) for side in sides]
    yield from _end(reference, hypothesis, ends[0], ends[1], config)
    there = {match.reference: match.hypothesis for match in matches}
    there[-1] = -1
    left = [[m for m in side if m is not end] for side, end in zip(sides, ends, strict=True)]
    for mark in list(left[0]):
        twin = next((m for m in left[1] if m.character == mark.character and _beside(mark, m, there)), None)
        if twin is not None:
            left[0].remove(mark)
            left[1].remove(twin)
    for mark in left[0]:
        tight = {mark.before, mark.after} <= there.keys() and _next_to(there[mark.before], there[mark.after], hypothesis)
        yield _error("missing", config.missing if tight else config.loose, config.slip, (reference, mark), None)
    back = {j: i for i, j in there.items()}
    for mark in left[1]:
        tight = {mark.before, mark.after} <= back.keys() and _next_to(back[mark.before], back[mark.after], reference)
        likely = config.stray if _stray(hypothesis, mark) else config.added if tight else config.loose
        yield _error("unnecessary", likely, config.slip, None, (hypothesis, mark))


def _end(
    reference: Analysis, hypothesis: Analysis, wanted: Mark | None, found: Mark | None, config: PunctuationConfig
) -> Iterator[ErrorSpan]:
    """The final marks of both texts."""
    if wanted is not None and found is None:
        yield _error("missing", config.no_end, 1.0, (reference, wanted), None)
    elif found is not None and wanted is None:
        yield _error("unnecessary", config.other_end, config.slip, None, (hypothesis, found))
    elif wanted is not None and found is not None and wanted.character != found.character:
        yield _error("replacement", config.other_end, config.slip, (reference, wanted), (hypothesis, found))


def _beside(mark: Mark, other: Mark, there: dict[int, int]) -> bool:
    """Whether two marks stand beside words that stand for each other."""
    return there.get(mark.before, -2) == other.before or there.get(mark.after, -2) == other.after


def _next_to(before: int, after: int, analysis: Analysis) -> bool:
    """Whether two words follow each other but for marks; -1 before the first word, or after the last."""
    words = words_of(analysis)
    order = {n: place for place, n in enumerate(words)} | {-1: -1}
    return order.get(after, -1) == order.get(before, -2) + 1 or (after < 0 and before == (words[-1] if words else -1))


def _stray(analysis: Analysis, mark: Mark) -> bool:
    """A terminal mark before a small letter, or a sign that is no punctuation of running text."""
    after = analysis.text[mark.place + 1 :].lstrip()
    return mark.character in "_~^@*|" or (mark.character in "!?" and mark.before >= 0 and after[:1].islower())


def _error(
    kind: str, probability: float, share: float, old: tuple[Analysis, Mark] | None, new: tuple[Analysis, Mark] | None
) -> ErrorSpan:
    spans = [
        TextSpan(side[0].text[side[1].place], side[1].place, side[1].place + 1) if side is not None else None
        for side in (old, new)
    ]
    return ErrorSpan(kind, "punctuation", "minor", share * probability * MINOR, probability, *spans)  # type: ignore[arg-type]
