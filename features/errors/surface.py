"""Find errors in casing, spacing, punctuation, words typed twice and a/an, by comparing characters.

The encoder is uncased and does not see blanks. A punctuation mark is right where the reference has the same mark beside the same word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..values import Word
from .evidence import MINOR_MOST, ErrorSpan, Kind, SurfaceConfig, TextSpan
from .prepared import PreparedText, PunctuationMark, WordMatch, is_mark
from .typos import MISSING_SPACES, SPACE_PATTERNS, repeated_words, repetitions

TERMINAL = frozenset(".!?")
ODD = frozenset("_~^@*|")
"""Characters that are not punctuation of running text."""


def surface_errors(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
) -> tuple[ErrorSpan, ...]:
    """Return the surface errors of the hypothesis; those of weight 0 are differences.

    A reference without capitals says nothing about casing, and one without marks nothing about punctuation.
    """
    errors = [*_spacing(reference, hypothesis, config)]
    if any(character.isupper() for character in reference.text):
        errors += _casing(reference, hypothesis, matches, config)
    if any(map(is_mark, reference.words)):
        errors += _punctuation(reference, hypothesis, matches, config)
    return (*errors, *_articles(reference, hypothesis, config), *_repetition(reference, hypothesis, config))


def _spacing(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Find blanks where English writes none, and missing ones; a habit that the reference shares (tokenised text) is right."""
    for pattern in (*SPACE_PATTERNS, *MISSING_SPACES):
        if not pattern.search(reference.text):
            for match in pattern.finditer(hypothesis.text):
                yield _slip("spacing", config.likely, config, None, hypothesis.span(*match.span()))


def _casing(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
) -> Iterator[ErrorSpan]:
    """Find matched words that differ only in case, and small letters that open a sentence where the reference writes capitals.

    A capital that only opens a sentence in one of the texts is right.
    """
    first = [_sentence_openers(side.words) for side in (reference, hypothesis)]
    letters = {reference.words[n].text[0] for n in first[0] if reference.words[n].text[:1].isalpha()}
    twins = {match.hypothesis: match.reference for match in matches}
    for n, new in enumerate(hypothesis.words):
        old = reference.words[twins[n]] if n in twins else None
        span, small = hypothesis.span(new.start, new.end), n in first[1] and new.text[:1].islower()
        if old is None or old.text == new.text or old.text.lower() != new.text.lower():
            if small and letters and all(map(str.isupper, letters)):
                yield _slip("casing", config.likely, config, None, span)
            continue
        first_alone = {old.text[1:], new.text[1:]} == {old.text[1:].lower()}
        if small or (twins[n] in first[0]) == (n in first[1]) or not first_alone:
            likely = config.likely if small else config.possible
            yield _slip("casing", likely, config, reference.span(old.start, old.end), span)


def _sentence_openers(words: Sequence[Word]) -> set[int]:
    """Return the indices of the words that open a sentence, marks aside."""
    inside = [n for n, word in enumerate(words) if not is_mark(word)]
    before = [None, *(words[n].sentence for n in inside)]
    return {n for n, last in zip(inside, before, strict=False) if words[n].sentence != last}


def _punctuation(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
) -> Iterator[ErrorSpan]:
    """Find marks that are missing, added or different; between words that do not follow each other in both texts they do not count."""
    ends = _end(reference), _end(hypothesis)
    old, new = reference.span_at(ends[0]), hypothesis.span_at(ends[1])
    if old and not new:
        yield _minor("punctuation", config.likely, config.likely, old, None, "missing")
    elif (old and old.text) != (new and new.text):
        yield _slip("punctuation", config.possible, config, old, new, "replacement" if old else "unnecessary")
    there = {-1: -1} | {match.reference: match.hypothesis for match in matches}
    left = [mark for mark in reference.marks if mark is not ends[0]]
    added = [mark for mark in hypothesis.marks if mark is not ends[1]]
    for mark in list(left):
        twin = next((other for other in added if _same(mark, other, there)), None)
        if twin is not None:
            left.remove(mark)
            added.remove(twin)
    for mark in left:
        weight = config.slip * config.possible * _tight(mark, there, hypothesis)
        yield _minor("punctuation", config.possible, weight, reference.span_at(mark), None, "missing")
    back = {j: i for i, j in there.items()}
    for mark in added:
        stray = _stray(hypothesis, mark)
        likely = config.likely if stray else config.possible
        weight = config.slip * likely * (stray or _tight(mark, back, reference))
        yield _minor("punctuation", likely, weight, None, hypothesis.span_at(mark), "unnecessary")


def _end(text: PreparedText) -> PunctuationMark | None:
    """Return the final mark of a text."""
    return next((mark for mark in reversed(text.marks) if mark.after < 0 and mark.character in TERMINAL), None)


def _same(mark: PunctuationMark, other: PunctuationMark, there: dict[int, int]) -> bool:
    """Return whether two marks are alike and beside matched words."""
    beside = there.get(mark.before, -2) == other.before or there.get(mark.after, -2) == other.after
    return beside and (mark.character, mark.stray) == (other.character, other.stray)


def _tight(mark: PunctuationMark, there: dict[int, int], text: PreparedText) -> bool:
    """Return whether the words around a mark have matches that follow each other in the other text, marks aside."""
    order = {n: place for place, n in enumerate((-1, *text.places))}
    before, after = (order.get(there.get(n, -2), -2) for n in (mark.before, mark.after))
    return (after or len(order)) == before + 1


def _stray(side: PreparedText, mark: PunctuationMark) -> bool:
    """Return whether `tidy` removes the mark, it is odd, or it ends a sentence before a small letter."""
    after = side.text[mark.place + 1 :].lstrip()
    return mark.stray or mark.character in ODD or (mark.character in "!?" and mark.before >= 0 and after[:1].islower())


def _articles(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Find the wrong one of `a` and `an`; what the reference also writes is right."""

    def written(side: PreparedText, place: tuple[int, int]) -> str:
        return side.text[side.words[place[0]].start : side.words[place[1]].end].lower()

    meant = {written(reference, place) for place in reference.articles}
    for place in hypothesis.articles:
        if written(hypothesis, place) not in meant:
            yield _minor("article", config.sure, config.sure, None, hypothesis.span_of(place[:1]))


def _repetition(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Find words typed twice; what the reference also repeats is right. In a text that is not a slip each of them has the full weight."""
    meant = {reference.text[run.start : run.end].lower() for run in repetitions(reference.text)}
    weight, again = config.sure, config.again if repeated_words(hypothesis.text) else config.sure
    for run in repetitions(hypothesis.text):
        span = hypothesis.span(run.start, run.end)
        if span.text.lower() not in meant:
            weight += (run.words - 1) * again
            yield _minor("repetition", config.sure, min(weight, MINOR_MOST), None, span, "unnecessary")
            weight = again


def _slip(
    name: str, confidence: float, config: SurfaceConfig, old: TextSpan | None, new: TextSpan | None, kind: Kind = "surface"
) -> ErrorSpan:
    """Return an error that readers hardly mind."""
    return _minor(name, confidence, config.slip * confidence, old, new, kind)


def _minor(
    name: str, confidence: float, weight: float, old: TextSpan | None, new: TextSpan | None, kind: Kind = "surface"
) -> ErrorSpan:
    """Return a minor error, or a difference of weight 0."""
    return ErrorSpan(kind, name, "minor" if weight else "none", weight, confidence, old, new)
