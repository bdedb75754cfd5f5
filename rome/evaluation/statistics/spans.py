"""Error spans: are the errors where people marked them, and as severe?

By characters, so that partly overlapping spans count for what they share: the definition of the WMT Quality Estimation task on error
spans (2023 task 2, 2024 task 2). A character that people marked and the metric marked too is worth 1 with the right severity and 1/2 with
the wrong one. Major and critical are one class, minor is the other; where people marked a character as both, any mark is right, and where
the metric did, one right class is enough. Several marks of one character count once. An empty span (an insertion point) stands for the
one place at which it lies, as in the task's own script.

Marks without a place (an omission, a remark on the whole segment) and neutral marks, which are no errors, are no targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.rated import ErrorMark
from rome.exceptions import InputError

WRONG_SEVERITY = 0.5
"""What a character found with the wrong severity is worth."""
CLASSES = {"minor": 0, "major": 1, "critical": 1}


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Hold characters, summed over segments, and what follows from them.

    Attributes
    ----------
    credit
        Of characters marked on both sides, 1 or 1/2 each.
    predicted, gold
        Characters marked on each side. All are means over raters where several count together.
    """

    credit: float
    predicted: float
    gold: float

    @property
    def precision(self) -> float:
        """Credit per predicted character, in [0, 1]; 1 where nothing is predicted."""
        return self.credit / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """Credit per gold character, in [0, 1]; 1 where people marked nothing."""
        return self.credit / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in [0, 1]: 1 where neither side marked anything, 0 where only one did."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """Agreement of predicted spans with one or several raters over a corpus; segments that no rater saw are left out.

    Attributes
    ----------
    mean
        Against each rater of a segment, their counts averaged, summed over segments (every segment counts once, however many raters it has);
        unknown raters' habits weigh as they occur.
    best
        In each segment the rater with whom F1 is highest, an upper bound that favours segments with more raters.
    segment_f1
        Mean over segments of the mean over raters of the segment's own F1 (empty on both sides: 1).
    segments
        How many.
    """

    mean: SpanScores
    best: SpanScores
    segment_f1: float
    segments: int


def segment_spans(predicted: Sequence[ErrorMark], gold: Sequence[ErrorMark], length: int) -> SpanScores:
    """Predicted marks against one rater's, in a text of so many characters; both may be empty.

    Raises InputError for a mark outside the text or an unknown severity.
    """
    ours, theirs = _covered(predicted, length, "predicted"), _covered(gold, length, "gold")
    both_sides = ours.any(axis=0) & theirs.any(axis=0)
    right = (ours & theirs).any(axis=0)
    return SpanScores(
        credit=float(right.sum() + WRONG_SEVERITY * (both_sides & ~right).sum()),
        predicted=float(ours.any(axis=0).sum()),
        gold=float(theirs.any(axis=0).sum()),
    )


def corpus_spans(
    predicted: Sequence[Sequence[ErrorMark]], gold: Sequence[Mapping[str, Sequence[ErrorMark]]], lengths: Sequence[int]
) -> SpanAgreement:
    """Predicted marks of each segment against the marks of its raters, micro-averaged: counts are summed, then divided.

    Raises InputError, naming the segment (from 1), for lists of unequal length, for a mark outside its text, and where no segment has a rater.

    Parameters
    ----------
    predicted, gold, lengths
        One entry a segment; gold maps each rater that saw the segment to their marks (an empty sequence: found none).
    """
    if not len(predicted) == len(gold) == len(lengths):
        raise InputError(
            f"{len(predicted)} predictions, {len(gold)} annotations, {len(lengths)} lengths: give one of each a segment"
        )
    averaged, highest, f1 = list[SpanScores](), list[SpanScores](), list[float]()
    for number, (ours, raters, length) in enumerate(zip(predicted, gold, lengths, strict=True), start=1):
        try:
            found = [segment_spans(ours, marks, length) for marks in raters.values()]
        except InputError as error:
            raise InputError(f"segment {number}: {error}") from error
        if found:
            averaged.append(_sum(found, 1 / len(found)))
            highest.append(max(found, key=lambda scores: scores.f1))
            f1.append(float(np.mean([scores.f1 for scores in found])))
    if not averaged:
        raise InputError("no segment has a rater: give error marks of at least one")
    return SpanAgreement(_sum(averaged), _sum(highest), float(np.mean(f1)), len(averaged))


def _covered(marks: Sequence[ErrorMark], length: int, side: str) -> NDArray[np.bool_]:
    """(2, length + 1) which places each class of severity covers; the last place is the end of the text."""
    covered = np.zeros((2, length + 1), dtype=np.bool_)
    for mark in marks:
        if mark.severity != "neutral" and mark.severity not in CLASSES:
            raise InputError(f"{side} severity {mark.severity!r} is unknown: use one of neutral, {', '.join(CLASSES)}")
        if mark.start is None or mark.end is None or mark.severity == "neutral":
            continue
        if not 0 <= mark.start <= mark.end <= length:
            raise InputError(
                f"a {side} mark covers characters {mark.start} to {mark.end} of a text of {length}: pair marks with the text they are for"
            )
        covered[CLASSES[mark.severity], mark.start : max(mark.end, mark.start + 1)] = True
    return covered


def _sum(scores: Sequence[SpanScores], factor: float = 1.0) -> SpanScores:
    """Counts added, times a factor."""
    return SpanScores(*(factor * np.array([astuple(one) for one in scores]).sum(axis=0)).tolist())
