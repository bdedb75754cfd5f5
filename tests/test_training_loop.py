"""The loop that all recipes train with: its rates, its log, the average of weights, and going on from a checkpoint."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from rome.train.common.recipe import TrainingOptions
from rome.train.common.training import CHECKPOINT, Checkpoint, Log, padded, rise_and_fall, shuffled_batches, train

STEPS = 12


def run(options: TrainingOptions, steps: int = STEPS, *, average_after: int | None = None) -> tuple[nn.Linear, list[float]]:
    """Train a map with dropout on noise; the map and the rate of each step."""
    torch.manual_seed(options.seed)
    model, rates = nn.Linear(3, 1), []
    optimizer = torch.optim.AdamW([{"params": [model.weight]}, {"params": [model.bias], "lr": 0.5}], 0.1)
    checkpoint = Checkpoint(options, model, optimizer)

    def loss(step: int) -> torch.Tensor:
        rates.append(optimizer.param_groups[1]["lr"])
        return nn.functional.dropout(model(torch.full((4, 3), float(step)))).square().mean()

    log = Log(options.work / "log.jsonl", checkpoint.seconds, append=options.resume)
    more = {"first": checkpoint.step, "logged": 5, "every": options.every, "keep": checkpoint.save}
    train(model, optimizer, {"loss": loss, "none": lambda step: None}, steps, log, average_after=average_after, **more)
    return model, rates


def test_rates_rise_and_fall(tmp_path: Path) -> None:
    """Each group's own rate is the highest one; a tenth of a warm-up, then down to a fiftieth."""
    _, rates = run(TrainingOptions(work=tmp_path, every=100))
    assert rates == [0.5 * rise_and_fall(step, STEPS) for step in range(1, STEPS + 1)]
    shares = [rise_and_fall(step, 1000) for step in range(1, 1001)]
    top = shares.index(max(shares))
    assert 55 < top < 65 and shares[:top] == sorted(shares[:top]) and shares[top:] == sorted(shares[top:], reverse=True)
    assert shares[-1] == pytest.approx(0.02)


def test_a_resumed_training_gives_the_same_weights(tmp_path: Path) -> None:
    """With the rates and the random numbers of one that was not interrupted, and a log that goes on."""
    whole, rates = run(TrainingOptions(work=tmp_path, every=4))
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log] == [5, 10, 12] and all(line["loss"] >= 0 and "none" not in line for line in log)
    options = TrainingOptions(work=tmp_path / "half", every=4)
    options.work.mkdir()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Log, "write", lambda log, step, **_: exit_at(step, 10))
        run(options)
    again, later = run(replace(options, resume=True))
    assert later == rates[8:] and torch.load(options.work / CHECKPOINT, weights_only=True)["step"] == STEPS
    assert torch.equal(again.weight, whole.weight) and torch.equal(again.bias, whole.bias)
    done, none = run(replace(options, resume=True))
    assert not none and torch.equal(done.weight, whole.weight)


def exit_at(step: int, last: int) -> None:
    if step == last:
        raise KeyboardInterrupt


def test_weights_are_averaged(tmp_path: Path) -> None:
    """Over every tenth step after the one that is named, and the last."""
    options = TrainingOptions(work=tmp_path, every=1)
    kept: dict[int, torch.Tensor] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "save", lambda self, step, _: kept.update({step: self.model.weight.detach().clone()}))
        model, _ = run(options, average_after=5)
    torch.testing.assert_close(model.weight.detach(), (kept[10] + kept[12]) / 2)
    assert not model.training


def test_batches_are_cut_by_what_they_fill() -> None:
    """As many rows of similar length as fit, a longer one alone; padding is 0 and masked."""
    batches = shuffled_batches([2, 9, 3, 4, 3], random.Random(0), 8, lambda n: n, noise=0.1)
    assert sorted(batches) == [[2, 3], [3, 4], [9]]
    assert shuffled_batches([(2, 2)], random.Random(0), 4, max, len) == [[(2, 2)]]
    ids, mask = padded([(5, 6), (7,)])
    assert ids.tolist() == [[5, 6], [7, 0]] and mask.tolist() == [[True, True], [True, False]]
