"""A reader of both texts of one or two tiny layers, with random weights and adapters, and analyses with the states that it starts from."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

from rome.data.perturbations.changes import Made, plain
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import PIECES_FILE, TRUNK_FILE, load_tokenizer, load_trunk, stored_tensors
from rome.features.analyser.pieces import encode, pooled, touched
from rome.features.analyser.weights import save_weights
from rome.features.model_files import MANIFEST, record_files
from rome.features.values import Analysis
from rome.train.errors.batches import Batch, Batches
from rome.train.errors.groups import Group, Member
from rome.train.errors.net import PairNet, load_reader
from rome.train.errors.packing import Lessons, pack
from rome.train.errors.recipe import export

from handmade import analysis

WIDTH, BELOW = 24, 1
TRUNKS = {"bert": {}, "mpnet": {"relative_attention_num_buckets": 32, "type_vocab_size": 0, "first_position": 2}}
"""What tells the two kinds of trunks apart."""


def randomised(module: torch.nn.Module) -> torch.nn.Module:
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.ndim == 1), std=0.3)
    return module


def sizes_of(kind: str, layers: int) -> dict[str, Any]:
    """Return the sizes of a tiny trunk."""
    sizes = {"vocab_size": 30522, "hidden_size": WIDTH, "num_hidden_layers": layers, "num_attention_heads": 4}
    return {**sizes, "intermediate_size": 48, "max_position_embeddings": 512, "layer_norm_eps": 1e-12, **TRUNKS[kind]}


def random_network(kind: str, layers: int) -> Any:
    """Return transformers' own model of these sizes with random numbers."""
    model, config = (MPNetModel, MPNetConfig) if kind == "mpnet" else (BertModel, BertConfig)
    return randomised(model(config(**sizes_of(kind, layers)), add_pooling_layer=False)).eval()


def write_trunk(folder: Path, kind: str) -> Path:
    """The encoder's folder of a set: a trunk of two layers, all of its numbers random, and the word pieces of `small`."""
    torch.manual_seed(0)
    folder.mkdir(parents=True)
    save_weights(folder / TRUNK_FILE, stored_tensors(random_network(kind, 2)), {"config": sizes_of(kind, 2)})
    shutil.copyfile(set_folder("small") / "encoder" / PIECES_FILE, folder / PIECES_FILE)
    return folder


def write_reader(folder: Path, *, below: int = BELOW, further: int = 0, spread: float = 0.3) -> PairNet:
    """Write the reader of the set in a folder, away from its beginning by so much at random; the net as it is read again."""
    torch.manual_seed(1)
    trunk = load_trunk(folder / "encoder")
    more = random_network("bert", further).encoder.layer if further else []
    net = PairNet(trunk, below, rank=3, further=[stored_tensors(layer) for layer in more])
    with torch.no_grad():
        for parameter in net.own().values():
            parameter.add_(spread * torch.randn_like(parameter))
    (folder / "errors").mkdir()
    export(net, folder / "errors", 3)
    if (folder / MANIFEST).is_file():
        record_files(folder)
    return load_reader(folder)


def lessons_of(groups: Iterable[Group], folder: Path) -> Lessons:
    """Lessons as the tokenizer of a set packs them."""
    return pack(groups, load_tokenizer(folder / "encoder"))


def batches_of(lessons: Lessons, folder: Path, **sizes: int) -> Batches:
    tokenizer = load_tokenizer(folder / "encoder")
    return Batches(lessons, (tokenizer.cls_token_id, tokenizer.sep_token_id), **sizes)


def batch_of(pairs: Iterable[tuple[str, str]], folder: Path) -> Batch:
    """One batch of plain pairs."""
    groups = [Group("pairs", plain(one), (Member(plain(other), 0.0, 0.0, 1.0),)) for one, other in pairs]
    (batch,) = batches_of(lessons_of(groups, folder), folder, pairs=10**6, parts=1)[0]
    return batch


def with_states(text: str, seed: int = 0) -> Analysis:
    """A hand-made analysis with random states."""
    made = analysis(text)
    states = np.random.default_rng([seed, len(text)]).normal(size=(len(made.words), WIDTH))
    return replace(made, states=states.astype(np.float16))


@torch.no_grad()
def with_own_states(made: Made, folder: Path, below: int) -> Analysis:
    """A hand-made analysis of plain words with the states of a trunk, sentence by sentence and without padding."""
    found, tokenizer, trunk = analysis(made.text), load_tokenizer(folder / "encoder"), load_trunk(folder / "encoder")
    assert tuple((word.start, word.end) for word in found.words) == made.words
    rows, spans = [], []
    for start, end in made.sentences:
        (each,) = encode(tokenizer, [made.text[start:end]], 512)
        rows.append(trunk(torch.tensor(each.rows), output_hidden_states=True).hidden_states[below][0, 1:-1].numpy())
        spans += [(start + a, start + b) for a, b in each.spans]
    return replace(found, states=pooled(np.concatenate(rows), touched(spans, made.words)))
