"""`rome train trees`: tags and trees from the states of a finished trunk, taught on UD English EWT.

For sets whose trunk stays as it is; the trees of `base` are taught together with its trunk (train/base.py). The head's own layers
start as the layers that follow the trunk's in the checkpoint that it was cut from. Only the treebank's training part trains.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from rome.data.readers.ewt_trees import read_trees
from rome.data.sources import data_file
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import EmbeddedEncoder, load_encoder
from rome.features.analyser.tree_head import TREES_FILE, TreeHead, load_tree_head
from rome.features.analyser.weights import save_weights
from rome.train.card import write_card
from rome.train.grammar import Log, start_from_encoder
from rome.train.plan import add_models_argument, add_plan_arguments, changed_options, folders, models_option, plan_of
from rome.train.tree_data import TreeExample, examples_of, labels_of, loss_of, padded, tree_batches, tree_figures

__all__ = ["Plan", "add_arguments", "run", "save_head", "train"]

DATA = ["UD English EWT train (CC BY-SA 4.0)"]
LAST = 3.0
"""The trunk's last layer begins with e to this power times the weight of each other one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes of one run. layers : of the head's own. pieces : of a batch. rate : of the layers; head_rate : of what starts anew."""

    layers: int = 2
    steps: int = 2000
    pieces: int = 1000
    rate: float = 2e-4
    head_rate: float = 1.5e-3
    dropout: float = 0.1
    word_dropout: float = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `rome train trees`."""
    add_plan_arguments(parser, Plan())
    add_models_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Train, average the weights over the last third, round, write the head and its card."""
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    plan, (out, work) = plan_of(arguments, Plan), folders(arguments)
    encoder = load_encoder(set_folder(arguments.models) / "encoder")
    treebank = list(read_trees(data_file("ud_english_ewt/train.conllu")))
    labels = labels_of(treebank)
    examples = examples_of(treebank, encoder.tokenizer, labels)
    unseen = examples_of(list(read_trees(data_file("ud_english_ewt/dev.conllu"))), encoder.tokenizer, labels)
    config = encoder.trunk.config
    sizes = {"heads": config.num_attention_heads, "inner": config.intermediate_size, "layers": plan.layers}
    head = TreeHead(width=config.hidden_size, mixed=config.num_hidden_layers, labels=labels, dropout=plan.word_dropout, **sizes)
    for layer in head.layers:
        for part in layer.modules():
            if isinstance(part, nn.Dropout):
                part.p = plan.dropout
    start_from_encoder(head.layers, config.num_hidden_layers)
    with torch.no_grad():
        head.mix[-1] = LAST  # what these layers read where they come from
    log = Log(work / "progress.jsonl", time.time())
    head = train(head, encoder, examples, plan, random.Random(arguments.seed), log)
    save_head(head, out)
    head = load_tree_head(out)
    figures = tree_figures(head, states_of(encoder, unseen), unseen)
    log.write(stage="exported", **figures)
    write_card(
        out,
        name="rome-en-trees",
        task="parts of speech, morphological features and dependency trees (Universal Dependencies), from the trunk's states",
        data=DATA,
        licence="CC BY-SA 4.0 (data); Apache-2.0 (the layers that it starts from)",
        recipe=" ".join(["rome train trees --out FOLDER", *models_option(arguments.models), *changed_options(plan)]),
        seed=arguments.seed,
        steps=plan.steps,
        seconds=log.seconds(),
        figures={name.upper(): value for name, value in figures.items()},
        notes="Percent of the words of EWT dev, gold sentences and words. Steps are batches. Reads the frozen trunk.",
    )
    return 0


def states_of(encoder: EmbeddedEncoder, examples: Sequence[TreeExample]) -> list[torch.Tensor]:
    """(layers, L, width) the trunk's states of each example's row."""
    order = sorted(range(len(examples)), key=lambda n: len(examples[n].pieces))
    found = dict(zip(order, encoder.states_of_rows([examples[n].pieces for n in order]), strict=True))
    return [found[n] for n in range(len(examples))]


def train(
    head: TreeHead, encoder: EmbeddedEncoder, examples: Sequence[TreeExample], plan: Plan, rng: random.Random, log: Log
) -> TreeHead:
    """AdamW with warm-up over 6 % of the steps and linear decay; the trunk's states of each sentence are computed once, kept in half precision."""
    own = list(head.layers.parameters())
    taken = {id(parameter) for parameter in own}
    new = [parameter for parameter in head.parameters() if id(parameter) not in taken]
    groups = [{"params": new, "lr": plan.head_rate}, *([{"params": own, "lr": plan.rate}] if own else [])]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6, fused=True)
    warm = 0.06 * plan.steps + 1
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / warm) * max(0.02, 1 - step / plan.steps)
    )
    average = torch.optim.swa_utils.AveragedModel(head)
    known: dict[tuple[int, ...], torch.Tensor] = {}
    stream, losses = tree_batches(examples, rng, plan.pieces), []
    head.train()
    for step in range(1, plan.steps + 1):
        batch = next(stream)
        missing = [example for example in batch if example.pieces not in known]
        known.update((e.pieces, s.half()) for e, s in zip(missing, states_of(encoder, missing), strict=True))
        _, mask = padded([example.pieces for example in batch])
        layers = torch.zeros(head.sizes["mixed"], *mask.shape, head.sizes["width"])
        for n, example in enumerate(batch):
            layers[:, n, : len(example.pieces)] = known[example.pieces].float()
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(head, layers, mask, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(head.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step == plan.steps or (step > plan.steps * 2 // 3 and step % 10 == 0):
            average.update_parameters(head)
        if step % 100 == 0 or step == plan.steps:
            log.write(step=step, of=plan.steps, loss=round(float(np.mean(losses)), 4))
            losses = []
    head.load_state_dict(average.module.state_dict())
    return head.eval()


def save_head(head: TreeHead, out: Path, bits: int = 8) -> None:
    """Write the head's file."""
    about = {"sizes": head.sizes, "labels": {name: list(names) for name, names in head.labels.items()}}
    save_weights(Path(out) / TREES_FILE, dict(head.state_dict()), about, bits=bits)
