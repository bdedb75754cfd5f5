"""Every statistic in all resamples at once: the counts of a resample are weights of the whole data.

No resampled list is ever built: sums become matrix products (samples x inputs) @ (inputs x ...). A copy of an output is an output like
any other, tied with its twin, so the numbers are exactly those of the lists written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rome.evaluation.agreement.checks import Vector
from rome.evaluation.agreement.correlation import threshold_of
from rome.evaluation.agreement.pairs import relations
from rome.evaluation.agreement.resampling import Resamples, Weights

__all__ = ["resampled_values"]

Matrix = NDArray[np.float64]
Clusters = NDArray[np.int64]
"""(n,) the input of each segment, a column of the weights."""
ROOM = 2_000_000
"""Most numbers of a block held at a time."""
EXACT = 2**22
"""Sums of whole numbers and halves below this are exact in float32."""
FLAT = 1e-12
"""A variance below this share of the whole data's is that of a constant resample: what rounding leaves."""


def resampled_values(
    statistic: str, people: Vector, metric: Vector, resamples: Resamples, epsilon: float | None = None
) -> Vector:
    """(samples,) the statistic over all given segments in each resample, nan where it is undefined.

    resamples : clusters (n,) for these segments. epsilon : makes it pairwise accuracy at that epsilon.
    """
    present, clusters = np.unique(resamples.clusters, return_inverse=True)
    weights = resamples.weights[:, present]
    if not people.size:
        return np.full(len(resamples.weights), np.nan)
    if statistic == "pearson":
        return _pearson(people, metric, clusters, weights)
    if statistic == "spearman":
        return _spearman(people, metric, clusters, weights)
    if statistic in ("kendall_b", "kendall_c"):
        return _kendall(statistic, people, metric, clusters, weights)
    if epsilon is None and statistic.startswith("kendall_wmt"):
        return _kendall_wmt(people, metric, clusters, weights, threshold_of(statistic))
    return _accuracy(people, metric, clusters, weights, epsilon or 0.0)


def _ratio(above: Matrix, below: Matrix) -> Vector:
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


def _standardised(values: Vector) -> Vector:
    """Mean 0 and standard deviation 1; zeros for a constant."""
    spread = values.std() if (values != values[0]).any() else 0.0
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _correlation(total: Vector, x: Vector, y: Vector, xx: Vector, yy: Vector, xy: Vector) -> Vector:
    """Pearson's r from (samples,) weighted sums of standardised values."""
    variances = (xx - x * x / total) * (yy - y * y / total)
    flat = (xx - x * x / total <= FLAT * total) | (yy - y * y / total <= FLAT * total)
    return np.clip(_ratio(xy - x * y / total, np.where(flat, 0.0, np.sqrt(np.maximum(variances, 0.0)))), -1.0, 1.0)


def _pearson(people: Vector, metric: Vector, clusters: Clusters, weights: Weights) -> Vector:
    x, y = _standardised(people), _standardised(metric)
    columns = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    sums = np.stack([np.bincount(clusters, column) for column in columns.T], axis=1)
    return _correlation(*(weights.astype(np.float64) @ sums).T)


