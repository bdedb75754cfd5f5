"""The net's settings, what each training pair must score and counts, and the figures of its scale."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from rome.combining.combiner import Combiner
from rome.combining.fitting import NetSettings, fit_net
from rome.combining.table import FeatureTable
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.train.scorer.chains import DRAW
from rome.train.scorer.pairs import TrainingPair

Matrix = NDArray[np.float64]
OBJECTIVES = ("graded", "binary")
BASE_QUALITY: Mapping[str, float] = {
    **{"identity": 1.0, "reference": 0.88, "paraphrase": 0.88, "system": 0.75},
    **dict.fromkeys(("rated", "groups"), 0.5),
}
"""Target of a clean pair by its base."""
CERTAIN = 8.0
"""Weight of a pair whose quality people judged, or that is certain."""
BASE_WEIGHT: Mapping[str, float] = {
    **{"identity": 1.0, "reference": 1.0, "paraphrase": 1.0, "system": 0.3},
    **dict.fromkeys(("rated", "groups"), CERTAIN),
}
"""Weight in the cross-entropy by base, low where the true quality is unknown."""
SEVERE_TARGET: Mapping[str, float] = {
    **{"empty": 0.0, "unrelated": 0.03, "repeated_words": 0.05, "repeated_phrase": 0.1},
    **{"mixed": 0.2, "shuffled": 0.25, "truncated": 0.4, "doubled": 0.5},
}
"""Target of the cases without a counted severity."""
BINARY_BASES = ("identity", "reference", "paraphrase")


@dataclass(frozen=True)
class ScorerConfig(NetSettings):
    """Settings of the net and its training pairs; those of the fit are in `NetSettings`.

    Attributes
    ----------
    weight_floor
        The reader of `errors` was trained on most of the texts that fit the net, which would trust it too much: the floors of `semantic` and
        `grammar` compensate. They were chosen, as was the decay, on annotated groups that trained neither, and on held-out pairs.
    semantic_share
        Share of `semantic` in the score beside the hidden units, none in the binary objective. A sigmoid alone tells poor translations apart too
        little. More of it would cost the order of texts with critical errors: held-out annotated groups, WMT15 and DEMETR decided.
    severity_scale
        A severity s multiplies the target by exp(-s / severity_scale); one minor error weighs 1, one major 5.
    textattack
        Share of TextAttack's pairs in the weights of the cross-entropy, the largest that cost annotated groups no order out of fold; half in
        the binary objective.
    objective
        ``graded``, or ``binary`` for RoMe's original one (section 3.4): clean pairs of sentences have the target 1, their TextAttack
        perturbations 0, and nothing else is used or ranked.
    """

    objective: str = "graded"
    hidden: int = 4
    weight_floor: tuple[float, ...] = (0.5, 0.02, 0.6, 1.0)
    decay: float = 1e-4
    semantic_share: float = 0.05
    held_out: float = 0.15
    severity_scale: float = 15.0
    severity_cap: float = 25.0
    textattack: float = 0.15
    clean_weight: float = 2.0

    def uses(self, pair: TrainingPair) -> bool:
        """Return whether the objective has a place for the pair."""
        return self.objective == "graded" or (pair.base in BINARY_BASES and (pair.level == "clean" or is_textattack(pair)))

    def target(self, pair: TrainingPair) -> float:
        """Return the score in [0, 1] that the net should give the pair."""
        if self.objective == "binary":
            return float(pair.level == "clean")
        quality = BASE_QUALITY[pair.base] if pair.quality is None else pair.quality
        if pair.operation in SEVERE_TARGET:
            return min(quality, SEVERE_TARGET[pair.operation])
        return quality * exp(-min(pair.severity, self.severity_cap) / self.severity_scale)

    def weights(self, pairs: Sequence[TrainingPair]) -> Matrix:
        """Return (n,) the weights of pairs in the cross-entropy, with the sum n: by base, severe cases in full, and TextAttack's share."""
        weights = np.array([self._weight(pair) for pair in pairs])
        share = 0.5 if self.objective == "binary" else self.textattack
        made = np.array([is_textattack(pair) for pair in pairs])
        for part, wanted in ((made, share), (~made, 1.0 - share)) if 0 < made.sum() < len(pairs) else ():
            weights[part] *= wanted / weights[part].sum()
        return weights * len(pairs) / weights.sum()

    def _weight(self, pair: TrainingPair) -> float:
        if self.objective == "binary":
            return 1.0
        if pair.operation in SEVERE_TARGET:
            return CERTAIN
        return BASE_WEIGHT[pair.base] * (self.clean_weight if pair.level == "clean" else 1.0)


