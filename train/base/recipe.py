"""Train the trunk of the set `base` and the heads on its states together, from all-mpnet-base-v2.

The trunk is the first layers of MPNet; the next ones become the own layers of the acceptability head. The lowest layers stay as published.
Each step adds up three losses: CoLA's judgements, with sentences and their corruptions (acceptability and word probabilities); the
treebank (tags and trees); and, so that the trunk keeps and gains meaning, the cosines of the whole published network between the pieces
of texts with the same meaning (relational distillation, Park et al. 2019). The map from the states of the finished trunk to word vectors
is fitted last (train/base/export.py).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

from rome.data.readers.texts import read_trees
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.features.analyser.acceptability import Acceptability
from rome.features.analyser.encoder import PIECES_FILE, SIZES, network, stored_name, stored_tensors
from rome.features.analyser.model_set import multiplies_bf16
from rome.features.analyser.pieces import WordPieces
from rome.features.analyser.trees import TreeHead
from rome.train.base.export import OTHER, PUBLISHED, export
from rome.train.common.recipe import TrainingOptions, add_training_arguments, provenance, read_options
from rome.train.common.training import PROGRESS, Checkpoint, Log, Loss, adamw, padded, train
from rome.train.errors.texts import wmt_segments
from rome.train.grammar.data import Batch, Material, grammar_batches, load_material
from rome.train.grammar.figures import known_loss
from rome.train.parser.trees import TreeExample, examples_of, labels_of, loss_of, tree_batches

SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""Hash of the published model.safetensors of all-mpnet-base-v2."""


