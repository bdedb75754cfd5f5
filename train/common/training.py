"""The training loop with log, checkpoints and averaged weights; batches of word pieces; start values of new layers."""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModel

from rome.features.analyser.acceptability import HIDDEN
from rome.features.analyser.encoder import stored_tensors
from rome.features.analyser.fill_head import NAMES
from rome.features.analyser.transformer import pretrained
from rome.storage.files import atomic_path
from rome.train.common.recipe import TrainingOptions
from rome.train.encoder import source_folder

CHECKPOINT, PROGRESS = "checkpoint.pt", "progress.jsonl"
WARM_UP, LEAST = 0.06, 0.02
"""Share of the steps in which the rate rises, and the least share of the rate."""
AVERAGED = 10
"""Steps from one set of averaged weights to the next."""

Item = TypeVar("Item")
Loss = Callable[[int], torch.Tensor | None]
"""Loss at a step, counted from 1; None if the step has no such part."""


class Log:
    """A progress log: one JSON object per line, with the seconds since the start.

    Parameters
    ----------
    path
        None for a log that is not written.
    before
        Seconds that were spent before an interruption.
    append
        True to continue an existing file.
    """

    def __init__(self, path: Path | None, before: float = 0.0, *, append: bool = False) -> None:
        self.path, self.start = path, time.monotonic() - before
        self.seen: dict[str, list[float]] = defaultdict(list)
        if path is not None and not append:
            path.write_text("", encoding="utf-8")

    def add(self, figures: Mapping[str, Sequence[float]]) -> None:
        """Add figures to the next means."""
        for name, values in figures.items():
            self.seen[name] += values

    def means(self) -> dict[str, float]:
        """Return the means of the figures since the last call."""
        means = {name: round(float(np.mean(values)), 4) for name, values in sorted(self.seen.items())}
        self.seen.clear()
        return means

    def write(self, **fields: object) -> None:
        """Append one line."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"seconds": self.seconds(), **fields}) + "\n")

    def seconds(self) -> int:
        """Return whole seconds since the start."""
        return round(time.monotonic() - self.start)


class Checkpoint:
    """The state of an unfinished training in its work folder: weights, optimizer, torch's random numbers, steps and seconds.

    With ``options.resume`` the model and the optimizer get the kept state, and ``step`` is the number of steps so far: the training that
    continues from it gives the same weights as one that was not interrupted.
    """

    def __init__(self, options: TrainingOptions, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.path, self.model, self.optimizer = options.work / CHECKPOINT, model, optimizer
        self.step, self.seconds = 0, 0.0
        if options.resume and self.path.is_file():
            kept: dict[str, Any] = torch.load(self.path, weights_only=True)
            rates = [group["lr"] for group in optimizer.param_groups]
            model.load_state_dict(kept["model"])
            optimizer.load_state_dict(kept["optimizer"])
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate  # the highest one, not that of the step
            torch.set_rng_state(kept["random"])
            self.step, self.seconds = kept["step"], kept["seconds"]

    def save(self, step: int, seconds: float) -> None:
        """Write the state after a step, whole or not at all."""
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "random": torch.get_rng_state()}
        with atomic_path(self.path) as path:
            torch.save({**state, "step": step, "seconds": seconds}, path)


def adamw(groups: Any, rate: float = 1e-3, *, fused: bool = False) -> torch.optim.AdamW:
    """Return the optimizer of the recipes for parameters, or groups of them with rates of their own."""
    return torch.optim.AdamW(groups, rate, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6, fused=fused or None)


def rise_and_fall(step: int, steps: int) -> float:
    """Return the share of the rate at a step: linear warm-up, then linear decay."""
    return min(1.0, step / (WARM_UP * steps + 1)) * max(LEAST, 1 - (step - 1) / steps)


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    losses: Mapping[str, Loss],
    steps: int,
    log: Log,
    *,
    first: int = 0,
    schedule: Callable[[int, int], float] = rise_and_fall,
    clip: float = 1.0,
    logged: int = 100,
    every: int = 0,
    keep: Callable[[int, int], None] | None = None,
    average_after: int | None = None,
) -> None:
    """Train a model in place; it ends in evaluation mode.

    Parameters
    ----------
    optimizer
        Its rates are the highest ones.
    losses
        Losses by name; their gradients are added up.
    first
        Steps of an earlier run.
    schedule
        Share of the rate by step and number of steps.
    clip
        Largest norm of the gradient.
    logged
        Steps from one line of the log to the next.
    every, keep
        After so many steps and at the end ``keep`` is called with the step and the seconds.
    average_after
        The step after which weights are averaged; the model gets their average at the end. None for none.
    """
    rates = [group["lr"] for group in optimizer.param_groups]
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    average = None if average_after is None else torch.optim.swa_utils.AveragedModel(model)
    for step in range(first + 1, steps + 1):
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * schedule(step, steps)
        model.train()
        optimizer.zero_grad()
        for name, cost in losses.items():
            loss = cost(step)
            if loss is not None:
                loss.backward()
                log.add({name: [loss.item()]})
        nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        if average is not None and (step == steps or (step > (average_after or 0) and step % AVERAGED == 0)):
            average.update_parameters(model)
        if step % logged == 0 or step == steps:
            log.write(step=step, of=steps, **log.means())
        if keep is not None and (step % every == 0 or step == steps):
            keep(step, log.seconds())
    if average is not None:
        model.load_state_dict(average.module.state_dict())
    model.eval()


def shuffled_batches(
    items: Iterable[Item],
    rng: random.Random,
    pieces: int,
    length: Callable[[Item], int],
    rows: Callable[[Item], int] = lambda _: 1,
    *,
    noise: float = 1.0,
) -> list[list[Item]]:
    """Return batches of items of similar length, about ``pieces`` pieces each with padding, in random order.

    Parameters
    ----------
    length, rows
        Pieces of the longest row of an item, and its number of rows.
    noise
        Added to the lengths, in pieces, so that batches differ from round to round.
    """
    batches: list[list[Item]] = []
    filled = 0
    for item in sorted(items, key=lambda item: length(item) + noise * rng.random()):
        if not batches or (filled + rows(item)) * length(item) > pieces:
            batches.append([])
            filled = 0
        batches[-1].append(item)
        filled += rows(item)
    rng.shuffle(batches)
    return batches


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (b, L) piece ids and a bool mask, False at padding."""
    ids = pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]


