"""What the supervised net is worth: agreement with people on outputs that it was not fitted on, beside what needs no ratings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rome.combining.combiner import Combiner
from rome.evaluation.diagnosis.fitting import fold_numbers
from rome.evaluation.leaderboard.plan import EvaluationPlan, Measure, RatedScores
from rome.features.values import FEATURES
from rome.train.scorer_config import ScorerConfig
from rome.train.scorer_ratings import MINIMUM, Ratings
from rome.train.scorer_supervised import Measured, fit_rows

__all__ = ["agreement_figures", "folds_of", "on_other_files", "out_of_fold", "validated"]

FOLDS = 5
FIGURES = (
    Measure("kendall_b", "none"),
    Measure("kendall_b", "item"),
    Measure("pearson", "none"),
    Measure("pearson", "language_pair"),
)
Figures = dict[str, dict[str, dict[str, float]]]
Vector = NDArray[np.float64]


def validated(found: Measured, config: ScorerConfig) -> Figures:
    """``"SET DIMENSION" -> figure -> scorer -> value``: the supervised net out of fold and, with several files of different inputs,
    fitted on the others; the shipped unsupervised net and each component alone on the same outputs."""
    scores = {"supervised_out_of_fold": out_of_fold(found, config)}
    if all(len(_apart(found.ratings, found.ratings.file == number)) >= MINIMUM for number in range(len(found.ratings.sets))):
        scores["supervised_on_other_files"] = on_other_files(found, config)
    count = len(found.ratings)
    chosen = found.table.values[found.chosen[:count]]
    scores["unsupervised"] = Combiner.load().score_rows(chosen)
    scores |= {name: chosen[:, column] for column, name in enumerate(FEATURES)}
    return agreement_figures(found.ratings, scores)


def folds_of(ratings: Ratings, seed: int) -> NDArray[np.int64]:
    """(n,) the fold 0 to 4 of each output: outputs of one group are never parted. Raises InputError for fewer than five groups."""
    return fold_numbers(ratings.group.tolist(), FOLDS, seed, ratings.target)


def out_of_fold(found: Measured, config: ScorerConfig) -> Vector:
    """(n,) scores, each by a net that saw no output of the same group."""
    return _judged(found, folds_of(found.ratings, config.seed), config)


def on_other_files(found: Measured, config: ScorerConfig) -> Vector:
    """(n,) scores, each by a net that saw no output of the same file, nor of a group that has one there."""
    return _judged(found, found.ratings.file, config)


def _judged(found: Measured, part: NDArray[np.int64], config: ScorerConfig) -> Vector:
    """(n,) scores of each part by a net that was fitted on the outputs whose groups have none in it; the best reference counts."""
    table = found.table
    scores = np.empty(len(part))
    for number in np.unique(part):
        inside = part == number
        best = fit_rows(found, _apart(found.ratings, inside), config).combine(
            table[np.isin(table.segment, np.flatnonzero(inside))]
        )
        scores[best.segment] = best.score
    return scores


def _apart(ratings: Ratings, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The outputs whose groups have none inside."""
    return np.flatnonzero(~np.isin(ratings.group, ratings.group[inside]))


def agreement_figures(ratings: Ratings, scores: Mapping[str, Vector]) -> Figures:
    """Kendall's tau-b and Pearson's r of each scorer with each human dimension of each file: pooled, and where the file has what it
    needs averaged within inputs and language pairs."""
    figures: Figures = {}
    for number, rated in enumerate(ratings.sets):
        here = ratings.file == number
        for dimension in ratings.dimensions[number]:
            judged = RatedScores(
                rated, dimension, {name: values[here] for name, values in scores.items()}, EvaluationPlan(FIGURES)
            )
            figures[f"{rated.name} {dimension}"] = {
                measure.label: {name: round(judged.agreement(name, measure).value, 4) for name in scores}
                for measure in judged.figures
            }
    return figures
