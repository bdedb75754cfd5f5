"""Agreement on error spans, by characters: the definition of the WMT Quality Estimation task (2023 task 2, 2024 task 2).

A character that people marked and the metric marked too counts 1 with the right severity and 1/2 with the wrong one. Major and critical are
one class, minor is the other; if people marked a character as both, any mark is right, and if the metric did, one right class is enough.
Several marks of one character count once. An empty span (an insertion point) counts as the one place where it is, as in the task's own script.

Marks without a place (an omission, a remark on the whole segment) and neutral marks, which are not errors, are not targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.rated import ErrorMark
from rome.exceptions import InputError

WRONG_SEVERITY = 0.5
"""Credit of a character with the wrong severity."""
CLASSES = {"minor": 0, "major": 1, "critical": 1}


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Hold counts of characters, summed over segments, with precision, recall and F1.

    Attributes
    ----------
    credit
        Characters marked on both sides, 1 or 1/2 each.
    predicted, gold
        Characters marked on each side. All are means over raters if several count together.
    """

    credit: float
    predicted: float
    gold: float

    @property
    def precision(self) -> float:
        """Return the credit per predicted character, in [0, 1]; 1 if nothing is predicted."""
        return self.credit / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """Return the credit per gold character, in [0, 1]; 1 if people marked nothing."""
        return self.credit / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall, in [0, 1]: 1 if neither side marked anything, 0 if only one did."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """Hold the agreement of predicted spans with one or several raters over a corpus; segments without a rater are left out.

    Attributes
    ----------
    mean
        Against each rater of a segment: counts averaged over raters, then summed over segments.
    segment_f1
        Mean over segments of the mean over raters of the segment's F1 (empty on both sides: 1).
    segments
        Number of segments.
    """

    mean: SpanScores
    segment_f1: float
    segments: int


def segment_spans(predicted: Sequence[ErrorMark], gold: Sequence[ErrorMark], length: int) -> SpanScores:
    """Compare predicted marks with those of one rater in a text of a length; both may be empty.

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
    """Compare predicted marks of each segment with the marks of its raters, micro-averaged: counts are summed, then divided.

    Raises InputError as `segment_spans`.

    Parameters
    ----------
    predicted, gold, lengths
        One entry per segment; gold maps each rater of the segment to their marks, which may be empty.
    """
    averaged, f1 = list[SpanScores](), list[float]()
    for ours, raters, length in zip(predicted, gold, lengths, strict=True):
        scores = [segment_spans(ours, marks, length) for marks in raters.values()]
        if scores:
            averaged.append(_sum(scores, 1 / len(scores)))
            f1.append(float(np.mean([one.f1 for one in scores])))
    return SpanAgreement(_sum(averaged), float(np.mean(f1)), len(averaged))


def _covered(marks: Sequence[ErrorMark], length: int, side: str) -> NDArray[np.bool_]:
    """Return (2, length + 1) the places that each class of severity covers; the last place is the end of the text."""
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
    """Return the sum of counts, times a factor."""
    return SpanScores(*(factor * np.array([astuple(one) for one in scores]).sum(axis=0)).tolist())
