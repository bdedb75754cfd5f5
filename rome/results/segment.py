"""The score of one segment with its parts, and how it changes: another hypothesis, or errors taken away."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rome.combining.combiner import Combiner
from rome.combining.contributions import Loss, losses_of
from rome.combining.signature import check_same_signature, fitted_on, labels
from rome.config import Scorer
from rome.exceptions import InputError
from rome.features.errors.evidence import SHARES, ErrorsEvidence, ErrorSpan, share_of, value_of
from rome.features.values import FEATURES, Component
from rome.reports.segment import SEVERITIES
from rome.results.displayed import Displayed, plain

if TYPE_CHECKING:
    from rome.features.grammar import GrammarEvidence
    from rome.features.semantic import SemanticEvidence
    from rome.features.syntax import SyntaxEvidence
    from rome.reports.model import Document

COUNTERFACTUAL = "counterfactual"
"""The flag of a segment that was not measured: `counterfactual` removed some of its errors."""

NO_EVIDENCE = "segment {} has no evidence (it was read from a stored table): score its texts first"

NEAR = 1e-9
"""The largest difference of equal numbers; another machine's logarithm may round the last digit differently."""


@dataclass(frozen=True, slots=True)
class Components:
    """The four components of one segment, each a Component with value, raw, unit and evidence."""

    semantic: Component[SemanticEvidence]
    syntax: Component[SyntaxEvidence]
    grammar: Component[GrammarEvidence]
    errors: Component[ErrorsEvidence]

    def __iter__(self) -> Iterator[Component[Any]]:
        """Return the components in the order of FEATURES."""
        return (getattr(self, name) for name in FEATURES)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of the four features for one segment; None where the numbers were stored without it, and, but for errors, of long texts.

    Type checkers know the values and let None pass (``| Any``): scoring always gives evidence.
    """

    semantic: SemanticEvidence | Any
    syntax: SyntaxEvidence | Any
    grammar: GrammarEvidence | Any
    errors: ErrorsEvidence | Any


@dataclass(frozen=True, slots=True)
class _FourNumbers:
    """One number per feature."""

    semantic: float
    syntax: float
    grammar: float
    errors: float

    def __iter__(self) -> Iterator[float]:
        """Return the numbers in the order of FEATURES."""
        return (getattr(self, name) for name in FEATURES)


class Contributions(_FourNumbers):
    """The points that each feature lost against a perfect text: exact Shapley values, none positive, with the sum score - 1.

    For a difference of two segments: the share of each feature in it, of either sign.
    """

    __slots__ = ()


class ComponentMeans(_FourNumbers):
    """The means of the four components over a corpus, each in [0, 1]."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class SegmentScore(Displayed):
    """The score of one segment, in [0, 1], with its parts.

    Attributes
    ----------
    reference
        The reference that scored best.
    reference_index
        Its number among the references of the segment, from 0.
    components
        The four features.
    contributions
        The points that each feature lost against a perfect text, which scores 1; exact.
    flags
        Warnings such as ``empty_hypothesis``; empty for an ordinary segment.
    signature
        Every choice that changes a number, ``key:value|key:value``; it names a supervised net.
    """

    segment: int
    reference: str
    hypothesis: str
    reference_index: int
    score: float
    components: Components
    contributions: Contributions
    flags: tuple[str, ...] = ()
    signature: str = ""

    @property
    def evidence(self) -> Evidence:
        """The evidence of the four components: alignment, edit operations, sentences, error spans."""
        return Evidence(*(component.evidence for component in self.components))

    @property
    def errors(self) -> tuple[ErrorSpan, ...]:
        """The errors that lower the score; none without evidence."""
        evidence = self.components.errors.evidence
        return () if evidence is None else evidence.errors

    @property
    def error_counts(self) -> dict[str, int]:
        """The number of errors of each severity, the worst first; empty without evidence."""
        known = self.components.errors.evidence is not None
        return {severity: sum(error.severity == severity for error in self.errors) for severity in SEVERITIES if known}

    @property
    def completeness(self) -> float:
        """The share of the reference that is neither missing nor wrong, in [0, 1] (see `share_of`); nan without evidence."""
        return self._share("reference")

    @property
    def faithfulness(self) -> float:
        """The share of the hypothesis that is neither added nor wrong, in [0, 1] (see `share_of`); nan without evidence."""
        return self._share("hypothesis")

    def _share(self, side: Literal["reference", "hypothesis"]) -> float:
        evidence = self.components.errors.evidence
        return math.nan if evidence is None else share_of(side, len(getattr(self, side)), evidence.errors)

    @property
    def measures(self) -> tuple[float, ...]:
        """The score, the four components, completeness and faithfulness, in the order of MEASURES."""
        return self.score, *(component.value for component in self.components), self.completeness, self.faithfulness

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The lost points, the largest loss first: the contributions, with that of ``errors`` divided among its errors and its doubt.

        Their sum is score - 1. Without evidence, or without errors, there is one loss per feature.
        """
        evidence = self.evidence.errors
        return losses_of(self.contributions, self.errors, evidence.doubt if evidence else 0.0)

    def to_dict(self, *, evidence: bool = True) -> dict[str, Any]:
        """Return plain values, ready for JSON; evidence=False omits the (long) evidence, but the losses keep their errors."""
        row: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        row["components"] = {c.name: {"value": c.value, "raw": c.raw, "unit": c.unit} for c in self.components}
        row |= {name: getattr(self, name) for name in (*SHARES, "losses")}
        row |= labels(self.signature)
        if evidence:
            row["evidence"] = {name: getattr(self.evidence, name) for name in FEATURES}
        return dict(plain(row))

    def __eq__(self, other: object) -> bool:
        """Compare every part, including the evidence."""
        return isinstance(other, SegmentScore) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the score and the hypothesis."""
        scorer = ", scorer='supervised'" if fitted_on(self.signature) else ""
        return f"SegmentScore(segment={self.segment}, score={self.score:.3f}, hypothesis={self.hypothesis!r}{scorer})"

    def __float__(self) -> float:
        """Return the score."""
        return self.score

    def __format__(self, spec: str) -> str:
        """Format the score as a number; without a format return the whole explanation."""
        return format(self.score, spec) if spec else str(self)

    def _document(self) -> Document:
        """Show the whole explanation: texts, components, contributions, trees, matrices."""
        from rome.reports.segment import segment_document

        return segment_document(self)

    def counterfactual(
        self, *, without: int | ErrorSpan | Sequence[int | ErrorSpan], combiner: Combiner | None = None
    ) -> Counterfactual:
        """Return the segment without these errors; the new score is exact, and no model is needed.

        Parameters
        ----------
        without
            Errors of ``evidence.errors.errors``, or their places in it.
        combiner
            The net that made the score; None takes the net of the model set that the signature names.

        Raises
        ------
        InputError
            For an error that the segment does not have, that is named twice, or for none at all; for a segment without evidence or
            with an empty hypothesis (which has the full count in any case); for a net that did not make the score.

        Notes
        -----
        The count loses the weights of the errors; errors component and score follow; the doubt stays. A gain
        is never negative, and a heavier error gains at least as much as a lighter one, as in ``losses``.
        """
        errors = _counted_errors(self)
        net = _checked_net(self, combiner)
        places = _places(without, errors.errors, self.segment)
        kept = tuple(error for place, error in enumerate(errors.errors) if place not in places)
        count = min(math.fsum(error.weight for error in kept), errors.count)
        components = replace(self.components, errors=_component(self, ErrorsEvidence(kept, count, doubt=errors.doubt)))
        values = _row_of(components)
        after = replace(
            self,
            score=max(float(net.score_rows(values)[0]), self.score),
            components=components,
            contributions=Contributions(*net.contributions(values)[0].tolist()),
            flags=tuple(dict.fromkeys((*self.flags, COUNTERFACTUAL))),
        )
        return Counterfactual(self, after, tuple(errors.errors[place] for place in places))


