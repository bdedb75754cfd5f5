"""How good a reader is on held-out groups, by the figures that the project judges it by."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rome.features.errors.evidence import SEVERITIES, WEIGHTS
from rome.train.errors.batches import Batches
from rome.train.errors.net import PairNet
from rome.train.errors.packing import Lessons

MARKED = 0.5
"""Probability from which a word is part of an error."""


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
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
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
