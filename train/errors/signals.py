"""The first stage of the reader's training, optional: BLEURT's signals of generated pairs (Sellam et al. 2020, section 4.2).

From what the reader makes of a pair as a whole it foretells BLEU, ROUGE, BERTScore and entailment, all at once; the maps that do so are
then dropped.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rome.data.perturbations.changes import plain
from rome.exceptions import InputError
from rome.train.common.training import Log, train
from rome.train.errors.net import PairNet, Sides
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.signals import REGRESSION, available_signals, signal_targets

BATCH = 24


def learn_signals(
    net: PairNet, sides: Sides, pairs: Sequence[SyntheticPair], steps: int, rate: float, seed: int
) -> dict[str, float]:
    """Train the net in place; returns the mean loss of each signal over the last tenth of the steps.

    Raises InputError for no pairs, or for signals without a value.
    """
    if not pairs:
        raise InputError("signals need generated pairs: give --synthesized a file that `rome synthesize` wrote")
    signals = available_signals()
    losses = {signal.name: signal.loss for signal in signals}
    known = {name: _normalised(name, target, losses[name]) for name, target in signal_targets(pairs, signals).items()}
    torch.manual_seed(seed)
    heads = nn.ModuleDict({str(n): nn.Linear(sides.width, rows.shape[1]) for n, rows in enumerate(known.values())})
    learner = nn.ModuleDict({"net": net, "heads": heads})
    optimizer = torch.optim.AdamW([p for p in learner.parameters() if p.requires_grad], rate, weight_decay=0.01)
    seen: list[list[float]] = []

    def loss(step: int) -> Tensor:
        chosen = random.Random(f"{seed}|signals|{step}").sample(range(len(pairs)), min(BATCH, len(pairs)))
        start = net(sides.pairs([(plain(pairs[n].reference), plain(pairs[n].hypothesis)) for n in chosen])).start
        each = [_loss(losses[name], heads[str(n)](start), rows[chosen]) for n, (name, rows) in enumerate(known.items())]
        seen.append([float(one.detach()) for one in each])
        return torch.stack(each).sum()

    train(learner, optimizer, {"signals": loss}, steps, Log(None), schedule=lambda step, of: 1.0)
    last = np.mean(seen[-max(1, steps // 10) :], axis=0) if seen else np.zeros(len(known))
    return {name: round(float(value), 4) for name, value in zip(known, last, strict=True)}


def _normalised(name: str, target: NDArray[Any], loss: str) -> Tensor:
    """(n, k) float32: a regression in units of its mean and spread (appendix A.2), a class as probabilities."""
    if loss != REGRESSION:
        rows = np.eye(max(2, int(target.max()) + 1))[target] if target.ndim == 1 else target
        return torch.from_numpy(rows.astype(np.float32))
    there = target[~np.isnan(target).any(axis=1)]
    if not len(there) or not np.isfinite(there).all():
        raise InputError(f"the signal {name} has no known value, or an infinite one: leave it out")
    spread = there.std(axis=0)
    return torch.from_numpy(((target - there.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)).astype(np.float32))


def _loss(kind: str, found: Tensor, wanted: Tensor) -> Tensor:
    """The loss of one signal; unknown values count nothing."""
    if kind != REGRESSION:
        return cross_entropy(found, wanted)
    there = ~wanted.isnan()
    return (found - wanted.float())[there].square().mean() if bool(there.any()) else found.sum() * 0.0
