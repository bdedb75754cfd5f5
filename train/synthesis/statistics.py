"""Tables of a file of generated pairs: edits, kinds, types, severities, and the scores of a metric on SEScore2's scale."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from rome.evaluation.metrics.functions import Metric
from rome.exceptions import InputError
from rome.reports.model import Cell, Table
from rome.train.synthesis.pairs import SyntheticPair

SEVERITIES = ("none", "minor", "major")
BAR = 40
"""Characters of the longest bar."""
NUMBERS = {
    "likelihood": (0.0, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3),
    "tfidf": (0.0, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0),
    "weight": tuple(range(10)),
    "entailment": tuple(n / 10 for n in range(10)),
}
"""Numbers behind severities, and where the bars of their histograms begin."""


def tables_of(pairs: Sequence[SyntheticPair], skipped: Mapping[str, int]) -> list[Table]:
    """Return the tables of some pairs: counts, kinds and types of the edits, and histograms of the numbers behind severities.

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
    tables = [Table("synthesis", "Generated pairs", ("what", "figure"), tuple(rows), digits=2)]
    for name in ("kind", "type"):
        counts = Counter(getattr(one, name) or "-" for one in operations)
        order = sorted(counts, key=lambda key: (-counts[key], key))
        tables.append(_by_severity(name, [(getattr(one, name) or "-", one.severity) for one in operations], order))
    for name, bounds in NUMBERS.items():
        bars = [f"from {bound:g}" for bound in bounds]
        known = [(one.details[name], one.severity) for one in operations if name in one.details]
        edits = [(bars[bisect_right(bounds, value) - 1], severity) for value, severity in known]
        tables += [_by_severity(name, edits, bars)] if edits else []
    return tables


def _by_severity(column: str, edits: Sequence[tuple[str, str]], names: Sequence[str]) -> Table:
    """Return one row per kind, type or bar: how often, as which severity, its share of all edits and a bar of that length."""
    counts = Counter(edits)
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        own = [counts[name, severity] for severity in SEVERITIES]
        share = sum(own) / len(edits)
        rows.append((name, sum(own), *own, share, "█" * round(BAR * share)))
    columns = (column, "edits", *SEVERITIES, "share", "histogram")
    title, note = f"{column.capitalize()} of edits and their severities", "none: harmless, or a pipeline without severities"
    return Table(f"synthesis_{column}s", title, columns, tuple(rows), note)


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
    references, hypotheses = [[pair.reference] for pair in pairs], [pair.hypothesis for pair in pairs]
    scores = np.asarray(metric.score(references, hypotheses), dtype=np.float64)
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
