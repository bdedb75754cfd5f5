"""DEMETR in full (Karpinska et al. 2022): accuracy, Welch's t-test and sensitivity of any metrics, beside the published rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.demetr import KINDS, MinimalPair, demetr_accuracies, demetr_means
from rome.evaluation.diagnosis.minimal_pairs import Contrast, Draws, interval, mean_of
from rome.exceptions import InputError
from rome.reports.model import Cell, Figure, Heatmap, Table

__all__ = ["PUBLISHED_NAMES", "demetr_parts", "won"]

SEVERITIES = ("critical", "major", "minor")
REFERENCE, EMPTY_KIND = "base_id35_reference", "base_id33_empty"
PUBLISHED_NAMES = {"chrF2": "chrF", "chrF2++": "chrF2"}
"""A live metric's name in the paper's tables where it differs: their chrF2 counts words too (Popović 2017), which is chrF++ elsewhere."""
TAUGHT = (
    " The learned errors component of RoMe, and so RoMe, was taught on our own versions of the same kinds of mistake, made in other texts; "
    "the peers were not."
)
"""Said beside every accuracy that RoMe stands in."""
Part = Table | Figure
Vector = NDArray[np.float64]


def won(contrast: Contrast, pairs: Sequence[MinimalPair]) -> NDArray[np.bool_]:
    """(n,) where the metric is right: the unperturbed text higher, ties wrong; for the reference as translation the other way round."""
    reversed_ = np.array([pair.kind == REFERENCE for pair in pairs])
    return np.where(reversed_, contrast.worse > contrast.better, contrast.wins)


def demetr_parts(
    pairs: Sequence[MinimalPair], contrasts: Sequence[Contrast], *, samples: int = 1000, seed: int = 0
) -> list[Part]:
    """Every table and figure of the paper for live metrics: tables 4 and A3, figure 2, severity order, categories and languages.

    Raises InputError without pairs or metrics.

    Parameters
    ----------
    pairs
        N items.
    contrasts
        Each metric's scores of them.
    samples
        Bootstrap resamples over sentences, all their perturbations together.
    """
    if not pairs or not contrasts:
        raise InputError("a diagnosis needs at least one minimal pair and one metric: give both")
    data = _Data(pairs, contrasts, samples, seed)
    return [
        _table_4(data),
        _by_table_1(data),
        _severity_order(data),
        _sensitivity(data),
        _by_kind(data),
        _accuracies(data),
        *_beside(data),
        _by(data, "category", "Accuracy by category"),
        _by(data, "language", "Accuracy by source language"),
        _welch(data),
    ]


class _Data:
    """The pairs with what every table needs of them."""

    def __init__(self, pairs: Sequence[MinimalPair], contrasts: Sequence[Contrast], samples: int, seed: int) -> None:
        self.pairs, self.contrasts = pairs, contrasts
        self.names = [contrast.name for contrast in contrasts]
        self.kinds = [pair.kind for pair in pairs]
        self.present = sorted(set(self.kinds), key=lambda kind: KINDS[kind].identifier)
        self.baseline = np.array([pair.severity == "base" for pair in pairs])
        self.draws = Draws.of([f"{pair.language}/{pair.item}" for pair in pairs], samples, seed)
        self.correct = {c.name: np.where(won(c, pairs), 100.0, 0.0) for c in contrasts}
        self.accuracy = {name: self.draws.means(correct, self.kinds) for name, correct in self.correct.items()}
        self.z = {c.name: self.draws.means(c.sensitivity, self.kinds) for c in contrasts}

    @property
    def taught(self) -> str:
        """TAUGHT where RoMe or a component of it is among the metrics."""
        return TAUGHT if any(name.startswith("RoMe") for name in self.names) else ""

    def over_kinds(self, of_kind: Mapping[str, Vector], kinds: Iterable[str]) -> Vector:
        """(1 + samples,) the unweighted mean over kinds."""
        return mean_of([of_kind[kind] for kind in kinds], len(self.draws.weights))


def _label(kind: str) -> str:
    row = KINDS[kind]
    return f"{row.identifier} {row.description if row.description != 'whole' else row.type}"


def _table_4(data: _Data) -> Table:
    counted = [kind for kind in data.present if kind != REFERENCE]
    rows: list[tuple[Cell, ...]] = []
    for name in data.names:
        groups = [[k for k in counted if KINDS[k].released == severity] for severity in ("base", *SEVERITIES)]
        means = [data.over_kinds(data.accuracy[name], kinds) for kinds in (*groups, counted)]
        rows.append((name, "", "here", *(float(mean[0]) for mean in means), *interval(means[-1])))
    rows.sort(key=lambda row: -float(row[7] or 0))
    published = sorted(demetr_means(), key=lambda row: -row.all)
    rows += [(m.metric, m.parameters, "published", m.base, m.critical, m.major, m.minor, m.all, None, None) for m in published]
    return Table(
        "demetr_table4",
        "Accuracy by severity (DEMETR, table 4)",
        ("metric", "parameters", "figures", "base", "critical", "major", "minor", "all", "all_low", "all_high"),
        tuple(rows),
        "Per cent of items where the unperturbed translation scores strictly higher; ties are wrong. Unweighted means over kinds by the "
        "severity of the released files, which is what table 4 of the paper counts by; all = every kind but the reference as "
        f"translation. Published rows are for the whole data set. Brackets: 95 %, bootstrap over sentences.{data.taught}",
        2,
        highest=("critical", "major", "minor", "all"),
        intervals=(("all", "all_low", "all_high"),),
    )


def _by_table_1(data: _Data) -> Table:
    severities = [pair.severity for pair in data.pairs]
    rows: list[tuple[Cell, ...]] = []
    for name in data.names:
        found = data.draws.means(data.correct[name], severities)
        whole = data.draws.means(np.where(data.baseline, np.nan, data.correct[name]), ["all"] * len(severities))["all"]
        groups = [float(found[severity][0]) if severity in found else None for severity in SEVERITIES]
        rows.append((name, *groups, float(whole[0]), *interval(whole)))
    return Table(
        "demetr_by_table1",
        "Accuracy by the severities of table 1",
        ("metric", *SEVERITIES, "all", "all_low", "all_high"),
        tuple(sorted(rows, key=lambda row: -float(row[4] or 0))),
        "Per cent of items, every item counted once; severities as the paper's table 1 has them (an untranslated word is major, an "
        f"omitted adjective or adverb major, shuffled words a baseline), baselines left out.{data.taught}",
        2,
        highest=(*SEVERITIES, "all"),
        intervals=(("all", "all_low", "all_high"),),
    )


def _severity_order(data: _Data) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in data.names:
        groups = {severity: [k for k in data.present if KINDS[k].severity == severity] for severity in SEVERITIES}
        means = [data.over_kinds(data.z[name], kinds) for kinds in groups.values()]
        steps = [higher[1:] > lower[1:] for higher, lower in zip(means, means[1:], strict=False)]
        ordered = float(np.logical_and(*steps).mean()) if len(means[0]) > 1 else None
        cells = [cell for mean in means for cell in (float(mean[0]), *interval(mean))]
        rows.append((name, *cells, ordered))
    triples = tuple((severity, f"{severity}_low", f"{severity}_high") for severity in SEVERITIES)
    return Table(
        "demetr_severity_order",
        "Does a worse mistake cost more? Sensitivity z by severity",
        ("metric", *(name for triple in triples for name in triple), "ordered"),
        tuple(rows),
        "z is the drop from the unperturbed to the perturbed text as a share of the drop to an empty text (equation 1), averaged by kind, "
        "then by the severity of table 1. Pairs whose empty text scores no lower are left out, and metrics for which those are more than 5 %. "
        "ordered: share of bootstrap resamples with "
        "critical > major > minor.",
        intervals=triples,
    )


def _sensitivity(data: _Data) -> Heatmap:
    order = {severity: place for place, severity in enumerate((*SEVERITIES, "base"))}
    shown = [kind for kind in data.present if kind not in (REFERENCE, EMPTY_KIND)]
    kinds = sorted(shown, key=lambda kind: order[KINDS[kind].severity])
    return Heatmap(
        "demetr_figure2",
        "Sensitivity z of every metric to every perturbation (DEMETR, figure 2)",
        tuple(map(_label, kinds)),
        tuple(data.names),
        np.array([[data.z[name][kind][0] for name in data.names] for kind in kinds]).reshape(len(kinds), len(data.names)),
        tuple(KINDS[kind].severity for kind in kinds),
        "Share of the drop to an empty text; darker is more sensitive. Grouped by the severity of table 1.",
    )


def _by_kind(data: _Data) -> Heatmap:
    order = list(dict.fromkeys(KINDS[kind].category for kind in data.present))
    kinds = sorted(data.present, key=lambda kind: order.index(KINDS[kind].category))
    return Heatmap(
        "demetr_accuracy_by_kind",
        "Accuracy by perturbation",
        tuple(map(_label, kinds)),
        tuple(data.names),
        np.array([[data.accuracy[name][kind][0] for name in data.names] for kind in kinds]).reshape(
            len(kinds), len(data.names)
        ),
        tuple(KINDS[kind].category for kind in kinds),
        f"Per cent of items; grouped by category. The reference as translation is reversed.{data.taught}",
        0,
    )


def _accuracies(data: _Data) -> Table:
    best = {i: max((a for a in demetr_accuracies() if a.identifier == i), key=lambda a: a.accuracy) for i in range(1, 36)}
    rows = [
        (
            *(
                KINDS[kind].identifier,
                f"{KINDS[kind].type}: {KINDS[kind].description}",
                KINDS[kind].category,
                KINDS[kind].severity,
            ),
            data.kinds.count(kind),
            *(float(data.accuracy[name][kind][0]) for name in data.names),
            *(best[KINDS[kind].identifier].accuracy, best[KINDS[kind].identifier].metric),
        )
        for kind in data.present
    ]
    return Table(
        "demetr_accuracy",
        "Accuracy by perturbation, and the best published metric",
        ("id", "perturbation", "category", "severity", "items", *data.names, "best_published", "by"),
        tuple(rows),
        f"Per cent of items; the reference as translation is reversed.{data.taught}",
        {**dict.fromkeys(data.names, 1), "best_published": 1, "id": 0, "items": 0},
    )


def _beside(data: _Data) -> list[Table]:
    """Live figures of metrics that the paper also measured, beside its own; nothing when there are none."""
    published = {(a.identifier, a.metric): a for a in demetr_accuracies()}
    rows: list[tuple[Cell, ...]] = []
    for name in data.names:
        for kind in data.present:
            row = published.get((KINDS[kind].identifier, PUBLISHED_NAMES.get(name, name)))
            if row is None:
                continue
            here, size = float(data.accuracy[name][kind][0]), data.kinds.count(kind)
            error = _standard_error(row.accuracy / 100, size, round((row.df + 2) / 2))
            cells = (size, here, row.accuracy, here - row.accuracy, (here - row.accuracy) / error)
            rows.append((name, row.metric, row.identifier, _label(kind), *cells))
    return (
        []
        if not rows
        else [
            Table(
                "demetr_published",
                "The published figures, computed again on these items",
                ("metric", "published_as", "id", "perturbation", "items", "here", "published", "difference", "standard_errors"),
                tuple(rows),
                "Accuracy in per cent. standard_errors: the difference over the standard error of two independent samples (the items here are a "
                "part of the published ones, or others).",
                {"id": 0, "items": 0, "here": 1, "published": 1, "difference": 1, "standard_errors": 1},
            )
        ]
    )


def _standard_error(share: float, here: int, there: int) -> float:
    """Of the difference of two shares, in per cent; a share of 0 or 1 counts as if half an item differed."""
    variance = max(share * (1 - share), 0.5 / there)
    return 100 * float(np.sqrt(variance * (1 / here + 1 / there)))


def _by(data: _Data, key: str, title: str) -> Table:
    keys = [getattr(pair, key) for pair in data.pairs]
    columns = [data.draws.means(np.where(data.baseline, np.nan, data.correct[name]), keys) for name in data.names]
    counts = {
        k: sum(1 for n, base in zip(keys, data.baseline, strict=True) if n == k and not base) for k in dict.fromkeys(keys)
    }
    rows = [(k, counts[k], *(float(column[k][0]) for column in columns)) for k in sorted(counts) if counts[k]]
    digits = {**dict.fromkeys(data.names, 1), "items": 0}
    return Table(
        f"demetr_by_{key}", title, (key, "items", *data.names), tuple(rows), "Per cent of items, baselines left out.", digits
    )


def _welch(data: _Data) -> Table:
    kinds = np.array(data.kinds)
    rows: list[tuple[Cell, ...]] = []
    for kind in data.present:
        for contrast in data.contrasts:
            test = contrast.welch(kinds == kind)
            accuracy = float(data.accuracy[contrast.name][kind][0])
            rows.append((KINDS[kind].identifier, _label(kind), contrast.name, "here", test.t, test.p, test.df, accuracy))
        published = [a for a in demetr_accuracies() if a.identifier == KINDS[kind].identifier]
        rows += [(a.identifier, _label(kind), a.metric, "published", a.t, a.p, a.df, a.accuracy) for a in published]
    return Table(
        "demetr_table_a3",
        "Welch's t-test and accuracy (DEMETR, table A3)",
        ("id", "perturbation", "metric", "figures", "t", "p", "df", "accuracy"),
        tuple(rows),
        "Two-sample Welch's t-test of the unperturbed against the perturbed scores. Error rates are negated here, so a drop has t > 0; the "
        "paper's TER and CER have the other sign. Published rows are for the whole data set.",
        {"id": 0, "t": 2, "p": 4, "df": 1, "accuracy": 1},
    )
