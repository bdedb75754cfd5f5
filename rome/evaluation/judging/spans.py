"""Error spans: does a metric mark errors where people marked them?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from rome.data.readers.rated import ErrorMark, RatedSet
from rome.evaluation.agreement.spans import SpanScores, corpus_spans
from rome.evaluation.metrics.registry import marks_on
from rome.reports.model import Cell, Table

__all__ = ["error_spans", "scattered"]


def error_spans(rated: RatedSet, metrics: Sequence[Any]) -> Table | None:
    """Precision, recall and F1 by characters of every metric that marks errors (see `marks_on`), beside trivial markers, one of them at random, and the
    raters among themselves; None when the set has no marks or no metric marks."""
    segments = [segment for segment in rated.segments if segment.marks]
    found = {metric.name: marks_on(metric, segments) for metric in metrics} if segments else {}
    predictions = {name: marks for name, marks in found.items() if marks is not None}
    if not predictions:
        return None
    gold = [segment.marks for segment in segments]
    texts = [segment.hypothesis for segment in segments]
    first = next(iter(predictions))
    predictions[f"random, like {first}"] = [
        scattered(marks, len(text), n) for n, (marks, text) in enumerate(zip(predictions[first], texts, strict=True))
    ]
    predictions["everything, major"] = [(ErrorMark(0, len(text), "major"),) for text in texts]
    predictions["nothing"] = [() for _ in texts]
    rows: list[tuple[Cell, ...]] = []
    for name, predicted in predictions.items():
        agreed = corpus_spans(predicted, gold, [len(text) for text in texts])
        rows.append((name, *_figures(agreed.mean), agreed.segment_f1, agreed.best.f1, agreed.segments))
    rows += _raters(rated)
    return Table(
        f"{rated.name}_spans",
        f"{rated.name}: error spans",
        ("marked by", "precision", "recall", "f1", "segment_f1", "f1_best_rater", "segments"),
        tuple(rows),
        "Characters marked on both sides count 1 with the right severity (major with critical), 1/2 with the wrong one (WMT's task on error "
        "spans). Against every rater of a segment, then the mean; f1_best_rater: against the rater nearest in each segment. Marks "
        "without a place in the text (omissions) are no targets. A rater is judged against the others of the same segment.",
        {"segments": 0},
    )


def scattered(marks: Sequence[ErrorMark], length: int, seed: int) -> tuple[ErrorMark, ...]:
    """As many marks as given, as long and as severe, anywhere in the text."""
    chance = random.Random(seed)
    moved = []
    for mark in marks:
        if mark.start is not None and mark.end is not None:
            start = chance.randint(0, max(0, length - (mark.end - mark.start)))
            moved.append(ErrorMark(start, min(length, start + mark.end - mark.start), mark.severity, "random"))
    return tuple(moved)


def _figures(scores: SpanScores) -> tuple[float, float, float]:
    return scores.precision, scores.recall, scores.f1


def _raters(rated: RatedSet) -> list[tuple[Cell, ...]]:
    """People against people: each rater's marks as predictions for the others, over segments with several raters."""
    shared = [segment for segment in rated.segments if len(segment.marks) > 1]
    if not shared:
        return []
    predicted, gold, lengths = [], [], []
    for segment in shared:
        for rater, marks in segment.marks.items():
            predicted.append(marks)
            gold.append({other: theirs for other, theirs in segment.marks.items() if other != rater})
            lengths.append(len(segment.hypothesis))
    found = corpus_spans(predicted, gold, lengths)
    return [("another rater", *_figures(found.mean), found.segment_f1, found.best.f1, len(shared))]