@dataclass(frozen=True)
class BaseOptions(TrainingOptions):
    """Sizes of one training run.

    Attributes
    ----------
    layers
        Number of layers of the trunk.
    own
        Number of own layers of the acceptability head.
    frozen
        Number of lowest layers that stay as published.
    steps
        Each has a batch of trees, one of judged and corrupted sentences and, every ``meaning_every`` steps, one of related texts.
    tree_pieces, grammar_pieces, meaning_pieces
        Pieces per batch.
    tuning_steps
        Steps of the acceptability head on the finished trunk, with ``tuning_share`` of judged sentences.
    rate
        Of published layers.
    head_rate
        Of new weights.
    lower_teacher, upper_teacher
        Published layers whose cosines are averaged.
    vector_width
        Numbers of the vector of a piece.
    layer_bits, embedding_bits, rare_bits
        Per number of the layers, of the embeddings of the ``frequent`` first pieces, and of the other embeddings.
    """

    steps: int = 700
    rate: float = 6e-5
    layers: int = 7
    own: int = 2
    frozen: int = 4
    tree_pieces: int = 640
    grammar_pieces: int = 1024
    meaning_pieces: int = 512
    meaning_every: int = 4
    head_rate: float = 1e-3
    dropout: float = 0.1
    judged_share: float = 0.4
    ranking_weight: float = 0.5
    tuning_steps: int = 400
    tuning_share: float = 0.75
    tuning_rate: float = 5e-5
    meaning_weight: float = 60.0
    lower_teacher: int = 7
    upper_teacher: int = 12
    vector_width: int = 384
    layer_bits: int = 6
    embedding_bits: int = 5
    rare_bits: int = 4
    frequent: int = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train base`."""
    add_training_arguments(parser, "base", BaseOptions)
    source = "folder of all-mpnet-base-v2 (model.safetensors, tokenizer.json)"
    parser.add_argument("--source", type=Path, required=True, help=source)
    parser.add_argument("--any-checkpoint", action="store_true", help="start from another MPNet checkpoint; the cards say so")
    trained = "trained.pt of an earlier run: only tune the acceptability head and write the set"
    parser.add_argument("--trained", type=Path, help=trained)


def read_mpnet(source: Path, *, checked: bool = True) -> Any:
    """Return all layers of a published MPNet checkpoint as the network of a trunk.

    Raises InputError if the folder does not hold such a checkpoint with its tokenizer or, with ``checked``, if the SHA-256 of the weights
    is not the published one.
    """
    weights, needed = Path(source) / "model.safetensors", ("model.safetensors", "config.json", PIECES_FILE)
    missing = [name for name in needed if not (Path(source) / name).is_file()]
    if missing:
        raise InputError(f"{source} has no {', no '.join(missing)}: give the unpacked folder of all-mpnet-base-v2 as --source")
    if checked and hashlib.sha256(weights.read_bytes()).hexdigest() != SHA256:
        raise InputError(f"{weights} is not the published all-mpnet-base-v2 (SHA-256 {SHA256[:16]}...): fetch it again")
    try:
        settings = {**json.loads((Path(source) / "config.json").read_text()), "type_vocab_size": 0, "first_position": 2}
        if settings.get("model_type") != "mpnet":
            raise ValueError(f"its model_type is {settings.get('model_type')!r}")
        tensors = {stored_name(name.removeprefix("mpnet.")): tensor for name, tensor in load_file(weights).items()}
        kept = {name: t for name, t in tensors.items() if name.startswith(("embeddings.", "encoder.")) and "_ids" not in name}
        return network(settings, kept, str(weights))
    except (ValueError, TypeError, KeyError, SafetensorError) as error:
        raise InputError(f"{source} holds no MPNet checkpoint ({error}): give the folder of one as --source") from error


class BaseModel(nn.Module):
    """The trained network: the layers of the trunk and of the acceptability head in one, and the new weights on them.

    The vectors in training are a linear map of two layers of the trunk, the last one and one in the middle; it starts as the last.
    """

    def __init__(self, source: Any, options: BaseOptions, labels: Mapping[str, Sequence[str]], common: torch.Tensor) -> None:
        super().__init__()
        self.options, self.frozen = options, options.frozen
        self.trunk = shortened(source, options.layers + options.own, options.dropout)
        width = source.config.hidden_size
        self.judge = Acceptability(0, options.layers + options.own, hidden=width, dropout=options.dropout)
        self.trees = TreeHead(width=width, mixed=options.layers, labels=labels, dropout=0.33)
        nn.init.normal_(self.trees.mix, 0.0, 0.01)
        self.middle = (options.layers + 1) // 2
        self.upper, self.lower = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        with torch.no_grad():
            self.upper.weight.copy_(torch.eye(width))
            self.upper.bias.copy_(-common)
            self.lower.weight.zero_()
        encoder = self.trunk.encoder
        for part in (self.trunk.embeddings, encoder.layer[: options.frozen], encoder.relative_attention_bias):
            part.requires_grad_(False)

    def train(self, mode: bool = True) -> BaseModel:
        """Set the mode of all parts but the frozen ones, which stay without dropout."""
        super().train(mode)
        for part in (self.trunk.embeddings, *self.trunk.encoder.layer[: self.frozen]):
            part.eval()
        return self

    def states(self, ids: torch.Tensor, mask: torch.Tensor, upto: int) -> list[torch.Tensor]:
        """Return the states after the embeddings and each of the first ``upto`` layers, (b, L, width) each."""
        with torch.autocast("cpu", torch.bfloat16, enabled=multiplies_bf16()):
            found = self.trunk(ids, mask.long(), output_hidden_states=True).hidden_states
        return [state.float() for state in found[: upto + 1]]

    def vectors(self, states: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return (b, L, width) vectors of the pieces."""
        found: torch.Tensor = self.upper(states[self.options.layers]) + self.lower(states[self.middle])
        return found


def shortened(source: Any, layers: int, dropout: float = 0.0) -> Any:
    """Return a copy of the first layers of a trunk."""
    config = {name: getattr(source.config, name, 0) for name in SIZES} | {"num_hidden_layers": layers, "dropout": dropout}
    further = tuple(f"encoder.layer.{n}." for n in range(layers, source.config.num_hidden_layers))
    kept = {name: tensor.clone() for name, tensor in stored_tensors(source).items() if not name.startswith(further)}
    return network(config, kept, "the published model").requires_grad_(True)


def related_texts() -> list[tuple[str, ...]]:
    """Return references and outputs of each WMT segment that no final figures use."""
    return [(*segment.references, *(text for _, text in segment.outputs)) for _, segment in wmt_segments()]


class Meaning:
    """Related texts, and the cosines of the published network between their pieces."""

    def __init__(self, source: Any, tokenizer: Any, options: BaseOptions, rng: random.Random) -> None:
        self.source, self.tokenizer, self.options, self.rng = source, tokenizer, options, rng
        groups = [group for group in related_texts() if 3 < len(group[0].split()) < 32]
        self.groups = sorted(groups, key=lambda group: len(group[0].split()))
        self.levels = (options.lower_teacher, options.upper_teacher)
        texts = [group[0] for group in rng.sample(self.groups, min(300, len(self.groups)))]
        ids, mask = padded(tokenizer(texts)["input_ids"])
        self.common = [states[mask].mean(0) for states in self._teach(ids, mask)]

    def batch(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return piece ids and mask of some segments of similar length, three texts of each, and the segment number of each text."""
        rows: list[list[int]] = []
        owners: list[int] = []
        around = self.rng.randrange(len(self.groups))
        while sum(map(len, rows)) < self.options.meaning_pieces:
            group = self.groups[min(len(self.groups) - 1, max(0, around + self.rng.randint(-200, 200)))]
            chosen = [group[0], *self.rng.sample(group[1:], min(2, len(group) - 1))]
            coded = self.tokenizer(chosen, truncation=True, max_length=48)["input_ids"]
            rows += coded
            owners += [len(owners)] * len(coded)
        ids, mask = padded(rows)
        return ids, mask, torch.tensor(owners)

    def cosines(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return (n, n) cosines between all pieces without their common part, the mean of both levels."""
        found = [functional.normalize(s[mask] - c, dim=1) for s, c in zip(self._teach(ids, mask), self.common, strict=True)]
        return torch.stack([units @ units.T for units in found]).mean(0)

    @torch.no_grad()
    def _teach(self, ids: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
        with torch.autocast("cpu", torch.bfloat16, enabled=multiplies_bf16()):
            states = self.source(ids, mask.long(), output_hidden_states=True).hidden_states
        return [states[level].float() for level in self.levels]

    def loss(self, model: BaseModel) -> torch.Tensor:
        """Return the mean squared difference of the cosines; those within a segment weigh as much as all others together."""
        ids, mask, owners = self.batch()
        wanted = self.cosines(ids, mask)
        units = functional.normalize(model.vectors(model.states(ids, mask, model.options.layers))[mask], dim=1)
        owner = owners[:, None].expand(mask.shape)[mask]
        same = owner[:, None] == owner[None, :]
        error = (units @ units.T - wanted) ** 2
        loss: torch.Tensor = 0.5 * error[same].mean() + 0.5 * error[~same].mean()
        return loss


def grammar_loss(model: BaseModel, batch: Batch) -> torch.Tensor:
    """Return the cross-entropy of sentences and pieces, and of the order of each sentence and its corruption."""
    states = model.states(batch.pieces, batch.mask, model.options.layers + model.options.own)[-1]
    sentence, pieces = model.judge(states, batch.mask)
    loss = known_loss(sentence, pieces, batch)
    if batch.pairs:
        clean, broken = torch.tensor(batch.pairs).T
        loss = loss + model.options.ranking_weight * functional.softplus(sentence[broken] - sentence[clean]).mean()
    return loss


def trees_loss(model: BaseModel, batch: Sequence[TreeExample]) -> torch.Tensor:
    """Return the loss of `rome.train.parser.trees.loss_of`."""
    ids, mask = padded([example.pieces for example in batch])
    return loss_of(model.trees, torch.stack(model.states(ids, mask, model.options.layers)[1:]), mask, batch)


def fit(
    model: BaseModel, losses: Mapping[str, Loss], steps: int, rates: tuple[float, float], log: Log, options: BaseOptions
) -> None:
    """Train in place; the weights are averaged over the last third.

    Parameters
    ----------
    rates
        Rates of published layers and of new weights.
    """
    rate, head_rate = rates
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    groups = [
        {"params": [p for name, p in named if name.startswith("trunk.")], "lr": rate},
        {"params": [p for name, p in named if name.startswith(("upper", "lower", "judge"))], "lr": head_rate / 5},
        {"params": [p for name, p in named if name.startswith("trees.")], "lr": head_rate},
    ]
    optimizer = adamw(groups, fused=True)
    keep, after = Checkpoint(options, model, optimizer).save, steps * 2 // 3
    train(model, optimizer, losses, steps, log, logged=20, every=options.every, keep=keep, average_after=after)


def tune(model: BaseModel, material: Material, rng: random.Random, log: Log) -> None:
    """Continue with the acceptability head alone, mostly on judged sentences."""
    options = model.options
    model.requires_grad_(False)
    model.judge.requires_grad_(True)
    model.trunk.encoder.layer[options.layers :].requires_grad_(True)
    model.frozen = options.layers
    sentences = grammar_batches(material, rng, judged=options.tuning_share, pieces=options.grammar_pieces)
    rates = options.tuning_rate, 5 * options.tuning_rate
    fit(model, {"grammar": lambda _: grammar_loss(model, next(sentences))}, options.tuning_steps, rates, log, options)


def half_way(model: BaseModel, before: Mapping[str, torch.Tensor]) -> None:
    """Set every weight to the mean of its values before and after tuning, which is better out of domain (Wortsman et al. 2022)."""
    now = model.state_dict()
    half = {name: (now[name] + old) / 2 if old.is_floating_point() else old for name, old in before.items()}
    model.load_state_dict(half)


def check_options(options: BaseOptions, source: Any) -> None:
    """Raise InputError for options that need more layers or width than the checkpoint has."""
    have, width = source.config.num_hidden_layers, source.config.hidden_size
    deepest = max(options.layers + options.own, options.lower_teacher, options.upper_teacher)
    if deepest > have or options.vector_width > width:
        raise InputError(f"the checkpoint has {have} layers of {width} numbers: choose fewer, or a smaller --vector-width")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train base`."""
    options = read_options(arguments, BaseOptions)
    work, seed = options.work, options.seed
    torch.manual_seed(seed)
    rng = random.Random(seed)
    source = read_mpnet(arguments.source, checked=not arguments.any_checkpoint)
    check_options(options, source)
    tokenizer = WordPieces(arguments.source / PIECES_FILE)
    material = load_material(tokenizer)
    treebank = list(read_trees(data_file("ud_english_ewt/train.conllu")))
    labels = labels_of(treebank)
    meaning = Meaning(source, tokenizer, options, rng)
    model = BaseModel(source, options, labels, meaning.common[0])
    if arguments.trained is None:
        trees = tree_batches(examples_of(treebank, tokenizer, labels), rng, options.tree_pieces)
        sentences = grammar_batches(material, rng, judged=options.judged_share, pieces=options.grammar_pieces)
        losses: dict[str, Loss] = {
            "trees": lambda _: trees_loss(model, next(trees)),
            "grammar": lambda _: grammar_loss(model, next(sentences)),
            "meaning": lambda step: options.meaning_weight * meaning.loss(model) if step % options.meaning_every == 0 else None,
        }
        log = Log(work / PROGRESS)
        fit(model, losses, options.steps, (options.rate, options.head_rate), log, options)
        torch.save({"model": model.state_dict(), "seconds": log.seconds()}, work / "trained.pt")
    trained = torch.load(arguments.trained or work / "trained.pt", weights_only=True)
    model.load_state_dict(trained["model"])
    log = Log(work / "tuning.jsonl", trained.get("seconds", 0))
    torch.manual_seed(seed + 1)  # so that a run from trained.pt gives the same weights
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tune(model, material, random.Random(seed + 1), log)
    half_way(model, before)
    unseen = examples_of(list(read_trees(data_file("ud_english_ewt/dev.conllu"))), tokenizer, labels)
    about = provenance(options, options.steps + options.tuning_steps, log.seconds())
    origin = OTHER if arguments.any_checkpoint else PUBLISHED
    export(model.eval(), source, arguments.source, material, unseen, options.out, origin, about)
    return 0
