"""What the uncased, spacing-blind encoder cannot see: casing, spacing, punctuation, words typed twice, a and an: found on the characters.

A mark belongs where the reference has the same one beside the same word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..values import Word
from .edits import WordMatch
from .evidence import MAJOR, MINOR, ErrorSpan, Kind, TextSpan
from .prepared import PreparedText, PunctuationMark, is_mark
from .typos import MISSING_SPACES, SPACE_PATTERNS, repeated_words

TERMINAL = frozenset(".!?")
TYPO_TYPES = frozenset(("casing", "spacing", "punctuation"))
"""Types of mistake that a reader hardly minds."""


@dataclass(frozen=True, slots=True)
class PunctuationConfig:
    """The probability that each difference is a mistake; all are minor.

    Attributes
    ----------
    no_end
        The text ends without the reference's final mark.
    other_end
        With another one, or with one where the reference has none.
    missing, added
        A mark is missing, or too much, between words that stand side by side in both texts.
    loose
        The same where the words around it differ too, so that the sentence may be built another way.
    stray
        A mark that splits what no mark can split, repeats the one before it, or closes what nothing opened.
    slip
        What a mistake counts beside another minor one (in MQM .1, Freitag et al. 2021), but for the missing final mark.
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
        alike = (m for m in left[1] if (m.character, m.stray) == (mark.character, mark.stray))
        twin = next((m for m in alike if _beside(mark, m, there)), None)
        if twin is not None:
            left[0].remove(mark)
            left[1].remove(twin)
    for mark in left[0]:
        tight = {mark.before, mark.after} <= there.keys() and _next_to(there[mark.before], there[mark.after], hypothesis)
        yield _mark_error("missing", config.missing if tight else config.loose, config.slip, reference.span_at(mark), None)
    back = {j: i for i, j in there.items()}
    for mark in left[1]:
        tight = {mark.before, mark.after} <= back.keys() and _next_to(back[mark.before], back[mark.after], reference)
        likely = config.stray if _stray(hypothesis, mark) else config.added if tight else config.loose
        yield _mark_error("unnecessary", likely, config.slip, None, hypothesis.span_at(mark))


def _end(
    reference: PreparedText,
    hypothesis: PreparedText,
    wanted: PunctuationMark | None,
    found: PunctuationMark | None,
    config: PunctuationConfig,
) -> Iterator[ErrorSpan]:
    """The final marks of both texts."""
    if wanted is not None and found is None:
        yield _mark_error("missing", config.no_end, 1.0, reference.span_at(wanted), None)
    elif found is not None and wanted is None:
        yield _mark_error("unnecessary", config.other_end, config.slip, None, hypothesis.span_at(found))
    elif wanted is not None and found is not None and wanted.character != found.character:
        marks = reference.span_at(wanted), hypothesis.span_at(found)
        yield _mark_error("replacement", config.other_end, config.slip, *marks)


def _beside(mark: PunctuationMark, other: PunctuationMark, there: dict[int, int]) -> bool:
    """Whether two marks stand beside words that stand for each other."""
    return there.get(mark.before, -2) == other.before or there.get(mark.after, -2) == other.after


def _next_to(before: int, after: int, text: PreparedText) -> bool:
    """Whether two words follow each other but for marks; -1 before the first word, or after the last."""
    words = text.places
    order = {n: place for place, n in enumerate(words)} | {-1: -1}
    return order.get(after, -1) == order.get(before, -2) + 1 or (after < 0 and before == (words[-1] if words else -1))


def _stray(side: PreparedText, mark: PunctuationMark) -> bool:
    """What the models were spared, a terminal mark before a small letter, or a sign that is no punctuation of running text."""
    after = side.text[mark.place + 1 :].lstrip()
    return mark.stray or mark.character in "_~^@*|" or (mark.character in "!?" and mark.before >= 0 and after[:1].islower())


def _mark_error(kind: Kind, confidence: float, share: float, wanted: TextSpan | None, found: TextSpan | None) -> ErrorSpan:
    return _minor("punctuation", confidence, found, wanted, kind=kind, share=share)


