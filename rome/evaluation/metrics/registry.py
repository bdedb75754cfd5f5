"""From what a user writes to metrics: ``rome``, ``chrf``, ``bertscore:PATH:LAYER``, ``module:function``, ``NAME=FILE``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet
from rome.evaluation.metrics.cached_scores import BestReferenceMetric, CachedScores, ScoreStore
from rome.evaluation.metrics.functions import Length, Random, Scores, UserMetric, checked_scores, imported
from rome.evaluation.metrics.peers import LEXICAL, BertScore, Comet, bleurt, prism
from rome.evaluation.metrics.rome_scores import RomeComponent, RomeFeatures, RomeScore, RomeSupervised
from rome.evaluation.metrics.score_files import MarkFile, PublishedScores, ScoreFile
from rome.exceptions import InputError, ModelMissingError
from rome.features.values import FEATURES
from rome.metric import RoMe

COMPONENTS = tuple(f"rome.{feature}" for feature in FEATURES)
SUPERVISED = "rome-supervised"
PEERS = ("bleu", "chrf", "ter", "meteor", "rouge-l", "bertscore")
BASELINES = ("length", "random")
PACKAGES: dict[str, Callable[..., Any]] = {"bleurt": bleurt, "prism": prism, "comet": Comet}
DEFAULT_METRICS = ("rome", *COMPONENTS, *PEERS, *BASELINES)


@dataclass(frozen=True)
class MetricMaker:
    """Makes metrics that share one RoMe and one store of scores.

    Attributes
    ----------
    rome
        Makes RoMe's own features.
    store
        Keeps scores between runs, or None.
    progress
        As in RoMe.
    seed
        For the random baseline.
    """

    rome: RoMe = field(default_factory=RoMe)
    store: ScoreStore | None = None
    progress: bool | None = None
    seed: int = 0

    @cached_property
    def features(self) -> RomeFeatures:
        """The features that RoMe's score and components share."""
        return RomeFeatures(self.rome, store=self.store, progress=self.progress)

    def make(self, specification: str) -> Any:
        """The metric of one specification; see KINDS.

        Raises InputError for an unknown one, listing what there is; ModelMissingError when its package or checkpoint is not there.
        """
        kind, _, rest = specification.partition(":")
        if "=" in specification:
            name, _, path = specification.partition("=")
            return MarkFile(name, path) if path.endswith((".jsonl", ".jsonl.gz")) else ScoreFile(name, path)
        if kind == "bertscore":
            return self._bertscore(rest)
        if kind in PACKAGES:
            return PACKAGES[kind](rest, **self._stored)
        if kind == "published" and rest:
            return PublishedScores(rest)
        if rest:
            return UserMetric(specification, imported(specification))
        return self._named(kind)

    def _named(self, kind: str) -> Any:
        """A metric that is named by one word."""
        if kind == "rome":
            return RomeScore(self.features)
        if kind == SUPERVISED:
            return RomeSupervised(self.features)
        if kind in COMPONENTS:
            return RomeComponent(self.features, kind.partition(".")[2])
        if kind in LEXICAL:
            name, make = LEXICAL[kind]
            signature, function = make()
            return BestReferenceMetric(name, CachedScores(signature, function, label=name, **self._stored))
        if kind in BASELINES:
            return Length() if kind == "length" else Random(self.seed)
        raise InputError(f"the metric {kind!r} is unknown: choose one of {KINDS}")

    def available(self, specifications: Sequence[str]) -> tuple[list[Any], dict[str, str]]:
        """The metrics that can be made here, and why each of the others cannot."""
        made, missing = [], {}
        for specification in specifications:
            try:
                made.append(self.make(specification))
            except ModelMissingError as error:
                missing[specification] = str(error)
        return made, missing

    @property
    def _stored(self) -> dict[str, Any]:
        return {"store": self.store, "progress": self.progress}

    def _bertscore(self, rest: str) -> BestReferenceMetric:
        path, _, layer = rest.rpartition(":") if rest.rpartition(":")[2].lstrip("-").isdecimal() else (rest, "", "")
        if layer and not path:
            raise InputError(f"bertscore:{rest} names a layer without an encoder: write bertscore:PATH:LAYER")
        score = BertScore(path, int(layer) if layer else None)
        name = f"BERTScore-{Path(path).name}" if path else "BERTScore"
        return BestReferenceMetric(name, CachedScores(score.signature, score, label=name, **self._stored))


KINDS = (
    f"rome, {SUPERVISED}, {', '.join(COMPONENTS)}, {', '.join(LEXICAL)}, bertscore[:PATH[:LAYER]], bleurt:PATH, comet:PATH, prism:PATH, "
    f"{', '.join(BASELINES)}, published:NAME, MODULE:FUNCTION, NAME=FILE"
)
"""What `MetricMaker.make` understands."""


def scores_on(metric: Any, rated: RatedSet) -> Scores:
    """(n,) float64, the metric's scores of the segments of a set.

    A metric that needs more than references and hypotheses (sources, identifiers) has a method ``score_set``. Raises InputError when
    the metric gives another number of scores than the set has segments, or one that is not finite.
    """
    if hasattr(metric, "score_set"):
        found = metric.score_set(rated)
    else:
        found = metric.score([s.references for s in rated.segments], [s.hypothesis for s in rated.segments])
    return checked_scores(found, len(rated.segments), metric.name)


def marks_on(metric: Any, segments: Sequence[RatedSegment]) -> list[tuple[ErrorMark, ...]] | None:
    """The errors that a metric marks in each segment's hypothesis; None for a metric that marks none.

    A metric that marks errors has a method ``marks(references, hypotheses)``; one that needs identifiers has ``marks_of(segments)``.
    """
    if hasattr(metric, "marks_of"):
        found: list[tuple[ErrorMark, ...]] | None = metric.marks_of(segments)
        return found
    if getattr(metric, "marks", None) is not None:
        return list(metric.marks([segment.references for segment in segments], [segment.hypothesis for segment in segments]))
    return None
