"""Write the trained network of `base` as a model set: trunk, vectors, acceptability, trees, and the cards."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn import functional

from rome.data.readers.texts import read_wmt
from rome.data.sources import data_file, read_jsonl
from rome.features.analyser.acceptability import GRAMMAR_FILE, Acceptability, load_acceptability
from rome.features.analyser.encoder import (
    COMMON_FILE,
    PIECES_FILE,
    SIZES,
    TRUNK_FILE,
    VECTORS_FILE,
    WORDS,
    EmbeddedEncoder,
    SentenceStates,
    load_encoder,
    load_trunk,
    parts_of,
    stored_tensors,
)
from rome.features.analyser.trees import load_tree_head
from rome.features.analyser.weights import save_weights
from rome.features.model_files import record_files
from rome.train.common.recipe import card_text, write_card
from rome.train.common.training import torch_layer
from rome.train.grammar.data import Material
from rome.train.grammar.figures import calibrate, figures_of, predict, threshold
from rome.train.parser.trees import TreeExample, save_head, states_of, tree_figures

if TYPE_CHECKING:
    from rome.train.base.recipe import BaseModel, BaseOptions


PUBLISHED = {"source": "all-mpnet-base-v2", "licence": "Apache-2.0"}
OTHER = {"source": "another MPNet checkpoint", "licence": "that checkpoint's own"}
"""The checkpoint that training starts from, for weights and cards."""


def export(
    model: BaseModel,
    published: Any,
    source: Path,
    material: Material,
    unseen: Sequence[TreeExample],
    out: Path,
    origin: Mapping[str, str],
    about: Mapping[str, Any],
) -> None:
    """Write the set without its net and its settings, and its cards; the figures are those of the rounded models.

    Parameters
    ----------
    published
        The whole published network.
    source
        The folder of its checkpoint, for the word pieces.
    unseen
        Development part of the treebank.
    about
        Recipe, seed, steps and seconds, for the cards.
    """
    options, out = model.options, Path(out)
    for part in ("encoder", "grammar", "trees"):
        (out / part).mkdir(exist_ok=True, parents=True)
    shutil.copyfile(source / PIECES_FILE, out / "encoder" / PIECES_FILE)
    _save_trunk(model.trunk, options, origin, out / "encoder" / TRUNK_FILE)
    explained = _save_vectors(model, published, about["seed"], out / "encoder")
    _save_acceptability(model, load_trunk(out / "encoder"), material, origin, out / "grammar")
    save_head(model.trees, out / "trees")
    record_files(out)
    encoder = load_encoder(out / "encoder")
    trees = tree_figures(load_tree_head(out / "trees"), states_of(encoder, unseen), unseen)
    head = load_acceptability(out / "grammar")
    grammar = figures_of(head, encoder.trunk, material)
    values = {"start": origin["source"], "licence": origin["licence"], "options": options}
    of_encoder = {
        "layers": options.layers,
        "width": encoder.trunk.config.hidden_size,
        "vector_width": options.vector_width,
        "vectors_explain": explained,
        "parameters_million": round(sum(parameter.numel() for parameter in encoder.trunk.parameters()) / 1e6, 1),
    }
    percent = {name.upper(): value for name, value in trees.items()}
    for part, own in {"encoder": of_encoder, "grammar": grammar, "trees": percent}.items():
        write_card(out / part, **card_text(f"base {part}", **values), **about, figures=own)


def _bits(tensors: Mapping[str, torch.Tensor], options: BaseOptions) -> dict[str, int | torch.Tensor]:
    """Return the bits per number of the layers and of the rows of pieces, the frequent ones first."""
    found: dict[str, int | torch.Tensor] = {name: options.layer_bits for name in tensors if ".layer." in name}
    frequent = torch.arange(len(tensors[WORDS])) < options.frequent
    return {**found, WORDS: torch.where(frequent, options.embedding_bits, options.rare_bits)}


def _save_trunk(trunk: Any, options: BaseOptions, origin: Mapping[str, str], path: Path) -> None:
    """Write the first layers and the embeddings."""
    config = {name: getattr(trunk.config, name) for name in SIZES} | {"num_hidden_layers": options.layers, "dropout": 0.0}
    dropped = tuple(f"encoder.layer.{n}." for n in range(options.layers, options.layers + options.own))
    kept = {name: tensor for name, tensor in stored_tensors(trunk).items() if not name.startswith(dropped)}
    save_weights(path, kept, {"config": config, **origin}, bits=_bits(kept, options))


def _save_vectors(model: BaseModel, published: Any, seed: int, folder: Path) -> float:
    """Write the linear map from two layers of the rounded trunk to vectors without a common part; return its explained share."""
    options, layers = model.options, (model.middle, model.options.layers)
    save_weights(folder / COMMON_FILE, {"common": torch.zeros(options.vector_width)}, {"pieces": 0})
    (folder / VECTORS_FILE).unlink(missing_ok=True)
    record_files(folder.parent)  # files of an earlier run are on record with other hashes
    encoder, teacher = load_encoder(folder, precision="bf16"), deepcopy(published).to(torch.bfloat16)
    texts, levels = map_texts(random.Random(seed)), (options.lower_teacher, options.upper_teacher)
    found = vector_map(encoder, teacher, texts, layers=layers, levels=levels, width=options.vector_width)
    tensors = {f"projection.{layer}": matrix.contiguous() for layer, matrix in found.projections.items()}
    save_weights(folder / VECTORS_FILE, {**tensors, "bias": found.bias}, {"layers": list(layers)})
    return round(found.explained, 3)


def _save_acceptability(model: BaseModel, trunk: Any, material: Material, origin: Mapping[str, str], folder: Path) -> None:
    """Write the head with its own layers, calibrated on held-out sentences."""
    options, config = model.options, model.trunk.config
    sizes = {"hidden": config.hidden_size, "heads": config.num_attention_heads, "inner": config.intermediate_size}
    head = Acceptability(options.own, options.layers, buckets=config.relative_attention_num_buckets, **sizes)
    tensors = dict(model.judge.state_dict())
    for number, layer in enumerate(model.trunk.encoder.layer[options.layers :]):
        tensors.update({f"layers.{number}.{name}": tensor for name, tensor in torch_layer(layer).items()})
    tensors["relative_attention_bias.weight"] = model.trunk.encoder.relative_attention_bias.weight
    head.load_state_dict(tensors)
    logits, _ = predict(head.eval(), trunk, material.calibration)
    head.sentence_out.bias.data -= threshold(logits, [example.sentence for example in material.calibration])
    calibrate(head, trunk, material)
    kept = dict(head.state_dict())
    bits = {name: options.layer_bits for name in kept if name.startswith("layers.")}
    save_weights(folder / GRAMMAR_FILE, kept, {"sizes": head.sizes, **origin}, bits=bits)


# Word vectors

WIKIPEDIA, WMT = 3000, 5000
"""Texts of each source."""
SAMPLE = 400
"""Texts for the common part of the states of the published network."""
RIDGE = 1e-3
"""Added to the mean square of every state."""


class VectorMap(NamedTuple):
    """A linear map from states to vectors.

    Attributes
    ----------
    projections
        (width, d) by layer of the trunk.
    bias
        (d,). A vector is the sum of all.
    explained
        Explained share of the squares.
    """

    projections: Mapping[int, torch.Tensor]
    bias: torch.Tensor
    explained: float


def map_texts(rng: random.Random) -> list[str]:
    """Return sentences of Wikipedia, and a reference or an output of some segments of WMT22 (without those for final figures)."""
    texts = [row["text"] for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz"))][:WIKIPEDIA]
    segments = [s for s in read_wmt(data_file("text/wmt22_to_en_outputs.jsonl.gz")) if not s.judged_elsewhere]
    for segment in rng.sample(segments, min(WMT, len(segments))):
        texts.append(rng.choice([*segment.references, *(text for _, text in segment.outputs)]))
    return [text for text in dict.fromkeys(texts) if 3 < len(text.split()) < 60]


@torch.no_grad()
def vector_map(
    encoder: EmbeddedEncoder, source: Any, texts: Sequence[str], *, layers: Sequence[int], levels: Sequence[int], width: int
) -> VectorMap:
    """Fit the map by ridge regression.

    Parameters
    ----------
    encoder
        Encoder whose ``layers`` are mapped.
    source
        The published network, whose ``levels`` are the targets.
    """
    published = EmbeddedEncoder(source, encoder.tokenizer, torch.zeros(source.config.hidden_size))
    sample = [_rows(each, levels) for part in parts_of(texts[:SAMPLE]) for each in published.read(part)]
    shared = torch.cat(sample).mean(0)
    size, wanted = len(layers) * encoder.trunk.config.hidden_size, len(levels) * source.config.hidden_size
    square, product = torch.zeros(size, size, dtype=torch.float64), torch.zeros(size, wanted, dtype=torch.float64)
    given, taken, count, total = torch.zeros(size), torch.zeros(wanted), 0, 0.0
    for part in parts_of(texts):
        states = torch.cat([_rows(each, layers) for each in encoder.read(part)])
        whole = torch.cat([_rows(each, levels) for each in published.read(part)]) - shared
        by_level = [functional.normalize(rows, dim=1) for rows in whole.chunk(len(levels), dim=1)]
        units = torch.cat(by_level, dim=1) / len(levels) ** 0.5
        square, product = square + (states.T @ states).double(), product + (states.T @ units).double()
        given, taken, count = given + states.sum(0), taken + units.sum(0), count + len(states)
        total += float((units**2).sum())
    given, taken = given.double() / count, taken.double() / count
    square, product = square / count - torch.outer(given, given), product / count - torch.outer(given, taken)
    found = torch.linalg.solve(square + RIDGE * torch.eye(size, dtype=torch.float64), product)
    main = torch.linalg.eigh(found.T @ square @ found).eigenvectors[:, -width:]
    mapped = (found @ main).float()
    explained = float((found * product).sum()) / (total / count - float(taken @ taken))
    projections = dict(zip(layers, mapped.split(size // len(layers)), strict=True))
    return VectorMap(projections, -(given.float() @ mapped), explained)


def _rows(states: SentenceStates, layers: Sequence[int]) -> torch.Tensor:
    """Return (pieces, layers x width) states of the pieces of a text after some layers, side by side."""
    return torch.cat([torch.from_numpy(states.merged(layer)) for layer in layers], dim=1)
