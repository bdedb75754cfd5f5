"""Systems: does a metric rank them as people do?"""

from __future__ import annotations

import numpy as np

from rome.evaluation.agreement.systems import paired_bootstrap, system_agreement
from rome.evaluation.judging.plan import Judged
from rome.evaluation.metrics.protocol import Scores
from rome.reports.model import Cell, Table

__all__ = ["FEWEST", "ranking", "systems"]

FEWEST = 3
"""Systems below which a ranking says nothing."""
STATISTICS = ("pairwise_accuracy", "pearson", "kendall_b")


def systems(judged: Judged) -> Table | None:
    """System-level agreement of every metric with intervals over inputs; None with fewer than three systems or without names."""
    keys = judged.keys
    names = set(zip(keys["language_pairs"], keys["systems"], strict=True))
    if len({system for _, system in names}) < FEWEST or any(not system for _, system in names):
        return None
    rows: list[tuple[Cell, ...]] = []
    for metric, scores in judged.scores.items():
        cells: list[Cell] = [metric]
        for statistic in STATISTICS:
            plan = judged.plan
            found = system_agreement(
                judged.people, scores, statistic=statistic, samples=plan.samples, seed=plan.seed, level=plan.level, **keys
            )
            cells += [found.value, found.interval.low, found.interval.high]
        rows.append(tuple(cells))
    triples = tuple((name, f"{name}_low", f"{name}_high") for name in STATISTICS)
    return Table(
        f"{judged.label}_systems",
        f"{judged.rated.name}, {judged.dimension}: ranking {len(names)} systems",
        ("metric", *(name for triple in triples for name in triple)),
        tuple(rows),
        "Systems' mean scores against their mean ratings. pairwise_accuracy: share of pairs of systems in the right order. Brackets: "
        "bootstrap over inputs, the systems held fixed.",
        highest=STATISTICS,
        intervals=triples,
    )


def ranking(judged: Judged) -> Table | None:
    """The systems in the order of their mean rating, under people and under the first metric, each with an interval and a paired
    bootstrap against the next one; None where `systems` gives none, or when there are several language pairs (see their own sets)."""
    segments = judged.rated.segments
    names = list(dict.fromkeys(segment.system for segment in segments))
    if len(names) < 2 or not all(names) or len({segment.language_pair for segment in segments}) > 1:
        return None
    metric = next(iter(judged.scores))
    sides = {"people": judged.people, metric: judged.scores[metric]}
    rows_of = {name: [n for n, segment in enumerate(segments) if segment.system == name] for name in names}
    names.sort(key=lambda name: -float(judged.people[rows_of[name]].mean()))
    rows: list[tuple[Cell, ...]] = []
    for place, name in enumerate(names):
        following = names[place + 1] if place + 1 < len(names) else None
        cells: list[Cell] = [name, len(rows_of[name])]
        for side in sides.values():
            cells += _mean_and_interval(judged, side, rows_of[name])
            cells.append(None if following is None else _ahead(judged, side, rows_of[name], rows_of[following]))
        rows.append(tuple(cells))
    triples = tuple((side, f"{side}_low", f"{side}_high") for side in sides)
    columns = [name for triple in triples for name in (*triple, f"{triple[0]}_ahead")]
    return Table(
        f"{judged.label}_system_ranking",
        f"{judged.rated.name}, {judged.dimension}: the systems under people and under {metric}",
        ("system", "outputs", *columns),
        tuple(rows),
        "Mean over the system's outputs. ahead: share of bootstrap resamples of the inputs that both systems answered in which a system is "
        "ahead of the one in the next row (Koehn 2004); 1 minus that is a p-value.",
        {"outputs": 0, **dict.fromkeys((*sides, *(f"{side}_ahead" for side in sides)), 3)},
        intervals=triples,
    )


def _mean_and_interval(judged: Judged, scores: Scores, rows: list[int]) -> list[Cell]:
    """The mean of a system's outputs with its bootstrap interval."""
    own = scores[rows]
    items = [judged.keys["items"][n] for n in rows]
    found = paired_bootstrap(
        own, np.zeros(len(own)), items=items, samples=judged.plan.samples, seed=judged.plan.seed, level=judged.plan.level
    )
    return [float(own.mean()), found.interval.low, found.interval.high]


def _ahead(judged: Judged, scores: Scores, first: list[int], second: list[int]) -> float | None:
    """Share of resamples in which the first system is ahead, a tie counting half; None without a common input."""
    items = judged.keys["items"]
    of_second = {items[n]: n for n in second}
    pairs = [(n, of_second[items[n]]) for n in first if items[n] in of_second]
    if not pairs:
        return None
    left, right = (list(side) for side in zip(*pairs, strict=True))
    keys = [items[n] for n in left]
    found = paired_bootstrap(scores[left], scores[right], items=keys, samples=judged.plan.samples, seed=judged.plan.seed)
    return found.wins_a + found.ties / 2
