"""Human ratings of several files on one scale: what the supervised net shall say of each output, and which outputs belong together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from rome.data.readers.rated import RatedSegment, RatedSet
from rome.exceptions import InputError
from rome.train.scorer.net import ranked_pairs

MINIMUM = 50
"""Fewer rated outputs a file say next to nothing of four weights and their bends."""
SCALE = (0.05, 0.95)
"""Targets of the worst and the best output of a file; identical texts have 1, unrelated and empty ones stand below."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """The n rated outputs of several files, in their order.

    Attributes
    ----------
    sets
        The files.
    dimensions
        For each file its human dimensions that count.
    file
        (n,) which file.
    people
        (n,) the mean of those dimensions' z-scores; two outputs can be compared within a file only.
    target
        (n,) in (0, 1), higher is better: the rank of ``people`` within its file, ties in the middle, evenly over SCALE.
    item
        (n,) outputs that answer one input have one number.
    group
        (n,) as item, and outputs that share a reference or a source text, in whatever file, have one number too: they must not be parted when
        one trains what judges another.
    """

    sets: tuple[RatedSet, ...]
    dimensions: tuple[tuple[str, ...], ...]
    file: NDArray[np.int64]
    people: NDArray[np.float64]
    target: NDArray[np.float64]
    item: NDArray[np.int64]
    group: NDArray[np.int64]

    @property
    def segments(self) -> list[RatedSegment]:
        """The outputs, one list over all files."""
        return [segment for rated in self.sets for segment in rated.segments]

    def __len__(self) -> int:
        """Number of outputs."""
        return len(self.file)


def ratings_of(sets: Sequence[RatedSet], dimensions: Sequence[str] = ()) -> Ratings:
    """Bring the ratings of several sets to one scale.

    Scales differ (medians of a six-point scale, z-scores, error counts), and so does how hard the inputs were: only the order
    within a file is taken from it. Raises InputError for a dimension that no file has, a file that has none of those named, fewer
    than MINIMUM outputs in a file, and ratings that are all equal.
    """
    unknown = [name for name in dimensions if not any(name in rated.dimensions for rated in sets)]
    if unknown:
        there = ", ".join(dict.fromkeys(name for rated in sets for name in rated.dimensions))
        raise InputError(f"no rated file has the dimension {unknown[0]!r}: choose of {there}")
    chosen = [_chosen(rated, dimensions) for rated in sets]
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
    return Ratings(
        *(tuple(sets), tuple(chosen), file, np.concatenate(people), np.concatenate(targets), _joined(inputs), _joined(shared))
    )


def drawn_pairs(ratings: Ratings, rows: NDArray[np.int64], count: int, gap: float, seed: int) -> NDArray[np.int64]:
    """Pairs (better, worse) of places in ``rows`` whose targets differ by more than ``gap``: (m, 2), about ``count`` a file.

    Half of a file's pairs answer one input, as far as there are such; the others are any two outputs of the file. Every file that
    has rows gives the same number, however large it is. Same seed, same pairs.
    """
    found = []
    for number in range(len(ratings.sets)):
        chance = np.random.default_rng([seed, number])
        places = np.flatnonzero(ratings.file[rows] == number)
        if not len(places):
            continue
        targets = ratings.target[rows[places]]
        within = ranked_pairs([str(item) for item in ratings.item[rows[places]]], targets, gap)
        within = within[chance.permutation(len(within))[: count // 2]]
        free = chance.integers(len(places), size=(count - len(within), 2))
        free = np.where((targets[free[:, 0]] >= targets[free[:, 1]])[:, None], free, free[:, ::-1])
        free = free[targets[free[:, 0]] - targets[free[:, 1]] > gap]
        found.append(places[np.concatenate([within, free])])
    return np.concatenate(found)


def _chosen(rated: RatedSet, dimensions: Sequence[str]) -> tuple[str, ...]:
    """The dimensions of a file that count, once sure that there is something to learn from it."""
    names = tuple(name for name in rated.dimensions if not dimensions or name in dimensions)
    if not names:
        raise InputError(
            f"{rated.name} has none of the dimensions {', '.join(dimensions)}: name one of {', '.join(rated.dimensions)} as well"
        )
    if len(rated.segments) < MINIMUM:
        raise InputError(
            f"{rated.name} holds {len(rated.segments)} rated outputs: a net can be fitted on {MINIMUM} or more, rate more"
        )
    return names


def _people(rated: RatedSet, names: Sequence[str]) -> NDArray[np.float64]:
    """(n,) the mean z-score over the dimensions; one in which all outputs are rated alike says nothing and counts nothing."""
    values = np.array([[segment.ratings[name] for name in names] for segment in rated.segments], dtype=np.float64)
    varied = values[:, np.ptp(values, axis=0) > 0.0]
    if varied.shape[1]:
        mean: NDArray[np.float64] = (
            ((varied - varied.mean(axis=0)) / varied.std(axis=0)).mean(axis=1).round(9)
        )  # so that ties tie
        if np.ptp(mean) > 0.0:
            return mean
    raise InputError(
        f"{rated.name}: all ratings of {', '.join(names)} are equal or cancel out: a net needs outputs that differ in quality"
    )


def _joined(keys: Sequence[Sequence[Hashable]]) -> NDArray[np.int64]:
    """(n,) numbers that rows share when a chain of common keys joins them."""
    known: dict[Hashable, int] = {}
    edges = [(row, known.setdefault(key, len(known))) for row, mine in enumerate(keys) for key in mine]
    rows, columns = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    size = len(keys) + len(known)
    graph = coo_array((np.ones(len(edges)), (rows, len(keys) + columns)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][: len(keys)], dtype=np.int64)
