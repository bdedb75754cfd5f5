"""Train the head of tags and trees on the states of a finished trunk, with UD English EWT.

Its own layers start as the layers after the last one of the trunk: those of the acceptability head of the set if it has them, else those of
the checkpoint of the trunk. Only the training part of the treebank trains.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from rome.data.readers.texts import TreeSentence, read_trees
from rome.data.sources import data_file
from rome.features.analyser.acceptability import Acceptability, load_acceptability
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import EmbeddedEncoder, load_encoder
from rome.features.analyser.model_set import multiplies_bf16
from rome.features.analyser.pieces import touched
from rome.features.analyser.trees import TAGS, TREES_FILE, TreeHead, WordRows, load_tree_head, spellings_of
from rome.features.analyser.weights import save_weights
from rome.train.common.recipe import TrainingOptions, add_training_arguments, read_options, write_training_card
from rome.train.common.training import PROGRESS, Log, adamw, narrowed, padded, shuffled_batches, start_from_encoder, train

UNKNOWN = -100
"""Number of a class that is not in the training part; it is never learned and never right."""
FEWEST = 2
"""Least frequency of a string of features that is a class."""
LONGEST = 160


@dataclass(frozen=True, slots=True)
class TreeExample:
    """One sentence: piece ids with both special tokens, the places of its n words, and the numbers of their right classes.

    Attributes
    ----------
    heads
        (n,) 0 for the root, else the number of the word from 1.
    """

    pieces: tuple[int, ...]
    places: WordRows
    answers: Mapping[str, torch.Tensor]
    heads: torch.Tensor


def labels_of(sentences: Iterable[TreeSentence]) -> dict[str, tuple[str, ...]]:
    """Return the classes of a treebank by attribute, the most frequent first."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in (*TAGS, "relation")}
    for sentence in sentences:
        for word in sentence.words:
            for name, counter in counts.items():
                counter[getattr(word, name)] += 1
    return {
        name: tuple(label for label, n in counter.most_common() if name != "feats" or n >= FEWEST)
        for name, counter in counts.items()
    }


def examples_of(sentences: Sequence[TreeSentence], tokenizer: Any, labels: Mapping[str, Sequence[str]]) -> list[TreeExample]:
    """Return one example per sentence, without those of more than LONGEST pieces and those with a word without pieces."""
    numbers = {name: {label: n for n, label in enumerate(known)} for name, known in labels.items()}
    coded = tokenizer([sentence.text for sentence in sentences], return_offsets_mapping=True)
    found = []
    for sentence, row, offsets in zip(sentences, coded["input_ids"], coded["offset_mapping"], strict=True):
        first, last = touched(offsets[1:-1], [(word.start, word.end) for word in sentence.words])
        if len(row) > LONGEST or (first >= last).any():
            continue
        spellings = spellings_of([sentence.text[word.start : word.end] for word in sentence.words])
        places = WordRows((first + 1).tolist(), (last + 1).tolist(), [word.place for word in sentence.words], spellings)
        answers = {
            name: torch.tensor([known.get(getattr(word, name), UNKNOWN) for word in sentence.words])
            for name, known in numbers.items()
        }
        found.append(TreeExample(tuple(row), places, answers, torch.tensor([word.head for word in sentence.words])))
    return found


def tree_batches(examples: Sequence[TreeExample], rng: random.Random, pieces: int) -> Iterator[list[TreeExample]]:
    """Yield batches without end, of sentences of similar length and about ``pieces`` pieces, in random order."""
    while True:
        yield from shuffled_batches(examples, rng, pieces, lambda example: len(example.pieces), noise=4)


def loss_of(head: TreeHead, layers: torch.Tensor, mask: torch.Tensor, batch: Sequence[TreeExample]) -> torch.Tensor:
    """Return the mean cross-entropy per word of arcs, relations and tags.

    Parameters
    ----------
    layers
        (mixed, b, L, width) states of the first layers of the trunk.
    """
    words, real = head.read(head.mixture(layers), mask, [example.places for example in batch])
    scores = head.scores(words, ~real)
    heads = _joined(batch, "heads")
    known = real[:, 1:]
    total = cross_entropy(scores.arcs[known].float(), heads[known])
    related = head.relation_scores(scores, heads.clamp_min(0))[known].float()
    total = total + cross_entropy(related, _joined(batch, "relation")[known])
    for name in TAGS:
        total = total + cross_entropy(scores.tags[name][known].float(), _joined(batch, name)[known])
    return total


def _joined(batch: Sequence[TreeExample], name: str) -> torch.Tensor:
    """Return (b, n) right classes of the words of a batch, UNKNOWN after the last one."""
    answers = [example.heads if name == "heads" else example.answers[name] for example in batch]
    return pad_sequence(answers, batch_first=True, padding_value=UNKNOWN)


@torch.no_grad()
def tree_figures(head: TreeHead, states: Sequence[torch.Tensor], examples: Sequence[TreeExample]) -> dict[str, float]:
    """Return the percentages of words with the right head and relation (``las``), head (``uas``), and each tag, on gold words.

    Parameters
    ----------
    states
        For each example (mixed, L, width).
    """
    names = {name: {label: n for n, label in enumerate(head.labels[name])} for name in (*TAGS, "relation")}
    right: Counter[str] = Counter()
    for tree, example in zip(head.parse(states, [example.places for example in examples]), examples, strict=True):
        attached = np.array(tree.heads) == example.heads.numpy()
        related = np.array([names["relation"][r] for r in tree.relations]) == example.answers["relation"].numpy()
        right.update(words=len(attached), uas=int(attached.sum()), las=int((attached & related).sum()))
        for name in TAGS:
            found = np.array([names[name][label] for label in getattr(tree, name)])
            right[name] += int((found == example.answers[name].numpy()).sum())
    return {name: round(100 * right[name] / right["words"], 2) for name in ("las", "uas", *TAGS)}


