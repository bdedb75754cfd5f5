"""A gate for continuous integration: are there more mistakes of a severity than allowed, and in which segments?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rome.exceptions import InputError
from rome.features.errors.evidence import ErrorSpan
from rome.results.displayed import plain
from rome.results.segment import SegmentScore, unmatched

SEVERITIES = ("critical", "major", "minor")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed; None allows everything.

    Raises InputError for a negative number, and for a score outside [0, 1].

    Attributes
    ----------
    critical, major, minor
        The most errors of that severity, of all segments together.
    score
        The least score of every segment, in [0, 1].
    """

    critical: int | None = None
    major: int | None = None
    minor: int | None = None
    score: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in SEVERITIES:
            most = getattr(self, name)
            if most is not None and most < 0:
                raise InputError(f"at most {most} {name} errors cannot be: give 0 or more")
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise InputError(f"a score of at least {self.score:g} cannot be asked for: give a number from 0 to 1")


@dataclass(frozen=True, slots=True)
class Offence:
    """A segment that is to blame: its errors of the severities that are over their limit, or a score that is too low.

    Attributes
    ----------
    name
        What the segment is called: its id, or its number from 0.
    """

    name: str
    segment: SegmentScore
    errors: tuple[ErrorSpan, ...]
    low: bool = False

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        found = [f"{error.severity} {error.type}: {_words(error)}" for error in self.errors]
        return "; ".join([*([f"score {self.segment.score:.3f}"] if self.low else []), *found])


def _words(error: ErrorSpan) -> str:
    """Return the words that the error is about, first those of the reference."""
    sides = [f'"{span.text}"' for span in (error.reference, error.hypothesis) if span is not None]
    return (
        " -> ".join(dict.fromkeys(sides))
        if len(sides) == 2
        else f"{sides[0]} {'missing' if error.hypothesis is None else 'added'}"
    )


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found.

    Attributes
    ----------
    names, segments
        All that was looked at.
    limits
        What was allowed.
    counts
        How many errors of each severity there are; beside a baseline, those that it does not have.
    offences
        The segments that are to blame, in their order; none when the gate is passed.
    baseline
        Whether errors of a baseline were left out.
    """

    names: tuple[str, ...]
    segments: tuple[SegmentScore, ...]
    limits: Limits
    counts: dict[str, int]
    offences: tuple[Offence, ...]
    baseline: bool = False

    @property
    def passed(self) -> bool:
        """Whether nothing is over its limit."""
        return not self.offences

    @property
    def summary(self) -> str:
        """One line: passed or failed, and every count beside its limit."""
        new = "new " if self.baseline else ""
        told = [f"{self.counts[name]} {new}{name} ({_allowed(getattr(self.limits, name))})" for name in SEVERITIES]
        low = sum(offence.low for offence in self.offences)
        told += [] if self.limits.score is None else [f"{low} segments below a score of {self.limits.score:g}"]
        return f"{'passed' if self.passed else 'FAILED'}: {', '.join(told)} in {len(self.segments)} segments"

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, ready for JSON."""
        row = {
            "passed": self.passed,
            "segments": len(self.segments),
            "limits": self.limits,
            "counts": self.counts,
            "offences": [
                {
                    "segment": offence.name,
                    "score": offence.segment.score,
                    "reference": offence.segment.reference,
                    "hypothesis": offence.segment.hypothesis,
                    "errors": offence.errors,
                }
                for offence in self.offences
            ],
            "signature": self.segments[0].signature if self.segments else "",
        }
        return dict(plain(row))


def _allowed(most: int | None) -> str:
    return "any number allowed" if most is None else f"at most {most} allowed"


def check_limits(
    segments: Iterable[SegmentScore],
    limits: Limits,
    *,
    names: Sequence[str] | None = None,
    baseline: Iterable[SegmentScore] | None = None,
) -> GateResult:
    """Count the errors of these segments and compare the counts with the limits.

    Raises InputError without segments, for a segment without evidence where errors are limited, and for a baseline of other segments.

    Parameters
    ----------
    names
        What the segments are called; by default their numbers.
    baseline
        Scores of the same segments; errors that stand there too are not counted, and a score is low only where it was not before.
    """
    given = tuple(segments)
    if not given:
        raise InputError("there is no segment to check: give at least one")
    before = None if baseline is None else tuple(baseline)
    if before is not None:
        _check_same(given, before)
    found = [_new_errors(segment, None if before is None else before[n], limits) for n, segment in enumerate(given)]
    counts: Counter[str] = Counter(error.severity for errors in found for error in errors)
    over = {name for name in SEVERITIES if counts[name] > _most(getattr(limits, name))}
    called = tuple(str(segment.segment) for segment in given) if names is None else tuple(names)
    offences = []
    for n, (segment, errors) in enumerate(zip(given, found, strict=True)):
        blamed = tuple(error for error in errors if error.severity in over)
        low = limits.score is not None and segment.score < limits.score
        low = low and not (before is not None and before[n].score < (limits.score or 0.0))
        if blamed or low:
            offences.append(Offence(called[n], segment, blamed, low))
    return GateResult(called, given, limits, {name: counts[name] for name in SEVERITIES}, tuple(offences), before is not None)


def _most(limit: int | None) -> float:
    return math.inf if limit is None else limit


def _new_errors(segment: SegmentScore, before: SegmentScore | None, limits: Limits) -> tuple[ErrorSpan, ...]:
    """Return the errors of a segment that its baseline does not have."""
    for each in (segment, before):
        if each is not None and each.evidence.errors is None and any(getattr(limits, name) is not None for name in SEVERITIES):
            raise InputError(
                f"segment {each.segment} has no evidence, so its errors are not known: write it with `rome score --format jsonl --evidence`"
            )
    return segment.errors if before is None else unmatched(segment.errors, before.errors)


def _check_same(given: Sequence[SegmentScore], before: Sequence[SegmentScore]) -> None:
    if len(given) != len(before):
        raise InputError(f"the baseline has {len(before)} segments and {len(given)} are checked: score the same segments")
    for one, other in zip(given, before, strict=True):
        if one.reference_index == other.reference_index and one.reference != other.reference:
            raise InputError(f"segment {one.segment} has another reference in the baseline: score the same segments")
