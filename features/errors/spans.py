"""Find error spans: those of the words that the pair reader marks, one per claim, and those on the surface.

The encoder is uncased and does not see blanks, so errors in casing, spacing and punctuation, words typed twice and a/an are found by comparing
characters. A punctuation mark is right where the reference has the same mark beside the same word.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..values import Word
from .evidence import (
    BANDS,
    CRITICAL,
    MAJOR,
    MINOR_MOST,
    SEVERITIES,
    TYPES,
    WEIGHTS,
    EqualWords,
    ErrorsConfig,
    ErrorSpan,
    Kind,
    PairPrediction,
    Severity,
    SurfaceConfig,
    TextSpan,
)
from .prepared import PreparedText, PunctuationMark, WordMatch, is_mark
from .quantities import Quantity
from .typos import EMOJI, MISSING_SPACES, NOTES, SHADE, SPACE_PATTERNS, repeated_words, repetitions

Run = tuple[int, ...]
"""Word indices of one text, in order; empty in a text that a span does not touch."""
LIKELY = 0.27
"""The probability below which a word beside a different quantity is not an error of its own."""
TERMINAL = frozenset(".!?")
ODD = frozenset("_~^@*|")
"""Characters that are not punctuation of running text."""
Quantities = Sequence[tuple[Quantity, Quantity]]
"""Quantities of the reference, each with its counterpart in the hypothesis."""


class Finding(NamedTuple):
    """Describe one span before its weight is known.

    Attributes
    ----------
    severity
        The likeliest severity of its costliest word.
    cost
        The expected cost of that word.
    exact
        Whether it is a different quantity, which is critical whatever the reader says.
    """

    kind: Kind
    type: str
    severity: Severity
    cost: float
    confidence: float
    reference: TextSpan | None
    hypothesis: TextSpan | None
    exact: bool = False


class PairWords:
    """Hold two texts and what the reader says of their words.

    Parameters
    ----------
    equal
        The words of equal quantities, which are no errors whatever the reader says.
    """

    def __init__(
        self, reference: PreparedText, hypothesis: PreparedText, reading: PairPrediction, equal: EqualWords = ()
    ) -> None:
        self.reference, self.hypothesis = reference, hypothesis
        probabilities = reading.probabilities.astype(np.float64)
        for words in equal:
            probabilities[self.rows(*words)] = (1.0, 0.0, 0.0, 0.0)
        self.errors, self.costs = 1.0 - probabilities[:, 0], probabilities @ np.array(WEIGHTS)
        self.types = reading.types * self.errors[:, None]
        self.severities = probabilities[:, 1:].argmax(axis=1) + 1

    def rows(self, reference: Iterable[int], hypothesis: Iterable[int]) -> list[int]:
        """Return the rows of some words in the reader's tables."""
        return [*reference, *(len(self.reference.words) + n for n in hypothesis)]

    def finding(self, reference: Run, hypothesis: Run) -> Finding:
        """Return the span of a run of the reference, of the hypothesis, or of both."""
        rows, kind = self.rows(reference, hypothesis), self._kind(reference, hypothesis)
        name = TYPES[int(self.types[rows].sum(axis=0).argmax())]
        worst = max(rows, key=lambda row: float(self.costs[row]))
        spans = self.reference.span_of(reference), self.hypothesis.span_of(hypothesis)
        severity = SEVERITIES[int(self.severities[worst])]
        return Finding(kind, name, severity, float(self.costs[worst]), float(self.errors[rows].max()), *spans)

    def _kind(self, reference: Run, hypothesis: Run) -> Kind:
        """Return `order` for the same words in both texts."""
        if not reference or not hypothesis:
            return "missing" if reference else "unnecessary"
        old = sorted(self.reference.words[n].text.lower() for n in reference)
        return "order" if old == sorted(self.hypothesis.words[n].text.lower() for n in hypothesis) else "replacement"

    def quantity(self, old: Quantity, new: Quantity) -> Finding:
        """Return the span of a quantity that has another value in the hypothesis."""
        spans = self.reference.span(old.start, old.end), self.hypothesis.span(new.start, new.end)
        rows = self.rows(self.reference.words_in(old.start, old.end), self.hypothesis.words_in(new.start, new.end))
        kind, cost = _quantity_type(old, new, *(span.text for span in spans)), max([CRITICAL, *self.costs[rows]])
        return Finding("replacement", kind, "critical", float(cost), 1.0, *spans, exact=True)


