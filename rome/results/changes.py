"""Changes between two scores of the same segment: other hypotheses, dropped errors, and the kinds of mistakes that went or came."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.combining.combiner import Combiner
from rome.combining.signature import differing_keys, fitted_on
from rome.exceptions import InputError, SignatureMismatchError
from rome.features.errors.evidence import ErrorsEvidence, ErrorSpan, value_of
from rome.features.values import FEATURES, Component
from rome.results import ComponentMeans, Contributions, SegmentScore
from rome.results.displayed import Displayed
from rome.results.serialisation import plain

if TYPE_CHECKING:
    from rome.reports.model import Document

COUNTERFACTUAL = "counterfactual"
"""The flag of a segment that was never measured: some of its errors were taken away by `counterfactual`."""

NEAR = 1e-9
"""Numbers closer than this are the same; another machine's logarithm may round the last digit differently."""

DEEDS = {"missing": "lost", "unnecessary": "added", "replacement": "wrong", "order": "misplaced", "surface": "wrong"}
"""What was done to the word that an error is about."""
NAMES = {
    "addition": ("addition", "additions"),
    "agreement": ("agreement mistake", "agreement mistakes"),
    "antonym": ("opposite", "opposites"),
    "article": ("wrong article", "wrong articles"),
    "casing": ("casing mistake", "casing mistakes"),
    "generalisation": ("generalisation", "generalisations"),
    "omission": ("omission", "omissions"),
    "order": ("wrong order", "wrong orders"),
    "punctuation": ("punctuation mistake", "punctuation mistakes"),
    "repetition": ("repetition", "repetitions"),
    "roles": ("exchange of roles", "exchanges of roles"),
    "spacing": ("spacing mistake", "spacing mistakes"),
    "spelling": ("misspelling", "misspellings"),
    "style": ("matter of style", "matters of style"),
    "tense": ("wrong tense", "wrong tenses"),
}
"""Types whose name says already what was done, one and several."""
PLURALS = {"modality": "modalities", "frequency": "frequencies"}


