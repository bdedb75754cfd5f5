"""The net of multi-task pre-training: a body shared by all tasks, a linear layer each, and the losses of BLEURT §4.3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rome.exceptions import InputError

__all__ = ["CLASSES", "REGRESSION", "MultiTaskNet", "Task", "default_body", "task_losses", "task_of", "width_of"]

REGRESSION, CLASSES = "regression", "classes"


@dataclass(frozen=True, slots=True)
class Task:
    """One signal to predict. size : numbers of a regression, or classes. mean, scale : of a regression's target in training."""

    name: str
    loss: str
    size: int
    weight: float
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    def normalised(self, target: NDArray[Any]) -> Tensor:
        """(n, size) float32: a regression in its training units (appendix A.2), a class as probabilities; rows of NaN where unknown."""
        if self.loss == REGRESSION:
            rows = target.reshape(len(target), -1)
            self._check(rows.shape[1])
            return torch.from_numpy(((rows - np.array(self.mean)) / np.array(self.scale)).astype(np.float32))
        if target.ndim == 2:
            self._check(target.shape[1])
            return torch.from_numpy(target.astype(np.float32))
        if len(target) and target.max() >= self.size:
            raise InputError(
                f"the signal {self.name} has the class {target.max()} where {self.size} were trained: use the same classes"
            )
        rows = np.eye(self.size, dtype=np.float32)[np.maximum(target, 0)]
        rows[target < 0] = np.nan
        return torch.from_numpy(rows)

    def in_units(self, outputs: Tensor) -> Tensor:
        """What the net says, as values of the signal or probabilities, float64."""
        if self.loss == CLASSES:
            return torch.softmax(outputs.double(), dim=1)
        return outputs.double() * torch.tensor(self.scale, dtype=torch.float64) + torch.tensor(self.mean, dtype=torch.float64)

    def _check(self, width: int) -> None:
        if width != self.size:
            raise InputError(
                f"the signal {self.name} has {width} columns where {self.size} were trained: give the same columns"
            )


def task_of(name: str, target: NDArray[Any], loss: str, weight: float, training: NDArray[np.int64]) -> Task:
    """The task of a target, its units found on the training rows. Raises InputError when it holds no known or no valid value there."""
    rows = target[training]
    if loss == CLASSES and target.ndim == 1:
        if not np.issubdtype(target.dtype, np.integer) or not len(rows) or rows.max() < 0:
            raise InputError(
                f"the signal {name} holds no classes: give whole numbers from 0, or a column of probabilities a class"
            )
        return Task(name, loss, max(2, int(target.max()) + 1), weight)
    rows = rows.reshape(len(rows), -1).astype(np.float64)
    rows = rows[~np.isnan(rows).any(axis=1)]
    if not len(rows) or not np.isfinite(rows).all():
        raise InputError(f"the signal {name} has no known value, or an infinite one: leave it out")
    if loss == CLASSES:
        if (rows < 0).any() or not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3):
            raise InputError(f"the signal {name} is not probabilities: its columns must be at least 0 and add up to 1")
        return Task(name, loss, rows.shape[1], weight)
    spread = rows.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    return Task(name, loss, rows.shape[1], weight, tuple(rows.mean(axis=0).tolist()), tuple(scale.tolist()))


class Standardised(nn.Module):
    """Inputs in units of their training mean and spread."""

    def __init__(self, inputs: NDArray[Any]) -> None:
        super().__init__()
        values = torch.from_numpy(inputs.astype(np.float32))
        spread = values.std(dim=0, unbiased=False)
        self.register_buffer("mean", values.mean(dim=0))
        self.register_buffer("scale", torch.where(spread > 1e-6, spread, torch.ones_like(spread)))

    def forward(self, inputs: Tensor) -> Tensor:
        """(m, d) -> (m, d) float32."""
        return (inputs.float() - self.mean) / self.scale


def default_body(inputs: NDArray[Any], hidden: int) -> nn.Module:
    """Two layers on standardised features (n, d). Raises InputError for inputs of another shape or with a NaN."""
    if inputs.ndim != 2 or not inputs.shape[1] or not np.isfinite(inputs).all():
        raise InputError(
            f"the inputs have the shape {inputs.shape} or a value that is not finite: give (n, d) features, or a body"
        )
    width = inputs.shape[1]
    return nn.Sequential(Standardised(inputs), nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU())


def width_of(body: nn.Module, example: NDArray[Any]) -> int:
    """How many numbers a row a body gives. Raises InputError when it gives no matrix."""
    with torch.no_grad():
        shape = body(torch.from_numpy(np.ascontiguousarray(example))).shape
    if len(shape) != 2:
        raise InputError(f"the body gives the shape {tuple(shape)} for one row: it must give (m, w)")
    return int(shape[1])


class MultiTaskNet(nn.Module):
    """The body, and on top of it one linear layer a task; width : of what the body gives."""

    def __init__(self, body: nn.Module, tasks: Sequence[Task], width: int) -> None:
        super().__init__()
        self.body, self.tasks = body, tuple(tasks)
        self.heads = nn.ModuleList(nn.Linear(width, task.size) for task in self.tasks)

    def outputs(self, inputs: Tensor) -> Iterator[tuple[Task, Tensor]]:
        """For each task its (m, size) normalised values or logits."""
        shared = self.body(inputs)
        for task, head in zip(self.tasks, self.heads, strict=True):
            yield task, head(shared)


def task_losses(
    net: MultiTaskNet, inputs: NDArray[Any], known: Mapping[str, Tensor], rows: NDArray[np.int64]
) -> dict[str, Tensor]:
    """The mean loss of each task over the rows where its target is known; a task without such a row is left out.

    Regression: squared distance divided by the number of columns. Classes: cross-entropy with the target's probabilities.
    """
    found = {}
    for task, outputs in net.outputs(torch.from_numpy(np.ascontiguousarray(inputs[rows]))):
        target = known[task.name][torch.from_numpy(rows)]
        there = ~torch.isnan(target).any(dim=1)
        if not there.any():
            continue
        if task.loss == CLASSES:
            found[task.name] = cross_entropy(outputs[there], target[there])
        else:
            found[task.name] = (outputs[there] - target[there]).square().mean()
    return found
