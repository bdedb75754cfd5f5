"""RoMe as one metric among others: its score and each of its components, from features measured once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rome.checks import SegmentError
from rome.combining.combiner import Combiner
from rome.combining.signature import outputs_digest
from rome.data.readers.rated import ErrorMark, RatedSet
from rome.evaluation.metrics.functions import PairValues, References, Scores, TextPair, candidates
from rome.exceptions import InputError
from rome.features.errors.evidence import ErrorSpan
from rome.features.values import FEATURES
from rome.metric import RoMe
from rome.text_table import shorten


class RomeFeatures:
    """Measure the four features of every candidate once, for the score and the components."""

    def __init__(self, metric: RoMe, *, progress: bool | None = None) -> None:
        self.metric = metric
        self.values = PairValues("RoMe", self._measure, width=len(FEATURES), progress=progress)

    def _measure(self, pairs: Sequence[TextPair]) -> NDArray[np.float64]:
        """Return (n, 4) the features of a block of pairs."""
        try:
            table = self.metric.features(references=[pair[0] for pair in pairs], hypotheses=[pair[1] for pair in pairs])
        except SegmentError as error:
            raise InputError(f"the hypothesis {shorten(pairs[error.segment][1], 60)!r}: {error.in_words}") from error
        return table.values

    def best(
        self, references: References, hypotheses: Sequence[str], net: Combiner | None = None
    ) -> tuple[NDArray[np.float64], Scores]:
        """Return (n, 4) the features against the best reference (the first of equals), and (n,) its score.

        Parameters
        ----------
        net
            Combiner of the features; that of the metric by default.
        """
        pairs, starts = candidates(references, hypotheses)
        if not pairs:
            return np.zeros((0, len(FEATURES))), np.zeros(0)
        values = self.values.of(pairs)
        scores = (net or self.metric.combiner).score_rows(values)
        ends = [*starts[1:], len(pairs)]
        rows = [start + int(np.argmax(scores[start:end])) for start, end in zip(starts, ends, strict=True)]
        return values[rows], scores[rows]


class RomeScore:
    """Combine the four features into a score in [0, 1].

    Parameters
    ----------
    net
        That of the metric by default.
    name
        Name in tables; by default RoMe, or RoMe-supervised if the net was fitted on human ratings.
    """

    def __init__(self, features: RomeFeatures, net: Combiner | None = None, name: str = "") -> None:
        self.features, self._net, self._name = features, net, name

    @property
    def net(self) -> Combiner:
        """Return the net that makes the score."""
        return self._net or self.features.metric.combiner

    @property
    def name(self) -> str:
        """Return the name in tables."""
        return self._name or ("RoMe-supervised" if self.net.fitted_on else "RoMe")

    @property
    def signature(self) -> str:
        """Return the signature of the features, and the net with the ratings that it was fitted on."""
        return f"{self.features.metric.feature_signature}|{self.net.signature}"

    def note_on(self, rated: RatedSet) -> str:
        """Return a warning if the net was fitted on ratings of this set, under whatever name; otherwise an empty text."""
        outputs = outputs_digest(segment.hypothesis for segment in rated.segments)
        known = [source.name for source in self.net.fitted_on if source.name == rated.name or source.outputs == outputs]
        if not known:
            return ""
        return (
            f"{self.name} was trained on this set's ratings ({', '.join(known)}), so its agreement here is too high: see its card "
            "(`rome models`) for the cross-validated figures."
        )

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return (n,) in [0, 1]."""
        return self.features.best(references, hypotheses, self.net)[1]

    def marks(self, references: References, hypotheses: Sequence[str]) -> list[tuple[ErrorMark, ...]]:
        """Return the errors of each hypothesis as a rater would mark them; an omission has no place."""
        result = self.features.metric.score(references=references, hypotheses=hypotheses)
        marks = []
        for segment in result:
            errors = [error for error in segment.evidence.errors.errors if error.severity != "none"]
            marks.append(tuple(_mark(error) for error in errors))
        return marks


def _mark(error: ErrorSpan) -> ErrorMark:
    """Return an error of the evidence as a mark in the hypothesis."""
    place = error.hypothesis
    start, end = (None, None) if place is None else (place.start, place.end)
    return ErrorMark(start, end, error.severity, f"{error.kind}/{error.type}")


class RomeComponent:
    """Score by one component, in [0, 1], against the reference that RoMe's score chose."""

    def __init__(self, features: RomeFeatures, feature: str) -> None:
        self.features, self.index = features, FEATURES.index(feature)
        self.name = f"RoMe.{feature}"

    @property
    def signature(self) -> str:
        """Return the name of the component and RoMe's signature, as the net chooses among several references."""
        return f"component:{FEATURES[self.index]}|{self.features.metric.signature}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return (n,) in [0, 1]."""
        return self.features.best(references, hypotheses)[0][:, self.index]
