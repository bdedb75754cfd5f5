"""The one routine that fits the net: to graded targets and to ranked pairs, by L-BFGS, in NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata

from rome.combining.net import MonotoneNet, Vector

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class NetSettings:
    """Settings of a fit.

    Attributes
    ----------
    hidden
        Hidden units.
    weight_floor
        Smallest hidden weight of each feature, or of all, so that it always counts and ties break.
    steps
        Iterations of L-BFGS, at most.
    decay
        Weight of half the squared parameters in the loss.
    ranking_temperature
        Logit difference at which a ranked pair counts as mostly settled.
    ranking_gap
        Targets closer than this are not ranked.
    """

    seed: int = 0
    hidden: int = 6
    weight_floor: tuple[float, ...] = (0.3,)
    steps: int = 1000
    decay: float = 1e-3
    ranking_temperature: float = 0.8
    ranking_gap: float = 0.02


EDGE = 1e-6
"""Least distance of a score to 0 and to 1 in the cross-entropy."""


def fit_net(
    values: Vector, targets: Vector, weights: Vector, order: Rows, settings: NetSettings, begin: MonotoneNet | None = None
) -> MonotoneNet:
    """Fit a net to (n, d) features and (n,) targets in [0, 1], weighted, and to row pairs (better, worse): (m, 2).

    The loss is the cross-entropy of the scores with the targets and, unless m is 0, a logistic loss of the differences of the pairs'
    logits; L-BFGS minimises it. The same values and seed give the same net. The fit of a pre-trained net begins from it, and its parameters
    decay towards those of that net.
    """
    count, width = values.shape
    hidden, better, worse = settings.hidden if begin is None else len(begin.hidden_bias), *order.T
    rows, floor = np.vstack([values, np.ones(width)]), np.broadcast_to(settings.weight_floor, width)
    edges = hidden * width, hidden * (width + 1), hidden * (width + 2)
    first = np.random.default_rng(settings.seed).normal(scale=0.5, size=edges[0])
    start = np.concatenate([first, -np.linspace(0.0, 3.0, hidden), np.full(hidden, -0.5), [0.0]])
    if begin is not None:
        raw, output = (np.log(np.expm1(np.maximum(part, EDGE))) for part in (begin.hidden_weight - floor, begin.output_weight))
        start = np.concatenate([raw.ravel(), begin.hidden_bias, output, [begin.output_bias]])
    rest = np.zeros(len(start)) if begin is None else start

    def unpacked(parameters: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        raw, bias, output, last = np.split(parameters, edges)
        return floor + np.logaddexp(0.0, raw.reshape(hidden, width)), bias, np.logaddexp(0.0, output), last[0]

    def loss(parameters: Vector) -> tuple[float, Vector]:
        """Return the loss and its gradient; the last row is the perfect one, by which scores are divided."""
        hidden_weight, hidden_bias, output_weight, output_bias = unpacked(parameters)
        units = np.tanh(rows @ hidden_weight.T + hidden_bias)
        logits = units @ output_weight + output_bias
        logarithms = -np.logaddexp(0.0, -logits)
        raw_scores = np.exp(logarithms[:-1] - logarithms[-1])
        scores = raw_scores.clip(EDGE, 1.0 - EDGE)
        total = -np.mean(weights * (targets * np.log(scores) + (1.0 - targets) * np.log1p(-scores)))
        by_score = weights * ((1.0 - targets) * scores / (1.0 - scores) - targets) / count * (scores == raw_scores)
        by_logit = np.append(by_score, -by_score.sum()) * expit(-logits)
        if len(order):
            gaps = (logits[worse] - logits[better]) / settings.ranking_temperature
            total += np.mean(np.logaddexp(0.0, gaps))
            pulls = expit(gaps) / (settings.ranking_temperature * len(order))
            by_logit += np.bincount(worse, pulls, count + 1) - np.bincount(better, pulls, count + 1)
        through = by_logit[:, None] * output_weight * (1.0 - units**2)
        raw, _, output, _ = np.split(parameters, edges)
        by_weight = (through.T @ rows).ravel() * expit(raw)
        gradient = np.concatenate([by_weight, through.sum(axis=0), units.T @ by_logit * expit(output), [by_logit.sum()]])
        away = parameters - rest
        return float(total + settings.decay / 2.0 * away @ away), gradient + settings.decay * away

    options = {"maxiter": settings.steps, "maxfun": 2 * settings.steps, "ftol": 1e-10}
    return MonotoneNet(*unpacked(minimize(loss, start, method="L-BFGS-B", jac=True, options=options).x))


# Human ratings as targets

RATED_SCALE = (0.05, 0.95)
"""Targets of the worst and the best output; identical texts have 1, unrelated and empty ones less than the worst."""


def rank_targets(ratings: ArrayLike) -> Vector:
    """Return (n,) the rank of each rating, evenly over RATED_SCALE, ties in the middle."""
    ranks, (worst, best) = rankdata(ratings), RATED_SCALE
    return np.asarray(worst + (best - worst) * (ranks - 0.5) / len(ranks))


def drawn_order(targets: Vector, count: int, gap: float, seed: int | Sequence[int]) -> Rows:
    """Draw about ``count`` row pairs (better, worse) whose targets differ by more than ``gap``: (m, 2)."""
    pairs = np.random.default_rng(seed).integers(len(targets), size=(count, 2))
    pairs = np.where((targets[pairs[:, 0]] >= targets[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    return pairs[targets[pairs[:, 0]] - targets[pairs[:, 1]] > gap]
