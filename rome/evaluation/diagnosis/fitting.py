"""RoMe's monotone net fitted on human ratings, and splits by items, so that the rows of one item never both train and test."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from rome.exceptions import InputError
from rome.progress import progress_bar


def distinct_groups(groups: Sequence[Hashable]) -> list[Hashable]:
    """Return each group once, in an order that does not depend on the order of the rows."""
    return sorted(set(groups), key=repr)


def fold_numbers(groups: Sequence[Hashable], folds: int, seed: int, ratings: ArrayLike) -> NDArray[np.int64]:
    """Return (n,) the fold 0 to folds - 1 of each row; folds differ by one group at most, and the order of the rows does not matter.

    Raises InputError for fewer than two folds or fewer groups than folds.

    Parameters
    ----------
    ratings
        (n,) balance the folds: groups are dealt in the order of their mean rating, at random within each round. Unbalanced folds hide weak
        agreement: if a fold is better than the rest, a net fitted on the rest predicts too little there, and predictions of different folds
        run against the ratings.
    """
    distinct, chance = distinct_groups(groups), np.random.default_rng(seed)
    if folds < 2 or len(distinct) < folds:
        raise InputError(
            f"{len(distinct)} items cannot be split into {folds} folds: take 2 to {len(distinct)} folds, or more items"
        )
    numbers = {group: number for number, group in enumerate(distinct)}
    codes = np.array([numbers[group] for group in groups])
    order = chance.permutation(len(distinct))
    means = np.bincount(codes, np.asarray(ratings, dtype=np.float64)) / np.bincount(codes)
    order = order[np.argsort(means[order].round(12), kind="stable")]
    fold = np.empty(len(distinct), dtype=np.int64)
    for start in range(0, len(distinct), folds):
        places = order[start : start + folds]
        fold[places] = chance.permutation(folds)[: len(places)]
    return fold[codes]


def held_out_half(groups: Sequence[Hashable], seed: int = 0) -> NDArray[np.bool_]:
    """Return (n,) True for the rows of half of the groups; the order of the rows does not matter."""
    distinct = distinct_groups(groups)
    drawn = np.random.default_rng(seed).permutation(len(distinct))
    testing = {distinct[number] for number in drawn[: round(len(distinct) / 2)]}
    return np.array([group in testing for group in groups], dtype=bool)


Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Predict = Callable[[Matrix], Vector]
"""A fitted net: (m, d) features to (m,) predictions, higher is better."""

HIDDEN = 6
DECAY = 1.0
"""Weight of the squared weights against the sum of squared errors; 1 and 3 were the best of .01, .1, .3, 1 and 3 out of fold."""
ITERATIONS = 600


def fit_monotone_net(features: ArrayLike, ratings: ArrayLike) -> Predict:
    """Fit RoMe's combiner (section 3.4) by least squares: a higher feature never lowers the prediction.

    prediction = mean + spread * (output_weight . tanh(hidden_weight x + hidden_bias) + output_bias) with positive weights (a softplus) and six
    hidden units: the combiner without its last sigmoid, which changes no ranking. Columns and ratings are standardised by the rows given; a
    constant column is left as it is.

    Raises InputError without two different ratings.

    Parameters
    ----------
    features
        (n, d) any finite values, higher is better.
    ratings
        (n,). The same rows in any order give the same net; 2,000 rows take a fraction of a second.
    """
    rows, wanted = checked_rows(features, ratings)
    order = np.lexsort((*rows.T, wanted))  # the optimiser amplifies the rounding of sums in another order to 1e-3
    rows, wanted = rows[order], wanted[order]
    centre, scale = rows.mean(axis=0), np.where(np.ptp(rows, axis=0) > 0.0, rows.std(axis=0), 1.0)
    mean, spread = float(wanted.mean()), float(wanted.std())
    data = (rows - centre) / scale, (wanted - mean) / spread, DECAY / len(rows)
    options = {"maxiter": ITERATIONS, "ftol": 1e-9}
    fitted = minimize(net_loss, _start(rows.shape[1]), data, method="L-BFGS-B", jac=True, options=options)
    hidden_weight, hidden_bias, output_weight, output_bias = _unpacked(fitted.x, rows.shape[1])

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
        (n,) the item of each row; all rows of one item are in one fold, and folds are balanced by their ratings (`fold_numbers`).
    """
    rows, wanted = checked_rows(features, ratings)
    fold = fold_numbers(groups, folds, seed, wanted)
    out = np.empty(len(rows))
    for number in range(folds):
        inside = fold == number
        out[inside] = fit_monotone_net(rows[~inside], wanted[~inside])(rows[inside])
    return out


def checked_rows(features: ArrayLike, ratings: ArrayLike) -> tuple[Matrix, Vector]:
    """Return (n, d) features and (n,) ratings as float64. Raises InputError without two different ratings."""
    rows, wanted = np.asarray(features, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    if len(set(wanted.tolist())) < 2:
        raise InputError(f"a scorer needs two different ratings, got {len(wanted)} rows that are all rated alike")
    return rows, wanted


def net_loss(parameters: Vector, inputs: Matrix, targets: Vector, decay: float) -> tuple[float, Vector]:
    """Return the mean squared error plus ``decay`` times the squared weights, and its gradient by the packed parameters."""
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


def _start(width: int) -> Vector:
    """Return the first parameters: small random weights, and hidden units that bend at places spread over the data."""
    chance = np.random.default_rng(0)
    hidden_raw = chance.normal(scale=0.5, size=HIDDEN * width) - 0.5
    return np.concatenate([hidden_raw, np.linspace(-2.0, 2.0, HIDDEN), np.full(HIDDEN, -1.0), [0.0]])


def _unpacked(parameters: Vector, width: int) -> tuple[Matrix, Vector, Vector, float]:
    edges = HIDDEN * width, HIDDEN * (width + 1)
    first, bias, second = np.split(parameters[:-1], edges)
    return first.reshape(HIDDEN, width), bias, second, float(parameters[-1])


def _softplus(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.logaddexp(0.0, values)


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 + 0.5 * np.tanh(0.5 * values)


T = TypeVar("T")


def watched(steps: Collection[T], label: str, progress: bool | None) -> Iterator[T]:
    """Yield the steps, with a bar on stderr.

    Parameters
    ----------
    progress
        True, False, or None for a bar if stderr is a terminal.
    """
    with progress_bar(progress, len(steps), unit="step", desc=label) as bar:
        for step in steps:
            yield step
            bar.update()


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation (n - 1) over the finite values; nan without any, and for the spread of one."""
    known = np.array([value for value in values if np.isfinite(value)], dtype=np.float64)
    mean = float(known.mean()) if len(known) else float("nan")
    return mean, float(known.std(ddof=1)) if len(known) > 1 else float("nan")