def _quantity_type(old: Quantity, new: Quantity, before: str, after: str) -> str:
    """Return date or time for such quantities, name for addresses, noun for code, unit where only the unit differs, else number."""
    if old.dimension in ("address", "program"):
        return "name" if old.dimension == "address" else "noun"
    for name in ("date", "time"):
        if old.dimension.startswith(name) or new.dimension.startswith(name):
            return name
    amounts = [re.findall(r"[-−]?\d+", text) or text.lower().split()[:1] for text in (before, after)]
    return "unit" if amounts[0] == amounts[1] and {old.dimension, new.dimension} != {"number"} else "number"


def equal_words(reference: PreparedText, hypothesis: PreparedText, equal: Quantities) -> list[tuple[range, range]]:
    """Return the words of equal quantities, in the order of the hypothesis and without overlaps there."""
    words = [(reference.words_in(one.start, one.end), hypothesis.words_in(other.start, other.end)) for one, other in equal]
    kept: list[tuple[range, range]] = []
    for own, other in sorted(words, key=lambda both: both[1].start):
        if own and other and (not kept or other.start >= kept[-1][1].stop):
            kept.append((own, other))
    return kept


def find_spans(
    pair: PairWords, matches: Sequence[WordMatch], different: Quantities, amount: float, config: ErrorsConfig
) -> list[Finding]:
    """Return the spans of one pair: its different quantities, and the marked words outside them.

    Where the amount is that of an error although no word reaches the threshold, the costliest word is marked.
    """
    texts, found = (pair.reference, pair.hypothesis), [pair.quantity(*quantities) for quantities in different]
    taken = [{n for q in different for n in text.words_in(q[side].start, q[side].end)} for side, text in enumerate(texts)]
    free = [[n for n in text.places if n not in words] for text, words in zip(texts, taken, strict=True)]
    shift = len(pair.reference.words)
    for side, text in enumerate(texts):
        errors = pair.errors[shift * side :]
        free[side] = _apart(text, free[side], taken[side], (errors >= config.threshold) & (errors < LIKELY))
    rows = pair.rows(*free)
    marked = {row for row in rows if pair.errors[row] >= config.threshold}
    if not marked and not found and amount >= BANDS["minor"][1] and any(pair.costs[rows]):
        marked = {max(rows, key=lambda row: float(pair.costs[row]))}
    steady = [match for match in matches if match.same and not match.moved]
    old = _runs(pair.reference, free[0], taken[0], marked, {match.reference for match in steady})
    new = _runs(pair.hypothesis, free[1], taken[1], {row - shift for row in marked}, {match.hypothesis for match in steady})
    return found + [pair.finding(*both) for both in _linked(old, new, matches)]


def _apart(text: PreparedText, free: Sequence[int], taken: Collection[int], marked: NDArray[np.bool_]) -> list[int]:
    """Return the free words without the marked ones beside a different quantity, which are part of its claim."""
    claim = set(taken)
    for places in (text.places, text.places[::-1]):
        for before, n in zip(places, places[1:], strict=False):
            if before in claim and marked[n]:
                claim.add(n)
    return [n for n in free if n not in claim]


def _runs(
    text: PreparedText, free: Sequence[int], taken: set[int], marked: Collection[int], steady: Collection[int]
) -> list[Run]:
    """Return the runs of marked words within a sentence, punctuation aside.

    A run goes on over one unmarked word, unless that word is the same, and in the same order, in the other text, and never over a different
    quantity (``taken``), which may be part of a repetition.
    """
    order, runs = {n: place for place, n in enumerate(text.places)}, list[list[int]]()
    bridges = set(free).difference(marked, steady)
    for n in (n for n in free if n in marked):
        last = runs[-1][-1] if runs else n
        gap = text.places[order[last] + 1 : order[n]]
        near = len(gap) <= 1 and bridges.issuperset(gap) and taken.isdisjoint(range(last, n))
        if runs and near and text.words[last].sentence == text.words[n].sentence:
            runs[-1] += [*gap, n]
        else:
            runs.append([n])
    return [tuple(run) for run in runs]


