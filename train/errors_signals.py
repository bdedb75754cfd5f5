"""The first stage of the reader's training, optional: BLEURT's signals of generated pairs (Sellam et al. 2020, section 4.2).

From what the reader makes of a pair as a whole it foretells BLEU, ROUGE, BERTScore and entailment, all at once; the maps that do so are
then dropped. Made of the same parts as `rome.train.synthesis.multitask`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rome.exceptions import InputError
from rome.train.synthesis.multitask_net import Task, task_of
from rome.train.synthesis.signal_table import signal_table
from rome.train.synthesis.signals import REGRESSION, SignalSources, available_signals
from rome.train.synthesis.values import GeneratedPair

from .errors_net import PairNet
from .errors_sides import Sides
from .errors_texts import plain

__all__ = ["learn_signals"]

BATCH = 24


def learn_signals(
    net: PairNet, sides: Sides, pairs: Sequence[GeneratedPair], steps: int, rate: float, seed: int
) -> dict[str, float]:
    """Train the net in place; returns the mean loss of each signal over the last tenth of the steps.

    Raises InputError for no pairs, or for signals without a value.
    """
    if not pairs:
        raise InputError("signals need generated pairs: give --synthesized a file that `rome synthesize` wrote")
    targets, losses = signal_table(pairs, available_signals(SignalSources())[0]).targets()
    everyone = np.arange(len(pairs))
    tasks = [task_of(name, targets[name], losses[name], 1.0, everyone) for name in targets]
    known = {task.name: torch.from_numpy(np.asarray(task.normalised(targets[task.name]))) for task in tasks}
    torch.manual_seed(seed)
    heads = nn.ModuleDict({str(n): nn.Linear(sides.width, task.size) for n, task in enumerate(tasks)})
    parameters = [p for p in (*net.parameters(), *heads.parameters()) if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, rate, weight_decay=0.01)
    net.train()
    seen: list[list[float]] = []
    for step in range(1, steps + 1):
        chosen = random.Random(f"{seed}|signals|{step}").sample(range(len(pairs)), min(BATCH, len(pairs)))
        read = sides.of([plain(text) for n in chosen for text in (pairs[n].reference, pairs[n].hypothesis)])
        start = net(list(zip(read[::2], read[1::2], strict=True))).start
        each = [_loss(task, heads[str(n)](start), known[task.name][chosen]) for n, task in enumerate(tasks)]
        optimizer.zero_grad()
        torch.stack(each).sum().backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        seen.append([float(loss.detach()) for loss in each])
    last = np.mean(seen[-max(1, steps // 10) :], axis=0) if seen else np.zeros(len(tasks))
    return {task.name: round(float(value), 4) for task, value in zip(tasks, last, strict=True)}


def _loss(task: Task, found: Tensor, wanted: Tensor) -> Tensor:
    """The loss of one signal; unknown values count nothing."""
    if task.loss != REGRESSION:
        return cross_entropy(found, wanted)
    there = ~wanted.isnan()
    return (found - wanted.float())[there].square().mean() if bool(there.any()) else found.sum() * 0.0
