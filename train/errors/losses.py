"""Losses that train the reader, and the figures of a reader on held-out groups.

Losses: the classes and types of marked words, what a pair's errors cost, and the order of a group's texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, smooth_l1_loss, softplus

from rome.features.errors.evidence import SEVERITIES, WEIGHTS
from rome.train.errors.batches import Batch, Batches
from rome.train.errors.net import PairNet, Read, fast_on
from rome.train.errors.packing import Lessons

MARKED = 0.5
"""Probability from which a word is part of an error."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Set the weight of each loss.

    Attributes
    ----------
    words, types, ranks, amounts, somewhere
        Of the losses of the same names.
    error
        How much more a marked word counts than any other.
    margin, temperature
        Of the ranking: the gap wanted between two amounts per unit of level, and how soon it is enough.
    teacher_words, teacher_amounts
        Weight of the difference from a teacher.
    """

    words: float = 1.0
    types: float = 0.2
    ranks: float = 1.0
    amounts: float = 0.7
    somewhere: float = 0.1
    error: float = 4.0
    margin: float = 0.4
    temperature: float = 0.3
    teacher_words: float = 2.0
    teacher_amounts: float = 2.0


Log = dict[str, list[float]]


def losses(
    readings: Sequence[Read], batches: Sequence[Batch], weights: Weights, names: Sequence[str], targets: Sequence[Read] = ()
) -> tuple[Tensor, Log]:
    """Return the loss of one step's parts, and what to log: losses, and for each source the share of comparisons in order."""
    log: Log = defaultdict(list)
    parts: dict[str, Tensor] = {}
    pairs = list(zip(readings, batches, strict=True))
    parts["words"] = torch.stack([_words(*pair, weights) for pair in pairs]).mean()
    parts["types"] = torch.stack([_types(*pair) for pair in pairs]).mean()
    parts["somewhere"] = torch.stack([_somewhere(*pair) for pair in pairs]).mean()
    amount = torch.cat([reading.amount for reading in readings])
    cost = torch.cat([batch.cost for batch in batches])
    known = ~cost.isnan()
    parts["amounts"] = smooth_l1_loss(amount[known], cost[known].log1p(), beta=0.5)
    parts["ranks"] = _ranks(amount, batches, weights, names, log)
    if targets:
        parts["teacher_words"] = torch.stack([_teacher(*pair, weights) for pair in zip(readings, targets, strict=True)]).mean()
        parts["teacher_amounts"] = smooth_l1_loss(amount, torch.cat([teacher.amount for teacher in targets]), beta=0.3)
    total = torch.stack([getattr(weights, name) * part for name, part in parts.items()]).sum()
    for name, part in parts.items():
        log[name].append(float(part.detach()))
    return total, log


def _words(read: Read, batch: Batch, weights: Weights) -> Tensor:
    """Return cross-entropy of the words' classes."""
    each = cross_entropy(read.logits.flatten(0, 1), batch.severity.flatten(), reduction="none")
    counting = (batch.sure * (1.0 + weights.error * (batch.severity > 0))).flatten()
    return (each * counting).sum() / counting.sum().clamp_min(1.0)


def _types(read: Read, batch: Batch) -> Tensor:
    """Return cross-entropy of the types of marked words."""
    known = batch.type >= 0
    if not bool(known.any()):
        return read.types.sum() * 0.0
    return cross_entropy(read.types[known], batch.type[known])


def _somewhere(read: Read, batch: Batch) -> Tensor:
    """Return minus the log probability that any word that may hold a pair's error is part of one."""
    if not bool(batch.somewhere.any()):
        return read.logits.sum() * 0.0
    word = read.real & (batch.row >= 3)
    allowed = word & (batch.reference | batch.kept[:, None])
    none = read.logits.log_softmax(-1)[..., 0].masked_fill(~allowed, 0.0).sum(1)[batch.somewhere]
    return -torch.log(-torch.expm1(none.clamp(max=-1e-4))).mean()


