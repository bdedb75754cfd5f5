"""DEMETR (Karpinska et al. 2022): accuracy and sensitivity of any metrics, beside the published rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.demetr import KINDS, MinimalPair, demetr_accuracies, demetr_means
from rome.evaluation.diagnosis.minimal_pairs import SEVERITIES, Contrast, PairScores, Part
from rome.evaluation.findings import Row, few_note, interval_table
from rome.evaluation.statistics.resampling import estimate
from rome.exceptions import InputError
from rome.reports.model import Table

REFERENCE = "base_id35_reference"
TRAINED = (
    " The errors component of RoMe, and so RoMe, was trained on our own versions of the same kinds of mistake, made in other texts; "
    "the peers were not."
)
"""Note on every table with an accuracy of RoMe."""


def won(contrast: Contrast, pairs: Sequence[MinimalPair]) -> NDArray[np.bool_]:
    """Return (n,) where the unperturbed text scores higher; where the reference is the translation, the perturbed one must."""
    reversed_ = np.array([pair.kind == REFERENCE for pair in pairs])
    return np.where(reversed_, contrast.worse > contrast.better, contrast.wins)


def demetr_parts(
    pairs: Sequence[MinimalPair], contrasts: Sequence[Contrast], *, samples: int = 1000, seed: int = 0
) -> list[Part]:
    """Make table 4 of the paper for live metrics, and tables by severity and kind.

    Raises InputError without pairs or metrics.

    Parameters
    ----------
    contrasts
        The scores of the pairs under each metric.
    samples
        Bootstrap resamples over sentences, all their perturbations together.
    """
    if not pairs or not contrasts:
        raise InputError("a diagnosis needs at least one minimal pair and one metric: give both")
    data = _Data(pairs, contrasts, samples, seed)
    return [_table_4(data), _severity_order(data), _accuracies(data)]


class _Data(PairScores):
    """Add to the scores what every table needs of the pairs."""

    def __init__(self, pairs: Sequence[MinimalPair], contrasts: Sequence[Contrast], samples: int, seed: int) -> None:
        clusters = [f"{pair.language}/{pair.item}" for pair in pairs]
        correct = {c.name: np.where(won(c, pairs), 100.0, 0.0) for c in contrasts}
        super().__init__(contrasts, [pair.kind for pair in pairs], clusters, samples, seed, correct)
        self.present = sorted(self.counts, key=lambda kind: KINDS[kind].identifier)
        self.trained = TRAINED if any(name.startswith("RoMe") for name in self.names) else ""


def _table_4(data: _Data) -> Table:
    counted = [kind for kind in data.present if kind != REFERENCE]
    rows: list[Any] = []
    for name in data.names:
        groups = [[k for k in counted if KINDS[k].released == severity] for severity in ("base", *SEVERITIES)]
        means = (float(data.over(data.accuracy[name], kinds)[0]) for kinds in groups)
        rows.append((name, "", "here", *means, estimate(data.over(data.accuracy[name], counted))))
    rows.sort(key=lambda row: -row[-1][0])
    for m in sorted(demetr_means(), key=lambda row: -row.all):
        rows.append((m.metric, m.parameters, "published", m.base, m.critical, m.major, m.minor, m.all, None, None))
    return interval_table(
        "demetr_table4",
        "Accuracy by severity (DEMETR, table 4)",
        ("metric", "parameters", "figures", "base", "critical", "major", "minor", "all*"),
        rows,
        "Per cent of items where the unperturbed translation scores strictly higher; ties are wrong. Unweighted means over kinds by the "
        "severity of the released files, which is what table 4 of the paper counts by; all = every kind but the reference as "
        "translation. Published rows are for the whole data set. Brackets: 95 %, bootstrap over sentences."
        + few_note(data.draws.weights.shape[1], "sentences")
        + data.trained,
        2,
        highest=("critical", "major", "minor", "all"),
    )


def _severity_order(data: _Data) -> Table:
    groups = [[kind for kind in data.present if KINDS[kind].severity == severity] for severity in SEVERITIES]
    rows: list[Row] = []
    for name in data.names:
        means, ordered = data.by_severity(name, groups)
        rows.append((name, *map(estimate, means), ordered))
    return interval_table(
        "demetr_severity_order",
        "Does a worse mistake cost more? Sensitivity z by severity",
        ("metric", *(f"{severity}*" for severity in SEVERITIES), "ordered"),
        rows,
        "z is the drop from the unperturbed to the perturbed text as a share of the drop to an empty text (equation 1), averaged by kind, "
        "then by the severity of table 1. Pairs whose empty text scores no lower are left out, and metrics for which those are more than 5 %. "
        "ordered: share of bootstrap resamples with critical > major > minor.",
    )


def _accuracies(data: _Data) -> Table:
    rows = []
    for kind in data.present:
        row = KINDS[kind]
        best = max((one for one in demetr_accuracies() if one.identifier == row.identifier), key=lambda one: one.accuracy)
        about = (row.identifier, f"{row.type}: {row.description}", row.category, row.severity, data.counts[kind])
        rows.append((*about, *(float(data.accuracy[name][kind][0]) for name in data.names), best.accuracy, best.metric))
    return Table(
        "demetr_accuracy",
        "Accuracy by perturbation, and the best published metric",
        ("id", "perturbation", "category", "severity", "items", *data.names, "best_published", "by"),
        tuple(rows),
        f"Per cent of items; the reference as translation is reversed.{data.trained}",
        1,
    )
