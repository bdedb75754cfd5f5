"""Punctuation, compared on the characters: a mark belongs where the reference has the same one beside the same word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .alignment import WordMatch
from .prepared import Mark, PreparedText, is_mark
from .values import MINOR, ErrorSpan, TextSpan

__all__ = ["PunctuationConfig", "punctuation_errors"]

TERMINAL = frozenset(".!?")


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


def punctuation_errors(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: PunctuationConfig
) -> Iterator[ErrorSpan]:
    """Marks that are missing, too much or others than the reference's; a reference without any mark says nothing about them."""
    sides = reference.marks, hypothesis.marks
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
    reference: PreparedText, hypothesis: PreparedText, wanted: Mark | None, found: Mark | None, config: PunctuationConfig
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


def _next_to(before: int, after: int, text: PreparedText) -> bool:
    """Whether two words follow each other but for marks; -1 before the first word, or after the last."""
    words = text.places
    order = {n: place for place, n in enumerate(words)} | {-1: -1}
    return order.get(after, -1) == order.get(before, -2) + 1 or (after < 0 and before == (words[-1] if words else -1))


def _stray(side: PreparedText, mark: Mark) -> bool:
    """A terminal mark before a small letter, or a sign that is no punctuation of running text."""
    after = side.text[mark.place + 1 :].lstrip()
    return mark.character in "_~^@*|" or (mark.character in "!?" and mark.before >= 0 and after[:1].islower())


def _error(
    kind: str, probability: float, share: float, old: tuple[PreparedText, Mark] | None, new: tuple[PreparedText, Mark] | None
) -> ErrorSpan:
    spans = [
        TextSpan(side[0].text[side[1].place], side[1].place, side[1].place + 1) if side is not None else None
        for side in (old, new)
    ]
    return ErrorSpan(kind, "punctuation", "minor", share * probability * MINOR, probability, *spans)  # type: ignore[arg-type]