BITS = 6
LAST = 3.0
"""Logarithm of the start weight of the last layer of the trunk; that of the others is 0."""


@dataclass(frozen=True)
class TreesOptions(TrainingOptions):
    """Sizes of one run.

    Attributes
    ----------
    layers, inner
        Number of own layers, and of their inner units, the heaviest ones.
    pieces
        Per batch.
    rate, head_rate
        Of the layers, and of new weights.
    word_dropout, part_dropout
        Of the states of words, and of the parts of their spellings.
    """

    steps: int = 3000
    rate: float = 2e-4
    layers: int = 2
    inner: int = 1536
    pieces: int = 1000
    head_rate: float = 1.5e-3
    dropout: float = 0.1
    word_dropout: float = 0.25
    part_dropout: float = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train trees`."""
    add_training_arguments(parser, "trees", TreesOptions, models=True)


def run(arguments: argparse.Namespace) -> int:
    """Train, average the weights over the last third, round, write the head and its card."""
    options = read_options(arguments, TreesOptions)
    torch.manual_seed(options.seed)
    folder = set_folder(options.models)
    encoder = load_encoder(folder / "encoder", precision="bf16")
    treebank = list(read_trees(data_file("ud_english_ewt/train.conllu")))
    labels = labels_of(treebank)
    examples = examples_of(treebank, encoder.tokenizer, labels)
    unseen = examples_of(list(read_trees(data_file("ud_english_ewt/dev.conllu"))), encoder.tokenizer, labels)
    head = new_head(options, encoder.trunk.config, labels, load_acceptability(folder / "grammar"))
    log = Log(options.work / PROGRESS)
    fit(head, encoder, examples, options, log)
    save_head(head, options.out)
    figures = tree_figures(load_tree_head(options.out), states_of(load_encoder(folder / "encoder"), unseen), unseen)
    log.write(stage="exported", **figures)
    percent = {name.upper(): value for name, value in figures.items()}
    write_training_card("trees", options, options.steps, log.seconds(), percent)
    return 0


def new_head(options: TreesOptions, config: Any, labels: Mapping[str, Sequence[str]], judge: Acceptability) -> TreeHead:
    """Return an untrained head.

    Parameters
    ----------
    judge
        Acceptability head of the set.
    """
    width, inner = config.hidden_size, min(options.inner, config.intermediate_size)
    sizes = {"layers": options.layers, "heads": config.num_attention_heads, "inner": inner}
    head = TreeHead(width=width, mixed=config.num_hidden_layers, labels=labels, dropout=options.word_dropout, **sizes)
    head.part_dropout.p = options.part_dropout
    for part in head.layers.modules():
        if isinstance(part, nn.Dropout):
            part.p = options.dropout
    if judge.input_layer == config.num_hidden_layers:
        for layer, old in zip(head.layers, judge.layers, strict=False):
            layer.load_state_dict(narrowed(old, inner))
    else:
        start_from_encoder(head.layers, config.num_hidden_layers)
    with torch.no_grad():
        head.mix[-1] = LAST  # the layers were trained on its states
    return head


def states_of(encoder: EmbeddedEncoder, examples: Sequence[TreeExample]) -> list[torch.Tensor]:
    """Return per example the (layers, L, width) states of the trunk."""
    return encoder.states_of_rows([example.pieces for example in examples])


def fit(head: TreeHead, encoder: EmbeddedEncoder, examples: Sequence[TreeExample], options: TreesOptions, log: Log) -> None:
    """Train the head in place; the states of each sentence are computed once and kept in half precision."""
    named = dict(head.named_parameters())
    own = [parameter for name, parameter in named.items() if name.startswith("layers.")]
    new = [parameter for name, parameter in named.items() if not name.startswith("layers.")]
    groups = [{"params": new, "lr": options.head_rate}, *([{"params": own}] if own else [])]
    optimizer = adamw(groups, options.rate, fused=True)
    known: dict[tuple[int, ...], torch.Tensor] = {}
    stream = tree_batches(examples, random.Random(options.seed), options.pieces)

    def loss(_: int) -> torch.Tensor:
        batch = next(stream)
        missing = [example for example in batch if example.pieces not in known]
        known.update((e.pieces, s.half()) for e, s in zip(missing, states_of(encoder, missing), strict=True))
        _, mask = padded([example.pieces for example in batch])
        layers = torch.zeros(head.sizes["mixed"], *mask.shape, head.sizes["width"])
        for n, example in enumerate(batch):
            layers[:, n, : len(example.pieces)] = known[example.pieces].float()
        with torch.autocast("cpu", torch.bfloat16, enabled=multiplies_bf16()):
            return loss_of(head, layers, mask, batch)

    train(head, optimizer, {"loss": loss}, options.steps, log, clip=5.0, average_after=options.steps * 2 // 3)


def save_head(head: TreeHead, out: Path) -> None:
    """Write the file of the head, with its own layers and the table of spellings in BITS bits per number."""
    about = {"sizes": head.sizes, "labels": {name: list(names) for name, names in head.labels.items()}}
    tensors = dict(head.state_dict())
    bits = {name: BITS for name in tensors if name.startswith(("layers.", "spell"))}
    save_weights(Path(out) / TREES_FILE, tensors, about, bits=bits)
