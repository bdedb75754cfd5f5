"""RoMe as one metric among others: its score and each of its components, from features measured once and stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.rated import ErrorMark
from rome.evaluation.metrics.pairs import PairValues, candidates
from rome.evaluation.metrics.protocol import References, Scores
from rome.evaluation.metrics.score_store import ScoreStore, TextPair
from rome.features.errors.values import ErrorSpan
from rome.features.values import FEATURES
from rome.metric import RoMe

__all__ = ["RomeComponent", "RomeFeatures", "RomeScore"]


class RomeFeatures:
    """The four features of every candidate, shared by the score and the components so that they are measured once.

    metric : what measures them; its own store of analyses speeds up the first time. store : where the features are kept.
    """

    def __init__(self, metric: RoMe, *, store: ScoreStore | None = None, progress: bool | None = None) -> None:
        self.metric = metric
        self.values = PairValues(
            metric.feature_signature, self._measure, width=len(FEATURES), store=store, progress=progress, label="RoMe"
        )

    def _measure(self, pairs: Sequence[TextPair]) -> NDArray[np.float64]:
        """(n, 4) the features of a block of pairs."""
        table = self.metric.features(references=[pair[0] for pair in pairs], hypotheses=[pair[1] for pair in pairs])
        return table.values

    def best(self, references: References, hypotheses: Sequence[str]) -> tuple[NDArray[np.float64], Scores]:
        """(n, 4) the features against the reference that scores best, the first of equals, and (n,) that score."""
        pairs, starts = candidates(references, hypotheses)
        if not pairs:
            return np.zeros((0, len(FEATURES))), np.zeros(0)
        values = self.values.of(pairs)
        scores = self.metric.combiner.score_rows(values)
        ends = [*starts[1:], len(pairs)]
        rows = [start + int(np.argmax(scores[start:end])) for start, end in zip(starts, ends, strict=True)]
        return values[rows], scores[rows]


class RomeScore:
    """The score that the net makes of the four features, in [0, 1]."""

    name = "RoMe"

    def __init__(self, features: RomeFeatures) -> None:
        self.features = features

    @property
    def signature(self) -> str:
        """RoMe's own signature: features and net."""
        return self.features.metric.signature

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) in [0, 1]."""
        return self.features.best(references, hypotheses)[1]

    def marks(self, references: References, hypotheses: Sequence[str]) -> list[tuple[ErrorMark, ...]]:
        """The errors of each hypothesis as a rater would mark them; one that stands in the reference only has no place."""
        result = self.features.metric.score(references=references, hypotheses=hypotheses)
        found = []
        for segment in result:
            errors = [error for error in segment.evidence.errors.errors if error.severity != "none"]
            found.append(tuple(_mark(error) for error in errors))
        return found


def _mark(error: ErrorSpan) -> ErrorMark:
    """An error of the evidence as a mark in the hypothesis."""
    place = error.hypothesis
    start, end = (None, None) if place is None else (place.start, place.end)
    return ErrorMark(start, end, error.severity, f"{error.kind}/{error.type}")


class RomeComponent:
    """One component, in [0, 1], against the reference that RoMe's score chose."""

    def __init__(self, features: RomeFeatures, feature: str) -> None:
        self.features, self.index = features, FEATURES.index(feature)
        self.name = f"RoMe.{feature}"

    @property
    def signature(self) -> str:
        """Which component, and RoMe's signature (the net chooses among several references)."""
        return f"component:{FEATURES[self.index]}|{self.features.metric.signature}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) in [0, 1]."""
        return self.features.best(references, hypotheses)[0][:, self.index]
