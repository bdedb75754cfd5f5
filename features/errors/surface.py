"""What the uncased, spacing-blind encoder cannot see: casing, spacing and punctuation, found on the characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..values import Analysis, Word
from .alignment import WordMatch
from .values import MINOR, ErrorSpan, TextSpan

__all__ = ["SurfaceConfig", "surface_errors"]

SPACE_BEFORE = re.compile(r"(?<=\S)([ \t]+)(?=[,.;:!?%)\]}](?:\s|$)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b)", re.IGNORECASE)
SPACE_AFTER = re.compile(r"(?<=[(\[{$£€#])([ \t]+)(?=\w)")
RUN_OF_SPACES = re.compile(r"[ \t]{2,}")


@dataclass(frozen=True, slots=True)
class SurfaceConfig:
    """The probability that each kind of difference is a mistake; all are minor."""

    casing: float = 0.4
    first_word_casing: float = 0.8
    spacing: float = 0.5


def _span(analysis: Analysis, start: int, end: int) -> TextSpan:
    return TextSpan(analysis.text[start:end], start, end)


def _opens_sentence(words: Sequence[Word], index: int) -> bool:
    return index == 0 or words[index - 1].sentence != words[index].sentence


def _casing(
    reference: Analysis, hypothesis: Analysis, matches: Sequence[WordMatch], config: SurfaceConfig
) -> Iterator[ErrorSpan]:
    """Matched words that differ in case alone; a capital that only opens a sentence on one side is no mistake."""
    for match in matches:
        old, new = reference.words[match.reference], hypothesis.words[match.hypothesis]
        if old.text == new.text or old.text.lower() != new.text.lower():
            continue
        first = _opens_sentence(reference.words, match.reference), _opens_sentence(hypothesis.words, match.hypothesis)
        if (
            first[0] != first[1]
            and {old.text[1:], new.text[1:]} == {old.text[1:].lower()}
            and not (first[1] and new.text[:1].islower())
        ):
            continue
        confidence = config.first_word_casing if first[1] and new.text[:1].islower() else config.casing
        yield ErrorSpan(
            "surface",
            "casing",
            "minor",
            confidence * MINOR,
            confidence,
            _span(reference, old.start, old.end),
            _span(hypothesis, new.start, new.end),
        )


def _sentence_casing(
    reference: Analysis, hypothesis: Analysis, matches: Sequence[WordMatch], config: SurfaceConfig
) -> Iterator[ErrorSpan]:
    """A sentence that opens with a small letter although the reference's sentences open with capitals."""
    openers = [w for n, w in enumerate(reference.words) if _opens_sentence(reference.words, n) and w.text[:1].isalpha()]
    if not openers or not all(w.text[:1].isupper() for w in openers):
        return
    pairs = {match.hypothesis: match.reference for match in matches}
    for n, word in enumerate(hypothesis.words):
        if _opens_sentence(hypothesis.words, n) and word.text[:1].islower():
            twin = reference.words[pairs[n]] if n in pairs else None
            if twin is None or twin.text.lower() != word.text.lower() or twin.text == word.text:
                span = _span(hypothesis, word.start, word.end)
                yield ErrorSpan(
                    "surface", "casing", "minor", config.first_word_casing * MINOR, config.first_word_casing, None, span
                )


def _spacing(reference: Analysis, hypothesis: Analysis, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Blanks where English writes none; a habit that the reference shares (tokenised text) is no mistake."""
    for pattern in (SPACE_BEFORE, SPACE_AFTER, RUN_OF_SPACES):
        if not pattern.search(reference.text):
            for found in pattern.finditer(hypothesis.text):
                yield ErrorSpan(
                    "surface",
                    "spacing",
                    "minor",
                    config.spacing * MINOR,
                    config.spacing,
                    None,
                    _span(hypothesis, *found.span()),
                )


def surface_errors(
    reference: Analysis, hypothesis: Analysis, matches: Sequence[WordMatch], config: SurfaceConfig
) -> tuple[ErrorSpan, ...]:
    """Casing and spacing errors of the hypothesis; punctuation marks are words and come from the edit script.

    A reference written all in small letters says nothing about case: then casing is not judged.
    """
    found: list[ErrorSpan] = list(_spacing(reference, hypothesis, config))
    if any(character.isupper() for character in reference.text):
        found += _casing(reference, hypothesis, matches, config)
        found += _sentence_casing(reference, hypothesis, matches, config)
    return tuple(found)