@dataclass(frozen=True, slots=True)
class Change(Displayed):
    """One segment before and after something was changed; displays itself as text and in a notebook.

    Raises InputError for two references, SignatureMismatchError for two metrics.

    Attributes
    ----------
    before, after
        Scores of two hypotheses for the same references by the same metric. Every difference is after minus before, so positive is better.
    """

    before: SegmentScore
    after: SegmentScore

    def __post_init__(self) -> None:
        """Check that the two can be compared."""
        same = self.before.reference_index == self.after.reference_index
        if same and self.before.reference != self.after.reference:
            raise InputError("before and after have different references: score the edited hypothesis against the same one")
        if self.before.signature != self.after.signature:
            keys = "; ".join(differing_keys(self.before.signature, self.after.signature, ("before", "after")))
            raise SignatureMismatchError(f"before and after were measured in two ways ({keys}): score both with one metric")

    @property
    def score(self) -> float:
        """The score after the change, in [0, 1]."""
        return self.after.score

    @property
    def difference(self) -> float:
        """The score after the change minus the one before, in [-1, 1]."""
        return self.after.score - self.before.score

    @property
    def components(self) -> ComponentMeans:
        """How much each component moved, in [-1, 1]."""
        pairs = zip(self.after.components, self.before.components, strict=True)
        return ComponentMeans(*(after.value - before.value for after, before in pairs))

    @property
    def contributions(self) -> Contributions:
        """How much each contribution moved; the four add up to ``difference``."""
        pairs = zip(self.after.contributions, self.before.contributions, strict=True)
        return Contributions(*(after - before for after, before in pairs))

    @property
    def went(self) -> tuple[ErrorSpan, ...]:
        """The errors of the hypothesis before that are not there afterwards; none without evidence."""
        return unmatched(errors_of(self.before), errors_of(self.after))

    @property
    def came(self) -> tuple[ErrorSpan, ...]:
        """The errors of the hypothesis after that were not there before; none without evidence."""
        return unmatched(errors_of(self.after), errors_of(self.before))

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, ready for JSON: the texts, both scores, every difference, the errors that went and came."""
        row = {
            "reference": self.before.reference,
            "hypotheses": {"before": self.before.hypothesis, "after": self.after.hypothesis},
            "score": {"before": self.before.score, "after": self.after.score, "difference": self.difference},
            "components": _triples(*([c.value for c in side.components] for side in (self.before, self.after))),
            "contributions": _triples(*(list(side.contributions) for side in (self.before, self.after))),
            "went": self.went,
            "came": self.came,
            "signature": self.before.signature,
        }
        return dict(plain(row))

    def __repr__(self) -> str:
        """Short: the two scores and their difference."""
        scores = f"{self.before.score:.4f} -> {self.after.score:.4f}, difference={self.difference:+.4f}"
        return f"{type(self).__name__}({scores})"

    def _document(self) -> Document:
        """Before, after and difference of every number, then the errors that went and came."""
        from rome.reports.summaries import change_document

        return change_document(self)


@dataclass(frozen=True, slots=True, repr=False)
class Counterfactual(Change):
    """A segment and the score that it would have without some of its errors.

    Attributes
    ----------
    dropped
        The errors that were taken away. The components semantic, syntax and grammar stay as they were measured. ``after`` has the flag
        ``counterfactual``: its hypothesis is still the one that was scored.
    """

    dropped: tuple[ErrorSpan, ...] = ()


def counterfactual(
    segment: SegmentScore, *, without: int | ErrorSpan | Sequence[int | ErrorSpan], combiner: Combiner | None = None
) -> Counterfactual:
    """Return the segment without these errors: the count loses their weights, errors component and score follow exactly.

    Raises InputError for what is no error of the segment, for one named twice or none at all, for a segment without evidence or with an empty
    hypothesis (it has the full count, whatever its errors are), and for a net that did not make the score.

    Parameters
    ----------
    without
        Errors of ``evidence.errors.errors``, or their places in it.
    combiner
        The net that made the score; None takes the one of the model set that the signature names. Without all its errors the errors component
        is 1. A gain is never negative, and a heavier error gains at least what a lighter one does, as ``segment.losses`` say.
    """
    evidence = _evidence(segment)
    net = _net(segment, combiner)
    places = _places(without, evidence.errors, segment)
    kept = tuple(error for place, error in enumerate(evidence.errors) if place not in places)
    count = min(math.fsum(error.weight for error in kept), evidence.count)
    component = _component(segment, ErrorsEvidence(kept, count))
    components = replace(segment.components, errors=component)
    values = np.array([[part.value for part in components]], dtype=np.float64)
    after = replace(
        segment,
        score=max(float(net.score_rows(values)[0]), segment.score),
        components=components,
        contributions=Contributions(*(float(share) for share in net.contributions(values)[0])),
        flags=tuple(dict.fromkeys((*segment.flags, COUNTERFACTUAL))),
    )
    return Counterfactual(segment, after, tuple(evidence.errors[place] for place in places))


def _evidence(segment: SegmentScore) -> ErrorsEvidence:
    """Return the errors of a segment, after checking that its errors component can be computed from them."""
    where, evidence = f"segment {segment.segment}", segment.evidence.errors
    if evidence is None or segment.evidence.semantic is None:
        raise InputError(f"{where} has no evidence (it was read from a stored table): score its texts first")
    if not segment.evidence.semantic.hypothesis_words and segment.evidence.semantic.reference_words:
        raise InputError(
            f"{where} has an empty hypothesis, which has the full count whatever its errors are: there is none to drop"
        )
    if abs(_component(segment, evidence).value - segment.components.errors.value) > NEAR:
        raise InputError(f"{where}: its errors do not add up to its errors component: score its texts again")
    return evidence


def _component(segment: SegmentScore, evidence: ErrorsEvidence) -> Component:
    """Return the errors component of a hypothesis, not an empty one, that has these errors."""
    return replace(segment.components.errors, value=value_of(evidence.count), raw=evidence.count, evidence=evidence)


def _net(segment: SegmentScore, combiner: Combiner | None) -> Combiner:
    """Return the net that made the score, checked."""
    net = combiner or _matching(segment.signature)
    values = np.array([[component.value for component in segment.components]], dtype=np.float64)
    made = f"|{segment.signature}".endswith(f"|{net.signature}") and abs(net.score_rows(values)[0] - segment.score) <= NEAR
    if not made:
        given = "combiner= is not the net" if combiner else "its model set's net is not the one"
        raise InputError(
            f"segment {segment.segment}: {given} that made its score ({net.signature} is not at the end of its signature, or gives "
            "another score): give combiner=, as `metric.combiner` of the metric that scored it"
        )
    return net


@lru_cache(maxsize=4)
def _matching(signature: str) -> Combiner:
    return Combiner.matching(signature, scorer="supervised" if fitted_on(signature) else "unsupervised")


def _places(without: Any, errors: Sequence[ErrorSpan], segment: SegmentScore) -> tuple[int, ...]:
    """Return the places of the errors to drop, in the order of the list."""
    wanted = list(without) if isinstance(without, Iterable) else [without]
    if not wanted:
        raise InputError(
            f"segment {segment.segment}: without= names no error: give one of its {len(errors)} errors or its place"
        )
    places: list[int] = []
    for one in wanted:
        equal = [place for place, error in enumerate(errors) if _names(one, place, error)]
        free = [place for place in equal if place not in places]
        if not free:
            reason = "is named twice" if equal else f"is no error of this segment, which has {len(errors)}"
            raise InputError(f"segment {segment.segment}: {one!r} {reason}: see segment.evidence.errors.errors")
        places.append(free[0])
    return tuple(sorted(places))


def _names(one: Any, place: int, error: ErrorSpan) -> bool:
    """Whether what was given names this error; a truth value names none."""
    return (
        one == error if isinstance(one, ErrorSpan) else isinstance(one, Integral) and not isinstance(one, bool) and one == place
    )


def errors_of(segment: SegmentScore) -> tuple[ErrorSpan, ...]:
    """Return the errors that count; none without evidence."""
    evidence = segment.evidence.errors
    return () if evidence is None else evidence.errors


def unmatched(errors: Sequence[ErrorSpan], others: Sequence[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Return the errors that have no match among the others; each of the others matches one."""
    left = [_identity(other) for other in others]
    alone = []
    for error in errors:
        if _identity(error) in left:
            left.remove(_identity(error))
        else:
            alone.append(error)
    return tuple(alone)


