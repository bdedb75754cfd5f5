"""Leaderboards: every metric's agreement with people, with intervals, by language pair, and all sets at a glance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rome.evaluation.agreement.correlation import STATISTICS
from rome.evaluation.agreement.grouping import agreement
from rome.evaluation.judging.plan import Judged
from rome.reports.model import Bars, Cell, Table

__all__ = ["by_system", "language_pairs", "leaderboard", "overview"]

PER_SYSTEM = ("spearman", "pearson", "kendall_b")


def leaderboard(judged: Judged) -> tuple[Table, Bars]:
    """Every figure of every metric with its interval, best first, and the main figure as bars."""
    rows = []
    for metric in judged.scores:
        cells: list[Cell] = [metric]
        for measure in judged.figures:
            interval = judged.interval(metric, measure)
            cells += [judged.agreement(metric, measure).value, interval.low, interval.high]
        rows.append(tuple(cells))
    rows.sort(key=lambda row: -_known(row[1]))
    labels = [measure.label for measure in judged.figures]
    triples = tuple((label, f"{label}_low", f"{label}_high") for label in labels)
    title = f"{judged.rated.name}: agreement with people, {judged.dimension}"
    table = Table(
        f"{judged.label}_leaderboard",
        title,
        ("metric", *(name for triple in triples for name in triple)),
        tuple(rows),
        f"{len(judged.people)} rated outputs of {judged.inputs} inputs. Brackets: {judged.plan.level:.0%} bootstrap interval over inputs "
        "(all outputs of an input together). Without a slash: pooled over all outputs, which also rewards guessing how hard an input "
        "is: compare with length. Groups in which a figure is undefined are left out.",
        highest=tuple(labels),
        intervals=triples,
    )
    values, low, high = (tuple(_cell(row[place]) for row in rows) for place in (1, 2, 3))
    names = tuple(str(row[0]) for row in rows)
    return table, Bars(f"{judged.label}_bars", f"{title} ({labels[0]})", names, values, low, high, axis=labels[0])


def language_pairs(judged: Judged) -> Table:
    """The main figure's statistic and Pearson's r, pooled within each language pair."""
    pairs = np.array(judged.keys["language_pairs"])
    statistics = tuple(dict.fromkeys((judged.figures[0].statistic, "pearson")))
    names = list(dict.fromkeys(judged.keys["language_pairs"]))
    rows: list[tuple[Cell, ...]] = []
    for metric, scores in judged.scores.items():
        values: list[Cell] = []
        for here in (pairs == name for name in names):
            values += [agreement(judged.people[here], scores[here], statistic=kind).value for kind in statistics]
        rows.append((metric, *values))
    return Table(
        f"{judged.label}_language_pairs",
        f"{judged.rated.name}, {judged.dimension}: by language pair",
        ("metric", *(f"{name} {kind}" for name in names for kind in statistics)),
        tuple(rows),
        "Pooled within each language pair.",
    )


def by_system(judged: Judged) -> Table:
    """Agreement over the outputs of each system alone, as in RoMe's table 6; of each perturbation where systems are perturbations, as
    in its table 7."""
    systems = np.array(judged.keys["systems"])
    rows: list[tuple[Cell, ...]] = []
    for system in dict.fromkeys(judged.keys["systems"]):
        here = systems == system
        for metric, scores in judged.scores.items():
            values = (STATISTICS[name](judged.people[here], scores[here]) for name in PER_SYSTEM)
            rows.append((system, int(here.sum()), metric, *values))
    return Table(
        f"{judged.label}_by_system",
        f"{judged.rated.name}, {judged.dimension}: by system",
        ("system", "outputs", "metric", *PER_SYSTEM),
        tuple(rows),
        "Over the outputs of one system: how far the metric tells its good outputs from its bad ones (RoMe, tables 6 and 7).",
        {"outputs": 0, **dict.fromkeys(PER_SYSTEM, 3)},
    )


def overview(all_judged: Sequence[Judged]) -> Table:
    """One row a set, dimension and figure (the main one, and one within inputs), one column a metric that every set has."""
    common = [name for name in all_judged[0].scores if all(name in judged.scores for judged in all_judged)]
    rows: list[tuple[Cell, ...]] = []
    for judged in all_judged:
        within = [measure for measure in judged.figures[1:] if measure.average == "item"][:1]
        for measure in (judged.figures[0], *within):
            values = (judged.agreement(name, measure).value for name in common)
            rows.append((judged.rated.name, judged.dimension, measure.label, *values))
    notes = dict.fromkeys(f"{judged.rated.name}: {note}" for judged in all_judged for note in judged.notes)
    return Table(
        "overview",
        "Agreement with people at a glance",
        ("set", "dimension", "figure", *common),
        tuple(rows),
        " ".join(["Metrics that every set has. Intervals, tests and further figures: below, by set.", *notes]),
    )


def _known(value: Cell) -> float:
    return _cell(value) if _cell(value) == _cell(value) else float("-inf")


def _cell(value: Cell) -> float:
    return float("nan") if value is None else float(value)
