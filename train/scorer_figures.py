"""What the trained net's scale means, measured on held-out pairs: the anchors of the model card."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from rome.train.scorer_config import ScorerConfig
from rome.train.scorer_net import ranked_pairs
from rome.train.scorer_pairs import Pair

__all__ = ["ANCHORS", "scale_figures"]

ANCHORS: dict[str, Callable[[Pair], bool]] = {
    "identity": lambda pair: pair.base == "identity" and pair.level == "clean",
    "good_paraphrase": lambda pair: pair.operation == "acceptable_far",
    "human_paraphrase": lambda pair: pair.base in ("reference", "paraphrase") and pair.level == "clean",
    "system_output": lambda pair: pair.base == "system" and pair.level == "clean",
    "one_minor_error": lambda pair: pair.operation.startswith("minor_") or (_alone(pair) and 0.5 <= pair.severity <= 1.5),
    "one_major_error": lambda pair: pair.operation.startswith("major_") or (_alone(pair) and 4.0 <= pair.severity <= 5.0),
    "one_critical_error": lambda pair: pair.operation.startswith("critical_"),
    "heavily_perturbed": lambda pair: pair.base == "identity" and pair.level == "heavy",
    "shuffled": lambda pair: pair.operation == "shuffled",
    "repeated_words": lambda pair: pair.operation == "repeated_words",
    "repeated_phrase": lambda pair: pair.operation == "repeated_phrase",
    "unrelated": lambda pair: pair.operation == "unrelated",
    "empty": lambda pair: pair.operation == "empty",
}
"""Names of the scale's anchors, from best to worst, and which pairs they are measured on. A good paraphrase is one of scorer_meaning.py; a human one is
a second reference or a pair of MSRP, which often differ in a fact."""


def _alone(pair: Pair) -> bool:
    return pair.base == "identity" and pair.strength == 1


def scale_figures(scores: NDArray[np.float64], pairs: Sequence[Pair], config: ScorerConfig) -> dict[str, float]:
    """Mean score of every anchor that occurs among the pairs, the share of ranked pairs in right order, and the counts.

    Keys: ``mean_<anchor>``, ``ranking_accuracy`` (by the graded targets, ties are wrong), ``clean_above_perturbed``, ``rated_tau``
    (Kendall's tau-b with people's ratings, where there are any), ``pairs``.
    """
    figures: dict[str, float] = {}
    for name, belongs in ANCHORS.items():
        rows = [row for row, pair in enumerate(pairs) if belongs(pair)]
        if rows:
            figures[f"mean_{name}"] = round(float(scores[rows].mean()), 4)
    rated = [row for row, pair in enumerate(pairs) if pair.base == "rated"]
    if len(rated) > 1:
        wanted = [pairs[row].quality for row in rated]
        figures["rated_tau"] = round(float(kendalltau(scores[rated], wanted).statistic), 4)
    groups = [pair.id if pair.base == "rated" else pair.group for pair in pairs]
    graded = np.array([ScorerConfig.target(config, pair) for pair in pairs])
    clean = np.array([float(pair.level == "clean") for pair in pairs])
    for name, targets in (("ranking_accuracy", graded), ("clean_above_perturbed", clean)):
        order = ranked_pairs(groups, targets, config.ranking_gap)
        figures[name] = round(float((scores[order[:, 0]] > scores[order[:, 1]]).mean()), 4) if len(order) else float("nan")
    return figures | {"pairs": float(len(pairs))}