def _minor(
    name: str,
    confidence: float,
    hypothesis: TextSpan | None,
    reference: TextSpan | None = None,
    *,
    kind: Kind = "surface",
    share: float = 1.0,
) -> ErrorSpan:
    """A minor mistake of this type; ``share`` is what it counts beside others."""
    return ErrorSpan(kind, name, "minor", share * confidence * MINOR, confidence, reference, hypothesis)


@dataclass(frozen=True, slots=True)
class SurfaceConfig:
    """The probability that each kind of difference is a mistake; all are minor.

    Attributes
    ----------
    slip
        What a mistake of casing or spacing counts beside another minor one.
    article
        Of ``a`` where ``an`` belongs, and the other way round.
    repetition
        Of the first word that is typed twice.
    repetition_more
        Of each further one.
    """

    slip: float = 0.2
    casing: float = 0.4
    first_word_casing: float = 0.8
    spacing: float = 0.5
    article: float = 0.9
    repetition: float = 0.9
    repetition_more: float = 0.4
    punctuation: PunctuationConfig = field(default_factory=PunctuationConfig)


def _opens_sentence(words: Sequence[Word], index: int) -> bool:
    """Whether a word is the first of its sentence, but for marks."""
    before = (word for word in reversed(words[:index]) if not is_mark(word))
    last = next(before, None)
    return last is None or last.sentence != words[index].sentence


def _casing(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], config: SurfaceConfig
) -> Iterator[ErrorSpan]:
    """Matched words that differ in case alone; a capital that only opens a sentence on one side is no mistake."""
    for match in matches:
        old, new = reference.words[match.reference], hypothesis.words[match.hypothesis]
        if old.text == new.text or old.text.lower() != new.text.lower():
            continue
        opens = _opens_sentence(reference.words, match.reference), _opens_sentence(hypothesis.words, match.hypothesis)
        small = opens[1] and new.text[:1].islower()
        first_alone = {old.text[1:], new.text[1:]} == {old.text[1:].lower()}
        if small or opens[0] == opens[1] or not first_alone:
            places = hypothesis.span(new.start, new.end), reference.span(old.start, old.end)
            yield _minor("casing", config.first_word_casing if small else config.casing, *places, share=config.slip)


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
                span = hypothesis.span(word.start, word.end)
                yield _minor("casing", config.first_word_casing, span, share=config.slip)


def _spacing(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Blanks where English writes none, and none where it writes one; a habit that the reference shares (tokenised text) is no mistake."""
    for pattern in (*SPACE_PATTERNS, *MISSING_SPACES):
        if not pattern.search(reference.text):
            for found in pattern.finditer(hypothesis.text):
                yield _minor("spacing", config.spacing, hypothesis.span(*found.span()), share=config.slip)


def _articles(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """The wrong one of `a` and `an`; what the reference writes too is no mistake."""

    def written(side: PreparedText, place: tuple[int, int]) -> str:
        return side.text[side.words[place[0]].start : side.words[place[1]].end].lower()

    meant = {written(reference, place) for place in reference.articles}
    for place in hypothesis.articles:
        if written(hypothesis, place) not in meant:
            yield _minor("article", config.article, hypothesis.span_of(place[:1]))


def _repetition(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Words typed twice; what the reference repeats too is no mistake. The models never saw the repeated words."""
    meant = {reference.text[run.start : run.end].lower() for run in repeated_words(reference.text)}
    first = True
    for run in repeated_words(hypothesis.text):
        span = hypothesis.span(run.start, run.end)
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
    found = list(_spacing(reference, hypothesis, config))
    if any(character.isupper() for character in reference.text):
        found += _casing(reference, hypothesis, matches, config)
        found += _sentence_casing(reference, hypothesis, matches, config)
    found += punctuation_errors(reference, hypothesis, matches, config.punctuation)
    found += _articles(reference, hypothesis, config)
    found += _repetition(reference, hypothesis, config)
    return tuple(found)
