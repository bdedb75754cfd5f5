"""What experiments over several seeds share: the check of what goes in, a bar, and mean and spread of what comes out."""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from rome.evaluation.agreement.checks import check_choice, check_pair, check_scores
from rome.evaluation.agreement.correlation import STATISTICS
from rome.evaluation.diagnosis.fitting import Supervised
from rome.exceptions import InputError

__all__ = ["check_run", "mean_and_spread", "watched"]

Vector = NDArray[np.float64]
T = TypeVar("T")


def check_run(
    ratings: ArrayLike,
    groups: Sequence[Hashable],
    supervised: Mapping[str, Supervised],
    metrics: Mapping[str, ArrayLike],
    seeds: Sequence[int],
    statistic: str,
) -> tuple[Vector, dict[str, Vector]]:
    """(n,) ratings and the (n,) scores of each metric as float64.

    Raises InputError for an unknown statistic, no seed, no scorer, a name that stands twice, sizes that differ and missing numbers.
    """
    check_choice(statistic, "statistic", STATISTICS)
    people = check_scores(ratings, "people")
    fixed = {name: check_pair(people, scores)[1] for name, scores in metrics.items()}
    if not seeds:
        raise InputError("there are no seeds: give at least one")
    if not (supervised or fixed) or set(supervised) & set(fixed):
        raise InputError(
            f"the scorers are {', '.join((*supervised, *fixed)) or 'missing'}: give at least one, each its own name"
        )
    sizes = {"groups": len(groups), **{name: len(given.features) for name, given in supervised.items()}}
    for name, size in sizes.items():
        if size != len(people):
            raise InputError(f"{name} has {size} rows where there are {len(people)} ratings: give one a rating")
    return people, fixed


def watched(steps: Collection[T], label: str, progress: bool | None) -> Iterable[T]:
    """The steps themselves, with a bar on stderr. progress : True, False, or None for a bar when that is a terminal."""
    disable = None if progress is None else not progress
    bar: Iterable[T] = tqdm(steps, desc=label, unit="step", disable=disable, file=sys.stderr, leave=False)
    return bar


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (n - 1) over the seeds that gave a number; nan where there are none, or one for the spread."""
    known = np.array([value for value in values if np.isfinite(value)], dtype=np.float64)
    mean = float(known.mean()) if len(known) else float("nan")
    return mean, float(known.std(ddof=1)) if len(known) > 1 else float("nan")
