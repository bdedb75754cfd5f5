"""Train the grammar model: upper transformer layers on the frozen trunk that judge sentences and word pieces.

Three steps. *Pre-training*: sentences of Wikipedia, WMT texts, EWT and acceptable CoLA sentences, each as it is or
corrupted in a known place, with the judged sentences of CoLA mixed in. *Fine-tuning*: several rounds over CoLA's
training set with corruptions still mixed in; the weights are averaged over the last rounds. *Calibration*: one
temperature a head, on sentences held out from training. CoLA's development sets only judge.

With a *teacher*, a finished grammar model, a smaller one learns from its probabilities as well as from the labels
(train/grammar/teacher.py).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from rome.features.analyser.acceptability import GRAMMAR_FILE, INNER, Acceptability, load_acceptability
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.weights import load_weights, save_weights
from rome.train.common.layers import start_from_encoder
from rome.train.common.recipe import (
    SHARED,
    TrainingOptions,
    add_training_arguments,
    card_text,
    provenance,
    read_card,
    read_options,
    write_card,
)
from rome.train.common.training import PROGRESS, Log, train
from rome.train.grammar.data import Batch, Example, Material, batches, load_material
from rome.train.grammar.figures import pair_figures, predict, sentence_figures, temperature, trunk_states
from rome.train.grammar.teacher import known_loss, start_from_teacher, taught_loss

ROUND = 2000
START = "FOLDER.work/pretrained.safetensors"


@dataclass(frozen=True)
class GrammarOptions(TrainingOptions):
    """The sizes of one training run; steps are batches of about ``pieces`` word pieces."""

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
    add_training_arguments(parser, GrammarOptions)
    texts = {
        "encoder": "folder of the embedded encoder (default: the packaged one)",
        "pretrained": "a checkpoint to fine-tune, instead of pre-training anew",
        "start": "a checkpoint whose pre-training goes on (default: the encoder, or the teacher)",
        "teacher": "folder of a finished grammar model, from whose probabilities this one learns too",
    }
    for name, text in texts.items():
        parser.add_argument(f"--{name}", type=Path, help=text)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train grammar`: read the data, train, calibrate, write the weights and the card."""
    encoder = arguments.encoder or set_folder("small") / "encoder"
    options = read_options(arguments, GrammarOptions)
    taught = () if arguments.teacher is None else (load_acceptability(arguments.teacher), read_card(arguments.teacher))
    training = Training(load_material(load_tokenizer(encoder)), load_trunk(encoder), options, *taught)
    tune(training, arguments.pretrained or pretrain(training, arguments.start))
    return 0


@dataclass(frozen=True, slots=True)
class Training:
    """What both steps of a training share.

    Attributes
    ----------
    teacher, teacher_card
        A finished model that this one learns from, and its card; None when the labels teach alone.
    """

    material: Material
    trunk: Any
    options: GrammarOptions
    teacher: Acceptability | None = None
    teacher_card: Mapping[str, Any] | None = None

    def loss(self, model: Acceptability, batch: Batch) -> torch.Tensor:
        """What a batch costs the model."""
        if self.teacher is not None:
            return taught_loss(model, self.teacher, self.trunk, batch)
        sentence, pieces = model(trunk_states(self.trunk, batch, model.input_layer), batch.mask)
        return known_loss(sentence, pieces, batch)

    def train(self, model: Acceptability, steps: int, rate: float, share: float, log: Log, seed: int, **more: Any) -> None:
        """Some steps on judged sentences, a ``share`` of all, and on clean or corrupted ones."""
        optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6)
        given = _stream(self.material, self.options.pieces, random.Random(seed), share)
        train(model, optimizer, {"loss": lambda _: self.loss(model, next(given))}, steps, log, **more)


def pretrain(training: Training, start: Path | None = None) -> Path:
    """Train on fresh corruptions with some judged sentences; writes pretrained.safetensors into the work folder, in full precision.

    Parameters
    ----------
    start
        A checkpoint to go on from, with a learning rate that rises and falls anew; its steps and seconds are added up.
    """
    options, trunk = training.options, training.trunk
    torch.manual_seed(options.seed)
    sizes = {"hidden": trunk.config.hidden_size, "inner": min(options.inner, trunk.config.intermediate_size)}
    model = Acceptability(options.layers, options.input_layer, **sizes)
    about: dict[str, Any] = {}
    if start is not None:
        tensors, about = load_weights(start)
        model.load_state_dict(tensors)
    elif training.teacher is not None:
        start_from_teacher(model, training.teacher)
    else:
        start_from_encoder(model.layers, options.input_layer)
    log = Log(options.work / PROGRESS, float(about.get("seconds", 0)))

    def keep(step: int, seconds: int) -> None:
        """Write a checkpoint that knows how it came about; an interrupted run can go on from it with --start."""
        runs = [*about.get("runs", []), {**_numbers(options), "steps": step, "seed": options.seed}]
        description = {"sizes": model.sizes, "seconds": seconds, "runs": runs}
        path = options.work / ("pretrained.safetensors" if step == options.steps else "partial.safetensors")
        save_weights(path, dict(model.state_dict()), description, round_matrices=False)

    training.train(model, options.steps, options.rate, options.judged_share, log, options.seed, every=options.every, keep=keep)
    log.write(stage="pretrained", **judge(model, trunk, training.material))
    return options.work / "pretrained.safetensors"


