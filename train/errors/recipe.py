"""Train the reader of both texts: every word judged, what says the same above what does not, however near.

Every step holds groups of all kinds (see groups.py). DEMETR, the rated sets and the groups of data/meaning only judge.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_trunk
from rome.features.analyser.weights import save_weights
from rome.features.errors.evidence import READER_FILE, SEVERITIES, TYPES
from rome.train.common.recipe import (
    add_models_argument,
    add_plan_arguments,
    changed_options,
    folders,
    models_option,
    plan_of,
    write_card,
)
from rome.train.errors.groups import Group, Groups, Mixture
from rome.train.errors.losses import Weights, losses
from rome.train.errors.net import PairNet, Sides, meaning_figures
from rome.train.errors.signals import learn_signals
from rome.train.errors.texts import Pool, paraphrases, prepare, write_agreements
from rome.train.synthesis.pairs import read_synthetic

__all__ = ["ErrorsPlan", "add_arguments", "export", "fit", "held_out", "run"]

CHECKPOINT, PROGRESS = "checkpoint.pt", "progress.jsonl"
DATA = [
    "WMT22 (without Chinese) and WMT23 references and system outputs",
    "Wikipedia sentences and their splits (WikiSplit)",
    "MSRP train, positives",
    "STS 2012-2016 without machine translations",
    "perturbations and harmless changes of them (data/perturbations)",
]
FIRST = Mixture()
LATER_RATE = 0.7
WARMING = 100
"""Steps at the beginning of a stage in which the rate rises, at most an eighth of it."""
BITS = 6
"""Of the adapters' numbers."""
HELD = 40
"""Steps' worth of groups, drawn by another seed, that show how it goes."""


@dataclass(frozen=True, slots=True)
class ErrorsPlan:
    """The sizes of one training run.

    Attributes
    ----------
    below
        Layers of the trunk that read each text alone.
    above
        Of its last layers, that read both.
    rank
        Of the adapters.
    wikipedia, systems
        Pairs of these kinds that are drawn beside all others.
    pairs
        Of all those, so many are used.
    segments
        Of which outputs are ranked.
    steps, later
        Of the two stages.
    meaning, mistakes, outputs, rated, ladders
        Groups of these kinds in a step of the second.
    signals
        Steps before both that learn BLEURT's signals of the pairs that --synthesized gives.
    """

    steps: int = 900
    later: int = 1500
    rate: float = 5e-4
    below: int = 4
    above: int = 3
    rank: int = 32
    wikipedia: int = 4000
    systems: int = 4500
    pairs: int = 8000
    segments: int = 3000
    meaning: int = 3
    mistakes: int = 4
    outputs: int = 4
    rated: int = 1
    ladders: int = 1
    signals: int = 0

    @property
    def second(self) -> Mixture:
        """The groups of a step of the second stage."""
        return Mixture(self.meaning, self.mistakes, self.outputs, self.rated, ladders=self.ladders)

    def stage(self, step: int) -> tuple[Mixture, float]:
        """The groups of a step, counted from 1, and its rate: meaning first, then more of what real and bad outputs are like.

        In each stage the rate rises, and falls to next to nothing.
        """
        if step <= self.steps:
            return FIRST, self.rate * _slope(step, self.steps)
        return self.second, LATER_RATE * self.rate * _slope(step - self.steps, self.later)


