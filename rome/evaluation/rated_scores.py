"""What is judged and how: figures of agreement, the settings of a run, and one human dimension of a set with every metric's scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.rated import RatedSet
from rome.data.readers.registry import read_rated
from rome.evaluation.findings import few_note
from rome.evaluation.metrics.functions import Scores
from rome.evaluation.metrics.registry import scores_on
from rome.evaluation.statistics.agreement import AVERAGES, CALIBRATED, STATISTICS, Agreement, Average, agreement
from rome.evaluation.statistics.resampling import Estimate, bootstrap_interval
from rome.exceptions import InputError


class Measure(NamedTuple):
    """One figure of agreement: a statistic, and what it is averaged over."""

    statistic: str
    average: Average

    @property
    def label(self) -> str:
        """How tables call it: ``kendall_b`` pooled, ``kendall_b/item`` averaged."""
        return self.statistic if self.average == "none" else f"{self.statistic}/{self.average}"

    @staticmethod
    def of(text: str) -> Measure:
        """``statistic`` or ``statistic/average``. Raises InputError for another word, listing the choices."""
        statistic, _, average = text.partition("/")
        if statistic not in (*STATISTICS, CALIBRATED) or average not in ("", *AVERAGES):
            raise InputError(
                f"the figure {text!r} is unknown: write STATISTIC or STATISTIC/AVERAGE, with a statistic of "
                f"{', '.join((*STATISTICS, CALIBRATED))} and an average of item, system, language_pair"
            )
        return Measure(statistic, average or "none")  # type: ignore[arg-type]


FIGURES = (
    Measure("kendall_b", "none"),
    Measure("kendall_b", "item"),
    Measure(CALIBRATED, "item"),
    Measure("spearman", "none"),
    Measure("pearson", "none"),
    Measure("pearson", "language_pair"),
)
"""What a leaderboard shows by default, where the set has what it needs."""

ALL_FIGURES = tuple(
    Measure(statistic, average)
    for statistic in (*STATISTICS, CALIBRATED)
    for average in AVERAGES
    if statistic != CALIBRATED or average == "item"
)
"""Every statistic under every average."""


@dataclass(frozen=True)
class EvaluationSettings:
    """How to judge.

    Attributes
    ----------
    figures
        The first is the main one, which orders the tables and is tested.
    samples
        Bootstrap resamples.
    permutations
        Of the test between the first metric and each other one; 0 leaves it out.
    level
        Of the intervals.
    """

    figures: tuple[Measure, ...] = FIGURES
    samples: int = 1000
    permutations: int = 200
    level: float = 0.95
    seed: int = 0

    @staticmethod
    def of(figures: Sequence[str] | None, samples: int, permutations: int, seed: int) -> EvaluationSettings:
        """The settings with figures by their names, `all` of them or the default ones. Raises InputError as `Measure.of`."""
        chosen = FIGURES if not figures else ALL_FIGURES if list(figures) == ["all"] else tuple(map(Measure.of, figures))
        return EvaluationSettings(chosen, samples, permutations, seed=seed)


@dataclass(frozen=True, eq=False)
class RatedScores:
    """One human dimension of a set, with every metric's scores.

    Attributes
    ----------
    scores
        Metric -> (n,).
    notes
        What its tables must say of a metric.
    """

    rated: RatedSet
    dimension: str
    scores: Mapping[str, Scores]
    settings: EvaluationSettings
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Set and dimension, fit for a file's name."""
        return re.sub(r"[^A-Za-z0-9._-]+", "_", f"{self.rated.name}_{self.dimension}").strip("_.-") or "set"

    @cached_property
    def inputs(self) -> int:
        """How many inputs the outputs answer."""
        return len(set(zip(self.keys["language_pairs"], self.keys["items"], strict=True)))

    @cached_property
    def people(self) -> NDArray[np.float64]:
        """(n,) the ratings."""
        return np.array([segment.ratings[self.dimension] for segment in self.rated.segments])

    @cached_property
    def keys(self) -> dict[str, Any]:
        """What agreement groups by."""
        segments = self.rated.segments
        return {
            "items": [s.item for s in segments],
            "systems": [s.system for s in segments],
            "language_pairs": [s.language_pair for s in segments],
        }

    def offers(self, measure: Measure) -> bool:
        """Whether the set has the groups of an average: several outputs for most inputs, named systems, language pairs."""
        if measure.average == "item":
            return self.inputs <= 0.7 * len(self.people)
        if measure.average == "none":
            return True
        return len(set(self.keys[f"{measure.average}s"])) > 1

    @cached_property
    def figures(self) -> tuple[Measure, ...]:
        """The settings' figures that this set offers."""
        return tuple(measure for measure in self.settings.figures if self.offers(measure)) or (FIGURES[0],)

    def agreement(self, metric: str, measure: Measure) -> Agreement:
        """One figure of one metric."""
        return agreement(self.people, self.scores[metric], statistic=measure.statistic, average=measure.average, **self.keys)

    def interval(self, metric: str, measure: Measure) -> Estimate:
        """Return the figure with its bootstrap interval over inputs."""
        settings, chosen = self.settings, {"statistic": measure.statistic, "average": measure.average, **self.keys}
        drawn = {"samples": settings.samples, "seed": settings.seed, "level": settings.level}
        return bootstrap_interval(self.people, self.scores[metric], **drawn, **chosen)


def evaluate(
    rated: RatedSet, metrics: Sequence[Any], settings: EvaluationSettings, dimensions: Sequence[str] = ()
) -> list[RatedScores]:
    """Score a set once with every metric; one RatedScores a dimension (all of them, or those named).

    Raises InputError for a dimension that the set does not have, for two metrics of one name, and without metrics.
    """
    unknown = [name for name in dimensions if name not in rated.dimensions]
    if unknown:
        raise InputError(f"{rated.name} has no dimension {unknown[0]!r}: choose of {', '.join(rated.dimensions)}")
    names = [metric.name for metric in metrics]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not names:
        raise InputError(f"two metrics are called {twice[0]}: give each once" if twice else "no metric was named: give one")
    scores = {metric.name: scores_on(metric, rated) for metric in metrics}
    inputs = len({segment.group for segment in rated.segments})
    said = (few_note(inputs, "inputs").strip(), *(metric.note_on(rated) for metric in metrics if hasattr(metric, "note_on")))
    notes = tuple(note for note in said if note)
    return [RatedScores(rated, dimension, scores, settings, notes) for dimension in dimensions or rated.dimensions]


def read_sets(specifications: Sequence[str | RatedSet]) -> list[RatedSet]:
    """One set a specification, see read_rated. Raises InputError as that does, and when two sets have one name."""
    sets = [given if isinstance(given, RatedSet) else read_rated(given) for given in specifications]
    names = [rated.name for rated in sets]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two sets are called {twice[0]}: name each once, and give files different names")
    return sets
