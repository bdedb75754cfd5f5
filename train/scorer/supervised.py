"""The supervised variant of the scorer (`rome train scorer --ratings`): the same monotone net, fitted on human ratings.

BLEURT's second step, on four features: cross-entropy with the rank that people gave an output within its file, and a ranking
term within files. What it is worth is measured on outputs that it was not fitted on, see `validated`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.combining.combiner import Combiner
from rome.combining.signature import RatedSource, outputs_digest
from rome.combining.table import FeatureTable
from rome.evaluation.diagnosis.fitting import fold_numbers
from rome.evaluation.leaderboard.evaluate import EvaluationSettings, Measure, RatedScores, read_sets
from rome.exceptions import InputError
from rome.features.analyser.config import DEFAULT_SET
from rome.features.values import FEATURES
from rome.train.scorer.net import fit_targets
from rome.train.scorer.ratings import MINIMUM, Ratings, drawn_pairs, ratings_of
from rome.train.scorer.settings import ScorerConfig

FREE: Mapping[str, Any] = {
    "hidden": 6,
    "steps": 1500,
    "learning_rate": 0.02,
    "decay": 1e-4,
    "weight_floor": dict.fromkeys(FEATURES, 0.3),
}
"""Settings of a net that ratings decide alone."""
PAIRS = 4000
"""Ranked pairs drawn from each file."""
ANCHORS = 150
ANCHOR_SHARE = 1.5
"""How many references stand for the ends of the scale, and how much those ends count beside all ratings together."""
UNUSED = {"pairs": "--pairs", "features": "--features", "objective": "--objective", "textattack_python": "--textattack-python"}
LICENCES = {
    "wmt15": "WMT, research use",
    "wmt23": "Google, Apache-2.0",
    **dict.fromkeys(("bagel", "bagel-mr", "sfhotel", "sfrest"), "Novikova et al. 2017, MIT"),
    "webnlg17": "CC BY-NC-SA 4.0, for evaluation only: do not pass these weights on",
}


@dataclass(frozen=True)
class Anchors:
    """Pairs whose score needs no rater: a text beside itself, beside an unrelated one, beside nothing.

    Attributes
    ----------
    target
        (k,) in [0, 1].
    """

    references: tuple[str, ...]
    hypotheses: tuple[str, ...]
    target: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measured:
    """Ratings, and the features of their outputs.

    Attributes
    ----------
    table
        The candidates, segment i for output i, then k segments of anchors.
    chosen
        (n + k,) the row of the reference that the set's unsupervised net scores best, of each output and anchor; no rating decides that.
    unsupervised
        That net.
    """

    ratings: Ratings
    anchors: Anchors
    table: FeatureTable
    chosen: NDArray[np.int64]
    unsupervised: Combiner


def run_supervised(
    arguments: argparse.Namespace, measured_table: Callable[..., FeatureTable], save: Callable[..., None]
) -> int:
    """Carry the recipe out with these ways to measure and save; 0 when done. Raises InputError for options that do not fit."""
    started = time.perf_counter()
    given = [option for name, option in UNUSED.items() if getattr(arguments, name)]
    if given or arguments.bases != 1.0:
        raise InputError(f"--ratings fits the net on human ratings alone: leave {', '.join(given) or '--bases'} out")
    config = replace(ScorerConfig(seed=arguments.seed), **FREE).with_settings(arguments.set)
    ratings = ratings_of(read_sets(arguments.ratings), arguments.dimension or ())
    folds_of(ratings, config.seed)  # too few inputs are reported before anything is measured
    anchors = anchors_of(ratings, config)
    references = [*(list(segment.references) for segment in ratings.segments), *([text] for text in anchors.references)]
    hypotheses = [*(segment.hypothesis for segment in ratings.segments), *anchors.hypotheses]
    found = measured(ratings, anchors, measured_table(arguments, references, hypotheses), arguments.models)
    combiner, figures = train_supervised(found, config)
    given = [f"--ratings {' '.join(Path(one).name for one in arguments.ratings)}"]
    given += [f"--dimension {' '.join(arguments.dimension)}"] if arguments.dimension else []
    licences = "; ".join(
        f"{one.name}: {LICENCES.get(name, 'as its source says')}"
        for name, one in zip(arguments.ratings, ratings.sets, strict=True)
    )
    names = ", ".join(one.name for one in ratings.sets)
    save(
        arguments,
        config,
        combiner,
        figures,
        started,
        given,
        name="scorer-supervised",
        task=f"SUPERVISED: combine four features into one score, fitted on human ratings ({names})",
        data=[
            f"human ratings of {one.name} ({len(one.segments)} outputs; {', '.join(chosen)})"
            for one, chosen in zip(ratings.sets, ratings.dimensions, strict=True)
        ],
        licence=f"Apache-2.0 (weights); ratings: {licences}",
        notes=_notes(combiner, found.unsupervised),
    )
    return 0


def anchors_of(ratings: Ratings, config: ScorerConfig) -> Anchors:
    """References drawn from all files, each as three pairs: with itself, with the next one drawn, with an empty text."""
    texts = sorted({segment.references[0] for segment in ratings.segments})
    places = np.random.default_rng(config.seed).permutation(len(texts))[:ANCHORS]
    drawn = tuple(texts[place] for place in places)
    ends = (config.base_quality["identity"], config.severe_target["unrelated"], config.severe_target["empty"])
    return Anchors(drawn * 3, (*drawn, *drawn[1:], *drawn[:1], *("" for _ in drawn)), np.repeat(ends, len(drawn)))


def measured(ratings: Ratings, anchors: Anchors, table: FeatureTable, models: str = DEFAULT_SET) -> Measured:
    """The ratings with their features.

    Raises InputError when the table has not one segment for each output and each anchor.

    Parameters
    ----------
    models
        The set whose unsupervised net chooses among several references.
    """
    wanted = np.arange(len(ratings) + len(anchors.target))
    if not np.array_equal(np.unique(table.segment), wanted):
        raise InputError(f"the features do not belong to these {len(wanted)} outputs and anchors: measure them again")
    net = Combiner.load(models=models)
    return Measured(ratings, anchors, table, net.combine(table, allow_mismatch=True).row, net)


def fit_rows(found: Measured, rows: NDArray[np.int64], config: ScorerConfig) -> Combiner:
    """The net fitted on some of the outputs, and on all anchors (which no rating went into); same seed, same bytes.

    In the cross-entropy every rating counts the same, in the ranking every file does.
    """
    ratings, anchors = found.ratings, found.anchors
    values = found.table.values[found.chosen]
    inputs = np.concatenate([values[rows], values[len(ratings) :]])
    targets = np.concatenate([ratings.target[rows], anchors.target])
    share = ANCHOR_SHARE * len(rows) / len(anchors.target)
    weights = np.concatenate([np.ones(len(rows)), np.full(len(anchors.target), share)])
    order = drawn_pairs(ratings, rows, PAIRS, config.ranking_gap, config.seed)
    net = fit_targets(inputs, targets, weights, order, config)
    sources = tuple(RatedSource(one.name, outputs_digest(s.hypothesis for s in one.segments)) for one in ratings.sets)
    return net.to_combiner(found.table.signature, sources)


def train_supervised(found: Measured, config: ScorerConfig) -> tuple[Combiner, dict[str, Any]]:
    """The net fitted on all outputs, and its figures, all of them out of fold."""

    combiner = fit_rows(found, np.arange(len(found.ratings)), config)
    figures: dict[str, Any] = dict(validated(found, config))
    scores = combiner.score_rows(found.table.values[found.chosen][len(found.ratings) :])
    for name, part in zip(("identity", "unrelated", "empty"), np.split(scores, 3), strict=True):
        figures[f"mean_{name}"] = round(float(part.mean()), 4)
    return combiner, figures | {"outputs": len(found.ratings)}


def _notes(combiner: Combiner, unsupervised: Combiner) -> str:
    same = unsupervised.feature_signature == combiner.feature_signature
    other = "" if same else "; the unsupervised net was trained on other features than these"
    return (
        "target: the rank of an output within its file (mean of the z-scored dimensions), from 0.05 to 0.95; identical texts 1, unrelated "
        "0.03, empty 0. Figures of supervised_out_of_fold: five folds, no input, reference or source on both sides; of "
        "supervised_on_other_files: by a net that saw no rating of this file; the others beside them on the same outputs"
        f"{other}. {combiner.feature_signature or 'unknown features'}"
    )


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
    fitted on the others; the set's unsupervised net and each component alone on the same outputs."""
    scores = {"supervised_out_of_fold": scores_by_others(found, folds_of(found.ratings, config.seed), config)}
    if all(len(_apart(found.ratings, found.ratings.file == number)) >= MINIMUM for number in range(len(found.ratings.sets))):
        scores["supervised_on_other_files"] = scores_by_others(found, found.ratings.file, config)
    count = len(found.ratings)
    chosen = found.table.values[found.chosen[:count]]
    scores["unsupervised"] = found.unsupervised.score_rows(chosen)
    scores |= {name: chosen[:, column] for column, name in enumerate(FEATURES)}
    return agreement_figures(found.ratings, scores)


def folds_of(ratings: Ratings, seed: int) -> NDArray[np.int64]:
    """(n,) the fold 0 to 4 of each output: outputs of one group are never parted. Raises InputError for fewer than five groups."""
    return fold_numbers(ratings.group.tolist(), FOLDS, seed, ratings.target)


def scores_by_others(found: Measured, part: NDArray[np.int64], config: ScorerConfig) -> Vector:
    """(n,) scores, each by a net that saw no output of the same part, nor of a group that has one there; the best reference counts."""
    table, scores = found.table, np.empty(len(part))
    for number in np.unique(part):
        inside = part == number
        net = fit_rows(found, _apart(found.ratings, inside), config)
        best = net.combine(table[np.isin(table.segment, np.flatnonzero(inside))])
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
            own = {name: values[here] for name, values in scores.items()}
            compared = RatedScores(rated, dimension, own, EvaluationSettings(FIGURES))
            figures[f"{rated.name} {dimension}"] = {
                measure.label: {name: round(compared.agreement(name, measure).value, 4) for name in scores}
                for measure in compared.figures
            }
    return figures
