"""How much rated data a fitted scorer needs (BLEURT figure 3), and what is left of it in another domain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.data.readers.rated import RatedSet
from rome.evaluation.agreement.checks import check_choice
from rome.evaluation.agreement.correlation import STATISTICS
from rome.evaluation.diagnosis.fitting import Fit, Supervised, fit_monotone_net, predicted
from rome.evaluation.diagnosis.runs import check_run, mean_and_spread, watched
from rome.evaluation.diagnosis.splits import distinct_groups, fold_numbers, held_out
from rome.exceptions import InputError
from rome.reports.model import Cell, Heatmap, Lines, Table

__all__ = ["Domain", "data_size_curve", "domain_of", "domain_shift"]

Vector = NDArray[np.float64]
SMALLEST, POINTS = 4, 8
TITLE = "Agreement by the number of rated items"
Summary = Sequence[tuple[float, float]]
"""Mean and spread for each size."""


@dataclass(frozen=True, eq=False)
class Domain:
    """Rated outputs of one kind: (n, d) features, (n,) ratings, and for each row what it answers.

    groups must be told apart across domains: equal groups are taken as the same item. scores : metrics that nothing fits.
    """

    name: str
    features: NDArray[np.float64]
    ratings: Vector
    groups: tuple[Hashable, ...]
    scores: Mapping[str, Vector] = field(default_factory=dict)


def domain_of(
    rated: RatedSet,
    dimension: str,
    features: NDArray[np.float64],
    *,
    language_pair: str | None = None,
    scores: Mapping[str, Vector] | None = None,
) -> Domain:
    """One dimension of a rated set as a domain, or only its segments of one language pair.

    features (n, d) and scores (n,) : one row a segment of the whole set. Raises InputError for a dimension or language pair that the
    set does not have, and for another number of rows.
    """
    check_choice(dimension, "dimension", rated.dimensions)
    rows = [n for n, segment in enumerate(rated.segments) if language_pair in (None, segment.language_pair)]
    if not rows:
        raise InputError(f"{rated.name} holds nothing for {language_pair}: name one of its language pairs")
    for name, values in {"features": features, **(scores or {})}.items():
        if len(values) != len(rated.segments):
            raise InputError(
                f"{name} has {len(values)} rows for {len(rated.segments)} segments of {rated.name}: give one a segment"
            )
    return Domain(
        " ".join(part for part in (rated.name, language_pair, dimension) if part),
        np.asarray(features, dtype=np.float64)[rows],
        np.array([rated.segments[n].ratings[dimension] for n in rows]),
        tuple((rated.name, *rated.segments[n].group) for n in rows),
        {name: np.asarray(values, dtype=np.float64)[rows] for name, values in (scores or {}).items()},
    )


def data_size_curve(
    ratings: ArrayLike,
    groups: Sequence[Hashable],
    supervised: Mapping[str, Supervised],
    metrics: Mapping[str, ArrayLike] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    test_share: float = 0.5,
    seeds: Sequence[int] = tuple(range(10)),
    statistic: str = "kendall_b",
    progress: bool | None = None,
) -> tuple[Table, Lines]:
    """Agreement on held-out items after training on k items, for growing k, beside metrics that nothing fits.

    sizes : numbers of training items; by default eight from 4 to all that are not held out, evenly spaced in the logarithm. For each seed
    the items are split and put in order anew; a larger k adds to the items of a smaller one, and all k judge the same test items.
    Raises InputError for sizes that the items do not give.
    """
    people, fixed = check_run(ratings, groups, supervised, metrics or {}, seeds, statistic)
    splits = [held_out(groups, test_share, seed) for seed in seeds]
    steps = _sizes(sizes, len(splits[0][0]))
    series: dict[str, list[list[float]]] = {}
    for order, testing in watched(splits, "data sizes", progress):
        place = {group: n for n, group in enumerate(order)}
        rank = np.array([place.get(group, len(groups)) for group in groups])
        for name, given in supervised.items():
            values = [_after(given, people, np.flatnonzero(rank < k), testing, statistic) for k in steps]
            series.setdefault(name, []).append(values)
        for name, scores in fixed.items():
            series.setdefault(name, []).append([STATISTICS[statistic](people[testing], scores[testing])] * len(steps))
    found = {name: [mean_and_spread(column) for column in zip(*runs, strict=True)] for name, runs in series.items()}
    note = (
        f"Mean and standard deviation of {statistic} over {len(seeds)} seeds, on the {test_share:.0%} of the items that are held out; "
        "outputs of one item stay together."
    )
    return _curve_table(found, steps, tuple(supervised), statistic, note), _curve_figure(found, steps, statistic, note)


def _sizes(given: Sequence[int] | None, largest: int) -> tuple[int, ...]:
    """Numbers of training items, rising."""
    if given is None:
        return tuple(sorted({int(k) for k in np.geomspace(min(SMALLEST, largest), largest, POINTS).round()}))
    steps = tuple(sorted(set(given)))
    if not steps or steps[0] < 1 or steps[-1] > largest:
        raise InputError(
            f"training sizes {steps} do not fit: give numbers from 1 to {largest}, the items that are not held out"
        )
    return steps


def _after(given: Supervised, people: Vector, rows: NDArray[np.intp], testing: NDArray[np.bool_], statistic: str) -> float:
    """Agreement after training on these rows; nan when their ratings are all equal."""
    if len(np.unique(people[rows])) < 2:
        return float("nan")
    return STATISTICS[statistic](people[testing], predicted(given.fitted(rows, people), given.features[testing]))


def _curve_table(
    found: Mapping[str, Summary], steps: tuple[int, ...], fitted: tuple[str, ...], statistic: str, note: str
) -> Table:
    """One row a scorer and size; one in all for what is not fitted."""
    rows: list[tuple[Cell, ...]] = []
    for name, summary in found.items():
        rows += (
            [(name, k, *numbers) for k, numbers in zip(steps, summary, strict=True)]
            if name in fitted
            else [(name, None, *summary[0])]
        )
    columns = ("scorer", "training items", statistic, "spread")
    return Table("data-size", TITLE, columns, tuple(rows), note, {"training items": 0, statistic: 3, "spread": 3})


def _curve_figure(found: Mapping[str, Summary], steps: tuple[int, ...], statistic: str, note: str) -> Lines:
    """BLEURT's figure 3: one line a scorer, with a band of one standard deviation to both sides."""
    low, high = (
        {name: [mean + side * spread for mean, spread in summary] for name, summary in found.items()} for side in (-1.0, 1.0)
    )
    lines = {name: [mean for mean, _ in summary] for name, summary in found.items()}
    return Lines("data-size-curve", TITLE, tuple(map(float, steps)), lines, "training items", statistic, note, low, high)