def _linked(reference: Sequence[Run], hypothesis: Sequence[Run], matches: Sequence[WordMatch]) -> list[tuple[Run, Run]]:
    """Return every run once: together with its counterpart, or with an empty run.

    Counterparts are the runs with the most matched words; then those between the same neighbouring matches.
    """
    owners = [{n: k for k, run in enumerate(runs) for n in run} for runs in (reference, hypothesis)]
    shared = Counter((owners[0].get(m.reference, -1), owners[1].get(m.hypothesis, -1)) for m in matches)
    partner: dict[int, int] = {}
    for a, b in sorted((pair for pair in shared if min(pair) >= 0), key=lambda pair: (-shared[pair], pair)):
        if a not in partner and b not in partner.values():
            partner[a] = b
    fixed = [m for m in matches if not m.moved and m.reference not in owners[0] and m.hypothesis not in owners[1]]
    slots = defaultdict[int, list[int]](list)
    for b in sorted(set(range(len(hypothesis))).difference(partner.values())):
        slots[bisect([m.hypothesis for m in fixed], hypothesis[b][0])].append(b)
    for a, run in enumerate(reference):
        slot = slots[bisect([m.reference for m in fixed], run[0])]
        if a not in partner and slot:
            partner[a] = slot.pop(0)
    pairs = [(run, hypothesis[partner[a]] if a in partner else ()) for a, run in enumerate(reference)]
    return pairs + [((), run) for b, run in enumerate(hypothesis) if b not in partner.values()]


def weigh(findings: Sequence[Finding], amount: float, config: ErrorsConfig) -> list[ErrorSpan]:
    """Return the error spans of a pair with their severities and weights.

    The amount is shared in proportion to confidence times expected cost. The weight is the share times the confidence. The severity is that of
    the costliest word, or a lower one whose band the weight comes near; the weight is brought into its band.
    """
    costs = [finding.confidence * finding.cost for finding in findings]
    whole = math.fsum(costs) or 1.0
    return [_weighed(one, amount * cost / whole, config) for one, cost in zip(findings, costs, strict=True)]


def _weighed(one: Finding, share: float, config: ErrorsConfig) -> ErrorSpan:
    """Return the span of a finding with its share of the amount; a different quantity is critical, whatever the share."""
    weight, level = one.confidence * share, SEVERITIES.index(one.severity)
    if one.exact:
        weight = max(weight, CRITICAL)
    while level > 1 and weight < config.nearness * BANDS[SEVERITIES[level]][0]:
        level -= 1
    low, high = BANDS[SEVERITIES[level]]
    weight = min(max(weight, low), high)
    return ErrorSpan(one.kind, one.type, SEVERITIES[level], weight, one.confidence, one.reference, one.hypothesis)


def surface_errors(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], equal: Quantities, config: SurfaceConfig
) -> tuple[ErrorSpan, ...]:
    """Return the surface errors of the hypothesis; those of weight 0 are differences.

    A reference without capitals says nothing about casing, and one without marks nothing about punctuation. Of equal code the blanks count.
    """
    errors = [*_spacing(reference, hypothesis, config), *_emoji(reference, hypothesis, config)]
    if any(character.isupper() for character in reference.text):
        errors += _casing(reference, hypothesis, matches, config)
    if any(map(is_mark, reference.words)):
        errors += _punctuation(reference, hypothesis, matches, config)
    errors += [*_articles(reference, hypothesis, config), *_repetition(reference, hypothesis, config)]
    code = [hypothesis.span(one.start, one.end) for one in hypothesis.quantities if one.dimension == "program"]
    errors = [e for e in errors if not (e.hypothesis and any(one.start <= e.hypothesis.start < one.end for one in code))]
    pairs = [(reference.span(a.start, a.end), hypothesis.span(b.start, b.end)) for a, b in equal if b.dimension == "program"]
    slips = [both for both in pairs if both[0].text != both[1].text]
    return (*errors, *(_minor("spacing", config.likely, config.slip * config.likely, *both) for both in slips))


