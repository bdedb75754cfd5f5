"""What a run of multi-task training is at one moment, on disk and back: weights, Adam's memory, the best weights so far."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from rome.exceptions import InputError
from rome.storage.files import atomic_path
from rome.train.synthesis.multitask_net import MultiTaskNet, Task

__all__ = ["Evaluation", "TrainingState", "fingerprint", "load_tensors", "save_tensors"]

KEY = "training"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """After a step: the loss of its batch, the weighted held-out loss, and that of each task (empty without held-out rows)."""

    step: int
    training: float
    held_out: float
    tasks: Mapping[str, float]


def fingerprint(
    inputs: NDArray[Any], targets: Mapping[str, NDArray[Any]], tasks: Sequence[Task], held: NDArray[np.bool_], plan: Any
) -> str:
    """What a run is trained on and how, but for its length: a checkpoint fits a run of the same fingerprint."""
    digest = blake2b(digest_size=16)
    for name, values in {"": inputs, "held": held, **targets}.items():
        digest.update(f"{name}|{values.dtype}|{values.shape}|".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    settings = {key: value for key, value in asdict(plan).items() if key != "steps"}
    digest.update(json.dumps([settings, [asdict(task) for task in tasks]], sort_keys=True).encode())
    return digest.hexdigest()


class TrainingState:
    """A net under training. step, history : how far it has come; read from the checkpoint where one fits.

    Raises InputError when the checkpoint is of another run or no checkpoint at all.
    """

    def __init__(self, net: MultiTaskNet, rate: float, mark: str, checkpoint: str | PathLike[str] | None = None) -> None:
        self.net, self.mark = net, mark
        self.optimiser = torch.optim.Adam(net.parameters(), lr=rate)
        self.path = None if checkpoint is None else Path(checkpoint)
        self.step, self.history, self.best = 0, list[Evaluation](), _copied(net)
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def update(self, loss: Tensor) -> float:
        """One step of Adam; the loss."""
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.step += 1
        return float(loss.detach())

    def keep(self, evaluation: Evaluation) -> None:
        """Note an evaluation, remember the weights when it is the best, and write the checkpoint."""
        if evaluation.held_out < min((old.held_out for old in self.history), default=float("inf")):
            self.best = _copied(self.net)
        self.history.append(evaluation)
        if self.path is not None:
            self._write(self.path)

    def restore_best(self) -> None:
        """Give the net the weights of its best evaluation."""
        self.net.load_state_dict(self.best)

    def _write(self, path: Path) -> None:
        tensors = {f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        for number, memory in self.optimiser.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{name}": tensor for name, tensor in memory.items()}
        about = {"mark": self.mark, "step": self.step, "history": [asdict(row) for row in self.history]}
        save_tensors(path, tensors, about)

    def _read(self, path: Path) -> None:
        tensors, about = load_tensors(path)
        if about.get("mark") != self.mark:
            raise InputError(
                f"{path} is the checkpoint of another run (inputs, signals, weights or plan differ): name another file"
            )
        self.step, self.history = about["step"], [Evaluation(**row) for row in about["history"]]
        self.net.load_state_dict(_part(tensors, "net."))
        self.best = _part(tensors, "best.")
        memory: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _part(tensors, "adam.").items():
            number, _, key = name.partition(".")
            memory.setdefault(int(number), {})[key] = tensor
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": memory})


def _copied(net: MultiTaskNet) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def save_tensors(path: str | PathLike[str], tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors as they are, and a JSON description, to a safetensors file that appears when complete."""
    copies = {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
    with atomic_path(path) as name:
        save_file(copies, str(name), {KEY: json.dumps(about)})


def load_tensors(path: str | PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What save_tensors wrote. Raises InputError for another file or none."""
    try:
        with safe_open(str(path), framework="pt") as file:
            about: dict[str, Any] = json.loads((file.metadata() or {})[KEY])
            return {name: file.get_tensor(name) for name in file.keys()}, about
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise InputError(f"{path} is no checkpoint of this training: remove it or name another file") from error
