"""Multi-task pre-training on any subset of signals (BLEURT §4.3): one body, one linear layer a task, a weighted sum of losses."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm import tqdm

from rome.exceptions import InputError
from rome.train.synthesis.multitask_model import MultiTaskModel, Targets, same_sums
from rome.train.synthesis.multitask_net import (
    CLASSES,
    REGRESSION,
    MultiTaskNet,
    default_body,
    task_losses,
    task_of,
    width_of,
)
from rome.train.synthesis.multitask_state import Evaluation, TrainingState, fingerprint
from rome.train.synthesis.sentence_vectors import Vectors
from rome.train.synthesis.values import GeneratedPair

__all__ = ["TrainingPlan", "pair_vectors", "pretrain"]


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Sizes of one run. steps : batches of ``batch`` rows (32 in appendix B.1). rate : Adam's. hidden : width of the default body.

    every : steps between two evaluations, each of which is a checkpoint. held_out : share of the groups that only judge.
    """

    steps: int = 2000
    batch: int = 32
    rate: float = 1e-3
    hidden: int = 128
    every: int = 100
    held_out: float = 0.1
    seed: int = 0


def pair_vectors(pairs: Sequence[GeneratedPair], vectors: Vectors) -> NDArray[np.float32]:
    """Inputs for pairs from vectors r, h of their texts: r, h, |r - h| and r * h side by side, (n, 4 d)."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.reference, pair.hypothesis)))
    rows, place = vectors.of(texts), {text: n for n, text in enumerate(texts)}
    r = rows[np.array([place[pair.reference] for pair in pairs], dtype=np.int64)]
    h = rows[np.array([place[pair.hypothesis] for pair in pairs], dtype=np.int64)]
    return np.concatenate([r, h, np.abs(r - h), r * h], axis=1)


def pretrain(
    inputs: NDArray[Any],
    targets: Targets,
    weights: Mapping[str, float] | None = None,
    *,
    losses: Mapping[str, str] | None = None,
    groups: Sequence[str] | None = None,
    plan: TrainingPlan = TrainingPlan(),
    body: nn.Module | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> MultiTaskModel:
    """Fit a net that predicts the targets from the inputs; same arguments, same weights, whether interrupted or not.

    inputs : (n, d) float features, one row a pair; with a body of one's own anything its forward takes, such as (n,) row numbers.
    targets : task -> (n, k) or (n,) floats, NaN where unknown, or (n,) int64 classes, -1 where unknown. weights : gamma of equation 1,
    1 for a task not named. losses : regression or classes, by task; without it, whole numbers are classes. groups : rows of one
    reference, which stay on one side of the split. body : (m, ...) inputs -> (m, w), trained in place. checkpoint : a file to resume from and keep.
    Raises InputError for shapes that do not fit, unknown tasks or weights, and a checkpoint of another run.
    """
    _check(inputs, targets, weights, losses, groups, plan)
    held = _held_out(groups, len(inputs), plan.held_out)
    training = np.flatnonzero(~held)
    given = {name: (losses or {}).get(name) or _loss_of(target) for name, target in targets.items()}
    tasks = [task_of(name, targets[name], given[name], (weights or {}).get(name, 1.0), training) for name in targets]
    with same_sums(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        shared = body or default_body(inputs[training], plan.hidden)
        net = MultiTaskNet(shared, tasks, width_of(shared, inputs[:1]))
        state = TrainingState(net, plan.rate, fingerprint(inputs, targets, tasks, held, plan), checkpoint)
        known = {task.name: task.normalised(targets[task.name]) for task in tasks}
        _fit(state, inputs, known, held, plan, progress)
    return MultiTaskModel(net.eval(), tuple(state.history))


def _fit(
    state: TrainingState,
    inputs: NDArray[Any],
    known: Mapping[str, Tensor],
    held: NDArray[np.bool_],
    plan: TrainingPlan,
    progress: bool | None,
) -> None:
    """Train until the plan's last step; the net ends with the weights of the best evaluation, or the last without held-out rows."""
    training, judging = np.flatnonzero(~held), np.flatnonzero(held)
    disable = None if progress is None else not progress
    with tqdm(total=plan.steps, initial=state.step, desc="signals", disable=disable, file=sys.stderr, leave=False) as bar:
        while state.step < plan.steps:
            torch.manual_seed(plan.seed * 1_000_003 + state.step + 1)  # what a body draws depends on the step alone
            rows = training[_batch(len(training), plan, state.step)]
            loss = state.update(_total(state.net, task_losses(state.net.train(), inputs, known, rows)))
            bar.update()
            if state.step % plan.every == 0 or state.step == plan.steps:
                with torch.no_grad():
                    found = task_losses(state.net.eval(), inputs, known, judging) if len(judging) else {}
                total = float(_total(state.net, found)) if found else loss
                state.keep(Evaluation(state.step, loss, total, {name: float(value) for name, value in found.items()}))
                bar.set_postfix(loss=f"{total:.3f}")
    if len(judging):
        state.restore_best()


