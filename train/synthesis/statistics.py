"""Tables of a file of generated pairs: edits, kinds, types, severities, and the scores of a metric on SEScore2's scale."""

from __future__ import annotations

import random
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
    numbers = sorted({name for one in operations for name in one.details} & set(NUMBERS))
    return [
        Table("synthesis", "Generated pairs", ("what", "figure"), tuple(rows), digits=2),
        _by_severity("kind", Counter((one.kind, one.severity) for one in operations)),
        _by_severity("type", Counter((one.type or "-", one.severity) for one in operations)),
        *(
            _histogram(name, [(one.details[name], one.severity) for one in operations if name in one.details])
            for name in numbers
        ),
    ]


NUMBERS = {
    "likelihood": (0.0, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    "tfidf": (0.0, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, np.inf),
    "weight": tuple(map(float, range(11))),
    "entailment": tuple(n / 10 for n in range(11)),
}
"""Numbers behind severities, and the bounds of the bars of their histograms."""


def _histogram(name: str, values: Sequence[tuple[float, str]]) -> Table:
    """Return one row per bar: how many edits have such a number, as which severity."""
    bounds = NUMBERS[name]
    bars = np.clip(np.searchsorted(bounds, [value for value, _ in values], side="right") - 1, 0, len(bounds) - 2)
    counts = Counter(zip(bars.tolist(), (severity for _, severity in values), strict=True))
    named = Counter({(f"{bounds[bar]:g} to {bounds[bar + 1]:g}", severity): n for (bar, severity), n in sorted(counts.items())})
    return _by_severity(name, named, by_size=False)


def _by_severity(column: str, edits: Counter[tuple[str, str]], *, by_size: bool = True) -> Table:
    """Return one row per kind, type or bar: how often, as which severity, its share of all edits and a bar of that length."""
    names = list(dict.fromkeys(name for name, _ in edits))
    sizes = {name: sum(edits[name, severity] for severity in SEVERITIES) for name in names}
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(names, key=lambda name: (-sizes[name], name)) if by_size else names:
        share = sizes[name] / edits.total()
        rows.append((name, sizes[name], *(edits[name, severity] for severity in SEVERITIES), share, "█" * round(BAR * share)))
    columns = (column, "edits", *SEVERITIES, "share", "histogram")
    title = f"{column.capitalize()} of edits and their severities"
    return Table(f"synthesis_{column}s", title, columns, tuple(rows), "none: harmless, or a pipeline without severities")


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
    scores = np.asarray(
        metric.score([[pair.reference] for pair in pairs], [pair.hypothesis for pair in pairs]), dtype=np.float64
    )
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