def torch_layer(layer: nn.Module) -> dict[str, torch.Tensor]:
    """Return the parameters of a layer of a trunk or of BERT under the names of torch's TransformerEncoderLayer."""
    found, made = stored_tensors(layer), {}
    for part in ("weight", "bias"):
        made.update({f"{name}.{part}": found[f"{old}.{part}"] for name, old in NAMES.items()})
        own = [found[f"attention.self.{name}.{part}"] for name in ("query", "key", "value")]
        made[f"self_attn.in_proj_{part}"] = torch.cat(own)
    return made


def narrowed(layer: nn.Module, inner: int) -> dict[str, torch.Tensor]:
    """Return the parameters of a torch layer with its ``inner`` heaviest inner units, in their old order."""
    found = layer.state_dict()
    weight = found["linear1.weight"].norm(dim=1) * found["linear2.weight"].norm(dim=0)
    kept = weight.argsort(descending=True)[:inner].sort().values
    found.update({name: found[name][kept] for name in ("linear1.weight", "linear1.bias")})
    return {**found, "linear2.weight": found["linear2.weight"][:, kept]}


def start_from_encoder(layers: Any, first: int) -> None:
    """Copy layers of all-MiniLM-L6-v2, from ``first`` on, into torch's transformer layers; those beyond the sixth stay random."""
    if len(layers) and layers[0].norm1.normalized_shape[0] == HIDDEN:  # a toy model starts from random numbers
        source = pretrained(AutoModel, source_folder())
        for layer, old in zip(layers, source.encoder.layer[first:], strict=False):
            layer.load_state_dict(torch_layer(old))