def domain_shift(
    domains: Sequence[Domain],
    fit: Fit = fit_monotone_net,
    *,
    folds: int = 5,
    seed: int = 0,
    statistic: str = "kendall_b",
    progress: bool | None = None,
) -> tuple[Table, Heatmap]:
    """Train on each domain, judge each: rows train, columns test; below them the scores that all domains bring and nothing fits.

    No item ever trains and judges: each test domain is judged in folds of its items, and a fold's items are left out of training in every
    domain. So the cells on the diagonal are cross-validated, and so are two dimensions of the same outputs.
    Raises InputError for domains whose features differ in number, whose names repeat, or that have fewer items than folds.
    """
    check_choice(statistic, "statistic", STATISTICS)
    names = tuple(domain.name for domain in domains)
    widths = {domain.features.shape[1] for domain in domains}
    if len(set(names)) < len(names) or len(widths) != 1:
        raise InputError(f"the domains {', '.join(names) or '(none)'}: give each its own name, and all the same features")
    jobs = watched(domains, "domains", progress)
    values = [[_shifted(train, test, fit, folds, seed, statistic) for test in domains] for train in jobs]
    fixed = [name for name in domains[0].scores if all(name in domain.scores for domain in domains)]
    values += [[STATISTICS[statistic](test.ratings, test.scores[name]) for test in domains] for name in fixed]
    labels = (*names, *fixed)
    rows: list[tuple[Cell, ...]] = [
        (labels[n], test.name, values[n][m], len(test.ratings), len(distinct_groups(test.groups)))
        for n in range(len(labels))
        for m, test in enumerate(domains)
    ]
    note = f"{statistic} of a scorer trained on the row and judged on the column; no item trains and judges ({folds} folds)."
    title, columns = "Domain shift", ("trained on", "judged on", statistic, "outputs", "items")
    table = Table("domain-shift", title, columns, tuple(rows), note, {statistic: 3, "outputs": 0, "items": 0})
    groups = ("trained on",) * len(names) + ("not fitted",) * len(fixed)
    return table, Heatmap("domain-shift-matrix", title, labels, names, np.array(values), groups if fixed else (), note)


def _shifted(train: Domain, test: Domain, fit: Fit, folds: int, seed: int, statistic: str) -> float:
    """Agreement in one domain of scorers that were trained in another, or in the same one on other items."""
    fold = fold_numbers(test.groups, folds, seed, test.ratings)
    out = np.empty(len(test.ratings))
    shared = set(train.groups) & set(test.groups)
    predict = None if shared else fit(train.features, train.ratings)
    for number in range(folds):
        inside = fold == number
        if shared:
            left_out = {group for group, there in zip(test.groups, inside, strict=True) if there}
            outside = np.array([group not in left_out for group in train.groups])
            predict = fit(train.features[outside], train.ratings[outside])
        if predict is not None:
            out[inside] = predicted(predict, test.features[inside])
    return STATISTICS[statistic](test.ratings, out)
