"""Two systems on the same segments: their differences, how certain these are, and the segments and mistakes behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.checks import hints
from rome.combining.combiner import MEASURES
from rome.combining.signature import check_same_signature
from rome.exceptions import InputError
from rome.reports.resampling import LEVEL, bootstrap_intervals, sign_flip_p_values
from rome.reports.segment import error_name
from rome.results.corpus import CorpusScore
from rome.results.displayed import Displayed, plain
from rome.results.segment import Change, Contributions

if TYPE_CHECKING:
    from rome.reports.model import Document

EQUAL = 1e-9
"""Two systems whose numbers for a segment differ by less are tied there."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two systems in the score or in one component.

    Attributes
    ----------
    a, b
        The means of the first and the second system, each in [0, 1].
    difference
        Second minus first, so a positive number favours the second system.
    low, high
        The interval of the difference (see Comparison.level); nan with fewer than two segments.
    p_value
        Two-sided: the probability of a difference at least as far from 0 if the outputs were assigned to the systems at random.
    wins, losses, ties
        The number of segments where the second system is better, worse, and neither.
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
        """True when the interval excludes 0, so that one system is ahead."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, slots=True)
class ErrorChange:
    """One kind of mistake in two results of the same segments.

    Attributes
    ----------
    name, plural
        Such as ``wrong number``, ``wrong numbers``.
    gone, come
        The segments where only the first system makes it, and where only the second does; a segment number occurs once per mistake.
    """

    name: str
    plural: str
    gone: tuple[int, ...]
    come: tuple[int, ...]

    @property
    def difference(self) -> int:
        """The number of such mistakes of the second system minus that of the first."""
        return len(self.come) - len(self.gone)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"name": self.name, "difference": self.difference, "gone": list(self.gone), "come": list(self.come)}

    def __str__(self) -> str:
        """Return a phrase such as ``12 fewer wrong numbers``."""
        count = abs(self.difference)
        if not count:
            return f"as many {self.plural}, {len(self.come)} of them in other places"
        return f"{count} {'more' if self.difference > 0 else 'fewer'} {self.name if count == 1 else self.plural}"


@dataclass(frozen=True, slots=True)
class Comparison(Displayed):
    """Two systems compared segment by segment; `compare` makes it, and it displays itself as text and in a notebook.

    Every difference is the second system minus the first.

    Attributes
    ----------
    a, b
        The results of the first and the second system.
    names
        Their names.
    differences
        Of the score, each component, completeness and faithfulness, in the order of MEASURES.
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
    def sign(self) -> str:
        """The sign of every difference in words, such as ``new minus old``."""
        return " minus ".join(self.names[::-1])

    @property
    def score(self) -> Difference:
        """The difference of the scores."""
        return self.differences[0]

    @property
    def contributions(self) -> Contributions:
        """The share of each feature in the difference of the scores: the means over the segments, whose sum is that difference."""
        return Contributions(*np.mean([[*change.contributions] for change in self.changes], axis=0).tolist())

    def __getitem__(self, name: str) -> Difference:
        """Return the difference of one of MEASURES by its name. Raises InputError for another name."""
        if name not in MEASURES:
            raise InputError(f"the name must be one of {', '.join(MEASURES)}, got {name!r}")
        return self.differences[MEASURES.index(name)]

    def __iter__(self) -> Iterator[Difference]:
        """Return the differences, the score's first."""
        return iter(self.differences)

    def __len__(self) -> int:
        """Return the number of differences."""
        return len(self.differences)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The change of each segment from the first system to the second."""
        return tuple(map(Change, self.a, self.b))

    def deciding(self, count: int = 10) -> tuple[Change, ...]:
        """Return the changes with the largest differences of the score, in either direction; none where the systems are tied."""
        changed = [change for change in self.changes if abs(change.difference) >= EQUAL]
        return tuple(nlargest(max(0, count), changed, key=lambda change: abs(change.difference)))

    @property
    def error_changes(self) -> tuple[ErrorChange, ...]:
        """The mistakes that only one of the systems makes, kind by kind; none without evidence."""
        return error_changes(self.changes)

    def to_dict(self, *, segments: int = 10) -> dict[str, Any]:
        """Return plain values, ready for JSON: differences, changed mistakes, and so many of the deciding segments."""
        parts = ("difference", "components", "contributions")
        row = {
            "names": list(self.names),
            "sign": self.sign,
            "segments": len(self.a),
            "differences": {measure.name: measure for measure in self.differences},
            "contributions": self.contributions,
            "error_changes": [change.to_dict() for change in self.error_changes],
            "deciding": [
                {"segment": change.after.segment, **{part: getattr(change, part) for part in parts}}
                for change in self.deciding(segments)
            ],
            **{key: getattr(self, key) for key in ("level", "resamples", "seed")},
            "signature": self.a.signature,
        }
        return dict(plain(row))

    def __repr__(self) -> str:
        """Show the names, the difference of the scores and its interval."""
        score = self.score
        interval = f"{score.difference:+.3f}, [{score.low:+.3f}, {score.high:+.3f}]"
        return f"Comparison({self.sign} = {interval}, segments={len(self.a)})"

    def _document(self) -> Document:
        """Show the differences, then the segments that decide."""
        from rome.reports.summaries import comparison_document

        return comparison_document(self)


@hints
def compare(
    a: CorpusScore, b: CorpusScore, *, names: Sequence[str] = ("a", "b"), resamples: int = 2000, seed: int = 0
) -> Comparison:
    """Compare two systems on the same segments: every difference is the second minus the first.

    The intervals hold 95 % of the mean differences over ``resamples`` resamples of segments (paired bootstrap, percentiles); the p-values
    come from as many random swaps of the two outputs of a segment. The same seed gives the same numbers. With several references per
    segment, each system may match another one.

    Raises InputError for systems without segments, for segments or references that differ (naming the first), for other than two
    different names, and for resamples below 1; SignatureMismatchError for scores that were made in two ways.
    """
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f'names must be two different names, such as names=("old", "new"), got {names!r}')
    pair = names[0], names[1]
    _check(a, b, pair)
    first, second = a.measures, b.measures
    gaps = second - first
    intervals = bootstrap_intervals(gaps, resamples, seed)
    p_values = sign_flip_p_values(gaps, resamples, seed)
    wins, losses = (gaps >= EQUAL).sum(axis=0), (gaps <= -EQUAL).sum(axis=0)
    columns = (first.mean(axis=0), second.mean(axis=0), gaps.mean(axis=0), *intervals.T, p_values, wins, losses)
    rows = zip(MEASURES, *(column.tolist() for column in (*columns, len(gaps) - wins - losses)), strict=True)
    return Comparison(a, b, pair, tuple(Difference(*row) for row in rows), LEVEL, resamples, seed)


def error_changes(changes: Iterable[Change]) -> tuple[ErrorChange, ...]:
    """Return the kinds of mistakes that went or came, the largest change first; segments without evidence are ignored.

    A mistake is the same in both when kind, type, severity, the place in the reference and the words of the hypothesis are.
    """
    segments: dict[tuple[str, str], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for change in changes:
        if change.before.evidence.errors is not None and change.after.evidence.errors is not None:
            for side, errors in enumerate((change.went, change.came)):
                for error in errors:
                    segments[error_name(error)][side].append(change.after.segment)
    kinds = [ErrorChange(*name, tuple(gone), tuple(come)) for name, (gone, come) in sorted(segments.items())]
    return tuple(sorted(kinds, key=lambda change: (-abs(change.difference), -len(change.come) - len(change.gone))))


def _check(a: CorpusScore, b: CorpusScore, names: tuple[str, str]) -> None:
    """Raise unless both are scores of the same segments, made in the same way."""
    for given, name in ((a, names[0]), (b, names[1])):
        if not isinstance(given, CorpusScore):
            raise InputError(f"system {name} must be a CorpusScore, as `metric.score` returns, got {type(given).__name__}")
    check_same_signature(a.signature, b.signature, names)
    if len(a) != len(b) or not len(a):
        raise InputError(
            f"{names[0]} has {len(a)} segments, {names[1]} has {len(b)}: give two systems' scores of the same segments, one or more"
        )
    for place, (x, y) in enumerate(zip(a, b, strict=True)):
        same = x.reference_index != y.reference_index or x.reference == y.reference
        if x.segment != y.segment or not same:
            raise InputError(
                f"row {place} is segment {x.segment} with the reference {x.reference[:60]!r} in {names[0]} and segment {y.segment} with "
                f"{y.reference[:60]!r} in {names[1]}: score both systems against the same references, in the same order"
            )
