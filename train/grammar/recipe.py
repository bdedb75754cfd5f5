"""Train the grammar model: upper transformer layers on the frozen trunk that judge sentences and word pieces.

Three steps. *Pre-training*: sentences of Wikipedia, WMT texts, EWT and acceptable CoLA sentences, each as it is and
corrupted in a known place, with the judged sentences of CoLA mixed in. *Fine-tuning*: several rounds over CoLA's
training set with corruptions still mixed in; the weights are averaged over the last rounds. *Calibration*: one
temperature per head, on sentences held out from training. CoLA's development sets only judge.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rome.features.analyser.acceptability import GRAMMAR_FILE, INNER, Acceptability, load_acceptability
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.weights import load_weights, save_weights
from rome.train.common.recipe import TrainingOptions, add_training_arguments, read_options, write_training_card
from rome.train.common.training import PROGRESS, Log, Loss, adamw, start_from_encoder, train
from rome.train.grammar.data import Material, grammar_batches, load_material
from rome.train.grammar.figures import calibrate, figures_of, known_loss, trunk_states


@dataclass(frozen=True)
class GrammarOptions(TrainingOptions):
    """Sizes of one training run; steps are batches of about ``pieces`` word pieces."""

    every: int = 500
    steps: int = 3000
    rate: float = 3e-4
    tuning_steps: int = 500
    tuning_rate: float = 1e-4
    dropout: float = 0.1
    pieces: int = 1024
    judged_share: float = 0.15
    tuning_share: float = 0.7
    layers: int = 4
    input_layer: int = 2
    inner: int = INNER


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train grammar`."""
    add_training_arguments(parser, "grammar", GrammarOptions)
    parser.add_argument("--encoder", type=Path, help="folder of the embedded encoder (default: the packaged one)")
    parser.add_argument("--start", type=Path, help="a checkpoint whose pre-training continues (default: the encoder)")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train grammar`: read the data, train, calibrate, write the weights and the card."""
    encoder = arguments.encoder or set_folder("small") / "encoder"
    options = read_options(arguments, GrammarOptions)
    material, trunk = load_material(load_tokenizer(encoder)), load_trunk(encoder)
    model, made = pretrain(material, trunk, options, arguments.start)
    tune(model, made, material, trunk, options)
    return 0


def pretrain(
    material: Material, trunk: Any, options: GrammarOptions, start: Path | None = None
) -> tuple[Acceptability, dict[str, Any]]:
    """Train on fresh corruptions with some judged sentences; return the model and its steps, seconds and command lines.

    Writes pretrained.safetensors into the work folder, in full precision.

    Parameters
    ----------
    start
        A checkpoint to continue from, with a new learning rate schedule; its steps and seconds are added up.
    """
    torch.manual_seed(options.seed)
    sizes = {"hidden": trunk.config.hidden_size, "inner": min(options.inner, trunk.config.intermediate_size)}
    model = Acceptability(options.layers, options.input_layer, **sizes)
    before: dict[str, Any] = {"steps": 0, "seconds": 0, "commands": []}
    if start is None:
        start_from_encoder(model.layers, options.input_layer)
    else:
        tensors, before = load_weights(start)
        model.load_state_dict(tensors)
    log, made = Log(options.work / PROGRESS, float(before["seconds"])), dict(before)

    def keep(step: int, seconds: int) -> None:
        """Write a checkpoint, from which an interrupted run can continue with --start."""
        made.update(steps=before["steps"] + step, seconds=seconds, commands=[*before["commands"], options.command])
        path = options.work / ("pretrained.safetensors" if step == options.steps else "partial.safetensors")
        save_weights(path, dict(model.state_dict()), {**made, "sizes": model.sizes}, round_matrices=False)

    losses = {"loss": _loss(model, material, trunk, options.pieces, options.seed, options.judged_share)}
    train(model, adamw(model.parameters(), options.rate), losses, options.steps, log, every=options.every, keep=keep)
    log.write(stage="pretrained", **figures_of(model, trunk, material))
    return model, made


def tune(model: Acceptability, made: dict[str, Any], material: Material, trunk: Any, options: GrammarOptions) -> None:
    """Fine-tune, average, calibrate and round the model; write its weights and its card."""
    torch.manual_seed(options.seed + 1)
    for part in model.modules():
        if isinstance(part, nn.Dropout):  # only here: pre-training sees every example once
            part.p = options.dropout
    log, steps = Log(options.work / "tuning.jsonl", float(made["seconds"])), options.tuning_steps
    losses = {"loss": _loss(model, material, trunk, options.pieces, options.seed + 1, options.tuning_share)}
    train(model, adamw(model.parameters(), options.tuning_rate), losses, steps, log, average_after=steps // 2)
    calibrate(model, trunk, material)
    description = {"sizes": model.sizes, "source": "all-MiniLM-L6-v2", "licence": "Apache-2.0"}
    save_weights(options.out / GRAMMAR_FILE, dict(model.state_dict()), description)
    figures = figures_of(load_acceptability(options.out), trunk, material)
    log.write(stage="exported", **figures)
    recipe = " && ".join(made["commands"])
    write_training_card("grammar", options, made["steps"] + steps, log.seconds(), figures, recipe=recipe)


def _loss(model: Acceptability, material: Material, trunk: Any, pieces: int, seed: int, share: float) -> Loss:
    """Return the loss of a step on judged sentences, a ``share`` of all, and on clean and corrupted ones."""
    given = grammar_batches(material, random.Random(seed), judged=share, pieces=pieces)

    def loss(_: int) -> torch.Tensor:
        batch = next(given)
        sentence, pieces = model(trunk_states(trunk, batch, model.input_layer), batch.mask)
        return known_loss(sentence, pieces, batch)

    return loss