def is_textattack(pair: TrainingPair) -> bool:
    """Return whether TextAttack made the pair."""
    return pair.operation in DRAW


Settings = TypeVar("Settings", bound=NetSettings)


def with_settings(config: Settings, settings: Sequence[str]) -> Settings:
    """Return a copy with other numbers, each written ``name=value``. Raises InputError for unknown names and other values."""
    numbers = {name: value for name, value in vars(config).items() if isinstance(value, int | float)}
    changed: dict[str, Any] = {}
    for name, _, value in (setting.partition("=") for setting in settings):
        if name not in numbers:
            raise InputError(f"--set must name a setting of the scorer, got {name}: choose from {', '.join(numbers)}")
        try:
            changed[name] = type(numbers[name])(value)
        except ValueError as error:
            raise InputError(f"the setting {name} of the scorer must be a number, got {value!r}") from error
    return replace(config, **changed)


def held_out_mask(pairs: Sequence[TrainingPair], share: float) -> NDArray[np.bool_]:
    """Return True for the held-out pairs: about ``share`` of the groups, whole, by a hash of their names."""
    drawn = {pair.group: hashlib.sha256(pair.group.encode()).digest()[0] / 256.0 < share for pair in pairs}
    return np.array([drawn[pair.group] for pair in pairs], dtype=bool)


def ranked_pairs(groups: Sequence[str], targets: Matrix, gap: float) -> NDArray[np.int64]:
    """Return row pairs (better, worse) of one group whose targets differ by more than ``gap``: (m, 2) int64."""
    members: dict[str, list[int]] = defaultdict(list)
    for row, group in enumerate(groups):
        members[group].append(row)
    found = [(a, b) for rows in members.values() for a in rows for b in rows if targets[a] - targets[b] > gap]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def fit(values: Matrix, pairs: Sequence[TrainingPair], config: ScorerConfig, feature_signature: str) -> Combiner:
    """Fit the net to (n, 4) features of n pairs; same seed, same bytes."""
    targets = np.array([config.target(pair) for pair in pairs])
    graded = config.objective == "graded"
    order = ranked_pairs([pair.group for pair in pairs], targets, config.ranking_gap if graded else np.inf)
    net = fit_net(values, targets, config.weights(pairs), order, config)
    share = config.semantic_share * graded * (np.array(FEATURES) == "semantic")
    return Combiner.of(replace(net, direct_weight=share), feature_signature)


def train(pairs: Sequence[TrainingPair], table: FeatureTable, config: ScorerConfig) -> tuple[Combiner, dict[str, float]]:
    """Fit the net on the pairs that are not held out and measure it on the others."""
    out = held_out_mask(pairs, config.held_out)
    if out.all() or not out.any():
        raise InputError(f"{len(pairs)} pairs are too few to hold some out: make more pairs")
    kept, held = ([pairs[row] for row in np.flatnonzero(part).tolist()] for part in (~out, out))
    combiner = fit(table.values[~out], kept, config, table.signature)
    return combiner, scale_figures(combiner.score(table.values[out]), held, config)


ANCHORS: dict[str, Callable[[TrainingPair], bool]] = {
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
"""Anchors of the scale, from best to worst, and their pairs. A good paraphrase is one of `meaning_pairs` or of an annotated group; a human
one is a second reference or a pair of MSRP, which often differ in a fact."""


def _alone(pair: TrainingPair) -> bool:
    return pair.base == "identity" and pair.strength == 1


def scale_figures(scores: NDArray[np.float64], pairs: Sequence[TrainingPair], config: ScorerConfig) -> dict[str, float]:
    """Return the mean score of every anchor among the pairs, the share of ranked pairs in right order, and the counts.

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
    graded = np.array([config.target(pair) for pair in pairs])
    clean = np.array([float(pair.level == "clean") for pair in pairs])
    for name, targets in (("ranking_accuracy", graded), ("clean_above_perturbed", clean)):
        order = ranked_pairs(groups, targets, config.ranking_gap)
        figures[name] = round(float((scores[order[:, 0]] > scores[order[:, 1]]).mean()), 4) if len(order) else float("nan")
    return figures | {"pairs": float(len(pairs))}