def _total(net: MultiTaskNet, losses: Mapping[str, Tensor]) -> Tensor:
    """The weighted sum of equation 1; a task without a known row in the batch adds nothing. Raises InputError for a loss of NaN."""
    parts = [task.weight * losses[task.name] for task in net.tasks if task.name in losses]
    total = torch.stack(parts).sum() if parts else torch.zeros((), requires_grad=torch.is_grad_enabled())
    if not torch.isfinite(total):
        raise InputError("the training diverged: take a smaller rate in the plan")
    return total


def _batch(count: int, plan: TrainingPlan, step: int) -> NDArray[np.int64]:
    """The rows of one step: every row once a round, in an order that depends on seed and round alone."""
    size = min(plan.batch, count)
    turns, at = divmod(step * size, count)
    order = np.random.default_rng((plan.seed, turns)).permutation(count)
    rows = order[at : at + size]
    if len(rows) < size:
        rows = np.concatenate([rows, np.random.default_rng((plan.seed, turns + 1)).permutation(count)[: size - len(rows)]])
    return rows


def _held_out(groups: Sequence[str] | None, count: int, share: float) -> NDArray[np.bool_]:
    """Which rows only judge: about ``share`` of the groups by a hash of their names, but never all rows."""
    names = [str(n) for n in range(count)] if groups is None else groups
    drawn = {name: int.from_bytes(sha256(name.encode()).digest()[:4], "big") / 2**32 < share for name in set(names)}
    held = np.array([drawn[name] for name in names], dtype=bool)
    return held if not held.all() else np.zeros(count, dtype=bool)


def _loss_of(target: NDArray[Any]) -> str:
    return CLASSES if np.issubdtype(target.dtype, np.integer) else REGRESSION


def _check(
    inputs: NDArray[Any],
    targets: Targets,
    weights: Mapping[str, float] | None,
    losses: Mapping[str, str] | None,
    groups: Sequence[str] | None,
    plan: TrainingPlan,
) -> None:
    if not targets or not len(inputs):
        raise InputError("multi-task training needs one row and one signal at least: name a signal, generate some pairs")
    for name, target in targets.items():
        if len(target) != len(inputs) or target.ndim not in (1, 2):
            raise InputError(f"the signal {name} has the shape {target.shape} for {len(inputs)} rows: give (n,) or (n, k)")
    if groups is not None and len(groups) != len(inputs):
        raise InputError(f"{len(groups)} groups for {len(inputs)} rows: give the group of every row")
    strange = [name for name in (*(weights or {}), *(losses or {})) if name not in targets]
    if strange:
        raise InputError(f"no signal is called {', '.join(strange)}: choose among {', '.join(targets)}")
    wrong = [name for name, loss in (losses or {}).items() if loss not in (REGRESSION, CLASSES)]
    if wrong or any(not np.isfinite(weight) or weight < 0 for weight in (weights or {}).values()):
        raise InputError(
            f"losses are {REGRESSION} or {CLASSES}, weights are at least 0: mend {', '.join(wrong) or 'the weights'}"
        )
    if min(plan.steps, plan.batch, plan.hidden, plan.every) < 1 or not 0 <= plan.held_out < 1 or plan.rate <= 0:
        raise InputError(f"{plan}: steps, batch, hidden, every and rate must be positive, held_out in [0, 1)")