def _spacing(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Find blanks where English writes none, and missing ones; a habit that the reference shares (tokenised text) is right."""
    for pattern in (*SPACE_PATTERNS, *MISSING_SPACES):
        if not pattern.search(reference.text):
            for match in pattern.finditer(hypothesis.text):
                yield _minor("spacing", config.likely, config.slip * config.likely, None, hypothesis.span(*match.span()))


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
                yield _minor("casing", config.likely, config.slip * config.likely, None, span)
            continue
        first_alone = {old.text[1:], new.text[1:]} == {old.text[1:].lower()}
        if small or (twins[n] in first[0]) == (n in first[1]) or not first_alone:
            likely = config.likely if small else config.possible
            yield _minor("casing", likely, config.slip * likely, reference.span(old.start, old.end), span)


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
    elif (ends[0] and ends[0].character) != (ends[1] and ends[1].character):
        kind: Kind = "replacement" if old else "unnecessary"
        yield _minor("punctuation", config.possible, config.slip * config.possible, old, new, kind)
    there = {-1: -1} | {match.reference: match.hypothesis for match in matches}
    left = [mark for mark in reference.marks if mark is not ends[0]]
    added = [mark for mark in hypothesis.marks if mark is not ends[1]]
    for mark in list(left):
        twin = next((other for other in added if _same(mark, other, there)), None)
        if twin is not None:
            left.remove(mark)
            added.remove(twin)
    for mark in left:
        weight = config.slip * config.possible * _tight(mark, there, reference, hypothesis)
        yield _minor("punctuation", config.possible, weight, reference.span_at(mark), None, "missing")
    back = {j: i for i, j in there.items()}
    for mark in added:
        # stray are a mark that `tidy` removes, an odd one, and one that ends a sentence before a small letter
        after = hypothesis.text[mark.place + 1 :].lstrip()[:1]
        stray = mark.stray or mark.character in ODD or (mark.character in "!?" and mark.before >= 0 and after.islower())
        likely = config.likely if stray else config.possible
        weight = config.slip * likely * (stray or _tight(mark, back, hypothesis, reference))
        yield _minor("punctuation", likely, weight, None, hypothesis.span_at(mark), "unnecessary")


def _end(text: PreparedText) -> PunctuationMark | None:
    """Return the final mark of a text, which only marks, emoji, tags and footnotes follow."""
    words = NOTES.sub(lambda note: " " * len(note[0]), text.text)
    ends = (mark for mark in reversed(text.marks) if mark.character in TERMINAL and words[mark.place] != " ")
    return next((mark for mark in ends if not any(map(str.isalnum, words[mark.place :]))), None)


def _same(mark: PunctuationMark, other: PunctuationMark, there: dict[int, int]) -> bool:
    """Return whether two marks are alike and beside matched words."""
    beside = there.get(mark.before, -2) == other.before or there.get(mark.after, -2) == other.after
    return beside and (mark.character, mark.stray) == (other.character, other.stray)


def _tight(mark: PunctuationMark, there: dict[int, int], own: PreparedText, text: PreparedText) -> bool:
    """Return whether the two words on either side of a mark have matches that follow each other in the other text, marks aside."""
    words, others = ((-1, *side.places, -2) for side in (own, text))
    order, at = {n: place for place, n in enumerate(others)}, words.index(mark.before) if mark.before in words else 0
    places = [order.get(n if n < 0 else there.get(n, -3), -3) for n in words[max(at - 1, 0) : at + 3]]
    return mark.before in words and all(after == before + 1 for before, after in pairwise(places))


def _emoji(reference: PreparedText, hypothesis: PreparedText, config: SurfaceConfig) -> Iterator[ErrorSpan]:
    """Find the emoji that are lost, added or others, wherever they are; skin tones do not count, and keycaps are numbers."""
    found = [
        [(SHADE.sub("", match[0]), text.span(*match.span())) for match in EMOJI.finditer(text.text) if match[0][0] > "9"]
        for text in (reference, hypothesis)
    ]
    ours, theirs = (Counter(emoji for emoji, _ in side) for side in found)
    for old, new in zip_longest(ours - theirs, theirs - ours):
        spans = dict(found[0]).get(old), dict(found[1]).get(new)
        if old and new:
            yield ErrorSpan("replacement", "noun", "major", MAJOR, 1.0, *spans)
        else:
            kind: Kind = "missing" if old else "unnecessary"
            yield _minor("omission" if old else "addition", config.possible, config.possible, *spans, kind)


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
        if hypothesis.text[run.start : run.end].lower() not in meant:
            weight += (run.words - 1) * again
            yield _minor("repetition", config.sure, min(weight, MINOR_MOST), None, span, "unnecessary")
            weight = again


def _minor(
    name: str, confidence: float, weight: float, old: TextSpan | None, new: TextSpan | None, kind: Kind = "surface"
) -> ErrorSpan:
    """Return a minor error, or a difference of weight 0."""
    return ErrorSpan(kind, name, "minor" if weight else "none", weight, confidence, old, new)