@dataclass(frozen=True, slots=True)
class Change(Displayed):
    """One segment before and after a change; displays itself as text and in a notebook.

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
        check_same_signature(self.before.signature, self.after.signature, ("before", "after"))

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
        """The change of each component, in [-1, 1]."""
        pairs = zip(self.after.components, self.before.components, strict=True)
        return ComponentMeans(*(after.value - before.value for after, before in pairs))

    @property
    def contributions(self) -> Contributions:
        """The change of each contribution; the sum of the four is ``difference``."""
        pairs = zip(self.after.contributions, self.before.contributions, strict=True)
        return Contributions(*(after - before for after, before in pairs))

    @property
    def went(self) -> tuple[ErrorSpan, ...]:
        """The errors of the segment before that it does not have afterwards; none without evidence."""
        return unmatched(self.before.errors, self.after.errors)

    @property
    def came(self) -> tuple[ErrorSpan, ...]:
        """The errors of the segment after that it did not have before; none without evidence."""
        return unmatched(self.after.errors, self.before.errors)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON: the texts, both scores, every difference, the errors that went and came."""
        before, after = self.before, self.after
        row = {
            "reference": before.reference,
            "hypotheses": {"before": before.hypothesis, "after": after.hypothesis},
            **{name: _triple(getattr(before, name), getattr(after, name)) for name in ("score", *SHARES)},
            "components": {x.name: _triple(x.value, y.value) for x, y in zip(before.components, after.components, strict=True)},
            "contributions": dict(zip(FEATURES, map(_triple, before.contributions, after.contributions), strict=True)),
            "went": self.went,
            "came": self.came,
            "signature": before.signature,
        }
        return dict(plain(row))

    def __repr__(self) -> str:
        """Show the two scores and their difference."""
        scores = f"{self.before.score:.3f} -> {self.after.score:.3f}, difference={self.difference:+.3f}"
        return f"{type(self).__name__}({scores})"

    def _document(self) -> Document:
        """Show every number before and after, then the errors that went and came."""
        from rome.reports.summaries import change_document

        return change_document(self)


