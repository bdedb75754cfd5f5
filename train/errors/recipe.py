"""`rome train errors`: train the reader of both texts on annotated groups, people's judgements and perturbed texts.

The lessons of all sources (`sources.py`) are packed once (`packing.py`); then every step has groups of all of them. What judges never
trains: see the README of the data.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel

from rome.exceptions import InputError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk, stored_tensors
from rome.features.analyser.model_set import multiplies_bf16
from rome.features.analyser.pair_reader import FURTHER, further_layers
from rome.features.analyser.pieces import WordPieces
from rome.features.analyser.transformer import first_line, pretrained
from rome.features.analyser.weights import load_weights, save_weights
from rome.features.errors.evidence import READER_FILE, SEVERITIES, TYPES
from rome.train.common.recipe import TrainingOptions, add_training_arguments, card_text, provenance, read_options, write_card
from rome.train.common.training import CHECKPOINT, PROGRESS, Checkpoint, Log, train
from rome.train.errors import sources
from rome.train.errors.batches import Array, Batch, Batches, batches
from rome.train.errors.losses import Weights, judge, losses
from rome.train.errors.net import PairNet, Read, load_reader
from rome.train.errors.packing import Lessons, pack
from rome.train.errors.signals import PAIRS, learn_signals, signal_lessons
from rome.train.errors.texts import paraphrases, prepare, write_agreements
from rome.train.synthesis.pairs import read_synthetic

LESSONS, HELD_OUT, PLAN = "lessons.npz", "held_out.npz", "lessons.json"
FURTHER_BITS = 4
"""Of the numbers of further layers, which archives store in that much less space."""
PACKED_FOR = "base"
"""The set whose word pieces the packed lessons hold."""


@dataclass(frozen=True)
class ErrorsOptions(TrainingOptions):
    """The sizes of one training run.

    Attributes
    ----------
    below
        Layers of the trunk that read each text alone; all others read both texts
    further
        Layers of the published model after the trunk's that read both texts, too
    rank
        The rank of the adapters
    pairs
        Pairs of a step, about
    parts
        Parts of like length in which the pairs of a step are read
    workers
        Processes that make the batches
    device
        Where to train: cpu or cuda
    teacher
        A model set whose reader teaches this one
    begin
        A model set whose reader is trained further, with its sizes and any --further layers that it lacks
    signals
        Steps of a first stage that learns BLEU, ROUGE, BERTScore and back-translation of the --synthesized pairs
    wikipedia
        Pairs of a sentence and its split that are perturbed
    systems
        Pairs of a reference and a system output that are perturbed
    paraphrases
        Perturbed pairs of all kinds, at most
    segments
        Segments whose system outputs are ranked
    bits
        Of the adapters' stored numbers
    kept
        The share of the adapters' change that is stored: a little less than all orders new texts better
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
    bits: int = 3
    kept: float = 0.9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train errors`."""
    add_training_arguments(parser, ErrorsOptions, models=True, resumed=True)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=sources.NAMES,
        metavar="SOURCE",
        help=f"train on these sources alone: {', '.join(sources.NAMES)}",
    )
    parser.add_argument(
        "--synthesized", type=Path, nargs="+", default=[], metavar="FILE", help="pairs of `rome synthesize`, a further source"
    )
    parser.add_argument(
        "--lessons", type=Path, help=f"a folder with {LESSONS} and {HELD_OUT} of an earlier run, instead of packing them"
    )
    parser.add_argument("--source", type=Path, help="folder of the published model that the --further layers come from")
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints (default: 100)")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train errors`: pack the lessons, train, write weights and card.

    Raises InputError when data is missing.
    """
    options, files = read_options(arguments, ErrorsOptions), arguments.synthesized
    if options.signals and not files:
        raise InputError("--signals needs --synthesized: give files that `rome synthesize` wrote")
    names = arguments.only or [name for name in sources.NAMES if name != sources.SYNTHESIZED or files]
    folder = arguments.lessons or packed(options, names, files)
    if arguments.source:
        pack_further(arguments.source, options.models, folder)
    torch.manual_seed(options.seed)
    net, drawn = begun(options, folder), Lessons.load(folder / LESSONS)
    before = {name: tensor.detach().cpu().clone() for name, tensor in net.own().items() if name.endswith(".up")}
    figures: dict[str, object] = {}
    if options.signals and not (options.resume and (options.work / CHECKPOINT).is_file()):
        figures["signals"] = first_stage(net, files, options)
    seconds = fit(net, drawn, options)
    partly = {name: tensor.lerp(net.own()[name].detach().cpu(), options.kept) for name, tensor in before.items()}
    export(net, options.out, options.bits, partly)
    held_out = Batches(Lessons.load(folder / HELD_OUT), *tokens_of(options.models), parts=options.parts)
    figures["held_out_groups"] = judge(net, held_out, options.device)
    earlier = f"It went on from the reader of {options.begin}. " if options.begin else ""
    earlier += f"The reader of {options.teacher} taught it, too. " if options.teacher else ""
    text = card_text("errors", before=earlier) | {"data": described(drawn)}
    more = ["--only", *map(_quoted, arguments.only)] if arguments.only else []
    more += ["--synthesized", *(path.name for path in files)] if files else []
    write_card(options.out, **text, **provenance("errors", options, options.steps, seconds, *more), figures=figures)
    sys.stderr.write(json.dumps(figures) + "\n")
    return 0


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def described(lessons: Lessons) -> list[str]:
    """Return for each source of the lessons what it teaches, and how many lessons and pairs it has."""
    pairs, names = np.diff(lessons.group_start), lessons.sources.tolist()
    own = [pairs[lessons.source == n] for n in range(len(names))]
    return [
        f"{name}: {sources.TEACHES.get(name, 'packed before')}; {len(sizes):,} lessons, {sizes.sum():,} pairs"
        for name, sizes in zip(names, own, strict=True)
    ]


def packed(options: ErrorsOptions, names: Sequence[str], files: Sequence[Path]) -> Path:
    """Pack the lessons of some sources into the work folder, unless it has them, and return it."""
    work, seed = options.work, options.seed
    counts = options.wikipedia, options.systems, options.paraphrases, options.segments
    plan = json.dumps([seed, names, *([str(path.resolve()), path.stat().st_mtime] for path in files), counts])
    if (work / PLAN).is_file() and (work / PLAN).read_text(encoding="utf-8") == plan:
        return work
    further: dict[str, sources.Draw] = {sources.SYNTHESIZED: sources.Synthesized(files)}
    if sources.PERTURBED in names:
        pairs = paraphrases(seed, options.wikipedia, options.systems)[: options.paraphrases]
        surfaces = [text for pair in pairs for text in (pair.one, pair.other)]
        texts = prepare(surfaces, "small", seed, work / "texts.jsonl", work / "analyses.sqlite", options.threads)
        further[sources.PERTURBED] = sources.Perturbed(
            pairs, texts, write_agreements(work / "agreement.jsonl", seed, options.segments)
        )
    pack(sources.held_out_lessons(), pieces_of_packing()).save(work / HELD_OUT)
    pack(sources.lessons(further, names, seed), pieces_of_packing()).save(work / LESSONS)
    (work / PLAN).write_text(plan, encoding="utf-8")
    return work


def pieces_of_packing() -> WordPieces:
    """Return the tokenizer of packed lessons."""
    return load_tokenizer(set_folder(PACKED_FOR) / "encoder")


def first_stage(net: PairNet, files: Sequence[Path], options: ErrorsOptions) -> dict[str, float]:
    """Let the net learn the signals of synthetic pairs, and return its losses. Raises InputError for files without a pair."""
    pairs = [pair for path in files for pair in read_synthetic(path)]
    if not pairs:
        raise InputError(f"--signals needs pairs, got none in {', '.join(map(str, files))}")
    source = Batches(pack(signal_lessons(pairs), pieces_of_packing()), *tokens_of(options.models), PAIRS, 1, options.seed)
    return learn_signals(net, source, pairs, options.signals, options.rate, options.seed)


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


def fit(net: PairNet, lessons: Lessons, options: ErrorsOptions) -> int:
    """Train the net and return the seconds spent, those before an interruption included."""
    teacher = load_reader(set_folder(options.teacher)).to(options.device) if options.teacher else None
    optimizer = torch.optim.AdamW(net.own().values(), options.rate, weight_decay=0.01, betas=(0.9, 0.98))
    checkpoint = Checkpoint(options, net, optimizer)
    log = Log(options.work / PROGRESS, checkpoint.seconds, append=options.resume)
    steps = _steps(lessons, options.models, options, checkpoint.step)
    teacher_steps = _steps(lessons, options.teacher, options, checkpoint.step) if teacher is not None else None
    fast = options.device == "cuda" or multiplies_bf16()

    def read(reader: PairNet, parts: Sequence[Batch]) -> list[Read]:
        with torch.autocast(options.device, torch.bfloat16, enabled=fast):
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

    train(
        net, optimizer, {"loss": loss}, options.steps, log, first=checkpoint.step, logged=options.every,
        every=options.every, keep=checkpoint.save,
    )  # fmt: skip
    return log.seconds()


def _steps(lessons: Lessons, models: str, options: ErrorsOptions, first: int) -> Iterator[list[Batch]]:
    """Yield the parts of each step on the device, as a set's tokenizer has them."""
    marks, numbers = tokens_of(models)
    source = Batches(lessons, marks, numbers, options.pairs, options.parts, options.seed)
    for parts in batches(source, first, options.steps, options.workers):
        yield [part.to(options.device) for part in parts]


def export(net: PairNet, out: Path, bits: int, changed: Mapping[str, Tensor]) -> None:
    """Write what the reader has besides the trunk: adapters, norms, marks, the maps to what it says, and further layers.

    Matrices as int8, those of the adapters and of further layers with fewer different values, which archives store in less space.

    Parameters
    ----------
    bits
        Of the adapters' numbers.
    changed
        Tensors by name that are written in place of the net's: averages of those before and after training (Wortsman et al. 2022, WiSE-FT).
    """
    about = {"below": net.below, "severities": list(SEVERITIES), "types": list(TYPES)}
    tensors = {name: tensor.detach().float().cpu() for name, tensor in net.own().items()}
    tensors["prior"] = torch.tensor([0.0, *[log1p(Weights().error)] * 3])  # how much more often a step counts marked words
    tensors |= changed
    further = {name: tensor.cpu() for name, tensor in net.further.items()}
    rounded = {name: bits for name in tensors if ".maps." in name} | dict.fromkeys(further, FURTHER_BITS)
    save_weights(out / READER_FILE, tensors | further, about, bits=rounded)
