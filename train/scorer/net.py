"""The net in torch and its fitting: graded targets, ranking within groups, monotone by construction; and what its scale means."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, logsigmoid, softplus

from rome.combining.combiner import Combiner
from rome.combining.signature import RatedSource
from rome.features.values import FEATURES
from rome.train.scorer.pairs import TrainingPair
from rome.train.scorer.settings import ScorerConfig

Matrix = NDArray[np.float64]
EDGE = 1e-6
"""The cross-entropy takes a score no nearer than this to 0 and to 1."""


class MonotoneNet(nn.Module):
    """Two layers; every weight is the softplus of a free parameter, so the logit rises with every input.

    Takes (n, 4) float64 features and gives (n,) logits, which `score` makes scores. `to_combiner` gives the same function in NumPy.
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
        """Logits (n,) of features (n, 4)."""
        unit = torch.tanh(values @ self.hidden_weight.T + self.hidden_bias)
        return unit @ softplus(self.output_raw) + self.output_bias

    def score(self, logits: Tensor) -> Tensor:
        """Scores (n,) in [0, 1] of logits (n,): their sigmoid over that of perfect features."""
        perfect = self(torch.ones(1, len(FEATURES), dtype=torch.float64))
        return torch.exp(logsigmoid(logits) - logsigmoid(perfect)).clamp(max=1.0)

    @property
    def hidden_weight(self) -> Tensor:
        """The (h, 4) weights of the first layer, at least ``floor``."""
        return self.floor + softplus(self.hidden_raw)

    def to_combiner(self, feature_signature: str, fitted_on: tuple[RatedSource, ...] = ()) -> Combiner:
        """The same net for use, in NumPy, and, when it is supervised, with its rated sets."""
        with torch.no_grad():
            hidden, output = self.hidden_weight.numpy(), softplus(self.output_raw).numpy()
            hidden_bias, output_bias = self.hidden_bias.numpy().copy(), self.output_bias.numpy().copy()
        return Combiner(hidden, hidden_bias, output, output_bias, feature_signature, fitted_on)


def held_out_mask(pairs: Sequence[TrainingPair], share: float) -> NDArray[np.bool_]:
    """Return which pairs are kept out of training: about ``share`` of the groups, whole, by a hash of their names."""
    drawn = {pair.group: hashlib.sha256(pair.group.encode()).digest()[0] / 256.0 < share for pair in pairs}
    return np.array([drawn[pair.group] for pair in pairs], dtype=bool)


def ranked_pairs(groups: Sequence[str], targets: Matrix, gap: float) -> NDArray[np.int64]:
    """Row pairs (better, worse) of one group whose targets differ by more than ``gap``: (m, 2) int64, m may be 0."""
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
    ranking_weight = config.ranking_weight if len(order) else 0.0
    with _one_thread():
        net = MonotoneNet(config.hidden, config.weight_floor, torch.Generator().manual_seed(config.seed))
        optimiser = torch.optim.Adam(net.parameters(), lr=config.learning_rate, weight_decay=config.decay)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, config.steps)
        for _ in range(config.steps):
            logits = net(inputs)
            loss = config.graded_weight * binary_cross_entropy(net.score(logits).clamp(EDGE, 1.0 - EDGE), wanted, counted)
            if ranking_weight:
                loss = loss + ranking_weight * softplus((logits[worse] - logits[better]) / config.ranking_temperature).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return net


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in one order: one torch thread, restored afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
"""Names of the scale's anchors, from best to worst, and which pairs they are measured on. A good paraphrase is one of `meaning_pairs`
or of an annotated group; a human one is a second reference or a pair of MSRP, which often differ in a fact."""


def _alone(pair: TrainingPair) -> bool:
    return pair.base == "identity" and pair.strength == 1


def scale_figures(scores: NDArray[np.float64], pairs: Sequence[TrainingPair], config: ScorerConfig) -> dict[str, float]:
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
