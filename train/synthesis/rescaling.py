"""Any metric's scores on a scale that people can read: what random pairs get is the bottom, what a text and itself get is 0.

SEScore2, appendix H, equation 1: (score - l) / (h - l) - 1, times 50; l is the mean score of random pairs of sentences, h that
of sentences with themselves. A minor error then costs about 1 and a major one about 5 where the metric was trained on such labels.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rome.evaluation.metrics.functions import Metric, Scores
from rome.exceptions import InputError
from rome.reports.model import Table
from rome.train.synthesis.pairs import SyntheticPair

SCALE = 50.0
"""How far below 0 random pairs come to lie (SEScore2, equation 1)."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """

    Attributes
    ----------
    lower
        The mean score of random pairs.
    upper
        Of texts with themselves, above lower.
    signature
        Of the metric.
    pairs
        How many random pairs.
    seed
        Of the pairing.
    """

    lower: float
    upper: float
    signature: str = ""
    pairs: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises InputError unless both are finite and the upper one is greater."""
        if not (np.isfinite(self.lower) and np.isfinite(self.upper) and self.lower < self.upper):
            raise InputError(
                f"bounds {self.lower} and {self.upper}: random pairs must score below identical ones; "
                "give a metric whose scores are higher for better texts, and ordinary sentences"
            )

    @classmethod
    def of(cls, metric: Metric, texts: Sequence[str], seed: int = 0) -> Bounds:
        """The bounds of a metric over texts: distinct ones are paired at random, each at most once, and scored with themselves.

        SEScore2 scores a sentence with itself under dropout; a metric used as a function gets the same sentence twice. Raises
        InputError for fewer than two distinct texts with words, and for scores that tell nothing apart.
        """
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        if len(distinct) < 2:
            raise InputError(f"{len(distinct)} distinct texts are too few for bounds: give at least 2, better thousands")
        random.Random(f"bounds\0{seed}").shuffle(distinct)
        ones, others = distinct[0::2], distinct[1::2]
        ones = ones[: len(others)]
        lower = float(np.mean(metric.score([[text] for text in ones], others)))
        upper = float(np.mean(metric.score([[text] for text in distinct], distinct)))
        return cls(lower, upper, metric.signature, len(others), seed)


def rescale(scores: ArrayLike, bounds: Bounds, scale: float = SCALE) -> Scores:
    """(n,) the scores with the lower bound at -scale and the upper one at 0; what lies beyond is not cut, and order is kept.

    Raises InputError for a scale that is not positive.
    """
    if not scale > 0:
        raise InputError(f"scale={scale}: give a positive number, such as {SCALE:g}, or 25 for labels in [-25, 0]")
    values = np.asarray(scores, dtype=np.float64)
    return ((values - bounds.lower) / (bounds.upper - bounds.lower) - 1.0) * scale


def rescaled_table(pairs: Iterable[SyntheticPair], metric: Metric, seed: int = 0) -> Table:
    """What a metric gives pairs of each label, on the scale of its bounds over their references.

    Raises InputError as `Bounds.of` does.
    """
    rows = [(pair.label, pair.reference, pair.hypothesis) for pair in pairs]
    bounds = Bounds.of(metric, [reference for _, reference, _ in rows], seed)
    scores = rescale(metric.score([[reference] for _, reference, _ in rows], [hypothesis for _, _, hypothesis in rows]), bounds)
    of_label: dict[float | None, list[float]] = defaultdict(list)
    for (label, _, _), score in zip(rows, scores.tolist(), strict=True):
        of_label[label].append(score)
    labels = sorted(of_label, key=lambda label: (label is None, -(label or 0.0)))
    return Table(
        "synthesis_rescaled",
        f"{metric.name} by label, on SEScore2's scale",
        ("label", "pairs", "mean", "deviation"),
        tuple(
            (label, len(of_label[label]), float(np.mean(of_label[label])), float(np.std(of_label[label]))) for label in labels
        ),
        f"Equation 1 of SEScore2: the mean of {bounds.pairs} random pairs of references ({bounds.lower:.4g}) lies at {-SCALE:g}, that of "
        f"references beside themselves ({bounds.upper:.4g}) at 0. A metric trained on such labels gives about -1 for a minor and -5 for a major edit.",
        2,
    )
