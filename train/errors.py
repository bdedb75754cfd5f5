"""Train the errors' head: which words of a pair are mistakes, and how bad, on top of what the edit script says.

Real pairs (WMT outputs, second references, paraphrases) and copies of them with one known mistake train it, and the scorer's chains,
of which it sees seven groups in ten. DEMETR and the rated sets only judge.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from rome.evaluation.perturbing import materials_for
from rome.features.analyser.config import ModelConfig
from rome.features.errors.estimator import ErrorsConfig
from rome.features.errors.head import HEAD_FILE, PairHead
from rome.features.errors.lexicon import Lexicon
from rome.features.idf import IdfTable

from .card import write_card
from .errors_families import Families, Family
from .errors_figures import comparison, development_figures
from .errors_net import Losses, PairNet, Weights, losses_of
from .errors_probes import make_probes, read_probes, seen_group, wmt_bases
from .grammar import Log
from .plan import add_models_argument, add_plan_arguments, changed_options, folders, models_option, plan_of
from .scorer_pairs import read_pairs

__all__ = ["Plan", "add_arguments", "fit", "run"]

CHECKPOINT, PROGRESS = "checkpoint.pt", "progress.jsonl"
HELD = 400
"""Families that are left out of the training, to see how it goes."""
DATA = [
    "WMT22 and WMT23 references and system outputs",
    "Wikipedia sentences (WikiSplit)",
    "MSRP train",
    "perturbations of them, and the scorer's TextAttack chains",
]


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes of one training run. bases : WMT pairs that probes are made of. batch : families a step."""

    steps: int = 6000
    rate: float = 8e-4
    batch: int = 10
    bases: int = 8000
    width: int = 128
    layers: int = 2
    dropout: float = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train errors`."""
    add_plan_arguments(parser, Plan())
    add_models_argument(parser)
    parser.add_argument(
        "--pairs", type=Path, required=True, help="the scorer's pairs, made by `rome train scorer` (JSON lines)"
    )
    parser.add_argument("--probes", type=Path, nargs="+", help="probes made before (JSON lines); without it they are made")
    parser.add_argument("--store", type=Path, default=None, help="a store of analyses (default: one in the work folder)")
    parser.add_argument(
        "--compare", type=Path, default=None, help="figures of another architecture (JSON) to put into the card"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the work folder")
    parser.add_argument("--every", type=int, default=500, help="steps between checkpoints")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train errors`: make the probes, train, judge, write weights and card. Raises InputError when data is missing."""
    from rome.metric import RoMe

    torch.set_num_threads(arguments.threads)
    plan = plan_of(arguments, Plan)
    out, work = folders(arguments)
    store = arguments.store or work / "analyses.sqlite"
    metric = RoMe(models=arguments.models, store=store, threads=arguments.threads, progress=False, errors="edit-script")
    probes = arguments.probes or [_probes(metric.analyse, arguments.pairs, plan, arguments.seed, work)]
    data = _families(metric.analyse, probes, arguments.pairs, metric.models)
    net, seconds = fit(data, plan, arguments.seed, work, arguments.resume, arguments.every)
    export(net, out)
    held = json.loads((work / PROGRESS).read_text(encoding="utf-8").splitlines()[-1])["held_out"]
    figures = {"held_out": held, **development_figures(PairHead.load(out), metric.analyse, metric.models)}
    _card(out, plan, arguments, seconds, data, figures)
    return 0


def _probes(analyse: Any, pairs: Path, plan: Plan, seed: int, work: Path) -> Path:
    """Make the probes, or go on making them; the segments that are kept for the net are left out."""
    kept = frozenset(pair.reference for pair in read_pairs(pairs) if not seen_group(pair.group))
    bases = wmt_bases(seed, kept)[: plan.bases]
    path = work / "probes.jsonl"
    for done in make_probes(bases, analyse, materials_for([base.clean for base in bases]), path, seed=seed):
        sys.stderr.write(f"probes of {done} of {len(bases)} pairs\n")
    return path


def _families(analyse: Any, probes: Sequence[Path], pairs: Path, models: ModelConfig) -> Families:
    """All examples in memory; probes of references that the net is to learn from are left out. models : whose word weights."""
    folder = models.folder
    data = Families(
        IdfTable.load(folder / "idf" / "idf.parquet"), Lexicon.load(folder / "lexicon" / "antonyms.tsv"), ErrorsConfig()
    )
    chains = read_pairs(pairs)
    kept = {pair.reference for pair in chains if not seen_group(pair.group)}
    data.add_probes([p for p in read_probes(probes) if p.reference not in kept and p.clean not in kept], analyse)
    data.add_chains(chains, analyse)
    return data


def fit(data: Families, plan: Plan, seed: int, work: Path, resume: bool = False, every: int = 500) -> tuple[PairNet, int]:
    """Train; returns the net and the seconds spent, those before an interruption included.

    Every ``every`` steps a checkpoint is kept in ``work``; from it, resume gives the very net that an uninterrupted run gives.
    """
    torch.manual_seed(seed)
    net = PairNet(plan.width, plan.layers, plan.dropout)
    optimizer = torch.optim.AdamW(net.parameters(), plan.rate, weight_decay=0.02)
    done, before = 0, 0.0
    if resume and (work / CHECKPOINT).is_file():
        kept: dict[str, Any] = torch.load(work / CHECKPOINT, weights_only=True)
        net.load_state_dict(kept["net"])
        optimizer.load_state_dict(kept["optimizer"])
        done, before = kept["step"], kept["seconds"]
    log, weights = Log(work / PROGRESS, time.time() - before), Weights()
    families = random.Random(seed).sample(data.families, len(data.families))
    held = min(HELD, len(families) // 10)
    seen: list[Losses] = []
    for step, batch in enumerate(_batches(families[held:], plan.batch, seed), 1):
        if step > plan.steps:
            break
        if step <= done:
            continue
        torch.manual_seed(seed * 1_000_003 + step)  # dropout depends on the step alone, so that a resumed run draws the same
        optimizer.param_groups[0]["lr"] = plan.rate * min(1.0, step / 100) * max(0.02, 1.0 - step / plan.steps)
        net.train()
        losses = losses_of(net, data, batch, weights)
        optimizer.zero_grad()
        losses.total(weights).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        seen = [*seen[-99:], losses]
        if step % every == 0 or step == plan.steps:
            log.write(step=step, of=plan.steps, **_means(seen), held_out=_judged(net, data, families[:held], weights))
            state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "seconds": log.seconds()}
            torch.save(state, work / CHECKPOINT)
    return net.eval(), log.seconds()


def _batches(families: Sequence[Family], size: int, seed: int) -> Iterator[list[Family]]:
    """Batches without end, every epoch in another order."""
    epoch = 0
    while families:
        mixed = random.Random(f"{seed} epoch {epoch}").sample(list(families), len(families))
        yield from (mixed[n : n + size] for n in range(0, len(mixed), size))
        epoch += 1


def _means(losses: Sequence[Losses]) -> dict[str, float]:
    names = ("words", "types", "ranks", "amounts", "added")
    return {name: round(float(np.mean([float(getattr(loss, name).detach()) for loss in losses])), 4) for name in names}


@torch.no_grad()
def _judged(net: PairNet, data: Families, families: Sequence[Family], weights: Weights) -> dict[str, float]:
    """The losses on held-out families; how often the real pair has the lower count than its probe, and a mistake its type."""
    net.eval()
    parts = [losses_of(net, data, families[n : n + 10], weights) for n in range(0, len(families), 10)]
    shares = {
        "ranked_right": [hit for part in parts for _, hit in part.ranked],
        "types_right": [hit for part in parts for hit in part.named],
    }
    means = {name: round(float(np.mean(hits)), 4) for name, hits in shares.items() if hits}
    return _means(parts) | means if parts else {}


def export(net: PairNet, out: Path) -> None:
    """Write the weights for the NumPy head, in half precision."""
    from safetensors.torch import save_file

    save_file({name: tensor.half().contiguous() for name, tensor in net.state_dict().items()}, out / HEAD_FILE)


def _card(
    out: Path, plan: Plan, arguments: argparse.Namespace, seconds: int, data: Families, figures: dict[str, object]
) -> None:
    changed = [*models_option(arguments.models), *changed_options(plan)]
    before = "Probes made before; their making is not in the seconds. " if arguments.probes else ""
    write_card(
        out,
        name="errors",
        task="for every word of a pair whether it is a minor or major error, and its type; on top of the edit script",
        data=[*DATA, f"{len(data.examples)} pairs of {len(data.vectors)} texts in {len(data.families)} families"],
        licence="Apache-2.0 (weights); data: CC BY-SA 4.0 (Wikipedia), research use (WMT, MSRP)",
        recipe=" ".join(["rome train errors --out FOLDER --pairs PAIRS", f"--seed {arguments.seed}", *changed]),
        seed=arguments.seed,
        steps=plan.steps,
        seconds=seconds,
        figures={**figures, **comparison(arguments.compare)},
        notes=f"{before}Figures: the component alone on the development sets, which trained nothing; beside it the edit script.",
    )
