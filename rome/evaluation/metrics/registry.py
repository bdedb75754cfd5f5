"""Metrics by their names: ``rome``, ``chrf``, ``bertscore:PATH:LAYER``, ``module:function``, ``NAME=FILE``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rome.combining.combiner import Combiner
from rome.data.readers.rated import RatedSet
from rome.evaluation.metrics.functions import BestReferenceMetric, Length, Random, Scores, UserMetric, checked_scores, imported
from rome.evaluation.metrics.peers import LEXICAL, BertScore, Comet, bleurt, lexical, prism
from rome.evaluation.metrics.rome_scores import RomeComponent, RomeFeatures, RomeScore
from rome.evaluation.metrics.score_files import ScoreFile
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
    """Make metrics that share one RoMe.

    Attributes
    ----------
    progress
        As in RoMe.
    seed
        Seed of the random baseline.
    """

    rome: RoMe = field(default_factory=RoMe)
    progress: bool | None = None
    seed: int = 0

    @cached_property
    def features(self) -> RomeFeatures:
        """Return the features that RoMe's score and components share."""
        return RomeFeatures(self.rome, progress=self.progress)

    def make(self, specification: str) -> Any:
        """Return the metric of one specification; see KINDS.

        Raises InputError for an unknown one, listing KINDS; ModelMissingError if its package or checkpoint is missing.
        """
        kind, _, rest = specification.partition(":")
        if "=" in specification:
            name, _, path = specification.partition("=")
            return ScoreFile(name, path)
        if kind == "bertscore":
            return self._bertscore(rest)
        if kind in PACKAGES:
            return PACKAGES[kind](rest, progress=self.progress)
        if rest:
            return UserMetric(specification, imported(specification))
        if kind == "rome":
            return RomeScore(self.features)
        if kind == SUPERVISED:
            return RomeScore(self.features, Combiner.load(models=self.rome.models.set, scorer="supervised"))
        if kind in COMPONENTS:
            return RomeComponent(self.features, kind.partition(".")[2])
        if kind in LEXICAL:
            return lexical(kind, progress=self.progress)
        if kind in BASELINES:
            return Length() if kind == "length" else Random(self.seed)
        raise InputError(f"the metric {kind!r} is unknown: choose one of {KINDS}")

    def available(self, specifications: Sequence[str]) -> tuple[list[Any], dict[str, str]]:
        """Return the metrics that can be made here, and the reason for each of the others."""
        made, missing = [], {}
        for specification in specifications:
            try:
                made.append(self.make(specification))
            except ModelMissingError as error:
                missing[specification] = str(error)
        return made, missing

    def _bertscore(self, rest: str) -> BestReferenceMetric:
        path, _, layer = rest.rpartition(":") if rest.rpartition(":")[2].lstrip("-").isdecimal() else (rest, "", "")
        if layer and not path:
            raise InputError(f"bertscore:{rest} names a layer without an encoder: write bertscore:PATH:LAYER")
        score = BertScore(path, int(layer) if layer else None)
        name = f"BERTScore-{Path(path).name}" if path else "BERTScore"
        return BestReferenceMetric(name, score.signature, score, progress=self.progress)


KINDS = (
    f"rome, {SUPERVISED}, {', '.join(COMPONENTS)}, {', '.join(LEXICAL)}, bertscore[:PATH[:LAYER]], bleurt:PATH, comet:PATH, prism:PATH, "
    f"{', '.join(BASELINES)}, MODULE:FUNCTION, NAME=FILE"
)
"""Specifications that `MetricMaker.make` accepts."""


def check_names(metrics: Sequence[Any]) -> None:
    """Raise InputError without metrics, and for two of one name."""
    names = [metric.name for metric in metrics]
    if not names:
        raise InputError("no metric was given: give at least one")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'two metrics are called {name}: name each once, or give them different names')


def scores_on(metric: Any, rated: RatedSet) -> Scores:
    """Return (n,) float64, the metric's scores of the segments of a set.

    A metric that needs more than references and hypotheses (sources, identifiers) has a method ``score_set``. Raises InputError unless
    the metric returns one finite score per segment.
    """
    if hasattr(metric, "score_set"):
        scores = metric.score_set(rated)
    else:
        scores = metric.score([s.references for s in rated.segments], [s.hypothesis for s in rated.segments])
    return checked_scores(scores, len(rated.segments), metric.name)
