"""Quality drift: a net fitted on bad outputs and tested on good ones (BLEURT section 5.2, appendix B.3)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.combining.net import MonotoneNet
from rome.evaluation.diagnosis.fitting import fit_monotone_net, held_out_half, mean_and_spread, watched
from rome.evaluation.statistics.agreement import STATISTICS
from rome.exceptions import InputError
from rome.reports.model import Cell, Lines, Table

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Side = Literal["train", "test"]
SIDES: tuple[Side, Side] = ("train", "test")
Draw = Mapping[tuple[Side, float], NDArray[np.intp]]
"""One seed: the rows that each skew keeps on each side."""

STATISTIC = "kendall_b"
ALPHAS = (0.0, 0.5, 1.0, 1.5, 3.0)
BINS = 10


def quality_bins(ratings: ArrayLike, chance: np.random.Generator) -> NDArray[np.int64]:
    """Return (n,) the bin 1 (worst) to 10 (best) of each row; sizes of bins differ by one at most.

    The paper's "bins of equal size" hold equally many rows: at skew 3 it keeps 11.9 % of its training data, and the mean of
    1 / B^3 over ten bins is 11.98 %. Equal ratings are split at random. Raises InputError for fewer than ten rows.
    """
    values = np.asarray(ratings, dtype=np.float64)
    if len(values) < BINS:
        raise InputError(f"{len(values)} rated rows on one side are too few for {BINS} bins of quality: give more items")
    order = np.lexsort((chance.random(len(values)), values))
    bins = np.empty(len(values), dtype=np.int64)
    bins[order] = 1 + np.arange(len(values)) * BINS // len(values)
    return bins


def keep_probabilities(bins: NDArray[np.int64], alpha: float, side: Side) -> Vector:
    """Return (n,) the probability that a row is kept: 1 / B^alpha for training, 1 / (11 - B)^alpha for testing."""
    rank = bins if side == "train" else BINS + 1 - bins
    return np.asarray(rank.astype(np.float64) ** -alpha)


def drift(
    ratings: ArrayLike,
    groups: Sequence[Hashable],
    supervised: Mapping[str, Matrix],
    metrics: Mapping[str, ArrayLike],
    *,
    begin: Mapping[str, MonotoneNet] | None = None,
    alphas: Sequence[float] = ALPHAS,
    seeds: Sequence[int] = tuple(range(10)),
    progress: bool | None = None,
) -> tuple[Table, Lines]:
    """Measure Kendall's tau of fitted nets and fixed metrics as training skews to bad and testing to good outputs, independently.

    For each seed a row draws one number, and each skew keeps the rows whose number is below their probability: a stronger skew keeps a part of
    the rows of a weaker one. A value is nan if the kept rows have fewer than two different ratings. Raises InputError for fewer than ten
    rows on a side.

    Parameters
    ----------
    ratings
        (n,) higher is better.
    groups
        (n,) the item of each row; half of the items train, the others test.
    supervised
        Name -> (n, d) features, to which the net is fitted anew for every seed and training skew.
    metrics
        Name -> (n,) scores as they are.
    begin
        Name of a fitted net -> the pre-trained net that it begins from.
    progress
        As in `watched`.
    """
    people = np.asarray(ratings, dtype=np.float64)
    draws = [_draw(people, groups, alphas, seed) for seed in seeds]
    rows: list[tuple[Cell, ...]] = []

    def add(name: str, train_alpha: float | None, scores: Sequence[Vector]) -> None:
        """Add a row for each test skew of one scorer, from its scores for each seed."""
        trained = None if train_alpha is None else _mean_size(draws, "train", train_alpha)
        for alpha in alphas:
            tests = [draw["test", alpha] for draw in draws]
            values = [_agreement(people[there], given[there]) for there, given in zip(tests, scores, strict=True)]
            spread, tested = mean_and_spread(values), _mean_size(draws, "test", alpha)
            rows.append((name, train_alpha, alpha, *spread, trained, tested, len(draws)))

    jobs = [(name, given, train_alpha) for name, given in supervised.items() for train_alpha in alphas]
    for name, given, train_alpha in watched(jobs, "drift", progress):
        net = (begin or {}).get(name)
        add(name, train_alpha, [_fitted(given, people, draw["train", train_alpha], net) for draw in draws])
    for name, fixed in metrics.items():
        add(name, None, [np.asarray(fixed, dtype=np.float64)] * len(draws))
    table = Table(
        "drift",
        "Quality drift",
        ("scorer", "training skew", "test skew", STATISTIC, "spread", "training rows", "test rows", "seeds"),
        tuple(rows),
        f"Mean and standard deviation of {STATISTIC} over seeds (new split, new sample). Skew alpha keeps a training row of quality bin "
        "B (1 worst, 10 best) with probability 1 / B^alpha, a test row with 1 / (11 - B)^alpha; BLEURT section 5.2 and appendix B.3.",
        {"training skew": 1, "test skew": 1, "training rows": 0, "test rows": 0},
    )
    return table, _figure(table, tuple(alphas))


def _draw(people: Vector, groups: Sequence[Hashable], alphas: Sequence[float], seed: int) -> Draw:
    """Split the items, bin each side by its own ratings, and keep rows by the skews."""
    testing = held_out_half(groups, seed)
    chance = np.random.default_rng([seed, 1])
    kept: dict[tuple[Side, float], NDArray[np.intp]] = {}
    for side, there in zip(SIDES, (~testing, testing), strict=True):
        rows = np.flatnonzero(there)
        bins, drawn = quality_bins(people[rows], chance), chance.random(len(rows))
        kept |= {(side, alpha): rows[drawn < keep_probabilities(bins, alpha, side)] for alpha in alphas}
    return kept


def _fitted(features: Matrix, people: Vector, rows: NDArray[np.intp], begin: MonotoneNet | None) -> Vector:
    """Return (n,) predictions of a net that is fitted on some rows; nan if their ratings are all equal."""
    if len(np.unique(people[rows])) < 2:
        return np.full(len(people), np.nan)
    return fit_monotone_net(features[rows], people[rows], begin)(features)


def _agreement(people: Vector, scores: Vector) -> float:
    """Return the statistic; nan if the net could not be fitted."""
    return float("nan") if np.isnan(scores).any() else STATISTICS[STATISTIC](people, scores)


def _mean_size(draws: Sequence[Draw], side: Side, alpha: float) -> float:
    return float(np.mean([len(draw[side, alpha]) for draw in draws]))


def _figure(table: Table, alphas: tuple[float, ...]) -> Lines:
    """Draw BLEURT's figure 2: agreement over the test skew, one line per scorer and training skew."""
    series: dict[str, list[float]] = {}
    for row in table.rows:
        name = str(row[0]) if row[1] is None else f"{row[0]}, training skew {row[1]:g}"
        series.setdefault(name, []).append(float(row[3] if row[3] is not None else "nan"))
    note = "Training skew to bad outputs and test skew to good ones; a flat line that stays high is robust (BLEURT, figure 2)."
    return Lines("drift-agreement", "Agreement under quality drift", alphas, series, "test skew alpha", table.columns[3], note)
