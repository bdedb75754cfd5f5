"""Counting pairs: in how many pairs of outputs people and metric agree, disagree, or see a tie.

Every variant of Kendall's tau and pairwise accuracy is a ratio of these five counts (Deutsch et al. 2023, table 1), so they are
counted in one place, for many groups of one size at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["SMALL", "PairCounts", "pair_counts", "relations"]

Matrix = NDArray[np.float64]
SMALL = 64
"""Largest group whose pairs are laid out at once; larger ones go through scipy or block by block."""
ROOM = 2_000_000
"""Most pairs held in memory at a time."""


@dataclass(frozen=True, eq=False)
class PairCounts:
    """(g,) float64 each, for g groups; the five add up to all m * (m - 1) / 2 pairs of a group.

    concordant, discordant : same or opposite order, no tie on either side. tied_people, tied_metric : a tie on that side only.
    tied_both : a tie on both.
    """

    concordant: Matrix
    discordant: Matrix
    tied_people: Matrix
    tied_metric: Matrix
    tied_both: Matrix

    @property
    def pairs(self) -> Matrix:
        """(g,) the number of all pairs."""
        return self.concordant + self.discordant + self.tied_people + self.tied_metric + self.tied_both


def relations(differences: Matrix, below: float = 0.0, within: float = 0.0) -> Matrix:
    """-1, 0 or 1 for each difference; 0 is a tie: ``|difference| < below`` or ``|difference| <= within``."""
    return np.sign(differences) * (np.abs(differences) >= below) * (np.abs(differences) > within)


def pair_counts(people: Matrix, metric: Matrix, threshold: float = 0.0, epsilon: float = 0.0) -> PairCounts:
    """The counts of each row's pairs.

    people, metric : (g, m), one group a row. threshold : people's difference must reach it, otherwise they tie.
    epsilon : the metric's difference must exceed it, otherwise it ties.
    """
    groups, size = people.shape
    if size <= SMALL:
        step = max(1, ROOM // max(1, size * (size - 1) // 2))
        parts = [_laid_out(people[n : n + step], metric[n : n + step], threshold, epsilon) for n in range(0, groups, step)]
    elif threshold or epsilon:
        parts = [_by_blocks(*row, threshold, epsilon)[:, None] for row in zip(people, metric, strict=True)]
    else:
        parts = [_from_tau_c(*row)[:, None] for row in zip(people, metric, strict=True)]
    return PairCounts(*np.concatenate(parts, axis=1)) if parts else PairCounts(*np.zeros((5, 0)))


def _five(people: Matrix, metric: Matrix, axis: int | tuple[int, ...]) -> Matrix:
    """The five counts of relations, summed over an axis."""
    product = people * metric
    people_tie, metric_tie = people == 0, metric == 0
    kinds = (product > 0, product < 0, people_tie & ~metric_tie, ~people_tie & metric_tie, people_tie & metric_tie)
    return np.array([kind.sum(axis=axis) for kind in kinds], dtype=np.float64)


def _laid_out(people: Matrix, metric: Matrix, threshold: float, epsilon: float) -> Matrix:
    """(5, g) counts, all pairs of all rows in one array."""
    first, second = np.triu_indices(people.shape[1], 1)
    ours = relations(people[:, first] - people[:, second], below=threshold)
    return _five(ours, relations(metric[:, first] - metric[:, second], within=epsilon), axis=1)


def _by_blocks(people: Matrix, metric: Matrix, threshold: float, epsilon: float) -> Matrix:
    """(5,) counts of one large group: every ordered pair, block by block, then halved without each output's pair with itself."""
    found = np.zeros(5)
    step = max(1, ROOM // people.size)
    for n in range(0, people.size, step):
        ours = relations(people[n : n + step, None] - people, below=threshold)
        found += _five(ours, relations(metric[n : n + step, None] - metric, within=epsilon), axis=(0, 1))
    found[4] -= people.size
    return found / 2


def _from_tau_c(ratings: Matrix, scores: Matrix) -> Matrix:
    """(5,) counts of one large group in O(n log n): scipy's tau-c holds concordant minus discordant, the ties are counted."""
    size = ratings.size
    people = np.unique(ratings, return_inverse=True)[1]
    metric = np.unique(scores, return_inverse=True)[1]
    joint = people * size + metric
    tied_people, tied_metric, tied_both = (_tied(np.unique(side, return_counts=True)[1]) for side in (people, metric, joint))
    fewest = int(min(people.max(), metric.max())) + 1
    surplus = 0.0
    if fewest > 1:
        tau = stats.kendalltau(people, metric, variant="c", method="asymptotic").statistic
        surplus = round(float(tau) * size**2 * (fewest - 1) / fewest / 2)
    untied = size * (size - 1) / 2 - tied_people - tied_metric + tied_both
    counts = ((untied + surplus) / 2, (untied - surplus) / 2, tied_people - tied_both, tied_metric - tied_both, tied_both)
    return np.array(counts)


def _tied(counts: NDArray[np.int64]) -> float:
    """Number of pairs within classes of these sizes."""
    return float((counts * (counts - 1) // 2).sum())
