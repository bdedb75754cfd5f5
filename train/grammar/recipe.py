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
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import AutoModel

from rome.features.analyser.acceptability import GRAMMAR_FILE, HIDDEN, INNER, Acceptability, load_acceptability
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.trunk import Trunk
from rome.features.analyser.weights import load_weights, save_weights
from rome.train.common.recipe import add_plan_arguments, folders, plan_of, read_card, write_card
from rome.train.encoder import source_folder
from rome.train.grammar.data import Batch, Example, Material, batches, load_material
from rome.train.grammar.figures import pair_figures, predict, sentence_figures, temperature, trunk_states
from rome.train.grammar.teacher import Taught, known_loss, start_from_teacher

__all__ = ["Log", "Training", "add_arguments", "calibrate", "judge", "run", "start_from_encoder", "tune"]

ROUND = 2000
KEPT_EVERY = 500
START = "FOLDER.work/pretrained.safetensors"


@dataclass(frozen=True, slots=True)
class GrammarPlan:
    """The sizes of one training run; steps are batches of about ``pieces`` word pieces."""

    steps: int = 3000
    tuning_steps: int = 500
    rate: float = 3e-4
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
    add_plan_arguments(parser, GrammarPlan())
    parser.add_argument("--encoder", type=Path, default=None, help="folder of the embedded encoder (default: the packaged one)")
    parser.add_argument("--pretrained", type=Path, default=None, help="a checkpoint to fine-tune, instead of pre-training anew")
    parser.add_argument(
        "--start",
        type=Path,
        default=None,
        help="a checkpoint whose pre-training goes on (default: the encoder, or the teacher)",
    )
    parser.add_argument(
        "--teacher",
        type=Path,
        default=None,
        help="folder of a finished grammar model, from whose probabilities this one learns too",
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train grammar`: read the data, train, calibrate, write the weights and the card."""
    torch.set_num_threads(arguments.threads)
    encoder = arguments.encoder or set_folder("small") / "encoder"
    plan = plan_of(arguments, GrammarPlan)
    material, trunk = load_material(load_tokenizer(encoder)), load_trunk(encoder)
    out, work = folders(arguments)
    teacher = None if arguments.teacher is None else Teacher(arguments.teacher)
    training = Training(material, trunk, plan, arguments.seed, work, teacher)
    checkpoint = arguments.pretrained or pretrain(training, arguments.start)
    tune(training, Path(checkpoint), out)
    return 0


class Teacher:
    """A finished grammar model that teaches a smaller one.

    Parameters
    ----------
    folder
        Its weights and its card.
    """

    def __init__(self, folder: Path) -> None:
        self.model, self.card = load_acceptability(folder), read_card(folder)


@dataclass(frozen=True, slots=True)
class Training:
    """What both steps of a training share.

    Attributes
    ----------
    work
        Folder for what is made on the way.
    teacher
        None when the labels teach alone.
    """

    material: Material
    trunk: Trunk
    plan: GrammarPlan
    seed: int
    work: Path
    teacher: Teacher | None = None

    def loss(self, model: Acceptability) -> Callable[[Batch], torch.Tensor]:
        """What a batch costs this model."""
        if self.teacher is not None:
            return Taught(model, self.teacher.model, self.trunk)
        return partial(_labelled, model, self.trunk)


def pretrain(training: Training, start: Path | None = None) -> Path:
    """Train on corruptions and some judged sentences; returns the checkpoint written into the work folder, in full precision.

    Parameters
    ----------
    start
        A checkpoint to go on from, with a learning rate that rises and falls anew; its steps and seconds are added up.
    """
    plan, trunk, work = training.plan, training.trunk, training.work
    torch.manual_seed(training.seed)
    sizes = {"hidden": trunk.config.hidden_size, "inner": min(plan.inner, trunk.config.intermediate_size)}
    model = Acceptability(plan.layers, plan.input_layer, **sizes)
    about: dict[str, object] = {}
    if start is not None:
        tensors, about = load_weights(start)
        model.load_state_dict(tensors)
    elif training.teacher is not None:
        start_from_teacher(model, training.teacher.model)
    else:
        start_from_encoder(model.layers, plan.input_layer)
    log = Log(work / "progress.jsonl", time.time() - float(str(about.get("seconds", 0))))
    stream = _stream(training.material, plan, random.Random(training.seed), plan.judged_share)
    before = list(about.get("runs", []))  # type: ignore[call-overload]

    def keep(name: str, steps: int) -> None:
        """Write a checkpoint that knows how it came about; an interrupted run can go on from one with --start."""
        runs = [*before, {**asdict(plan), "steps": steps, "seed": training.seed}]
        description = {"sizes": model.sizes, "seconds": log.seconds(), "runs": runs}
        save_weights(work / name, dict(model.state_dict()), description, round_matrices=False)

    _train(model, training.loss(model), stream, plan.steps, plan.rate, log, None, keep)
    keep("pretrained.safetensors", plan.steps)
    log.write(stage="pretrained", **judge(model, trunk, training.material))
    return work / "pretrained.safetensors"


def tune(training: Training, checkpoint: Path, out: Path) -> Acceptability:
    """Fine-tune a checkpoint, average, calibrate, round; writes weights and card into ``out``, returns the rounded model."""
    plan, trunk, material = training.plan, training.trunk, training.material
    tensors, about = load_weights(checkpoint)
    torch.manual_seed(training.seed + 1)
    model = Acceptability(**dict(about["sizes"]))  # type: ignore[call-overload]
    model.load_state_dict(tensors)
    average = torch.optim.swa_utils.AveragedModel(model)
    for part in model.modules():
        if isinstance(part, nn.Dropout):  # only here: pre-training sees every example once
            part.p = plan.dropout
    log = Log(training.work / "tuning.jsonl", time.time() - float(str(about.get("seconds", 0))))
    stream = _stream(material, plan, random.Random(training.seed + 1), plan.tuning_share)
    _train(model, training.loss(model), stream, plan.tuning_steps, plan.tuning_rate, log, average)
    model.load_state_dict(average.module.state_dict())
    calibrate(model, trunk, material)
    description = {"sizes": model.sizes, "source": "all-MiniLM-L6-v2", "licence": "Apache-2.0"}
    save_weights(out / GRAMMAR_FILE, dict(model.state_dict()), description)
    rounded = load_acceptability(out)
    figures = {**judge(rounded, trunk, material), **pair_figures(rounded, trunk, material.pairs)}
    log.write(stage="exported", **figures)
    runs = list(about.get("runs", [])) or [{**asdict(plan), "seed": training.seed}]  # type: ignore[call-overload]
    _card(out, training, runs, log.seconds(), figures)
    return rounded


def start_from_encoder(layers: Any, first: int) -> None:
    """Copy layers of all-MiniLM-L6-v2, from ``first`` on, into torch's transformer layers; those beyond the sixth keep their random start."""
    if not len(layers) or layers[0].norm1.normalized_shape[0] != HIDDEN:  # a toy model starts from random numbers
        return
    source = AutoModel.from_pretrained(source_folder(), local_files_only=True)
    for layer, old in zip(layers, source.encoder.layer[first:], strict=False):
        own = old.attention.self
        with torch.no_grad():
            layer.self_attn.in_proj_weight.copy_(torch.cat([own.query.weight, own.key.weight, own.value.weight]))
            layer.self_attn.in_proj_bias.copy_(torch.cat([own.query.bias, own.key.bias, own.value.bias]))
        layer.self_attn.out_proj.load_state_dict(old.attention.output.dense.state_dict())
        layer.norm1.load_state_dict(old.attention.output.LayerNorm.state_dict())
        layer.linear1.load_state_dict(old.intermediate.dense.state_dict())
        layer.linear2.load_state_dict(old.output.dense.state_dict())
        layer.norm2.load_state_dict(old.output.LayerNorm.state_dict())


class Log:
    """A progress log: one JSON object a line, with the seconds since the start."""

    def __init__(self, path: Path, start: float) -> None:
        self.path, self.start = path, start
        path.write_text("", encoding="utf-8")

    def write(self, **fields: object) -> None:
        """Append one line."""
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"seconds": self.seconds(), **fields}) + "\n")

    def seconds(self) -> int:
        """Whole seconds since the start."""
        return round(time.time() - self.start)


def _stream(material: Material, plan: GrammarPlan, rng: random.Random, share: float) -> Iterator[Batch]:
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
        yield from batches(examples, rng, pieces=plan.pieces)


def _labelled(model: Acceptability, trunk: Trunk, batch: Batch) -> torch.Tensor:
    """What a batch costs a model that learns from labels alone."""
    sentence, pieces = model(trunk_states(trunk, batch, model.input_layer), batch.mask)
    return known_loss(sentence, pieces, batch)


def _train(
    model: Acceptability,
    cost: Callable[[Batch], torch.Tensor],
    stream: Iterator[Batch],
    steps: int,
    rate: float,
    log: Log,
    average: torch.optim.swa_utils.AveragedModel | None,
    keep: Callable[[str, int], None] | None = None,
) -> None:
    """AdamW, linear warm-up over 6 % and linear decay; the second half's weights go into the average every tenth step."""
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6)
    warm = 0.06 * steps + 1
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, (i + 1) / warm) * max(0.02, 1 - i / steps))
    model.train()
    losses: list[float] = []
    for step in range(1, steps + 1):
        loss = cost(next(stream))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if average is not None and (step == steps or (step > steps // 2 and step % 10 == 0)):
            average.update_parameters(model)
        if step % 100 == 0 or step == steps:
            log.write(step=step, of=steps, loss=round(float(np.mean(losses)), 4))
            losses = []
        if keep is not None and step % KEPT_EVERY == 0:
            keep("partial.safetensors", step)
    model.eval()


def calibrate(model: Acceptability, trunk: Trunk, material: Material) -> None:
    """Set both temperatures on sentences that training never saw."""
    logits, _ = predict(model, trunk, material.calibration)
    model.sentence_temperature.fill_(temperature(logits, [example.sentence for example in material.calibration]))
    examples = [example for _, *both in material.held_pairs[::2] for example in both]
    _, pieces = predict(model, trunk, examples)
    labels = np.concatenate([np.array(example.labels) for example in examples])
    known = labels >= 0
    model.piece_temperature.fill_(temperature(np.concatenate(pieces)[known], labels[known]))


def judge(model: Acceptability, trunk: Trunk, material: Material) -> dict[str, dict[str, float]]:
    """The figures on each of CoLA's development sets."""
    return {name: sentence_figures(predict(model, trunk, examples)[0], examples) for name, examples in material.judging.items()}


def _commands(training: Training, runs: Sequence[Mapping[str, object]]) -> str:
    """What to type to get the model again: the teacher's commands, then one a run of pre-training, the last of which also fine-tunes."""
    commands, plan = [], training.plan
    if training.teacher is not None:
        commands.append(str(training.teacher.card["recipe"]).replace("FOLDER", "TEACHER"))
    for place, run in enumerate(runs):
        last = place == len(runs) - 1
        wanted = {**run, **({k: v for k, v in asdict(plan).items() if "tuning" in k or k == "dropout"} if last else {})}
        changed = [f"--{k.replace('_', '-')} {wanted[k]}" for k, v in asdict(GrammarPlan()).items() if wanted.get(k, v) != v]
        begin = ["--teacher TEACHER"] if training.teacher is not None else []
        begin += [f"--start {START}"] if place else []
        seed = str(run.get("seed", training.seed))
        commands.append(" ".join(["rome train grammar --out FOLDER", *begin, "--seed", seed, *changed]))
    return " && ".join(commands)


def _card(
    out: Path, training: Training, runs: Sequence[Mapping[str, object]], seconds: int, figures: Mapping[str, object]
) -> None:
    notes = (
        "figures of the exported, rounded model; CoLA's development sets and EWT's, whose sentences make the pairs, were not trained on. "
        "CoLA and corruption rules are what it knows of grammar: names and rare words lower its probabilities."
    )
    if training.teacher is not None:
        before = training.teacher.card
        kept = ("in_domain_dev", "out_of_domain_dev", "pair_accuracy", "piece_auc")
        figures = {**figures, "teacher": {name: before["figures"][name] for name in kept}}
        notes += f" Learned from a larger model of {before['steps']} steps and {before['seconds']} seconds, which are not in its own."
    write_card(
        out,
        name="grammar",
        task="the probability that a sentence is acceptable English, and that each of its word pieces is the right one",
        data=[
            "CoLA in-domain train",
            "UD English EWT train",
            "WikiSplit",
            "WMT22 and WMT23 references and outputs into English",
        ],
        licence="Apache-2.0 (start: all-MiniLM-L6-v2); data: CoLA public, EWT and WikiSplit CC BY-SA 4.0, WMT research use",
        recipe=_commands(training, runs),
        seed=training.seed,
        steps=sum(int(str(run["steps"])) for run in runs) + training.plan.tuning_steps,
        seconds=seconds,
        figures=figures,
        notes=notes,
    )
