"""Human ratings of several files on one scale: their order within each file, folds that share no input, and figures of agreement."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import zscore

from rome.combining.fitting import rank_targets
from rome.data.readers.rated import RatedSegment, RatedSet
from rome.evaluation.diagnosis.fitting import fold_numbers
from rome.evaluation.rated_scores import EvaluationSettings, Measure, RatedScores
from rome.exceptions import InputError

MINIMUM = 50
"""Least number of rated outputs per file for four weights and their bends."""
LICENCES = {
    "wmt15": "WMT, research use",
    "wmt23": "Google, Apache-2.0",
    **dict.fromkeys(("bagel", "bagel-mr", "sfhotel", "sfrest"), "Novikova et al. 2017, MIT"),
    "webnlg17": "CC BY-NC-SA 4.0, for evaluation only: do not pass these weights on",
}
"""Licences of rated sets, by name."""
Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


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
        (n,) in (0, 1), higher is better: the rank of ``people`` within its file, see `rank_targets`.
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

    def only(self, rows: Rows) -> Ratings:
        """Return some of the outputs, without the files that have none of them."""
        segments, numbers = self.segments, np.unique(self.file[rows])
        own = [[segments[row] for row in rows[self.file[rows] == n].tolist()] for n in numbers]
        sets = tuple(RatedSet(self.sets[n].name, tuple(each)) for n, each in zip(numbers, own, strict=True))
        arrays = {name: getattr(self, name)[rows] for name in ("people", "target", "item", "group")}
        dimensions = tuple(self.dimensions[n] for n in numbers)
        return replace(self, sets=sets, dimensions=dimensions, file=np.searchsorted(numbers, self.file[rows]), **arrays)


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
    targets = [rank_targets(part) for part in people]
    file = np.repeat(np.arange(len(sets)), [len(part) for part in people])
    segments = [segment for rated in sets for segment in rated.segments]
    inputs: list[list[Hashable]] = [[(int(number), *segment.group)] for number, segment in zip(file, segments, strict=True)]
    shared = [[*keys, *one.references, *filter(None, [one.source])] for keys, one in zip(inputs, segments, strict=True)]
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


FOLDS = 5
FIGURES = (
    Measure("kendall_b", "none"),
    Measure("kendall_b", "item"),
    Measure("pearson", "none"),
    Measure("pearson", "language_pair"),
)
Figures = dict[str, dict[str, dict[str, float]]]


def folds_of(ratings: Ratings, seed: int) -> Rows:
    """Return (n,) folds 0 to 4; a group is never split. Raises InputError for fewer than five groups."""
    return fold_numbers(ratings.group.tolist(), FOLDS, seed, ratings.target)


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
