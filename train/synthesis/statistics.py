"""Tables of a file of generated pairs: edits, kinds, types, severities, and the scores of a metric on SEScore2's scale."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rome.evaluation.metrics.functions import Metric
from rome.exceptions import InputError
from rome.reports.model import Cell, Table
from rome.train.synthesis.pairs import SyntheticPair

SEVERITIES = ("none", "minor", "major")


def tables_of(pairs: Sequence[SyntheticPair], skipped: Mapping[str, int]) -> list[Table]:
    """Return the tables of some pairs.

    Parameters
    ----------
    skipped
        Texts that gave nothing, by reason.
    """
    operations = [operation for pair in pairs for operation in pair.operations]
    labels = [pair.label for pair in pairs if pair.label is not None]
    rows: list[tuple[Cell, ...]] = [
        ("pairs", len(pairs)),
        ("pairs without any change", sum(pair.reference == pair.hypothesis for pair in pairs)),
        ("edits", len(operations)),
        ("edits per pair", len(operations) / len(pairs)),
        ("mean label", sum(labels) / len(labels) if labels else None),
        *((f"skipped: {reason}", number) for reason, number in sorted(skipped.items()) if number),
    ]
    return [
        Table("synthesis", "Generated pairs", ("what", "figure"), tuple(rows), digits=2),
        _by_severity("kind", ((one.kind, one.severity) for one in operations)),
        _by_severity("type", ((one.type or "-", one.severity) for one in operations)),
    ]


def _by_severity(column: str, edits: Iterable[tuple[str, str]]) -> Table:
    """Return one row per kind or type: how often, as which severity, and its share of all edits."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, severity in edits:
        counts[kind][severity] += 1
    total = sum(own.total() for own in counts.values())
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (kind, own.total(), *(own[severity] for severity in SEVERITIES), own.total() / total)
        for kind, own in sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    )
    note = "none: harmless, or a pipeline without severities"
    title = f"{column.capitalize()}s of edits and their severities"
    return Table(f"synthesis_{column}s", title, (column, "edits", *SEVERITIES, "share"), rows, note)


SCALE = 50.0
"""Distance of random pairs below 0 (SEScore2, equation 1)."""


def rescaled_table(pairs: Sequence[SyntheticPair], metric: Metric, seed: int = 0) -> Table:
    """Return the scores that a metric gives the pairs of each label, on the scale of SEScore2 (appendix H, equation 1).

    The score is (score - l) / (h - l) - 1, times SCALE: l is the mean score of random pairs of references, h that of references with
    themselves. Raises InputError for fewer than two references, and for a metric with l >= h.
    """
    texts = list(dict.fromkeys(pair.reference for pair in pairs))
    random.Random(f"bounds\0{seed}").shuffle(texts)
    ones, others = texts[0::2], texts[1::2]
    if not others:
        raise InputError("rescaling needs at least 2 different texts, better thousands, got 1: give more texts")
    lower = float(np.mean(metric.score([[text] for text in ones[: len(others)]], others)))
    upper = float(np.mean(metric.score([[text] for text in texts], texts)))
    if not lower < upper < np.inf:
        raise InputError(
            f"random pairs must score below identical ones, got {lower} and {upper}: give a metric whose scores are higher for better texts"
        )
    scores = np.asarray(metric.score([[pair.reference] for pair in pairs], [pair.hypothesis for pair in pairs]), dtype=np.float64)
    by_label: dict[float | None, list[float]] = defaultdict(list)
    for pair, score in zip(pairs, ((scores - lower) / (upper - lower) - 1.0) * SCALE, strict=True):
        by_label[pair.label].append(float(score))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, len(values), float(np.mean(values)), float(np.std(values)))
        for label, values in sorted(by_label.items(), key=lambda item: (item[0] is None, -(item[0] or 0.0)))
    )
    title = f"{metric.name} by label, on SEScore2's scale"
    note = f"Random pairs of references ({lower:.4g}) are {-SCALE:g}, references with themselves ({upper:.4g}) are 0."
    return Table("synthesis_rescaled", title, ("label", "pairs", "mean", "deviation"), rows, note, 2)
