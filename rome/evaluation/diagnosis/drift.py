"""Quality drift: a scorer that is fitted on bad outputs and judged on good ones (BLEURT section 5.2, appendix B.3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.evaluation.diagnosis.fitting import fit_monotone_net, held_out, mean_and_spread, watched
from rome.evaluation.statistics.agreement import STATISTICS
from rome.exceptions import InputError
from rome.reports.model import Cell, Lines, Table

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Side = Literal["train", "test"]
SIDES: tuple[Side, Side] = ("train", "test")
Draw = Mapping[tuple[Side, float], NDArray[np.intp]]
"""One seed: the rows that each skew keeps on each side."""

ALPHAS = (0.0, 0.5, 1.0, 1.5, 3.0)
BINS = 10
INTERVALS = 20


class Drift(NamedTuple):
    """What the experiment found, in the order of reading: what each skew keeps (``distribution`` is BLEURT's figure 1), and the agreement
    (``figure`` is its figure 2)."""

    kept: Table
    distribution: Lines
    table: Table
    figure: Lines


def quality_bins(ratings: ArrayLike, chance: np.random.Generator) -> NDArray[np.int64]:
    """(n,) the bin 1 (worst) to 10 (best) of each row; bins hold the same number of rows, or differ by one.

    The paper's "bins of equal size" hold equally many rows: at skew 3 it keeps 11.9 % of its training data, and the mean of
    1 / B^3 over ten bins is 11.98 %. Equal ratings are parted by chance. Raises InputError for fewer than ten rows.
    """
    values = np.asarray(ratings, dtype=np.float64)
    if len(values) < BINS:
        raise InputError(f"{len(values)} rated rows on one side are too few for {BINS} bins of quality: give more items")
    order = np.lexsort((chance.random(len(values)), values))
    bins = np.empty(len(values), dtype=np.int64)
    bins[order] = 1 + np.arange(len(values)) * BINS // len(values)
    return bins


def keep_probabilities(bins: NDArray[np.int64], alpha: float, side: Side) -> Vector:
    """(n,) the chance that a row is kept: 1 / B^alpha for training, 1 / (11 - B)^alpha for testing; 1 everywhere for alpha 0."""
    rank = bins if side == "train" else BINS + 1 - bins
    return np.asarray(rank.astype(np.float64) ** -alpha)


def drift(
    ratings: ArrayLike,
    groups: Sequence[Hashable],
    supervised: Mapping[str, Matrix],
    metrics: Mapping[str, ArrayLike] | None = None,
    *,
    alphas: Sequence[float] = ALPHAS,
    test_share: float = 0.5,
    seeds: Sequence[int] = tuple(range(10)),
    statistic: str = "kendall_b",
    progress: bool | None = None,
) -> Drift:
    """Agreement of fitted and fixed scorers as training skews to bad and testing to good outputs, independently.

    Raises InputError for fewer than ten rows on a side.

    Parameters
    ----------
    ratings
        (n,) higher is better.
    groups
        (n,) what each row answers; items are split into training and testing first.
    supervised
        Name -> (n, d) features, to which the net is fitted anew for every seed and training skew.
    metrics
        Name -> (n,) scores that nothing fits.
    statistic
        A name of `STATISTICS`, pooled over the test rows. For each seed a row draws one number, and each skew keeps the rows whose number is
        below their probability: a stronger skew keeps a part of what a weaker one keeps. A value is nan where what is left has fewer than two
        different ratings.
    progress
        As in `watched`.
    """
    people = np.asarray(ratings, dtype=np.float64)
    fixed = {name: np.asarray(scores, dtype=np.float64) for name, scores in (metrics or {}).items()}
    draws = [_draw(people, groups, alphas, test_share, seed) for seed in seeds]
    rows: list[tuple[Cell, ...]] = []
    jobs = [(name, given, train_alpha) for name, given in supervised.items() for train_alpha in alphas]
    for name, given, train_alpha in watched(jobs, "drift", progress):
        rows += _fitted_rows(name, train_alpha, given, people, draws, alphas, statistic)
    for name, scores in fixed.items():
        for alpha in alphas:
            values = [_agreement(statistic, people, scores, draw["test", alpha]) for draw in draws]
            rows.append((name, None, alpha, *mean_and_spread(values), None, _mean_size(draws, "test", alpha), len(seeds)))
    table = Table(
        "drift",
        "Quality drift",
        ("scorer", "training skew", "test skew", statistic, "spread", "training rows", "test rows", "seeds"),
        tuple(rows),
        f"Mean and standard deviation of {statistic} over seeds (new split, new sample). Skew alpha keeps a training row of quality bin "
        "B (1 worst, 10 best) with probability 1 / B^alpha, a test row with 1 / (11 - B)^alpha; BLEURT section 5.2 and appendix B.3.",
        {"training skew": 1, "test skew": 1, "training rows": 0, "test rows": 0},
    )
    return Drift(_kept(people, draws, alphas), _distribution(people, draws, alphas), table, _figure(table, tuple(alphas)))


def _draw(people: Vector, groups: Sequence[Hashable], alphas: Sequence[float], test_share: float, seed: int) -> Draw:
    """Split the items, bin each side by its own ratings, and keep rows by the skews."""
    _, testing = held_out(groups, test_share, seed)
    chance = np.random.default_rng([seed, 1])
    kept: dict[tuple[Side, float], NDArray[np.intp]] = {}
    for side, there in zip(SIDES, (~testing, testing), strict=True):
        rows = np.flatnonzero(there)
        bins, drawn = quality_bins(people[rows], chance), chance.random(len(rows))
        kept |= {(side, alpha): rows[drawn < keep_probabilities(bins, alpha, side)] for alpha in alphas}
    return kept


def _fitted_rows(
    name: str,
    train_alpha: float,
    given: Matrix,
    people: Vector,
    draws: Sequence[Draw],
    alphas: Sequence[float],
    statistic: str,
) -> Iterator[tuple[Cell, ...]]:
    """One scorer trained at one skew: a row for each test skew."""
    scores = []
    for draw in draws:
        rows = draw["train", train_alpha]
        usable = len(np.unique(people[rows])) > 1
        scores.append(fit_monotone_net(given[rows], people[rows])(given) if usable else np.full(len(people), np.nan))
    trained = _mean_size(draws, "train", train_alpha)
    for alpha in alphas:
        pairs = zip(draws, scores, strict=True)
        values = [_agreement(statistic, people, found, draw["test", alpha]) for draw, found in pairs]
        yield name, train_alpha, alpha, *mean_and_spread(values), trained, _mean_size(draws, "test", alpha), len(draws)


def _agreement(statistic: str, people: Vector, scores: Vector, rows: NDArray[np.intp]) -> float:
    """The statistic on some rows; nan when the scorer could not be fitted."""
    return float("nan") if np.isnan(scores[rows]).any() else STATISTICS[statistic](people[rows], scores[rows])


def _mean_size(draws: Sequence[Draw], side: Side, alpha: float) -> float:
    return float(np.mean([len(draw[side, alpha]) for draw in draws]))


def _figure(table: Table, alphas: tuple[float, ...]) -> Lines:
    """BLEURT's figure 2: agreement over the test skew, one line a scorer and training skew."""
    series: dict[str, list[float]] = {}
    for row in table.rows:
        name = str(row[0]) if row[1] is None else f"{row[0]}, training skew {row[1]:g}"
        series.setdefault(name, []).append(float(row[3] if row[3] is not None else "nan"))
    note = "Training skew to bad outputs and test skew to good ones; a flat line that stays high is robust (BLEURT, figure 2)."
    return Lines("drift-agreement", "Agreement under quality drift", alphas, series, "test skew alpha", table.columns[3], note)


def _kept(people: Vector, draws: Sequence[Draw], alphas: Sequence[float]) -> Table:
    """How many rows each skew keeps, and which ratings they have."""
    rows: list[tuple[Cell, ...]] = []
    for side in SIDES:
        for alpha in alphas:
            ratings = np.concatenate([people[draw[side, alpha]] for draw in draws])
            quantiles = np.quantile(ratings, (0.1, 0.5, 0.9)).tolist() if len(ratings) else [None] * 3
            expected = float(np.mean(np.arange(1.0, BINS + 1) ** -alpha))
            rows.append((side, alpha, _mean_size(draws, side, alpha), expected, *quantiles))
    columns = ("side", "skew", "rows kept", "share expected", "10 % rating", "median rating", "90 % rating")
    note = "Means over seeds; quantiles of the ratings of what is kept. Skew 0 keeps everything."
    return Table("drift-kept", "What each skew keeps", columns, tuple(rows), note, {"skew": 1, "rows kept": 0})


def _distribution(people: Vector, draws: Sequence[Draw], alphas: Sequence[float]) -> Lines:
    """BLEURT's figure 1: the share of kept rows in intervals of equal width of the rating."""
    edges = np.linspace(people.min(), people.max(), INTERVALS + 1)
    series = {}
    for side in SIDES:
        for alpha in alphas:
            counts = np.histogram(np.concatenate([people[draw[side, alpha]] for draw in draws]), edges)[0]
            series[f"{side}, skew {alpha:g}"] = (counts / max(1, counts.sum())).tolist()
    centres = tuple(((edges[1:] + edges[:-1]) / 2).tolist())
    return Lines("drift-ratings", "Ratings for each skew", centres, series, "rating", "share of rows", "BLEURT, figure 1.")
