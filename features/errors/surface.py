"""What the uncased, spacing-blind encoder cannot see: casing, spacing, punctuation, words typed twice, a and an: found on the characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..slips import SPACE_PATTERNS, typed_twice
from ..values import Word
from .alignment import WordMatch
from .prepared import PreparedText
from .punctuation import PunctuationConfig, punctuation_errors
from .values import MAJOR, MINOR, ErrorSpan, TextSpan

__all__ = ["SLIPS", "SurfaceConfig", "surface_errors"]

SLIPS = frozenset(("casing", "spacing", "punctuation"))
"""Types of mistake that a reader hardly minds."""


@dataclass(frozen=True, slots=True)
class SurfaceConfig:
    """The probability that each kind of difference is a mistake; all are minor.

    slip : what a mistake of casing or spacing counts beside another minor one.
    article : of ``a`` where ``an`` belongs, and the other way round.
    repetition : of the first word that is typed twice; repetition_more : of each further one.
    """

    slip: float = 0.2
    casing: float = 0.4
    first_word_casing: float = 0.8
    spacing: float = 0.5
    article: float = 0.9
    repetition: float = 0.9
    repetition_more: float = 0.4
    punctuation: PunctuationConfig = field(default_factory=PunctuationConfig)


def _span(side: PreparedText, start: int, end: int) -> TextSpan:
    return TextSpan(side.text[start:end], start, end)


def _opens_sentence(words: Sequence[Word], index: int) -> bool:
    return index == 0 or words[index - 1].sentence != words[index].sentence


def _casing(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
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
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
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


def _spacing(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Blanks where English writes none; a habit that the reference shares (tokenised text) is no mistake."""
    for pattern in SPACE_PATTERNS:
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


def _articles(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
) -> Iterator[ErrorSpan]:
    """The wrong one of `a` and `an`; what the reference writes too is no mistake, and against the right one it is an edit already."""

    def written(side: PreparedText, place: tuple[int, int]) -> str:
        return side.text[side.words[place[0]].start : side.words[place[1]].end].lower()

    meant = {written(reference, place) for place in reference.articles}
    there = {match.hypothesis: reference.words[match.reference].text.lower() for match in matches}
    for place in hypothesis.articles:
        if written(hypothesis, place) not in meant and there.get(place[0]) not in ("a", "an"):
            word = hypothesis.words[place[0]]
            span = _span(hypothesis, word.start, word.end)
            yield ErrorSpan("surface", "article", "minor", config.article * MINOR, config.article, None, span)


def _repetition(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Words typed twice; what the reference repeats too is no mistake. The models never saw the repeated words."""
    meant = {reference.text[run.start : run.end].lower() for run in typed_twice(reference.text)}
    first = True
    for run in typed_twice(hypothesis.text):
        span = _span(hypothesis, run.start, run.end)
        if span.text.lower() in meant:
            continue
        probability = config.repetition if first else config.repetition_more
        weight = probability * MINOR + (run.words - 1) * config.repetition_more
        yield ErrorSpan("unnecessary", "repetition", "minor", min(weight, MAJOR), probability, None, span)
        first = False


def surface_errors(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
) -> tuple[ErrorSpan, ...]:
    """Casing, spacing and punctuation errors of the hypothesis, its words typed twice, and its wrong articles.

    A reference written all in small letters says nothing about case: then casing is not judged.
    """
    slips = list(_spacing(reference, hypothesis, config))
    if any(character.isupper() for character in reference.text):
        slips += _casing(reference, hypothesis, matches, config)
        slips += _sentence_casing(reference, hypothesis, matches, config)
    found = [replace(error, weight=config.slip * error.weight) for error in slips]
    found += punctuation_errors(reference, hypothesis, matches, config.punctuation)
    found += _articles(reference, hypothesis, matches, config)
    found += _repetition(reference, hypothesis, config)
    return tuple(found)