def _spearman(people: Vector, metric: Vector, clusters: Clusters, weights: Weights) -> Vector:
    step = max(1, ROOM // people.size)
    parts = []
    for start in range(0, len(weights), step):
        part = weights[start : start + step].astype(np.float64)
        rows = part[:, clusters]
        total = rows.sum(axis=1)
        x, y = (_ranks(side, clusters, part) / total[:, None] - 0.5 for side in (people, metric))
        sums = [np.einsum("sn,sn->s", rows, one) for one in (x, y, x * x, y * y, x * y)]
        parts.append(_correlation(total, *sums))
    return np.concatenate(parts)


def _counts(values: Vector, clusters: Clusters, weights: Matrix | Weights) -> tuple[Matrix, Clusters]:
    """(samples, distinct values) how often each value is in each resample, by rising value; and the place (n,) of each segment's value."""
    distinct, places = np.unique(values, return_inverse=True)
    shape = (weights.shape[1], distinct.size)
    incidence = sparse.csr_matrix((np.ones(values.size), (clusters, places)), shape=shape)
    return np.asarray((incidence.T @ weights.T.astype(np.float64)).T), places


def _ranks(values: Vector, clusters: Clusters, weights: Matrix) -> Matrix:
    """(samples, n) the mean rank of each segment's value in each resample."""
    counts, places = _counts(values, clusters, weights)
    return (np.cumsum(counts, axis=1) - counts / 2 + 0.5)[:, places]


def _blocks(clusters: Clusters, size: int) -> Iterator[slice]:
    """Stretches of the sorted segments that end where a cluster does, small enough for (stretch, n) arrays."""
    ends = np.flatnonzero(np.diff(clusters, append=-1)) + 1
    start = 0
    while start < size:
        within = ends[(ends > start) & (ends <= start + max(1, ROOM // size))]
        end = int(within[-1]) if within.size else int(ends[ends > start][0])
        yield slice(start, end)
        start = end


def _pair_sum(
    kind: Callable[[Matrix, Matrix], NDArray[np.generic]],
    sides: tuple[Vector, Vector],
    clusters: Clusters,
    weights: Weights,
    threshold: float = 0.0,
    epsilon: float = 0.0,
) -> Vector:
    """(samples,) the sum of kind(people's relation, metric's relation) over the pairs of each resample, copies of one segment left out.

    The relation of two segments does not change between resamples, so it is computed once, summed by cluster, and weighted by how often
    both clusters were drawn: the sum over i < j of w_i w_j kind_ij.
    """
    order = np.argsort(clusters, kind="stable")
    people, metric, clusters = sides[0][order], sides[1][order], clusters[order]
    starts = np.flatnonzero(np.diff(clusters, prepend=-1))
    largest = int(np.diff(starts, append=people.size).max())
    weights = weights.astype(np.float32 if people.size * largest < EXACT else np.float64, copy=False)
    total = np.zeros(len(weights))
    for rows in _blocks(clusters, people.size):
        ours = relations(people[rows, None] - people[None, rows.start :], below=threshold)
        theirs = relations(metric[rows, None] - metric[None, rows.start :], within=epsilon)
        found = kind(ours, theirs).astype(weights.dtype)
        found[:, : rows.stop - rows.start] /= 2  # both orders of a pair lie in the block's own square
        np.fill_diagonal(found, 0.0)
        first, last = clusters[rows.start], clusters[rows.stop - 1] + 1
        if largest > 1:
            found = np.add.reduceat(found, starts[first:] - rows.start, axis=1)
            found = np.add.reduceat(found, starts[first:last] - rows.start, axis=0)
        total += np.einsum("sc,sc->s", weights[:, first:last], weights[:, first:] @ found.T, dtype=np.float64)
    return total


def _ties(values: Vector, clusters: Clusters, weights: Weights) -> tuple[Vector, Vector]:
    """(samples,) pairs tied in a value, copies included, and the number of distinct values drawn."""
    counts, _ = _counts(values, clusters, weights)
    return (counts * (counts - 1) / 2).sum(axis=1), (counts > 0).sum(axis=1)


def _sizes(clusters: Clusters, weights: Weights) -> Vector:
    """(samples,) how many segments each resample has."""
    return weights.astype(np.float64) @ np.bincount(clusters, minlength=weights.shape[1])


def _kendall(statistic: str, people: Vector, metric: Vector, clusters: Clusters, weights: Weights) -> Vector:
    surplus = _pair_sum(np.multiply, (people, metric), clusters, weights)
    (tied_people, distinct_people), (tied_metric, distinct_metric) = (
        _ties(side, clusters, weights) for side in (people, metric)
    )
    size = _sizes(clusters, weights)
    if statistic == "kendall_c":
        fewest = np.minimum(distinct_people, distinct_metric)
        return _ratio(2 * surplus, size**2 * (fewest - 1) / fewest)
    pairs = size * (size - 1) / 2
    return np.clip(_ratio(surplus, np.sqrt(pairs - tied_people) * np.sqrt(pairs - tied_metric)), -1.0, 1.0)


def _kendall_wmt(people: Vector, metric: Vector, clusters: Clusters, weights: Weights, threshold: float) -> Vector:
    def kind(ours: Matrix, theirs: Matrix) -> Matrix:
        """1 where the metric orders a judged pair as people do, -1 where it does not or ties."""
        return np.where(ours * theirs > 0, 1.0, -np.abs(ours))

    surplus = _pair_sum(kind, (people, metric), clusters, weights, threshold=threshold)
    return _ratio(surplus, _pair_sum(np.multiply, (people, people), clusters, weights, threshold=threshold))


def _accuracy(people: Vector, metric: Vector, clusters: Clusters, weights: Weights, epsilon: float) -> Vector:
    agreed = _pair_sum(np.equal, (people, metric), clusters, weights, epsilon=epsilon)
    size = _sizes(clusters, weights)
    drawn = weights.astype(np.float64)
    copies = (drawn * (drawn - 1) / 2) @ np.bincount(clusters, minlength=weights.shape[1])
    return _ratio(agreed + copies, size * (size - 1) / 2)