def _slope(step: int, steps: int) -> float:
    """The share of the rate at a step of a stage."""
    return min(1.0, step / min(WARMING, max(1, steps // 8))) * max(0.02, 1.0 - step / steps)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train errors`."""
    add_plan_arguments(parser, ErrorsPlan())
    add_models_argument(parser)
    parser.add_argument("--texts", type=Path, nargs="+", help="texts with their changes, made before (JSON lines)")
    parser.add_argument("--agreement", type=Path, help="outputs with their agreement, made before (JSON lines)")
    parser.add_argument(
        "--synthesized", type=Path, nargs="+", default=[], help="more pairs, made by `rome synthesize` (JSON lines)"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the work folder")
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train errors`: make the texts' changes, train, write weights and card. Raises InputError when data is missing."""
    torch.set_num_threads(arguments.threads)
    plan, seed = plan_of(arguments, ErrorsPlan), arguments.seed
    out, work = folders(arguments)
    pairs = paraphrases(seed, plan.wikipedia, plan.systems)[: plan.pairs]
    texts = arguments.texts or [_prepared(pairs, arguments, work)]
    agreement = arguments.agreement or write_agreements(work / "agreement.jsonl", seed, plan.segments)
    files = enumerate(arguments.synthesized)
    generated = [replace(pair, id=f"{number}-{pair.id}") for number, path in files for pair in read_synthetic(path)]
    groups = Groups(Pool(texts), pairs, agreement, seed, generated)
    folder = set_folder(arguments.models) / "encoder"
    sides = Sides(folder, plan.below)
    torch.manual_seed(seed)
    net = PairNet(load_trunk(folder), plan.below, plan.rank, plan.above)
    net.start_marks(sides.marks())
    if plan.signals and not arguments.resume:
        sys.stderr.write(f"signals: {learn_signals(net, sides, generated, plan.signals, plan.rate, seed)}\n")
    seconds = fit(net, sides, groups, plan, seed, work, arguments.resume, arguments.every)
    export(net, out)
    figures = {"held_out": held_out(net, sides, groups, plan, seed), "development": meaning_figures(net, sides)}
    _card(out, plan, arguments, seconds, groups, figures)
    return 0


def _prepared(pairs: Sequence[Any], arguments: argparse.Namespace, work: Path) -> Path:
    """Make the changes of all texts, or go on making them."""
    texts = [text for pair in pairs for text in (pair.one, pair.other)]
    return prepare(texts, arguments.models, arguments.seed, work / "texts.jsonl", work / "analyses.sqlite", arguments.threads)


def fit(
    net: PairNet,
    sides: Sides,
    groups: Groups,
    plan: ErrorsPlan,
    seed: int,
    work: Path,
    resume: bool = False,
    every: int = 100,
    judge: Any = None,
) -> int:
    """Train; returns the seconds spent, those before an interruption included.

    Every ``every`` steps a checkpoint is kept in ``work`` and a line of progress written; from a checkpoint, resume gives the very net that an
    uninterrupted run gives.

    Parameters
    ----------
    judge
        (net, sides) -> more figures for the line.
    """
    parameters = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, plan.rate, weight_decay=0.01, betas=(0.9, 0.98))
    done, before = 0, 0.0
    if resume and (work / CHECKPOINT).is_file():
        kept: dict[str, Any] = torch.load(work / CHECKPOINT, weights_only=True)
        net.load_state_dict(kept["net"])
        optimizer.load_state_dict(kept["optimizer"])
        torch.set_rng_state(kept["random"])
        done, before = kept["step"], kept["seconds"]
    started, weights = time.monotonic() - before, Weights()
    seen: dict[str, list[float]] = defaultdict(list)
    last = plan.steps + plan.later
    for step in range(done + 1, last + 1):
        mixture, optimizer.param_groups[0]["lr"] = plan.stage(step)
        net.train()
        loss, log = losses(net, sides, list(groups.step(mixture, random.Random(f"{seed}|{step}"))), weights)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        for name, values in log.items():
            seen[name] += values
        if step % every == 0 or step == last:
            seconds = time.monotonic() - started
            line = {"step": step, "of": last, "seconds": round(seconds), **_means(seen), **(judge(net, sides) if judge else {})}
            with (work / PROGRESS).open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
            state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "seconds": seconds}
            torch.save({**state, "random": torch.get_rng_state()}, work / CHECKPOINT)
            seen.clear()
    net.eval()
    return round(time.monotonic() - started)


def _means(seen: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: round(float(np.mean(values)), 4) for name, values in sorted(seen.items())}


@torch.no_grad()
def held_out(net: PairNet, sides: Sides, groups: Groups, plan: ErrorsPlan, seed: int, steps: int = HELD) -> dict[str, float]:
    """The losses and the shares of comparisons in order on groups that no step drew; their texts may have been seen in others."""
    net.eval()
    seen: dict[str, list[float]] = defaultdict(list)
    for step in range(steps):
        own: list[Group] = list(groups.step(plan.second, random.Random(f"held out|{seed}|{step}")))
        for name, values in losses(net, sides, own, Weights())[1].items():
            seen[name] += values
    return _means(seen)


def export(net: PairNet, out: Path) -> None:
    """Write what the reader has besides the trunk: adapters, norms, marks and the maps to what it says.

    Matrices as int8, those of the adapters with fewer different values, which archives store in less space.
    """
    about = {"below": net.below, "severities": list(SEVERITIES), "types": list(TYPES)}
    tensors = {name: parameter.detach().float() for name, parameter in net.named_parameters()}
    save_weights(out / READER_FILE, tensors, about, bits={name: BITS for name in tensors if ".maps." in name})


def _card(
    out: Path, plan: ErrorsPlan, arguments: argparse.Namespace, seconds: int, groups: Groups, figures: dict[str, Any]
) -> None:
    changed = [*models_option(arguments.models), *changed_options(plan)]
    before = "Texts and changes made before; their making is not in the seconds. " if arguments.texts else ""
    write_card(
        out,
        name="errors",
        task="for every word of a pair none, minor, major or critical, and a type; for the pair what its errors weigh together",
        data=[
            *DATA,
            f"{len(groups.pairs)} pairs of {len(groups.texts)} texts, {len(groups.outputs)} segments of ranked outputs",
        ],
        licence="Apache-2.0 (weights); data: CC BY-SA 4.0 (Wikipedia), research use (WMT, MSRP, STS)",
        recipe=" ".join(["rome train errors --out FOLDER", f"--seed {arguments.seed}", *changed]),
        seed=arguments.seed,
        steps=plan.steps + plan.later,
        seconds=seconds,
        figures=figures,
        notes=f"{before}held_out: losses, and shares of comparisons in order, on groups drawn by another seed from the same texts; "
        "development: data/meaning, which trained nothing.",
    )
    sys.stderr.write(json.dumps(figures) + "\n")
