"""The supervised variant of the scorer (`rome train scorer --ratings`): the same monotone net, fitted on human ratings.

BLEURT's second step, on four features: cross-entropy with the rank of an output within its file, and a ranking term within
files. It is judged on outputs that it was not fitted on, see `validated`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rome.combining.combiner import Combiner
from rome.combining.fitting import NetSettings, drawn_order, fit_net
from rome.combining.signature import RatedSource, outputs_digest
from rome.combining.table import FeatureTable
from rome.evaluation.rated_scores import read_sets
from rome.exceptions import InputError
from rome.features.analyser.config import DEFAULT_SET
from rome.features.values import FEATURES
from rome.metric import RoMe
from rome.train.common.ratings import LICENCES, MINIMUM, Figures, Ratings, agreement_figures, folds_of, ratings_of
from rome.train.scorer.net import BASE_QUALITY, SEVERE_TARGET, ranked_pairs, with_settings

PAIRS = 4000
"""Ranked pairs drawn from each file."""
ANCHORS = 150
ANCHOR_SHARE = 1.5
"""Number of references that give the ends of the scale, and the weight of these ends relative to all ratings."""
Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


def measured(arguments: argparse.Namespace, references: Sequence[Any], hypotheses: Sequence[str]) -> FeatureTable:
    """Return the features of hypotheses and their references, segment i for hypothesis i.

    Analyses are kept in the work folder, so that measuring again after a change of a feature skips the models.
    """
    arguments.work.mkdir(parents=True, exist_ok=True)
    metric = RoMe(models=arguments.models, store=arguments.work / "analyses.sqlite")
    return metric.features(references=references, hypotheses=hypotheses)


class Fitted(NamedTuple):
    """A finished net with its figures and the texts of its card."""

    config: NetSettings
    combiner: Combiner
    figures: Mapping[str, Any]
    card: Mapping[str, Any]


def fit_ratings(arguments: argparse.Namespace) -> Fitted:
    """Read and measure the rated outputs and fit the net. Raises InputError for options, files or ratings that do not fit."""
    if arguments.pairs or arguments.objective:
        raise InputError("--ratings fits the net on human ratings alone: leave --pairs and --objective out")
    config = with_settings(NetSettings(seed=arguments.seed), arguments.set)
    ratings = ratings_of(read_sets(arguments.ratings), arguments.dimension or ())
    folds_of(ratings, config.seed)  # reports too few inputs before anything is measured
    references, hypotheses, _ = texts_of(ratings, config)
    features = chosen_features(ratings, measured(arguments, references, hypotheses), config, arguments.models)
    combiner, figures = train_supervised(features, config)
    named = zip(arguments.ratings, ratings.sets, strict=True)
    licences = "; ".join(f"{one.name}: {LICENCES.get(name, 'as its source says')}" for name, one in named)
    names = ", ".join(one.name for one in ratings.sets)
    card = {
        "name": "scorer-supervised",
        "task": f"SUPERVISED: combine four features into one score, fitted on human ratings ({names})",
        "data": [
            f"human ratings of {one.name} ({len(one.segments)} outputs; {', '.join(chosen)})"
            for one, chosen in zip(ratings.sets, ratings.dimensions, strict=True)
        ],
        "licence": f"Apache-2.0 (weights); ratings: {licences}",
        "notes": _notes(combiner, features.unsupervised),
    }
    return Fitted(config, combiner, figures, card)


def drawn_pairs(ratings: Ratings, rows: Rows, count: int, gap: float, seed: int) -> Rows:
    """Draw pairs (better, worse) of places in ``rows`` whose targets differ by more than ``gap``: (m, 2), about ``count`` per file.

    Up to half of the pairs of a file answer one input; the others are any two outputs of the file. Every file gives the same number.
    """
    pairs = []
    for number in np.unique(ratings.file[rows]):
        chance = np.random.default_rng([seed, number])
        places = np.flatnonzero(ratings.file[rows] == number)
        targets = ratings.target[rows[places]]
        within = ranked_pairs([str(item) for item in ratings.item[rows[places]]], targets, gap)
        within = within[chance.permutation(len(within))[: count // 2]]
        free = drawn_order(targets, count - len(within), gap, [seed, int(number), 1])
        pairs.append(places[np.concatenate([within, free])])
    return np.concatenate(pairs)


# The fit


@dataclass(frozen=True, eq=False)
class Features:
    """Ratings with the features of their outputs, and anchors: pairs whose score needs no rater.

    Attributes
    ----------
    table
        Candidates, segment i for output i, then k segments of anchors.
    values
        (n + k, 4) features of each output and anchor with the reference that the unsupervised net scores best.
    anchor_targets
        (k,) in [0, 1].
    unsupervised
        Net of the model set.
    """

    ratings: Ratings
    table: FeatureTable
    values: Vector
    anchor_targets: Vector
    unsupervised: Combiner


def texts_of(ratings: Ratings, config: NetSettings) -> tuple[list[list[str]], list[str], Vector]:
    """Return the references and hypotheses of the outputs and then of the anchors, and the (k,) targets of the anchors.

    Anchors are references drawn from all files, each as three pairs: with itself, with another one, with an empty text.
    """
    texts = sorted({segment.references[0] for segment in ratings.segments})
    places = np.random.default_rng(config.seed).permutation(len(texts))[:ANCHORS]
    drawn = [texts[place] for place in places]
    ends = (BASE_QUALITY["identity"], SEVERE_TARGET["unrelated"], SEVERE_TARGET["empty"])
    references = [*(list(segment.references) for segment in ratings.segments), *([text] for text in drawn * 3)]
    others = [*drawn, *drawn[1:], *drawn[:1], *([""] * len(drawn))]
    return references, [*(segment.hypothesis for segment in ratings.segments), *others], np.repeat(ends, len(drawn))


def chosen_features(ratings: Ratings, table: FeatureTable, config: NetSettings, models: str = DEFAULT_SET) -> Features:
    """Return the ratings with their features.

    Parameters
    ----------
    models
        Set whose unsupervised net chooses among several references.
    """
    targets = texts_of(ratings, config)[2]
    net = Combiner.load(models=models)
    return Features(ratings, table, table.values[net.combine(table, allow_mismatch=True).row], targets, net)


def fit_rows(features: Features, rows: Rows, config: NetSettings) -> Combiner:
    """Return the net fitted on some of the outputs and on all anchors; the same seed gives the same bytes.

    In the cross-entropy every rating has the same weight, in the ranking every file.
    """
    ratings, anchors = features.ratings, features.anchor_targets
    inputs = np.concatenate([features.values[rows], features.values[len(ratings) :]])
    targets = np.concatenate([ratings.target[rows], anchors])
    weights = np.concatenate([np.ones(len(rows)), np.full(len(anchors), ANCHOR_SHARE * len(rows) / len(anchors))])
    order = drawn_pairs(ratings, rows, PAIRS, config.ranking_gap, config.seed)
    net = fit_net(inputs, targets, weights, order, config)
    sources = tuple(RatedSource(one.name, outputs_digest(s.hypothesis for s in one.segments)) for one in ratings.sets)
    return Combiner.of(net, features.table.signature, sources)


def train_supervised(features: Features, config: NetSettings) -> tuple[Combiner, dict[str, Any]]:
    """Return the net fitted on all outputs, and its figures, all of them out of fold."""
    count = len(features.ratings)
    combiner = fit_rows(features, np.arange(count), config)
    ends = np.split(combiner.score_rows(features.values[count:]), 3)
    named = zip(("identity", "unrelated", "empty"), ends, strict=True)
    means = {f"mean_{name}": round(float(part.mean()), 4) for name, part in named}
    return combiner, {**validated(features, config), **means, "outputs": count}


def _notes(combiner: Combiner, unsupervised: Combiner) -> str:
    same = unsupervised.feature_signature == combiner.feature_signature
    other = "" if same else "; the unsupervised net was trained on other features than these"
    return (
        "target: the rank of an output within its file (mean of the z-scored dimensions), from 0.05 to 0.95; identical texts 1, unrelated "
        "0.03, empty 0. Figures of supervised_out_of_fold: five folds, no input, reference or source on both sides; of "
        "supervised_on_other_files: by a net that saw no rating of this file; the others beside them on the same outputs"
        f"{other}. {combiner.feature_signature or 'unknown features'}"
    )


def validated(features: Features, config: NetSettings) -> Figures:
    """Return ``"SET DIMENSION" -> figure -> scorer -> value`` on the same outputs.

    Scorers are the supervised net out of fold and, with several files of different inputs, fitted on the other files; the unsupervised
    net of the set; and each component alone.
    """
    ratings, values = features.ratings, features.values[: len(features.ratings)]
    scores = {"supervised_out_of_fold": scores_by_others(features, folds_of(ratings, config.seed), config)}
    if all(len(_apart(ratings, ratings.file == number)) >= MINIMUM for number in range(len(ratings.sets))):
        scores["supervised_on_other_files"] = scores_by_others(features, ratings.file, config)
    scores["unsupervised"] = features.unsupervised.score_rows(values)
    scores |= {name: values[:, column] for column, name in enumerate(FEATURES)}
    return agreement_figures(ratings, scores)


def scores_by_others(features: Features, part: Rows, config: NetSettings) -> Vector:
    """Return (n,) scores by nets that saw no output of the same part, nor of a group in it; the best reference counts."""
    table, scores = features.table, np.empty(len(part))
    for number in np.unique(part):
        inside = part == number
        net = fit_rows(features, _apart(features.ratings, inside), config)
        best = net.combine(table[np.isin(table.segment, np.flatnonzero(inside))])
        scores[best.segment] = best.score
    return scores


def _apart(ratings: Ratings, inside: NDArray[np.bool_]) -> Rows:
    """Return the outputs of groups that have no output inside."""
    return np.flatnonzero(~np.isin(ratings.group, ratings.group[inside]))
