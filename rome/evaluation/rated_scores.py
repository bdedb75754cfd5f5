"""Scores of metrics beside human ratings: figures of agreement, settings, and one human dimension of a set with every metric's scores."""

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
from rome.evaluation.metrics.registry import check_names, scores_on
from rome.evaluation.statistics.agreement import AVERAGES, CALIBRATED, STATISTICS, Agreement, Average, agreement
from rome.evaluation.statistics.resampling import Estimate, bootstrap_interval
from rome.exceptions import InputError


class Measure(NamedTuple):
    """Name one figure of agreement: a statistic, and the groups over which it is averaged."""

    statistic: str
    average: Average

    @property
    def label(self) -> str:
        """Return the name in tables: ``kendall_b`` pooled, ``kendall_b/item`` averaged."""
        return self.statistic if self.average == "none" else f"{self.statistic}/{self.average}"

    @staticmethod
    def of(text: str) -> Measure:
        """Parse ``statistic`` or ``statistic/average``. Raises InputError for another text, listing the choices."""
        statistic, _, average = text.partition("/")
        if statistic not in (*STATISTICS, CALIBRATED) or average not in ("", *AVERAGES):
            raise InputError(
                f"the figure {text!r} is unknown: write STATISTIC or STATISTIC/AVERAGE, with a statistic of "
                f"{', '.join((*STATISTICS, CALIBRATED))} and an average of item, language_pair"
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
"""Default figures of a leaderboard, if the set has the groups."""

ALL_FIGURES = tuple(
    Measure(statistic, average)
    for statistic in (*STATISTICS, CALIBRATED)
    for average in AVERAGES
    if statistic != CALIBRATED or average == "item"
)
"""Every statistic under every average."""


@dataclass(frozen=True)
class EvaluationSettings:
    """Hold the settings of an evaluation.

    Attributes
    ----------
    figures
        The first one orders the tables and is tested.
    samples
        Bootstrap resamples.
    permutations
        Permutations of the test between the first metric and each other one; 0 leaves it out.
    """

    figures: tuple[Measure, ...] = FIGURES
    samples: int = 1000
    permutations: int = 200
    seed: int = 0

    @staticmethod
    def of(figures: Sequence[str] | None, samples: int, permutations: int, seed: int) -> EvaluationSettings:
        """Return the settings with figures by their names, `all` of them or the default ones. Raises InputError as `Measure.of`."""
        chosen = FIGURES if not figures else ALL_FIGURES if list(figures) == ["all"] else tuple(map(Measure.of, figures))
        return EvaluationSettings(chosen, samples, permutations, seed=seed)


@dataclass(frozen=True, eq=False)
class RatedScores:
    """Hold one human dimension of a set, with the scores of every metric.

    Attributes
    ----------
    scores
        Metric -> (n,).
    notes
        Notes on every table.
    """

    rated: RatedSet
    dimension: str
    scores: Mapping[str, Scores]
    settings: EvaluationSettings
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return set and dimension as the name of a file."""
        return re.sub(r"[^A-Za-z0-9._-]+", "_", f"{self.rated.name}_{self.dimension}").strip("_.-") or "set"

    @cached_property
    def inputs(self) -> int:
        """Return the number of inputs."""
        return len(set(zip(self.keys["language_pairs"], self.keys["items"], strict=True)))

    @cached_property
    def people(self) -> NDArray[np.float64]:
        """Return (n,) the ratings."""
        return np.array([segment.ratings[self.dimension] for segment in self.rated.segments])

    @cached_property
    def keys(self) -> dict[str, Any]:
        """Return the keys by which agreement groups."""
        segments = self.rated.segments
        return {"items": [s.item for s in segments], "language_pairs": [s.language_pair for s in segments]}

    @property
    def resampling(self) -> dict[str, Any]:
        """Return the settings of the bootstrap."""
        return {"samples": self.settings.samples, "seed": self.settings.seed}

    def offers(self, measure: Measure) -> bool:
        """Return whether the set has the groups of an average: several outputs for most inputs, or several language pairs."""
        if measure.average == "item":
            return self.inputs <= 0.7 * len(self.people)
        return measure.average == "none" or len(set(self.keys["language_pairs"])) > 1

    @cached_property
    def figures(self) -> tuple[Measure, ...]:
        """Return the figures of the settings that this set offers."""
        return tuple(measure for measure in self.settings.figures if self.offers(measure)) or (FIGURES[0],)

    def agreement(self, metric: str, measure: Measure) -> Agreement:
        """Return one figure of one metric."""
        return agreement(self.people, self.scores[metric], statistic=measure.statistic, average=measure.average, **self.keys)

    def interval(self, metric: str, measure: Measure) -> Estimate:
        """Return the figure with its bootstrap interval over inputs."""
        chosen = {"statistic": measure.statistic, "average": measure.average, **self.keys}
        return bootstrap_interval(self.people, self.scores[metric], **self.resampling, **chosen)


def evaluate(
    rated: RatedSet, metrics: Sequence[Any], settings: EvaluationSettings, dimensions: Sequence[str] = ()
) -> list[RatedScores]:
    """Score a set with every metric; return one RatedScores per dimension (by default all of them).

    Raises InputError for a dimension that the set does not have, for two metrics of one name, and without metrics.
    """
    unknown = [name for name in dimensions if name not in rated.dimensions]
    if unknown:
        raise InputError(f"{rated.name} has no dimension {unknown[0]!r}: choose one of {', '.join(rated.dimensions)}")
    check_names(metrics)
    scores = {metric.name: scores_on(metric, rated) for metric in metrics}
    inputs = len({segment.group for segment in rated.segments})
    known = [metric.note_on(rated) for metric in metrics if hasattr(metric, "note_on")]
    notes = tuple(note for note in (few_note(inputs, "inputs").strip(), *known) if note)
    return [RatedScores(rated, dimension, scores, settings, notes) for dimension in dimensions or rated.dimensions]


def read_sets(specifications: Sequence[str | RatedSet]) -> list[RatedSet]:
    """Read one set per specification. Raises InputError as `read_rated`, and for two sets of one name."""
    sets = [given if isinstance(given, RatedSet) else read_rated(given) for given in specifications]
    names = [rated.name for rated in sets]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two sets are called {twice[0]}: name each once, and give files different names")
    return sets
