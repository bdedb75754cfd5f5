"""A gate for continuous integration: compare the numbers of mistakes with limits and name the offending segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rome.exceptions import InputError
from rome.features.errors.evidence import ErrorSpan
from rome.reports.segment import SEVERITIES
from rome.results.displayed import plain
from rome.results.segment import SegmentScore, unmatched


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a gate; None allows everything.

    Raises InputError for a negative number, and for a score outside [0, 1].

    Attributes
    ----------
    critical, major, minor
        The most errors of that severity in all segments together.
    score
        The lowest score that a segment may have, in [0, 1].
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
                raise InputError(f"{name} must be 0 or more errors, got {most}")
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            raise InputError(f"score must be in [0, 1], got {self.score:g}")


@dataclass(frozen=True, slots=True)
class Offence:
    """A segment with errors of a severity that exceeds its limit, or with a score that is too low.

    Attributes
    ----------
    name
        The id of the segment, or its number from 0.
    """

    name: str
    segment: SegmentScore
    errors: tuple[ErrorSpan, ...]
    low: bool = False

    @property
    def message(self) -> str:
        """The errors and the low score in one line."""
        errors = [f"{error.severity} {error.type}: {_words(error)}" for error in self.errors]
        return "; ".join([*([f"score {self.segment.score:.3f}"] if self.low else []), *errors])


def _words(error: ErrorSpan) -> str:
    """Return the words of the error, first those of the reference."""
    sides = [f'"{span.text}"' for span in (error.reference, error.hypothesis) if span is not None]
    if len(sides) == 2:
        return " -> ".join(dict.fromkeys(sides))
    return f"{sides[0]} {'missing' if error.hypothesis is None else 'added'}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate.

    Attributes
    ----------
    names, segments
        All checked segments.
    limits
        The limits that were applied.
    counts
        The number of errors of each severity; with a baseline, of those that it does not have.
    offences
        The offending segments, in their order; none when the gate is passed.
    baseline
        True when the errors of a baseline were not counted.
    """

    names: tuple[str, ...]
    segments: tuple[SegmentScore, ...]
    limits: Limits
    counts: dict[str, int]
    offences: tuple[Offence, ...]
    baseline: bool = False

    @property
    def passed(self) -> bool:
        """True when no limit is exceeded."""
        return not self.offences

    @property
    def summary(self) -> str:
        """One line: passed or failed, and every count beside its limit."""
        new, parts = "new " if self.baseline else "", []
        for name in SEVERITIES:
            limit = getattr(self.limits, name)
            allowed = "any number allowed" if limit is None else f"at most {limit} allowed"
            parts.append(f"{self.counts[name]} {new}{name} ({allowed})")
        if self.limits.score is not None:
            low = sum(offence.low for offence in self.offences)
            parts.append(f"{low} segments below a score of {self.limits.score:g}")
        return f"{'passed' if self.passed else 'FAILED'}: {', '.join(parts)} in {len(self.segments)} segments"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
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
        The names of the segments; by default their numbers.
    baseline
        Scores of the same segments. Errors that they have, too, are not counted, and a score is low only where theirs is not.
    """
    given = tuple(segments)
    if not given:
        raise InputError("there is no segment to check: give at least one")
    before = [None] * len(given) if baseline is None else _baseline(given, baseline)
    errors = [_new_errors(*pair, limits) for pair in zip(given, before, strict=True)]
    counts: Counter[str] = Counter(error.severity for each in errors for error in each)
    over = [name for name in SEVERITIES if (limit := getattr(limits, name)) is not None and counts[name] > limit]
    called = tuple(str(segment.segment) for segment in given) if names is None else tuple(names)
    offences = []
    for name, segment, old, each in zip(called, given, before, errors, strict=True):
        excess = tuple(error for error in each if error.severity in over)
        least = limits.score or 0.0
        low = segment.score < least and not (old is not None and old.score < least)
        if excess or low:
            offences.append(Offence(name, segment, excess, low))
    numbers = {name: counts[name] for name in SEVERITIES}
    return GateResult(called, given, limits, numbers, tuple(offences), baseline is not None)


def _new_errors(segment: SegmentScore, before: SegmentScore | None, limits: Limits) -> tuple[ErrorSpan, ...]:
    """Return the errors of a segment that its baseline does not have."""
    for each in (segment, before):
        if each is not None and each.evidence.errors is None and any(getattr(limits, name) is not None for name in SEVERITIES):
            raise InputError(
                f"segment {each.segment} has no evidence, so its errors are not known: write it with `rome score --format jsonl --evidence`"
            )
    return segment.errors if before is None else unmatched(segment.errors, before.errors)


def _baseline(given: Sequence[SegmentScore], baseline: Iterable[SegmentScore]) -> Sequence[SegmentScore]:
    """Return the segments of the baseline, checked to be the given ones."""
    before = tuple(baseline)
    if len(given) != len(before):
        raise InputError(f"the baseline has {len(before)} segments and {len(given)} are checked: score the same segments")
    for one, other in zip(given, before, strict=True):
        if one.reference_index == other.reference_index and one.reference != other.reference:
            raise InputError(f"segment {one.segment} has another reference in the baseline: score the same segments")
    return before