def _identity(error: ErrorSpan) -> tuple[Any, ...]:
    """Return what makes an error the same in two hypotheses, where words may have moved."""
    return error.kind, error.type, error.severity, error.reference, error.hypothesis and error.hypothesis.text


def _triples(before: Sequence[float], after: Sequence[float]) -> dict[str, dict[str, float]]:
    """Before, after and difference of each feature."""
    rows = zip(FEATURES, before, after, strict=True)
    return {name: {"before": old, "after": new, "difference": new - old} for name, old, new in rows}


@dataclass(frozen=True, slots=True)
class ErrorChange:
    """One kind of mistake in two results of the same segments.

    Attributes
    ----------
    name, plural
        Such as ``wrong number``, ``wrong numbers``.
    gone, come
        The numbers of the segments with such a mistake before and not after, after and not before; a segment stands there once for each.
    """

    name: str
    plural: str
    gone: tuple[int, ...]
    come: tuple[int, ...]

    @property
    def difference(self) -> int:
        """How many such mistakes there are more afterwards; negative: fewer."""
        return len(self.come) - len(self.gone)

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, ready for JSON."""
        return {"name": self.name, "difference": self.difference, "gone": list(self.gone), "come": list(self.come)}

    def __str__(self) -> str:
        """``12 wrong numbers fewer``."""
        count = abs(self.difference)
        if not count:
            return f"as many {self.plural}, {len(self.come)} of them elsewhere"
        return f"{count} {self.name if count == 1 else self.plural} {'more' if self.difference > 0 else 'fewer'}"


def error_changes(before: Iterable[SegmentScore], after: Iterable[SegmentScore]) -> tuple[ErrorChange, ...]:
    """Return the kinds of mistakes that went or came, the largest change first.

    A mistake is the same in both when kind, type, severity, the place in the reference and the words of the hypothesis are. Segments
    without evidence say nothing.

    Parameters
    ----------
    before, after
        Scores of the same segments, in one order.
    """
    gone: dict[tuple[str, str], list[int]] = defaultdict(list)
    come: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one, other in zip(before, after, strict=True):
        if one.evidence.errors is None or other.evidence.errors is None:
            continue
        for found, alone in (
            (gone, unmatched(errors_of(one), errors_of(other))),
            (come, unmatched(errors_of(other), errors_of(one))),
        ):
            for error in alone:
                found[error_name(error)].append(one.segment)
    names = sorted(gone.keys() | come.keys())
    made = [ErrorChange(*name, tuple(gone.get(name, ())), tuple(come.get(name, ()))) for name in names]
    return tuple(sorted(made, key=lambda change: (-abs(change.difference), -len(change.come) - len(change.gone))))


def error_name(error: ErrorSpan) -> tuple[str, str]:
    """Return the name of a mistake, singular and plural: ``lost negation``, ``lost negations``."""
    if error.type in NAMES:
        return NAMES[error.type]
    noun, deed = error.type.replace("_", " "), DEEDS[error.kind]
    plural = PLURALS.get(noun, noun if noun.endswith("s") else f"{noun}s")
    return f"{deed} {noun}", f"{deed} {plural}"
