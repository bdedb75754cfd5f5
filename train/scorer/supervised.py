"""The supervised variant of the scorer (`rome train scorer --ratings`): the same monotone net, fitted on human ratings.

BLEURT's second step, on four features: cross-entropy with the rank of an output within its file, and a ranking term within
files. It is judged on outputs that it was not fitted on, see `validated`.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata, zscore

from rome.combining.combiner import Combiner
from rome.combining.fitting import NetSettings, drawn_order, fit_net
from rome.combining.signature import RatedSource, outputs_digest
from rome.combining.table import FeatureTable
from rome.data.readers.rated import RatedSegment, RatedSet
from rome.evaluation.diagnosis.fitting import fold_numbers
from rome.evaluation.rated_scores import EvaluationSettings, Measure, RatedScores, read_sets
from rome.exceptions import InputError
from rome.features.analyser.config import DEFAULT_SET
from rome.features.values import FEATURES
from rome.train.scorer.measuring import Fitted, measured
from rome.train.scorer.net import BASE_QUALITY, SEVERE_TARGET, ranked_pairs, with_settings

PAIRS = 4000
"""Ranked pairs drawn from each file."""
ANCHORS = 150
ANCHOR_SHARE = 1.5
"""Number of references that give the ends of the scale, and the weight of these ends relative to all ratings."""
MINIMUM = 50
"""Least number of rated outputs per file for four weights and their bends."""
SCALE = (0.05, 0.95)
"""Targets of the worst and the best output of a file; identical texts have 1, unrelated and empty ones less than the worst."""
LICENCES = {
    "wmt15": "WMT, research use",
    "wmt23": "Google, Apache-2.0",
    **dict.fromkeys(("bagel", "bagel-mr", "sfhotel", "sfrest"), "Novikova et al. 2017, MIT"),
    "webnlg17": "CC BY-NC-SA 4.0, for evaluation only: do not pass these weights on",
}
"""Licences of rated sets, by name."""
Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


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
    options = [f"--ratings {' '.join(Path(one).name for one in arguments.ratings)}"]
    options += [f"--dimension {' '.join(arguments.dimension)}"] if arguments.dimension else []
    licences = "; ".join(
        f"{one.name}: {LICENCES.get(name, 'as its source says')}"
        for name, one in zip(arguments.ratings, ratings.sets, strict=True)
    )
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
    return Fitted(config, combiner, figures, options, card)


# Ratings of several files on one scale


@dataclass(frozen=True, eq=False)
class Ratings:
    """The n rated outputs of several files, in their order.

    Attributes
    ----------
    dimensions
        Human dimensions that count, per file.
    file
        (n,) number of the file.
    people
        (n,) mean of the z-scores of the dimensions; comparable within a file only.
    target
        (n,) in (0, 1), higher is better: the rank of ``people`` within its file, evenly over SCALE, ties in the middle.
    item
        (n,) equal for outputs that answer one input.
    group
        (n,) equal for outputs that share input, reference or source text in any file: they are never split into training and judging.
    """

    sets: tuple[RatedSet, ...]
    dimensions: tuple[tuple[str, ...], ...]
    file: Rows
    people: Vector
    target: Vector
    item: Rows
    group: Rows

    @property
    def segments(self) -> list[RatedSegment]:
        """Return the outputs of all files in one list."""
        return [segment for rated in self.sets for segment in rated.segments]

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self.file)


def ratings_of(sets: Sequence[RatedSet], dimensions: Sequence[str] = ()) -> Ratings:
    """Bring the ratings of several sets to one scale.

    Scales differ (medians of a six-point scale, z-scores, error counts), and so does the difficulty of the inputs: only the order
    within a file is used.

    Raises
    ------
    InputError
        For a dimension that no file has, a file without any of the named ones or with fewer than MINIMUM outputs, and equal ratings.
    """
    known = dict.fromkeys(name for rated in sets for name in rated.dimensions)
    unknown = [name for name in dimensions if name not in known]
    if unknown:
        raise InputError(f"no rated file has the dimension {unknown[0]!r}: choose from {', '.join(known)}")
    chosen = [_dimensions(rated, dimensions) for rated in sets]
    people = [_people(rated, names) for rated, names in zip(sets, chosen, strict=True)]
    worst, best = SCALE
    targets = [worst + (best - worst) * (rankdata(part) - 0.5) / len(part) for part in people]
    file = np.repeat(np.arange(len(sets)), [len(part) for part in people])
    segments = [segment for rated in sets for segment in rated.segments]
    inputs: list[list[Hashable]] = [[(int(number), *segment.group)] for number, segment in zip(file, segments, strict=True)]
    shared = [
        [*keys, *segment.references, *([segment.source] if segment.source else [])]
        for keys, segment in zip(inputs, segments, strict=True)
    ]
    scores = np.concatenate(people), np.concatenate(targets)
    return Ratings(tuple(sets), tuple(chosen), file, *scores, _joined(inputs), _joined(shared))


def _dimensions(rated: RatedSet, dimensions: Sequence[str]) -> tuple[str, ...]:
    """Return the dimensions of a file that count."""
    names = tuple(name for name in rated.dimensions if not dimensions or name in dimensions)
    if not names:
        raise InputError(
            f"{rated.name} has none of the dimensions {', '.join(dimensions)}: name one of {', '.join(rated.dimensions)} as well"
        )
    if len(rated.segments) < MINIMUM:
        raise InputError(f"{rated.name} must hold at least {MINIMUM} rated outputs, got {len(rated.segments)}: rate more")
    return names


def _people(rated: RatedSet, names: Sequence[str]) -> Vector:
    """Return (n,) mean z-scores over the dimensions, without those in which all outputs are rated alike."""
    values = np.array([[segment.ratings[name] for name in names] for segment in rated.segments], dtype=np.float64)
    varied = values[:, np.ptp(values, axis=0) > 0.0]
    mean: Vector = zscore(varied, axis=0).mean(axis=1).round(9) if varied.shape[1] else np.zeros(1)  # rounded for ties
    if np.ptp(mean) == 0.0:
        raise InputError(
            f"{rated.name}: all ratings of {', '.join(names)} are equal or cancel out: a net needs outputs that differ in quality"
        )
    return mean


def _joined(keys: Sequence[Sequence[Hashable]]) -> Rows:
    """Return (n,) numbers that are equal for rows joined by a chain of common keys."""
    known: dict[Hashable, int] = {}
    edges = [(row, known.setdefault(key, len(known))) for row, mine in enumerate(keys) for key in mine]
    rows, columns = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    size = len(keys) + len(known)
    graph = coo_array((np.ones(len(edges)), (rows, len(keys) + columns)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][: len(keys)], dtype=np.int64)


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
    means = {
        f"mean_{name}": round(float(part.mean()), 4)
        for name, part in zip(("identity", "unrelated", "empty"), ends, strict=True)
    }
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


FOLDS = 5
FIGURES = (
    Measure("kendall_b", "none"),
    Measure("kendall_b", "item"),
    Measure("pearson", "none"),
    Measure("pearson", "language_pair"),
)
Figures = dict[str, dict[str, dict[str, float]]]


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


def folds_of(ratings: Ratings, seed: int) -> Rows:
    """Return (n,) folds 0 to 4; a group is never split. Raises InputError for fewer than five groups."""
    return fold_numbers(ratings.group.tolist(), FOLDS, seed, ratings.target)


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


def agreement_figures(ratings: Ratings, scores: Mapping[str, Vector]) -> Figures:
    """Return Kendall's tau-b and Pearson's r of each scorer with each human dimension of each file.

    Pooled, and if the file has them, averaged within inputs and language pairs.
    """
    figures: Figures = {}
    for number, rated in enumerate(ratings.sets):
        own = {name: values[ratings.file == number] for name, values in scores.items()}
        for dimension in ratings.dimensions[number]:
            compared = RatedScores(rated, dimension, own, EvaluationSettings(FIGURES))
            figures[f"{rated.name} {dimension}"] = {
                measure.label: {name: round(compared.agreement(name, measure).value, 4) for name in scores}
                for measure in compared.figures
            }
    return figures