@dataclass(frozen=True, slots=True, repr=False)
class Counterfactual(Change):
    """A segment, and the score that it would have without some of its errors.

    Attributes
    ----------
    dropped
        The errors that were removed. The components semantic, syntax and grammar stay as they were measured. ``after`` has the flag
        ``counterfactual``: its hypothesis is still the one that was scored.
    """

    dropped: tuple[ErrorSpan, ...] = ()


def _row_of(components: Components) -> Any:
    """Return the values of the components as one row for the net."""
    return np.array([[part.value for part in components]], dtype=np.float64)


def _component(segment: SegmentScore, evidence: ErrorsEvidence) -> Component:
    """Return the errors component of a hypothesis, not an empty one, that has these errors."""
    return replace(segment.components.errors, value=value_of(evidence.cost), raw=evidence.cost, evidence=evidence)


def _counted_errors(segment: SegmentScore) -> ErrorsEvidence:
    """Return the errors of a segment, after checking that its errors component can be computed from them."""
    where, evidence = f"segment {segment.segment}", segment.evidence.errors
    if evidence is None:
        raise InputError(NO_EVIDENCE.format(segment.segment))
    if {"empty_hypothesis", "empty_reference"}.intersection(segment.flags) == {"empty_hypothesis"}:
        raise InputError(
            f"{where} has an empty hypothesis, which has the full count in any case: there is not an error to drop"
        )
    if abs(_component(segment, evidence).value - segment.components.errors.value) > NEAR:
        raise InputError(f"{where}: its errors do not add up to its errors component: score its texts again")
    return evidence


def known_errors(segment: SegmentScore) -> tuple[ErrorSpan, ...]:
    """Return the errors that lower the score. Raises InputError for a segment without evidence."""
    if segment.evidence.errors is None:
        raise InputError(NO_EVIDENCE.format(segment.segment))
    return segment.errors


def _checked_net(segment: SegmentScore, combiner: Combiner | None) -> Combiner:
    """Return the net that made the score."""
    scorer: Scorer = "supervised" if fitted_on(segment.signature) else "unsupervised"
    net = combiner or Combiner.matching(segment.signature, scorer=scorer)
    signed = f"|{segment.signature}".endswith(f"|{net.signature}")
    if not signed or abs(net.score_rows(_row_of(segment.components))[0] - segment.score) > NEAR:
        given = "combiner" if combiner else "the net of its model set"
        raise InputError(
            f"segment {segment.segment}: {given} must be the net that made its score, got {net.signature}, which is not at the end of its "
            "signature or gives another score: give combiner=metric.combiner of the metric that scored it"
        )
    return net


def _places(without: Any, errors: Sequence[ErrorSpan], number: int) -> tuple[int, ...]:
    """Return the places of the errors to drop, in the order of the list."""
    wanted = list(without) if isinstance(without, Iterable) else [without]
    if not wanted:
        raise InputError(f"segment {number}: without= names no error: give one of its {len(errors)} errors or its place")
    places: list[int] = []
    for one in wanted:
        free = [place for place, error in enumerate(errors) if one in (place, error) and place not in places]
        if not free:
            raise InputError(
                f"segment {number}: {one!r} is not an error of this segment, which has {len(errors)}, or is named twice: see "
                "segment.evidence.errors.errors"
            )
        places.append(free[0])
    return tuple(sorted(places))


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


def _triple(before: float, after: float) -> dict[str, float]:
    """Return before, after and difference of one number."""
    return {"before": before, "after": after, "difference": after - before}