def _ranks(amount: Tensor, batches: Sequence[Batch], weights: Weights, names: Sequence[str], log: Log) -> Tensor:
    """Return the logistic loss of every comparison of two texts of a group, each group counting alike."""
    group, level, near, source = (torch.cat([getattr(b, n) for b in batches]) for n in ("group", "level", "near", "source"))
    order = torch.argsort(group)
    amount, group, level, near, source = amount[order], group[order], level[order], near[order], source[order]
    count = torch.bincount(group)
    longest = int(count.max())
    starts = count.cumsum(0) - count
    places = torch.arange(longest, device=group.device)
    index = (starts[:, None] + places).clamp(max=len(group) - 1)
    real = places < count[:, None]
    own, levels = amount[index], level[index]
    more, apart = own[:, None, :] - own[:, :, None], levels[:, None, :] - levels[:, :, None]
    chosen = (apart > 0.1) & real[:, None, :] & real[:, :, None]
    each = softplus(-(more - weights.margin * apart.clamp(max=2.0)) / weights.temperature) * chosen
    compared = chosen.sum((1, 2))
    there = compared > 0
    for number in source.unique().tolist():
        mask = chosen & (source[index[:, 0]] == number)[:, None, None]
        if bool(mask.any()):
            log[names[number]].append(float((more > 0)[mask].float().mean()))
    return (each.sum((1, 2))[there] / compared[there]).mean() if bool(there.any()) else amount.sum() * 0.0


def _teacher(read: Read, teacher: Read, weights: Weights) -> Tensor:
    """Return the divergence from the teacher's classes; places that it finds wrong count more."""
    wanted = teacher.logits.softmax(-1)
    counting = read.real * (1.0 + weights.error * (1.0 - wanted[..., 0]))
    each = kl_div(read.logits.log_softmax(-1), wanted, reduction="none").sum(-1)
    return (each * counting).sum() / counting.sum()


@torch.no_grad()
def judge(net: PairNet, source: Batches, device: str = "cpu") -> dict[str, float]:
    """Return shares in percent on whole groups: acceptable texts above those with one error, places found, severities right.

    Mean costs by severity are beside them, and the share of acceptable texts with a marked word.
    """
    net.eval()
    lessons, rows = source.lessons, []
    weights = torch.tensor(WEIGHTS, device=device)
    for step in range(len(source)):
        for part in source[step]:
            part = part.to(device)
            with fast_on(device):
                read = net(part)
            chances = read.logits.softmax(-1)
            wrong = (1.0 - chances[..., 0] >= MARKED) & read.real & (part.row >= 3)
            label = part.severity > 0
            best = (chances @ weights).masked_fill(~(wrong & label), -1.0).argmax(1)
            severity = chances[torch.arange(len(best)), best, 1:].argmax(-1) + 1
            columns = (part.pair, read.amount.expm1(), (wrong & label).any(1), severity, wrong.any(1))
            rows.append(torch.stack([column.double() for column in columns]).cpu().numpy())
    pair, amount, found, severity, marked = np.concatenate(rows, 1)[:, np.argsort(np.concatenate(rows, 1)[0])]
    return _figures(lessons, amount, found > 0, severity, marked > 0)


def _figures(
    lessons: Lessons, amount: NDArray[Any], found: NDArray[np.bool_], severe: NDArray[Any], marked: NDArray[np.bool_]
) -> dict[str, float]:
    known = dict(zip(map(float, WEIGHTS), SEVERITIES, strict=True))
    grades = np.array([known[float(cost)] for cost in lessons.cost])
    labelled = np.diff(lessons.label_start) > 0
    group = np.repeat(np.arange(len(lessons)), np.diff(lessons.group_start))
    figures = {}
    for severity in SEVERITIES[1:]:
        bad = grades == severity
        figures[f"above {severity}"] = _above(amount, group, grades == "none", bad)
        figures[f"above near {severity}"] = _above(amount, group, grades == "none", bad & lessons.near)
        figures[f"place of {severity}"] = _mean(found[bad & labelled])
        figures[f"severity of {severity}"] = _mean((severe == SEVERITIES.index(severity))[bad & labelled & found])
    figures["acceptable marked"] = _mean(marked[grades == "none"])
    figures = {name: round(100.0 * value, 1) for name, value in figures.items()}
    return figures | {f"mean cost of {name}": round(_mean(amount[grades == name]), 2) for name in SEVERITIES}


def _mean(values: NDArray[Any]) -> float:
    """Return the mean, 0 of no values."""
    return float(values.mean()) if len(values) else 0.0


def _above(amount: NDArray[Any], group: NDArray[Any], good: NDArray[np.bool_], bad: NDArray[np.bool_]) -> float:
    """Return how often a good text costs less than a bad one of its group."""
    right = [amount[good & (group == n)][:, None] < amount[bad & (group == n)] for n in np.unique(group)]
    return _mean(np.concatenate([one.ravel() for one in right]))
