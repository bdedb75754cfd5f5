"""The three development sets that models are chosen by, and how well a metric's numbers follow people's on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from rome.data.readers.rated import RatedSegment
from rome.data.readers.registry import read_rated
from rome.evaluation.statistics.agreement import Average, agreement


@dataclass(frozen=True)
class Judged:
    """A development set with one of its ratings, and the one figure that sums up the agreement with it."""

    name: str
    rating: str
    statistic: str
    average: Average
    title: str

    def segments(self, limit: int | None = None) -> Sequence[RatedSegment]:
        """Its segments, or the first of them. Raises InputError without the development data."""
        return read_rated(self.name).segments[:limit]

    def follows(self, segments: Sequence[RatedSegment], scores: ArrayLike) -> float:
        """The agreement of (n,) scores with the ratings of these segments; nan where it is not defined."""
        return agreement(
            [segment.ratings[self.rating] for segment in segments],
            scores,
            statistic=self.statistic,
            average=self.average,
            items=[segment.item for segment in segments],
            language_pairs=[segment.language_pair for segment in segments],
        ).value


WMT15 = Judged("wmt15", "z", "pearson", "language_pair", "WMT15 mean r")
JUDGED = (
    WMT15,
    Judged("wmt23", "mqm", "kendall_b", "item", "WMT23 mean tau-b per item"),
    Judged("webnlg17", "semantics", "kendall_b", "none", "WebNLG third semantics tau-b"),
)
