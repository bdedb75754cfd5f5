"""Tables of a file of generated pairs: edits, kinds, types, severities, and the scores of a metric on SEScore2's scale.

The scale is SEScore2's (appendix H, equation 1): (score - l) / (h - l) - 1, times 50, where l is the mean score of random pairs of
sentences and h that of sentences with themselves. A metric trained on such labels gives about -1 for a minor and -5 for a major error.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rome.evaluation.metrics.functions import Metric, Scores
from rome.exceptions import InputError
from rome.reports.model import Cell, Table
from rome.train.synthesis.pairs import SyntheticPair

SEVERITIES = ("none", "minor", "major")
MOST_TYPES = 40


def tables_of(
    pairs: Sequence[SyntheticPair], made: int = 0, seconds: float = 0.0, skipped: Mapping[str, int] | None = None
) -> list[Table]:
    """Return the tables of some pairs; without pairs they are empty.

    Parameters
    ----------
    made, seconds
        Pairs of this run and how long they took.
    skipped
        Texts that gave nothing, by reason.
    """
    edits = sum(len(pair.operations) for pair in pairs)
    labels = [pair.label for pair in pairs if pair.label is not None]
    rows: list[tuple[Cell, ...]] = [
        ("pairs", len(pairs)),
        ("pairs without any change", sum(pair.reference == pair.hypothesis for pair in pairs)),
        ("edits", edits),
        ("edits per pair", edits / len(pairs) if pairs else None),
        ("mean label", sum(labels) / len(labels) if labels else None),
        ("pairs of this run", made),
        ("pairs per second", made / seconds if made and seconds > 0 else None),
        *((f"skipped: {reason}", number) for reason, number in sorted((skipped or {}).items()) if number),
    ]
    operations = [operation for pair in pairs for operation in pair.operations]
    kinds = Counter((one.kind, one.severity) for one in operations)
    types = Counter((one.type or "-", one.severity) for one in operations)
    return [
        Table("synthesis", "Generated pairs", ("what", "figure"), tuple(rows), digits=2),
        _by_severity("synthesis_kinds", "Kinds of edits and their severities", "kind", kinds),
        _by_severity("synthesis_types", "Types of edits and their severities", "type", types),
    ]


def _by_severity(name: str, title: str, column: str, counts: Counter[tuple[str, str]]) -> Table:
    """Return one row per kind or type: how often, as which severity, and its share of all edits."""
    totals: Counter[str] = Counter()
    for (kind, _), number in counts.items():
        totals[kind] += number
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (kind, total, *(counts[kind, severity] for severity in SEVERITIES), total / totals.total())
        for kind, total in sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:MOST_TYPES]
    )
    note = "none: harmless, or a pipeline without severities"
    return Table(name, title, (column, "edits", *SEVERITIES, "share"), rows, note)


SCALE = 50.0
"""Distance of random pairs below 0 (SEScore2, equation 1)."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Mean scores of a metric over random pairs (``lower``, of ``pairs`` pairs) and over texts with themselves (``upper``)."""

    lower: float
    upper: float
    pairs: int = 0

    def __post_init__(self) -> None:
        """Raise InputError unless both are finite and the upper one is greater."""
        if not (np.isfinite(self.lower) and np.isfinite(self.upper) and self.lower < self.upper):
            raise InputError(
                f"random pairs must score below identical ones, got {self.lower} and {self.upper}: "
                "give a metric whose scores are higher for better texts, and ordinary sentences"
            )

    @classmethod
    def of(cls, metric: Metric, texts: Sequence[str], seed: int = 0) -> Bounds:
        """Return the bounds of a metric over distinct texts, paired at random, each at most once, and scored with themselves.

        SEScore2 scores a sentence with itself under dropout; a metric used as a function gets the same sentence twice. Raises
        InputError for fewer than two distinct texts with words, and for scores that do not differ.
        """
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        if len(distinct) < 2:
            raise InputError(f"bounds need at least 2 distinct texts, better thousands, got {len(distinct)}: give more texts")
        random.Random(f"bounds\0{seed}").shuffle(distinct)
        ones, others = distinct[0::2], distinct[1::2]
        ones = ones[: len(others)]
        lower = float(np.mean(metric.score([[text] for text in ones], others)))
        upper = float(np.mean(metric.score([[text] for text in distinct], distinct)))
        return cls(lower, upper, len(others))


def rescale(scores: ArrayLike, bounds: Bounds, scale: float = SCALE) -> Scores:
    """Return (n,) scores with the lower bound at -scale and the upper one at 0, without clipping.

    Raises InputError for a scale that is not positive.
    """
    if not scale > 0:
        raise InputError(f"scale must be positive, got {scale}: take {SCALE:g}, or 25 for labels in [-25, 0]")
    values = np.asarray(scores, dtype=np.float64)
    return ((values - bounds.lower) / (bounds.upper - bounds.lower) - 1.0) * scale


def rescaled_table(pairs: Sequence[SyntheticPair], metric: Metric, seed: int = 0) -> Table:
    """Return the scores that a metric gives the pairs of each label, on the scale of its bounds over their references.

    Raises InputError as `Bounds.of` does.
    """
    references = [pair.reference for pair in pairs]
    bounds = Bounds.of(metric, references, seed)
    scores = rescale(metric.score([[text] for text in references], [pair.hypothesis for pair in pairs]), bounds)
    by_label: dict[float | None, list[float]] = defaultdict(list)
    for pair, score in zip(pairs, scores.tolist(), strict=True):
        by_label[pair.label].append(score)
    labels = sorted(by_label, key=lambda label: (label is None, -(label or 0.0)))
    return Table(
        "synthesis_rescaled",
        f"{metric.name} by label, on SEScore2's scale",
        ("label", "pairs", "mean", "deviation"),
        tuple(
            (label, len(by_label[label]), float(np.mean(by_label[label])), float(np.std(by_label[label]))) for label in labels
        ),
        f"Equation 1 of SEScore2: the mean of {bounds.pairs} random pairs of references ({bounds.lower:.4g}) is {-SCALE:g}, that of "
        f"references beside themselves ({bounds.upper:.4g}) is 0. A metric trained on such labels gives about -1 for a minor and -5 for a major edit.",
        2,
    )
