"""What a user holds after scoring: numbers, where they come from, and the evidence behind them. Frozen and comparable."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from rome.combining.contributions import Loss, losses_of
from rome.combining.signature import fitted_on, labels
from rome.features.packages import import_failed
from rome.features.values import FEATURES, Component
from rome.results.displayed import Displayed
from rome.results.serialisation import plain

if TYPE_CHECKING:
    import pandas

    from rome.combining.combiner import Combiner
    from rome.features.errors.evidence import ErrorsEvidence, ErrorSpan
    from rome.features.grammar import GrammarEvidence
    from rome.features.semantic import SemanticEvidence
    from rome.features.syntax import SyntaxEvidence
    from rome.reports.model import Document
    from rome.results.changes import Counterfactual

SHORT = 50
"""Segments that a notebook's plain text lists one by one."""


@dataclass(frozen=True, slots=True)
class Components:
    """The four components of one segment, each a Component with value, raw, unit and evidence."""

    semantic: Component[SemanticEvidence]
    syntax: Component[SyntaxEvidence]
    grammar: Component[GrammarEvidence]
    errors: Component[ErrorsEvidence]

    def __iter__(self) -> Iterator[Component[Any]]:
        """All of them, in the order of FEATURES."""
        return (getattr(self, name) for name in FEATURES)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The four features' evidence values of one segment; None where the numbers were stored without them.

    Type checkers know the values and let None pass (``| Any``): scoring always gives evidence.
    """

    semantic: SemanticEvidence | Any
    syntax: SyntaxEvidence | Any
    grammar: GrammarEvidence | Any
    errors: ErrorsEvidence | Any


@dataclass(frozen=True, slots=True)
class _FourNumbers:
    """One number a feature."""

    semantic: float
    syntax: float
    grammar: float
    errors: float

    def __iter__(self) -> Iterator[float]:
        """All of them, in the order of FEATURES."""
        return (getattr(self, name) for name in FEATURES)


class Contributions(_FourNumbers):
    """What the four features lost against a perfect text, exact Shapley values: none is positive, they add up to score minus 1.

    Of the difference of two segments: what each feature has to do with it, of either sign.
    """

    __slots__ = ()


class ComponentMeans(_FourNumbers):
    """The means of the four components over a corpus, each in [0, 1]."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class SegmentScore(Displayed):
    """One segment's score in [0, 1] with its parts.

    Attributes
    ----------
    reference
        The reference that scored best.
    reference_index
        Its place among the segment's references, from 0.
    components
        The four features.
    contributions
        The points that each lost against a perfect text, which scores 1; exactly.
    flags
        What a reader should know, such as ``empty_hypothesis``; empty for an ordinary segment.
    signature
        Every choice that changes a number, ``key:value|key:value``; of a supervised score it says so.
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
    def losses(self) -> tuple[Loss, ...]:
        """Where the points went, the largest loss first: the contributions, with that of ``errors`` shared out over its errors by weight.

        They add up to score minus 1. Without evidence, or without errors, there are the four features alone.
        """
        evidence = self.evidence.errors
        return losses_of(self.contributions, () if evidence is None else evidence.errors)

    def to_dict(self, *, evidence: bool = True) -> dict[str, Any]:
        """Plain values only, ready for JSON; evidence=False leaves the (long) evidence out, the losses keep their errors."""
        row: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        row["flags"] = list(self.flags)
        row["components"] = {c.name: {"value": c.value, "raw": c.raw, "unit": c.unit} for c in self.components}
        row["contributions"] = dict(zip(FEATURES, self.contributions, strict=True))
        row["losses"] = self.losses
        row |= labels(self.signature)
        if evidence:
            row["evidence"] = {name: getattr(self.evidence, name) for name in FEATURES}
        return dict(plain(row))

    def __eq__(self, other: object) -> bool:
        """Equal when every part is, the evidence included."""
        return isinstance(other, SegmentScore) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Short: the score and the two texts."""
        scorer = ", scorer='supervised'" if fitted_on(self.signature) else ""
        return f"SegmentScore(segment={self.segment}, score={self.score:.4f}, hypothesis={self.hypothesis!r}{scorer})"

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
        """Return what the score would be without these errors; it is exact, and no model is needed.

        Raises InputError for what is no error of this segment, for a segment without evidence, and for a net that did not make this score.

        Parameters
        ----------
        without
            Errors of ``evidence.errors.errors``, or their places in it.
        combiner
            The net that made the score; None takes that of the model set that the signature names.
        """
        from rome.results.changes import counterfactual

        return counterfactual(self, without=without, combiner=combiner)


