"""The optional first stage of the reader's training: BLEURT's signals of synthetic pairs (Sellam et al. 2020, section 4.2).

The state of a pair's first mark predicts all signals that can be made at once; the maps that do so are then dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rome.data.perturbations.changes import plain
from rome.exceptions import InputError
from rome.train.common.training import Log, train
from rome.train.errors.batches import Batches
from rome.train.errors.groups import NAN, Group, Member
from rome.train.errors.net import PairNet
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.signals import REGRESSION, Signal, signal_targets

PAIRS = 24
"""Of a step."""


def signal_lessons(pairs: Sequence[SyntheticPair]) -> Iterator[Group]:
    """Yield one group per pair; the level is the number of the pair."""
    for n, pair in enumerate(pairs):
        yield Group("signals", plain(pair.reference), (Member(plain(pair.hypothesis), NAN, float(n), 0.0),))


def learn_signals(
    net: PairNet,
    source: Batches,
    pairs: Sequence[SyntheticPair],
    signals: Sequence[Signal],
    steps: int,
    rate: float,
    seed: int = 0,
) -> dict[str, float]:
    """Train the net in place; return the mean loss of each signal over the last tenth of the steps.

    Raises InputError for signals without a known value.

    Parameters
    ----------
    source
        Batches of the `signal_lessons` of the pairs, each in one part.
    """
    device = net.marks.device.type
    losses = {signal.name: signal.loss for signal in signals}
    known = {name: _normalised(name, target, losses[name]) for name, target in signal_targets(pairs, signals).items()}
    torch.manual_seed(seed)
    heads = nn.ModuleDict({str(n): nn.Linear(net.marks.shape[1], rows.shape[1]) for n, rows in enumerate(known.values())})
    learner = nn.ModuleDict({"net": net, "heads": heads.to(device)})
    optimizer = torch.optim.AdamW([p for p in learner.parameters() if p.requires_grad], rate, weight_decay=0.01)
    seen: list[list[float]] = []

    def loss(step: int) -> Tensor:
        (batch,) = source[step - 1]
        start, chosen = net(batch.to(device)).start, batch.level.long()
        targets = {name: rows[chosen].to(device) for name, rows in known.items()}
        each = [_loss(losses[name], heads[str(n)](start), rows) for n, (name, rows) in enumerate(targets.items())]
        seen.append([float(one.detach()) for one in each])
        return torch.stack(each).sum()

    train(learner, optimizer, {"signals": loss}, steps, Log(None), schedule=lambda step, of: 1.0)
    last = np.mean(seen[-max(1, steps // 10) :], axis=0)
    return {name: round(float(value), 4) for name, value in zip(known, last, strict=True)}


def _normalised(name: str, target: NDArray[Any], loss: str) -> Tensor:
    """Return (n, k) float32: a regression in units of its mean and spread (appendix A.2), a class as probabilities."""
    if loss != REGRESSION:
        rows = np.eye(max(2, int(target.max()) + 1))[target] if target.ndim == 1 else target
        return torch.from_numpy(rows.astype(np.float32))
    there = target[~np.isnan(target).any(axis=1)]
    if not len(there) or not np.isfinite(there).all():
        raise InputError(f"the signal {name} must have known, finite values, got none or an infinite one: leave it out")
    spread = there.std(axis=0)
    return torch.from_numpy(((target - there.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)).astype(np.float32))


def _loss(kind: str, found: Tensor, wanted: Tensor) -> Tensor:
    """Return the loss of one signal, without unknown values."""
    if kind != REGRESSION:
        return cross_entropy(found, wanted)
    there = ~wanted.isnan()
    return (found - wanted)[there].square().mean() if bool(there.any()) else found.sum() * 0.0
