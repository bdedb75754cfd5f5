"""Two systems on the same segments: how far apart they are, how sure that is, and which segments decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.combining.signature import differing_keys
from rome.exceptions import InputError, SignatureMismatchError
from rome.features.values import FEATURES
from rome.results import Contributions, CorpusScore
from rome.results.changes import Change, ErrorChange, error_changes
from rome.results.displayed import Displayed
from rome.results.resampling import LEVEL, Rows, bootstrap_intervals, sign_flip_p_values
from rome.results.serialisation import plain

if TYPE_CHECKING:
    from rome.reports.model import Document

MEASURES = ("score", *FEATURES)
"""What is compared: the score and the four components."""

EQUAL = 1e-9
"""Two systems whose numbers for a segment differ by less are tied there."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The score or one component of two systems.

    Attributes
    ----------
    a, b
        The two means, each in [0, 1].
    difference
        A minus b, so positive says that the first system is better.
    low, high
        The interval of the difference (see Comparison.level); nan with fewer than two segments.
    p_value
        Two-sided, the probability of a difference at least as far from 0 if it were chance which system's output is which.
    wins, losses, ties
        The number of segments where the first system is better, worse, and neither.
    """

    name: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    wins: int
    losses: int
    ties: int

    @property
    def decided(self) -> bool:
        """Whether the interval leaves 0 out: one system is ahead, as far as these segments tell."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, slots=True)
class Comparison(Displayed):
    """Two systems compared segment by segment; made by `compare`, displays itself as text and in a notebook.

    Attributes
    ----------
    a, b
        What was compared.
    names
        What the two are called.
    differences
        Of the score and of each component, in the order of MEASURES.
    level
        Of the intervals.
    resamples, seed
        Of the bootstrap and the test.
    """

    a: CorpusScore
    b: CorpusScore
    names: tuple[str, str]
    differences: tuple[Difference, ...]
    level: float
    resamples: int
    seed: int

    @property
    def score(self) -> Difference:
        """The difference of the scores."""
        return self.differences[0]

    @property
    def contributions(self) -> Contributions:
        """What each feature has to do with the difference of the scores: the means over the segments, which add up to it."""
        return Contributions(*np.mean([[*change.contributions] for change in self.changes], axis=0).tolist())

    def __getitem__(self, name: str) -> Difference:
        """Return the difference of the score or of one component by its name. Raises InputError for another name."""
        for found in self.differences:
            if found.name == name:
                return found
        raise InputError(f"{name!r} is not compared: choose {', '.join(MEASURES)}")

    def __iter__(self) -> Iterator[Difference]:
        """Return the five differences, the score's first."""
        return iter(self.differences)

    def __len__(self) -> int:
        """Return the number of differences, five."""
        return len(self.differences)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Return the change of each segment from the second system to the first."""
        return tuple(Change(before, after) for after, before in zip(self.a, self.b, strict=True))

    def deciding(self, count: int = 10) -> tuple[Change, ...]:
        """Return the changes with the largest differences of the score, in either direction; none where the systems are tied."""
        changed = [change for change in self.changes if abs(change.difference) >= EQUAL]
        return tuple(nlargest(max(0, count), changed, key=lambda change: abs(change.difference)))

    @property
    def error_changes(self) -> tuple[ErrorChange, ...]:
        """Which mistakes the first system makes that the second does not, and the other way round, kind by kind; none without evidence."""
        return error_changes(self.b, self.a)

    def to_dict(self, *, segments: int = 10) -> dict[str, Any]:
        """Plain values only, ready for JSON: the differences, the mistakes that went and came, and so many of the segments that decide."""
        row = {
            "names": list(self.names),
            "segments": len(self.a),
            "differences": {found.name: found for found in self.differences},
            "contributions": self.contributions,
            "error_changes": [change.to_dict() for change in self.error_changes],
            "deciding": [
                {
                    "segment": change.after.segment,
                    "difference": change.difference,
                    "components": change.components,
                    "contributions": change.contributions,
                }
                for change in self.deciding(segments)
            ],
            **{key: getattr(self, key) for key in ("level", "resamples", "seed")},
            "signature": self.a.signature,
        }
        return dict(plain(row))

    def __repr__(self) -> str:
        """Short: the names, the scores' difference and its interval."""
        found = self.score
        interval = f"{found.difference:+.4f}, [{found.low:+.4f}, {found.high:+.4f}]"
        return f"Comparison({' - '.join(self.names)} = {interval}, segments={len(self.a)})"

    def _document(self) -> Document:
        """Show the differences, then the segments that decide."""
        from rome.reports.summaries import comparison_document

        return comparison_document(self)


