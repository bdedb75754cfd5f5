"""A trained multi-task net: its predictions in the signals' own units, its losses, and its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rome.exceptions import InputError
from rome.train.synthesis.multitask_net import MultiTaskNet, Task, default_body, task_losses
from rome.train.synthesis.multitask_state import Evaluation, load_tensors, save_tensors

__all__ = ["MultiTaskModel", "Targets", "same_sums"]

Targets = Mapping[str, NDArray[Any]]
"""Task -> (n,) or (n, k) values of a signal."""


@dataclass(frozen=True, eq=False)
class MultiTaskModel:
    """A trained net. history : the held-out losses at every evaluation, the kept one being the best."""

    net: MultiTaskNet
    history: tuple[Evaluation, ...] = ()

    def predict(self, inputs: NDArray[Any], batch: int = 1024) -> dict[str, NDArray[np.float64]]:
        """For each task (n, k): values in the units of the signal, or probabilities of the classes."""
        parts: dict[str, list[NDArray[np.float64]]] = {task.name: [] for task in self.net.tasks}
        with torch.no_grad(), same_sums():
            for start in range(0, len(inputs), batch):
                for task, rows in self.net.outputs(torch.from_numpy(np.ascontiguousarray(inputs[start : start + batch]))):
                    parts[task.name].append(task.in_units(rows).numpy())
        return {task.name: np.concatenate(parts[task.name] or [np.zeros((0, task.size))]) for task in self.net.tasks}

    def losses(self, inputs: NDArray[Any], targets: Targets) -> dict[str, float]:
        """The mean loss of each task on these rows, in normalised units; NaN for a task without a known row."""
        rows = np.arange(len(inputs))
        known = {task.name: task.normalised(targets[task.name]) for task in self.net.tasks}
        with torch.no_grad(), same_sums():
            found = task_losses(self.net, inputs, known, rows)
        return {name: float(found[name]) if name in found else float("nan") for name in known}

    def save(self, path: str | PathLike[str]) -> None:
        """Write weights and tasks to a safetensors file."""
        save_tensors(path, self.net.state_dict(), {"tasks": [asdict(task) for task in self.net.tasks]})

    @staticmethod
    def load(path: str | PathLike[str], body: nn.Module | None = None) -> MultiTaskModel:
        """What save wrote; a body of one's own is given again. Raises InputError for another file."""
        tensors, about = load_tensors(path)
        if "tasks" not in about or (body is None and "body.1.weight" not in tensors):
            raise InputError(f"{path} holds no multi-task model, or one with a body of its own: give that body")
        tasks = [Task(**{**row, "mean": tuple(row["mean"]), "scale": tuple(row["scale"])}) for row in about["tasks"]]
        net = MultiTaskNet(body or _empty_body(tensors["body.1.weight"]), tasks, tensors["heads.0.weight"].shape[1])
        net.load_state_dict(tensors)
        return MultiTaskModel(net.eval())


def _empty_body(matrix: Tensor) -> nn.Module:
    """The default body in the size of its first (hidden, d) matrix."""
    hidden, width = matrix.shape
    return default_body(np.zeros((1, width)), hidden)


@contextmanager
def same_sums() -> Iterator[None]:
    """Sums in one order: one torch thread, restored afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
