"""A gate for continuous integration: compare the numbers of mistakes with limits and name the offending segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rome.exceptions import InputError
from rome.features.errors.evidence import SHARES, TYPES, ErrorSpan
from rome.reports.segment import SEVERITIES
from rome.results.displayed import plain
from rome.results.segment import SegmentScore, known_errors, unmatched

KINDS = {"unnecessary": "added", "missing": "missing"}
"""The kinds of errors that have a limit, with its name."""
MOST, LEAST = (*SEVERITIES, *KINDS.values()), ("score", *SHARES)
"""The limits of the errors of all segments together, and of the numbers of each segment."""
ERROR_TYPES = (*TYPES, "casing", "spacing")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a gate; None allows everything.

    Raises InputError for a negative number, for a share or score outside [0, 1], and for an unknown name.

    Attributes
    ----------
    critical, major, minor
        The most errors of that severity in all segments together.
    score
        The lowest score that a segment may have, in [0, 1].
    added, missing
        The most errors of that kind in all segments together, whatever their severity.
    completeness, faithfulness
        The lowest ones that a segment may have, in [0, 1].
    type
        The most errors of a type in all segments together, such as ``{"number": 0}``.
    ignore
        The severities, types and kinds (``added``, ``missing``) that are neither counted nor shown, nor lower completeness or faithfulness.
    """

    critical: int | None = None
    major: int | None = None
    minor: int | None = None
    score: float | None = None
    added: int | None = None
    missing: int | None = None
    completeness: float | None = None
    faithfulness: float | None = None
    type: Mapping[str, int] = field(default_factory=dict)
    ignore: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check numbers and names."""
        if isinstance(self.ignore, str):
            raise InputError(f"ignore must be a sequence of names, got {self.ignore!r}. Try ignore=({self.ignore!r},)")
        _check_names("ignore", self.ignore, (*MOST, *ERROR_TYPES))
        _check_names("type", self.type, ERROR_TYPES)
        for name, most in self.most.items():
            if most < 0:
                raise InputError(f"{name} must be 0 or more errors, got {most}")
        for name, least in self.least.items():
            if not 0.0 <= least <= 1.0:
                raise InputError(f"{name} must be in [0, 1], got {least:g}")

    @property
    def most(self) -> dict[str, int]:
        """The given limits of errors, by severity, kind or type."""
        return {name: most for name in MOST if (most := getattr(self, name)) is not None} | dict(self.type)

    @property
    def least(self) -> dict[str, float]:
        """The given limits of score, completeness and faithfulness."""
        return {name: least for name in LEAST if (least := getattr(self, name)) is not None}


def _check_names(name: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise InputError for a name that is not known."""
    for one in given:
        if one not in known:
            raise InputError(f"{name} must be some of {', '.join(known)}, got {one!r}")


@dataclass(frozen=True, slots=True)
class Offence:
    """A segment with errors that exceed a limit, or with numbers that are too low.

    Attributes
    ----------
    name
        The id of the segment, or its number from 0.
    segment
        The segment without what is ignored.
    low
        The names of the numbers that are too low.
    """

    name: str
    segment: SegmentScore
    errors: tuple[ErrorSpan, ...]
    low: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The low numbers and the errors in one line."""
        numbers = [f"{name} {getattr(self.segment, name):.3f}" for name in self.low]
        return "; ".join([*numbers, *(f"{error.severity} {error.type}: {_words(error)}" for error in self.errors)])


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
        All checked segments, without what is ignored.
    limits
        The limits that were applied.
    counts
        The number of errors of each severity and of each limited name; with a baseline, of those that it does not have.
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
        new, parts, most = "new " if self.baseline else "", [], self.limits.most
        for name, count in self.counts.items():
            allowed = f"at most {most[name]} allowed" if name in most else "any number allowed"
            parts.append(f"{count} {new}{name} ({allowed})")
        for name, least in self.limits.least.items():
            low = sum(name in offence.low for offence in self.offences)
            parts.append(f"{low} segments below a {name} of {least:g}")
        ignored = f", without {', '.join(self.limits.ignore)}" if self.limits.ignore else ""
        return f"{'passed' if self.passed else 'FAILED'}: {', '.join(parts)} in {len(self.segments)} segments{ignored}"

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
                    **{name: getattr(offence.segment, name) for name in LEAST},
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

    Raises InputError without segments, for a segment without evidence where its errors matter, and for a baseline of other segments.

    Parameters
    ----------
    names
        The names of the segments; by default their numbers.
    baseline
        Scores of the same segments. Errors that they have, too, are not counted, and a number is low only where theirs is not.
    """
    given = tuple(_kept(segment, limits) for segment in segments)
    if not given:
        raise InputError("there is no segment to check: give at least one")
    before = [None] * len(given) if baseline is None else _baseline(given, [_kept(segment, limits) for segment in baseline])
    errors = [s.errors if old is None else unmatched(s.errors, old.errors) for s, old in zip(given, before, strict=True)]
    counts = {
        name: sum(_is(error, name) for each in errors for error in each) for name in dict.fromkeys((*SEVERITIES, *limits.most))
    }
    over = [name for name, most in limits.most.items() if counts[name] > most]
    called = tuple(str(segment.segment) for segment in given) if names is None else tuple(names)
    offences = []
    for name, segment, old, each in zip(called, given, before, errors, strict=True):
        excess = tuple(error for error in each if any(_is(error, one) for one in over))
        low = [one for one, least in limits.least.items() if getattr(segment, one) < least]
        low = [one for one in low if old is None or not getattr(old, one) < limits.least[one]]
        if excess or low:
            offences.append(Offence(name, segment, excess, tuple(low)))
    return GateResult(called, given, limits, counts, tuple(offences), baseline is not None)


def _is(error: ErrorSpan, name: str) -> bool:
    """Return True when the error has this severity, kind or type."""
    return name in (error.severity, KINDS.get(error.kind), error.type)


def _kept(segment: SegmentScore, limits: Limits) -> SegmentScore:
    """Return the segment without the ignored errors. Raises InputError for one without evidence where its errors matter."""
    if not (limits.most or limits.least.keys() - {"score"} or limits.ignore):
        return segment
    errors = tuple(error for error in known_errors(segment) if not any(_is(error, name) for name in limits.ignore))
    part = segment.components.errors
    evidence = replace(segment.evidence.errors, errors=errors)
    return replace(segment, components=replace(segment.components, errors=replace(part, evidence=evidence)))


def _baseline(given: Sequence[SegmentScore], before: Sequence[SegmentScore]) -> Sequence[SegmentScore]:
    """Return the segments of the baseline, checked to be the given ones."""
    if len(given) != len(before):
        raise InputError(f"the baseline has {len(before)} segments and {len(given)} are checked: score the same segments")
    for one, other in zip(given, before, strict=True):
        if one.reference_index == other.reference_index and one.reference != other.reference:
            raise InputError(f"segment {one.segment} has another reference in the baseline: score the same segments")
    return before