@dataclass(frozen=True, slots=True)
class CorpusScore(Displayed):
    """The scores of all segments; a sequence of SegmentScore. ``print(result)`` shows a table."""

    segments: tuple[SegmentScore, ...]
    signature: str = ""

    @property
    def score(self) -> float:
        """The mean of the segments' scores, in [0, 1]; nan without segments."""
        return _mean([segment.score for segment in self.segments])

    @property
    def scores(self) -> NDArray[np.float64]:
        """(n,) the segments' scores, each in [0, 1]; an array of its own at every call."""
        return np.array([segment.score for segment in self.segments], dtype=np.float64)

    @property
    def components(self) -> ComponentMeans:
        """The means of the four components over the segments, each in [0, 1]; nan without segments."""
        return ComponentMeans(*(_mean([getattr(s.components, name).value for s in self.segments]) for name in FEATURES))

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.segments)

    def __iter__(self) -> Iterator[SegmentScore]:
        """Return the segments in the order they were given."""
        return iter(self.segments)

    @overload
    def __getitem__(self, index: int) -> SegmentScore: ...

    @overload
    def __getitem__(self, index: slice) -> CorpusScore: ...

    def __getitem__(self, index: int | slice) -> SegmentScore | CorpusScore:
        """One segment, or the result of a slice."""
        return replace(self, segments=self.segments[index]) if isinstance(index, slice) else self.segments[index]

    def worst(self, n: int = 10) -> CorpusScore:
        """Return the n segments with the lowest scores, the lowest first; those that score the same in their order."""
        return replace(self, segments=tuple(nsmallest(n, self.segments, key=float)))

    def best(self, n: int = 10) -> CorpusScore:
        """Return the n segments with the highest scores, the highest first; those that score the same in their order."""
        return replace(self, segments=tuple(nlargest(n, self.segments, key=float)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write every segment with its evidence as a line of JSON, what `rome score --format jsonl --evidence` writes; gzip for ``.gz``.

        Raises InputError when it cannot be written; the file appears when it is complete.
        """
        from rome.results.stored import save_scores

        save_scores(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> CorpusScore:
        """Read the result that `save` or `rome score --format jsonl` wrote, equal in every number; no model is needed.

        Raises InputError, with file and line, for what is no such result; SignatureMismatchError for scores that were made in two ways.
        """
        from rome.results.stored import load_scores

        return load_scores(path)

    def to_dict(self, *, evidence: bool = True) -> dict[str, Any]:
        """Plain values only, ready for JSON: score, means of the components, signature, and every segment's to_dict.

        Of a supervised score also ``scorer`` and ``fitted_on``, the rated sets.
        """
        row = {
            "score": self.score,
            "components": dict(zip(FEATURES, self.components, strict=True)),
            "signature": self.signature,
            **labels(self.signature),
            "segments": [segment.to_dict(evidence=evidence) for segment in self.segments],
        }
        return dict(plain(row))

    def to_dataframe(self) -> pandas.DataFrame:
        """One row a segment: texts, score, the four components, their ``_raw`` and ``_contribution`` columns, flags; of a supervised
        score also a column ``scorer``.

        Raises ModelMissingError, with the install line, when pandas is not there.
        """
        try:
            import pandas
        except ImportError as error:
            raise import_failed(error, "to_dataframe", "pandas") from error
        return pandas.DataFrame(self.columns())

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_dataframe` as lists, one value per segment."""
        rows = self.segments
        names = ("segment", "reference", "hypothesis", "reference_index", "score")
        columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in names}
        for ending, field in (("", "value"), ("_raw", "raw")):
            columns |= {f"{name}{ending}": [getattr(getattr(row.components, name), field) for row in rows] for name in FEATURES}
        columns |= {f"{name}_contribution": [getattr(row.contributions, name) for row in rows] for name in FEATURES}
        columns["flags"] = [",".join(row.flags) for row in rows]
        return columns | ({"scorer": ["supervised"] * len(rows)} if fitted_on(self.signature) else {})

    def __repr__(self) -> str:
        """Short: the score and the number of segments."""
        scorer = ", scorer='supervised'" if fitted_on(self.signature) else ""
        return f"CorpusScore(score={self.score:.4f}, segments={len(self.segments)}{scorer})"

    def __str__(self) -> str:
        """Return the table that `rome score` prints."""
        from rome.reports.score_table import corpus_table

        return corpus_table(self)

    def __float__(self) -> float:
        """Return the mean score."""
        return self.score

    def __format__(self, spec: str) -> str:
        """Format the mean score as a number; without a format return the table."""
        return format(self.score, spec) if spec else str(self)

    def _document(self) -> Document:
        """Distributions of the components, their correlations, the worst segments."""
        from rome.reports.summaries import corpus_document

        return corpus_document(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the document for a notebook, and for a terminal the table, or the document as text where the table is long."""
        short = str(self) if len(self) <= SHORT else Displayed.__str__(self)
        return {"text/html": self._repr_html_(), "text/plain": short}


def _mean(values: list[float]) -> float:
    """Return the mean; nan of nothing."""
    return sum(values) / len(values) if values else float("nan")
