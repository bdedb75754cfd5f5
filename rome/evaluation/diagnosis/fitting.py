"""RoMe's monotone net fitted on human ratings, and which rows train and which judge: drawn by items, so that no judged item is trained on."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from rome.exceptions import InputError
from rome.progress import progress_bar


def distinct_groups(groups: Sequence[Hashable]) -> list[Hashable]:
    """Each group once, in an order that does not depend on the order of the rows."""
    return sorted(set(groups), key=repr)


def fold_numbers(groups: Sequence[Hashable], folds: int, seed: int = 0, ratings: ArrayLike | None = None) -> NDArray[np.int64]:
    """(n,) the fold 0 to folds - 1 of each row; folds differ by one group at most, and the order of the rows does not matter.

    Raises InputError for fewer than two folds or fewer groups than folds.

    Parameters
    ----------
    ratings
        (n,) balance the folds: groups are dealt in the order of their mean rating, by chance within each round. Unbalanced folds hide weak
        agreement: where a fold is better than the rest, what was fitted on the rest starts lower, so that predictions of different folds, put
        together, run against the ratings.
    """
    distinct, chance = distinct_groups(groups), np.random.default_rng(seed)
    if folds < 2 or len(distinct) < folds:
        raise InputError(
            f"{len(distinct)} items cannot be split into {folds} folds: take 2 to {len(distinct)} folds, or more items"
        )
    order = chance.permutation(len(distinct))
    if ratings is not None:
        means = _means(groups, ratings)
        order = order[np.argsort([means[distinct[n]] for n in order], kind="stable")]
    number = {}
    for start in range(0, len(distinct), folds):
        for place, fold in zip(order[start : start + folds], chance.permutation(folds), strict=False):
            number[distinct[place]] = int(fold)
    return np.array([number[group] for group in groups], dtype=np.int64)


def _means(groups: Sequence[Hashable], ratings: ArrayLike) -> dict[Hashable, float]:
    """The mean rating of each group, the same bits whatever the order of its rows."""
    values = np.asarray(ratings, dtype=np.float64)
    if values.shape != (len(groups),):
        raise InputError(f"there are {len(groups)} groups for {len(values)} rated rows: give one group a row")
    found: dict[Hashable, list[float]] = {}
    for group, value in zip(groups, values.tolist(), strict=True):
        found.setdefault(group, []).append(value)
    return {group: math.fsum(part) / len(part) for group, part in found.items()}


def held_out(groups: Sequence[Hashable], share: float, seed: int = 0) -> tuple[list[Hashable], NDArray[np.bool_]]:
    """Keep about ``share`` of the groups for testing, at least one: the others in a drawn order, and (n,) True for test rows.

    The order of the rows does not matter. Raises InputError for a share outside (0, 1) and for fewer than two groups.
    """
    distinct = distinct_groups(groups)
    if not 0.0 < share < 1.0 or len(distinct) < 2:
        raise InputError(
            f"{len(distinct)} items cannot give a share of {share:g} for testing: take a share between 0 and 1 of two items or more"
        )
    drawn = [distinct[number] for number in np.random.default_rng(seed).permutation(len(distinct))]
    count = min(len(distinct) - 1, max(1, round(share * len(distinct))))
    testing = set(drawn[:count])
    return drawn[count:], np.array([group in testing for group in groups], dtype=bool)


Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Predict = Callable[[Matrix], Vector]
"""A fitted scorer: (m, d) features to (m,) predictions, higher is better."""

HIDDEN = 6
DECAY = 1.0
"""Of .01, .1, .3, 1 and 3 among the best two out of fold on WebNLG 2017, WMT15 and BAGEL; the results hardly tell 1 from 3."""
ITERATIONS = 600


def fit_monotone_net(features: ArrayLike, ratings: ArrayLike, /, *, seed: int = 0, decay: float = DECAY) -> Predict:
    """Fit RoMe's combiner (section 3.4) by least squares: no feature that rises ever lowers the prediction.

    prediction = mean + spread * (output_weight . tanh(hidden_weight x + hidden_bias) + output_bias) with positive weights (a softplus) and six
    hidden units: the combiner without its last sigmoid, which changes no ranking. Columns and ratings are standardised by the rows given; a
    column that never varies is left as it is.

    Raises InputError for fewer than two rows, ratings that are all equal, and values that are not finite.

    Parameters
    ----------
    decay
        Squared weights count this much against the sum of squared errors of one row, so that few rows give a cautious net.
    features
        (n, d) any finite values, higher is better.
    ratings
        (n,). The order of the rows does not matter, the same rows and seed give the same net, 2,000 rows take a fraction of a second.
    """
    rows, wanted = checked_rows(features, ratings)
    order = np.lexsort((*rows.T, wanted))  # sums in one order, so that shuffled rows give the same bits
    rows, wanted = rows[order], wanted[order]
    centre, scale = rows.mean(axis=0), _scales(rows)
    mean, spread = float(wanted.mean()), float(wanted.std())
    inputs, targets = (rows - centre) / scale, (wanted - mean) / spread
    start = _start(rows.shape[1], seed)
    found = minimize(
        net_loss,
        start,
        (inputs, targets, decay / len(rows)),
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": ITERATIONS, "ftol": 1e-9},
    )
    hidden_weight, hidden_bias, output_weight, output_bias = _unpacked(found.x, rows.shape[1])

    def predict(values: Matrix) -> Vector:
        hidden = np.tanh((np.asarray(values, dtype=np.float64) - centre) / scale @ _softplus(hidden_weight).T + hidden_bias)
        return mean + spread * (hidden @ _softplus(output_weight) + output_bias)

    return predict


def cross_validated(
    features: ArrayLike,
    ratings: ArrayLike,
    groups: Sequence[Hashable],
    *,
    folds: int = 5,
    seed: int = 0,
) -> Vector:
    """Return (n,) predictions, each by a net that saw no output of the same group (item).

    Raises InputError for fewer groups than folds, and when the rows outside a fold cannot be fitted.

    Parameters
    ----------
    groups
        For each row what it answers; all rows of one group fall into one fold, and folds are balanced by their ratings (`fold_numbers`).
    """
    rows, wanted = checked_rows(features, ratings)
    fold = fold_numbers(groups, folds, seed, wanted)
    out = np.empty(len(rows))
    for number in range(folds):
        inside = fold == number
        out[inside] = fit_monotone_net(rows[~inside], wanted[~inside])(rows[inside])
    return out


def checked_rows(features: ArrayLike, ratings: ArrayLike) -> tuple[Matrix, Vector]:
    """(n, d) features and (n,) ratings as float64. Raises InputError for what nothing can be fitted on."""
    rows, wanted = np.asarray(features, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    if rows.ndim != 2 or not rows.shape[1] or wanted.shape != rows.shape[:1]:
        raise InputError(f"features {rows.shape} and ratings {wanted.shape} do not fit: give (n, d) features and n ratings")
    if not (np.isfinite(rows).all() and np.isfinite(wanted).all()):
        raise InputError("a feature or a rating is no finite number: leave such rows out")
    if len(rows) < 2 or wanted.min() == wanted.max():
        raise InputError(
            f"{len(rows)} rows with {len(set(wanted.tolist()))} different ratings: a scorer needs at least two of each"
        )
    return rows, wanted


def net_loss(parameters: Vector, inputs: Matrix, targets: Vector, decay: float) -> tuple[float, Vector]:
    """Mean squared error plus ``decay`` times the squared weights, and its gradient with respect to the packed parameters."""
    hidden_raw, hidden_bias, output_raw, output_bias = _unpacked(parameters, inputs.shape[1])
    hidden_weight, output_weight = _softplus(hidden_raw), _softplus(output_raw)
    hidden = np.tanh(inputs @ hidden_weight.T + hidden_bias)
    error = hidden @ output_weight + output_bias - targets
    loss = float(np.mean(error**2) + decay * (np.sum(hidden_weight**2) + np.sum(output_weight**2)))
    slope = 2.0 / len(targets) * error
    through = slope[:, None] * output_weight * (1.0 - hidden**2)
    gradient = (
        (through.T @ inputs + 2.0 * decay * hidden_weight) * _sigmoid(hidden_raw),
        through.sum(axis=0),
        (hidden.T @ slope + 2.0 * decay * output_weight) * _sigmoid(output_raw),
        slope.sum(keepdims=True),
    )
    return loss, np.concatenate([part.ravel() for part in gradient])


def _start(width: int, seed: int) -> Vector:
    """Where fitting starts: small weights, drawn; hidden units that bend at places spread over the data."""
    chance = np.random.default_rng(seed)
    hidden_raw = chance.normal(scale=0.5, size=HIDDEN * width) - 0.5
    return np.concatenate([hidden_raw, np.linspace(-2.0, 2.0, HIDDEN), np.full(HIDDEN, -1.0), [0.0]])


def _unpacked(parameters: Vector, width: int) -> tuple[Matrix, Vector, Vector, float]:
    edges = HIDDEN * width, HIDDEN * (width + 1)
    first, bias, second = np.split(parameters[:-1], edges)
    return first.reshape(HIDDEN, width), bias, second, float(parameters[-1])


def _scales(rows: Matrix) -> Vector:
    spread = rows.std(axis=0)
    return np.where(np.ptp(rows, axis=0) > 0.0, spread, 1.0)


def _softplus(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.logaddexp(0.0, values)


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 + 0.5 * np.tanh(0.5 * values)


T = TypeVar("T")


def watched(steps: Collection[T], label: str, progress: bool | None) -> Iterator[T]:
    """The steps themselves, with a bar on stderr.

    Parameters
    ----------
    progress
        True, False, or None for a bar when that is a terminal.
    """
    with progress_bar(progress, len(steps), unit="step", desc=label) as bar:
        for step in steps:
            yield step
            bar.update()


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (n - 1) over the seeds that gave a number; nan where there are none, or one for the spread."""
    known = np.array([value for value in values if np.isfinite(value)], dtype=np.float64)
    mean = float(known.mean()) if len(known) else float("nan")
    return mean, float(known.std(ddof=1)) if len(known) > 1 else float("nan")
