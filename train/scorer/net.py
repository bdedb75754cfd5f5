"""The net: its settings, its form in torch, its fitting (graded targets, ranking within groups, monotone by construction), its scale."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, logsigmoid, softplus

from rome.combining.combiner import Combiner
from rome.combining.signature import RatedSource
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.train.scorer.pairs import TrainingPair

Matrix = NDArray[np.float64]
OBJECTIVES = ("graded", "binary")
WEIGHT_FLOOR = {"semantic": 1.0, "syntax": 0.02, "grammar": 0.6, "errors": 1.0}
BASE_QUALITY: Mapping[str, float] = {
    **{"identity": 1.0, "reference": 0.88, "paraphrase": 0.88, "system": 0.75, "outputs": 0.75},
    **dict.fromkeys(("rated", "meaning", "groups"), 0.5),
}
"""Target of a clean pair by its base."""
BASE_WEIGHT: Mapping[str, float] = {
    **{"identity": 1.0, "reference": 1.0, "paraphrase": 1.0, "system": 0.3, "outputs": 0.1},
    **dict.fromkeys(("rated", "meaning", "groups"), 8.0),
}
"""Weight in the cross-entropy by base, low where the true quality is unknown."""
SEVERE_TARGET: Mapping[str, float] = {
    **{"empty": 0.0, "unrelated": 0.03, "repeated_words": 0.05, "repeated_phrase": 0.1},
    **{"mixed": 0.2, "shuffled": 0.25, "truncated": 0.4, "doubled": 0.5},
}
"""Target of the cases without a counted severity."""


@dataclass(frozen=True)
class ScorerConfig:
    """Settings of the net and its training.

    Attributes
    ----------
    hidden
        Hidden units.
    weight_floor
        Smallest hidden weight of each feature, so that it always counts and ties break. The reader of `errors` was trained on most of the
        texts that fit the net, which would trust it too much: the floors of `semantic` and `grammar` compensate. They were chosen, as was the
        decay, on annotated groups that trained neither, and on held-out pairs.
    severity_scale
        A severity s multiplies the target by exp(-s / severity_scale); one minor error weighs 1, one major 5.
    ranking_temperature
        Logit difference at which a ranked pair counts as mostly settled.
    ranking_gap
        Targets closer than this are not ranked.
    objective
        ``graded``, or ``binary`` for RoMe's original one (clean or perturbed, section 3.4).
    binary_clean, binary_perturbed
        Quality from which a rated pair is clean in the binary objective, and up to which it is perturbed; between them it counts nothing.
        Ratings of similarity reach 0.85, so by default no such pair is clean.
    """

    seed: int = 0
    objective: str = "graded"
    hidden: int = 3
    weight_floor: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHT_FLOOR))
    steps: int = 3000
    learning_rate: float = 0.05
    decay: float = 1e-4
    held_out: float = 0.15
    severity_scale: float = 15.0
    severity_cap: float = 25.0
    ranking_temperature: float = 0.8
    ranking_gap: float = 0.02
    clean_weight: float = 2.0
    binary_clean: float = 0.9
    binary_perturbed: float = 0.5

    def target(self, pair: TrainingPair) -> float:
        """Return the score in [0, 1] that the net should give the pair."""
        if self.objective == "binary":
            return float(pair.level == "clean" if pair.quality is None else pair.quality >= self.binary_clean)
        quality = BASE_QUALITY[pair.base] if pair.quality is None else pair.quality
        if pair.operation in SEVERE_TARGET:
            return min(quality, SEVERE_TARGET[pair.operation])
        return quality * exp(-min(pair.severity, self.severity_cap) / self.severity_scale)

    def weight(self, pair: TrainingPair) -> float:
        """Return the weight of the pair in the cross-entropy; severe cases count in full, whatever their base."""
        if self.objective == "binary" and pair.quality is not None:
            return float(not self.binary_perturbed < pair.quality < self.binary_clean)
        if self.objective == "binary" or pair.operation in SEVERE_TARGET:
            return 1.0
        return BASE_WEIGHT[pair.base] * (self.clean_weight if pair.level == "clean" else 1.0)

    def with_settings(self, settings: Sequence[str]) -> ScorerConfig:
        """Return a copy with other numbers, each written ``name=value``. Raises InputError for unknown names and other values."""
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int | float)}
        changed: dict[str, Any] = {}
        for name, _, value in (setting.partition("=") for setting in settings):
            if name not in numbers:
                raise InputError(f"--set must name a setting of the scorer, got {name}: choose from {', '.join(numbers)}")
            try:
                changed[name] = type(numbers[name])(value)
            except ValueError as error:
                raise InputError(f"the setting {name} of the scorer must be a number, got {value!r}") from error
        return replace(self, **changed)


EDGE = 1e-6
"""Least distance of a score to 0 and to 1 in the cross-entropy."""


class MonotoneNet(nn.Module):
    """Two layers; every weight is the softplus of a free parameter, so that the logit rises with every input.

    (n, 4) float64 features give (n,) logits, which `score` turns into scores. `to_combiner` returns the same function in NumPy.
    """

    def __init__(self, hidden: int, floor: Mapping[str, float], generator: torch.Generator) -> None:
        super().__init__()
        width = len(FEATURES)
        self.floor = torch.tensor([floor[name] for name in FEATURES], dtype=torch.float64)
        self.hidden_raw = nn.Parameter(torch.randn(hidden, width, generator=generator, dtype=torch.float64) * 0.5)
        self.hidden_bias = nn.Parameter(-torch.linspace(0.0, 3.0, hidden, dtype=torch.float64))
        self.output_raw = nn.Parameter(torch.zeros(hidden, dtype=torch.float64) - 0.5)
        self.output_bias = nn.Parameter(torch.zeros((), dtype=torch.float64))

    def forward(self, values: Tensor) -> Tensor:
        """Return (n,) logits of (n, 4) features."""
        unit = torch.tanh(values @ self.hidden_weight.T + self.hidden_bias)
        return unit @ softplus(self.output_raw) + self.output_bias

    def score(self, logits: Tensor) -> Tensor:
        """Return (n,) scores in [0, 1]: the sigmoid of the logits over that of perfect features."""
        perfect = self(torch.ones(1, len(FEATURES), dtype=torch.float64))
        return torch.exp(logsigmoid(logits) - logsigmoid(perfect)).clamp(max=1.0)

    @property
    def hidden_weight(self) -> Tensor:
        """Return the (h, 4) weights of the first layer, at least ``floor``."""
        return self.floor + softplus(self.hidden_raw)

    def to_combiner(self, feature_signature: str, fitted_on: tuple[RatedSource, ...] = ()) -> Combiner:
        """Return the same net in NumPy, with the rated sets of a supervised one."""
        with torch.no_grad():
            hidden, output = self.hidden_weight.numpy(), softplus(self.output_raw).numpy()
            hidden_bias, output_bias = self.hidden_bias.numpy().copy(), self.output_bias.numpy().copy()
        return Combiner(hidden, hidden_bias, output, output_bias, feature_signature, fitted_on)


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
    """Train the net on (n, 4) features of n pairs; same seed, same bytes."""
    targets = np.array([config.target(pair) for pair in pairs])
    weights = np.array([config.weight(pair) for pair in pairs])
    graded = config.objective == "graded"
    order = ranked_pairs([pair.group for pair in pairs], targets, config.ranking_gap if graded else np.inf)
    return fit_targets(values, targets, weights, order, config).to_combiner(feature_signature)


def fit_targets(
    values: Matrix, targets: Matrix, weights: Matrix, order: NDArray[np.int64], config: ScorerConfig
) -> MonotoneNet:
    """Train the net on (n, 4) features towards (n,) targets in [0, 1], weighted, and on row pairs (better, worse): (m, 2).

    The loss is the cross-entropy of the scores with the targets and, unless m is 0, a logistic loss of the differences of the pairs'
    logits. The same values and seed give the same net.
    """
    inputs, wanted, counted = (torch.from_numpy(np.ascontiguousarray(part)) for part in (values, targets, weights))
    better, worse = torch.from_numpy(order).T
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # sums in one order
    net = MonotoneNet(config.hidden, config.weight_floor, torch.Generator().manual_seed(config.seed))
    optimiser = torch.optim.Adam(net.parameters(), lr=config.learning_rate, weight_decay=config.decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, config.steps)
    for _ in range(config.steps):
        logits = net(inputs)
        loss = binary_cross_entropy(net.score(logits).clamp(EDGE, 1.0 - EDGE), wanted, counted)
        if len(order):
            loss = loss + softplus((logits[worse] - logits[better]) / config.ranking_temperature).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    torch.set_num_threads(threads)
    return net


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