def compare(
    a: CorpusScore, b: CorpusScore, *, names: Sequence[str] = ("a", "b"), resamples: int = 2000, seed: int = 0
) -> Comparison:
    """Compare two systems on the same segments: every difference is the first minus the second.

    The intervals hold 95 % of the mean differences over ``resamples`` resamples of segments (paired bootstrap, percentiles); the p-values
    come from as many random swaps of the two outputs of a segment. The same seed gives the same numbers. With several references a
    segment, the two systems may each have met another one.

    Raises InputError for systems without segments, for segments or references that differ (naming the first), for other than two
    different names, and for resamples below 1; SignatureMismatchError for scores that were made in two ways.
    """
    pair = _names(names)
    _check(a, b, pair)
    first, second = measures(a), measures(b)
    gaps = first - second
    intervals = bootstrap_intervals(gaps, resamples, seed)
    p_values = sign_flip_p_values(gaps, resamples, seed)
    found = []
    for place, name in enumerate(MEASURES):
        means = float(first[:, place].mean()), float(second[:, place].mean())
        wins, losses = int((gaps[:, place] >= EQUAL).sum()), int((gaps[:, place] <= -EQUAL).sum())
        low, high = map(float, intervals[place])
        counts = (wins, losses, len(gaps) - wins - losses)
        found.append(Difference(name, *means, float(gaps[:, place].mean()), low, high, float(p_values[place]), *counts))
    return Comparison(a, b, pair, tuple(found), LEVEL, resamples, seed)


def measures(result: CorpusScore) -> Rows:
    """(n, 5) float64, one row a segment: the score and the four components, in the order of MEASURES."""
    rows = [(segment.score, *(component.value for component in segment.components)) for segment in result]
    return np.array(rows, dtype=np.float64).reshape(-1, len(MEASURES))


def _names(names: Sequence[str]) -> tuple[str, str]:
    """Two different names."""
    given = [names] if isinstance(names, str) else list(names)
    if len(given) != 2 or not all(isinstance(name, str) and name.strip() for name in given) or given[0] == given[1]:
        raise InputError(f'names={names!r} does not name two systems: give two different names, such as names=("old", "new")')
    return given[0], given[1]


def _check(a: CorpusScore, b: CorpusScore, names: tuple[str, str]) -> None:
    """Raise unless both are scores of the same segments, made in the same way."""
    for given, name in ((a, names[0]), (b, names[1])):
        if not isinstance(given, CorpusScore):
            raise InputError(f"system {name} is {type(given).__name__}, not a CorpusScore: give what `metric.score` returned")
    if a.signature != b.signature:
        keys = "; ".join(differing_keys(a.signature, b.signature, names))
        raise SignatureMismatchError(f"{names[0]} and {names[1]} were scored in two ways ({keys}): score both with one metric")
    if len(a) != len(b) or not len(a):
        raise InputError(
            f"{names[0]} has {len(a)} segments, {names[1]} has {len(b)}: give two systems' scores of the same segments, one or more"
        )
    for place, (x, y) in enumerate(zip(a, b, strict=True)):
        if x.segment != y.segment:
            raise InputError(
                f"row {place} is segment {x.segment} in {names[0]} and {y.segment} in {names[1]}: give the same order"
            )
        if x.reference_index == y.reference_index and x.reference != y.reference:
            raise InputError(
                f"segment {x.segment} has the reference {x.reference[:60]!r} in {names[0]} and {y.reference[:60]!r} in {names[1]}: "
                "score both systems against the same references"
            )