def tune(training: Training, checkpoint: Path) -> None:
    """Fine-tune a checkpoint, average, calibrate, round; writes weights and card of the rounded model."""
    options, trunk, material = training.options, training.trunk, training.material
    tensors, found = load_weights(checkpoint)
    about: dict[str, Any] = dict(found)
    torch.manual_seed(options.seed + 1)
    model = Acceptability(**about["sizes"])
    model.load_state_dict(tensors)
    for part in model.modules():
        if isinstance(part, nn.Dropout):  # only here: pre-training sees every example once
            part.p = options.dropout
    log, steps = Log(options.work / "tuning.jsonl", float(about.get("seconds", 0))), options.tuning_steps
    share, seed = options.tuning_share, options.seed + 1
    training.train(model, steps, options.tuning_rate, share, log, seed, average_after=steps // 2)
    calibrate(model, trunk, material)
    description = {"sizes": model.sizes, "source": "all-MiniLM-L6-v2", "licence": "Apache-2.0"}
    save_weights(options.out / GRAMMAR_FILE, dict(model.state_dict()), description)
    rounded = load_acceptability(options.out)
    figures = {**judge(rounded, trunk, material), **pair_figures(rounded, trunk, material.pairs)}
    log.write(stage="exported", **figures)
    _card(training, about.get("runs") or [{**_numbers(options), "seed": options.seed}], log.seconds(), figures)


def _numbers(options: GrammarOptions) -> dict[str, Any]:
    """The numbers of a recipe, which a checkpoint knows of its runs."""
    return {name: value for name, value in asdict(options).items() if name not in SHARED}


def _stream(material: Material, pieces: int, rng: random.Random, share: float) -> Iterator[Batch]:
    """Batches without end: rounds of fresh examples, ``share`` of them judged sentences, the others clean or corrupted ones."""
    judged: list[Example] = []
    while True:
        examples = material.fresh(ROUND - int(ROUND * share), rng)
        while len(judged) < ROUND * share:
            again = list(material.judged)
            rng.shuffle(again)
            judged += again
        count = int(ROUND * share)
        examples, judged = examples + judged[:count], judged[count:]
        yield from batches(examples, rng, pieces=pieces)


def calibrate(model: Acceptability, trunk: Any, material: Material) -> None:
    """Set both temperatures on sentences that training never saw."""
    logits, _ = predict(model, trunk, material.calibration)
    model.sentence_temperature.fill_(temperature(logits, [example.sentence for example in material.calibration]))
    examples = [example for _, *both in material.held_pairs[::2] for example in both]
    _, pieces = predict(model, trunk, examples)
    labels = np.concatenate([np.array(example.labels) for example in examples])
    known = labels >= 0
    model.piece_temperature.fill_(temperature(np.concatenate(pieces)[known], labels[known]))


def judge(model: Acceptability, trunk: Any, material: Material) -> dict[str, dict[str, float]]:
    """The figures on each of CoLA's development sets."""
    return {name: sentence_figures(predict(model, trunk, examples)[0], examples) for name, examples in material.judging.items()}


def _commands(training: Training, runs: Sequence[Mapping[str, Any]]) -> str:
    """What to type to get the model again: the teacher's commands, then one a run of pre-training, the last of which also fine-tunes."""
    commands, begin, last = [], [], training.options
    if training.teacher_card is not None:
        commands.append(str(training.teacher_card["recipe"]).replace("FOLDER", "TEACHER"))
        begin.append("--teacher TEACHER")
    for place, run in enumerate(runs):
        known = {name: value for name, value in run.items() if name in _numbers(last)}
        options = GrammarOptions(**known, seed=run.get("seed", last.seed))
        if place == len(runs) - 1:
            tuning: dict[str, Any] = {name: value for name, value in asdict(last).items() if name.startswith("tuning_")}
            options = replace(options, dropout=last.dropout, **tuning)
        start = [f"--start {START}"] if place else []
        commands.append(provenance("grammar", options, 0, 0, *begin, *start)["recipe"])
    return " && ".join(commands)


def _card(training: Training, runs: Sequence[Mapping[str, Any]], seconds: int, figures: Mapping[str, object]) -> None:
    told, options = "", training.options
    before = training.teacher_card
    if before is not None:
        kept = ("in_domain_dev", "out_of_domain_dev", "pair_accuracy", "piece_auc")
        figures = {**figures, "teacher": {name: before["figures"][name] for name in kept}}
        told = f" Learned from a larger model of {before['steps']} steps and {before['seconds']} seconds, which are not in its own."
    made = provenance("grammar", options, sum(run["steps"] for run in runs) + options.tuning_steps, seconds)
    made["recipe"] = _commands(training, runs)
    write_card(options.out, **card_text("grammar", teacher=told), **made, figures=figures)
