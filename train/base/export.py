"""From the trained network of `base` to the files of a model set: trunk, vectors, acceptability, trees, and the cards."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from rome.features.analyser.acceptability import GRAMMAR_FILE, Acceptability, load_acceptability
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import (
    COMMON_FILE,
    PIECES_FILE,
    SIZES,
    TRUNK_FILE,
    VECTORS_FILE,
    WORDS,
    load_encoder,
    load_trunk,
    stored_tensors,
)
from rome.features.analyser.trees import load_tree_head
from rome.features.analyser.weights import save_weights
from rome.features.model_files import record_files
from rome.train.base.data import map_texts, vector_map
from rome.train.common.layers import torch_layer
from rome.train.common.recipe import card_text, write_card
from rome.train.grammar.data import Material
from rome.train.grammar.figures import pair_figures, predict, threshold
from rome.train.grammar.recipe import calibrate, judge
from rome.train.parser.trees import TreeExample, save_head, states_of, tree_figures

if TYPE_CHECKING:
    from rome.train.base.recipe import BaseModel, BaseOptions

SHARED = ("tokenizer", "mwt", "lemmatizer", "idf")
"""Parts that do not read the trunk: the same in both sets."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The checkpoint that training starts from, as weights and cards say it."""

    name: str = "all-mpnet-base-v2"
    licence: str = "Apache-2.0"


OTHER = Origin("another MPNet checkpoint", "that checkpoint's own")


def export(
    model: BaseModel,
    published: Any,
    source: Path,
    material: Material,
    unseen: Sequence[TreeExample],
    out: Path,
    origin: Origin,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Write the set without its net and its settings; returns the figures that its cards say, of the rounded models.

    Parameters
    ----------
    published
        The whole published network.
    source
        The folder of its checkpoint, for the word pieces.
    unseen
        The treebank's development part.
    about
        Recipe, seed, steps and seconds, for the cards.
    """
    options, out = model.options, Path(out)
    for part in SHARED:
        shutil.copytree(set_folder("small") / part, out / part, dirs_exist_ok=True)
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
    grammar = {**judge(head, encoder.trunk, material), **pair_figures(head, encoder.trunk, material.pairs)}
    told = {"start": origin.name, "licence": origin.licence, "options": options}
    of_encoder = {
        "layers": options.layers,
        "width": encoder.trunk.config.hidden_size,
        "vector_width": options.vector_width,
        "vectors_explain": explained,
        "parameters_million": round(sum(parameter.numel() for parameter in encoder.trunk.parameters()) / 1e6, 1),
    }
    percent = {name.upper(): value for name, value in trees.items()}
    for part, own in {"encoder": of_encoder, "grammar": grammar, "trees": percent}.items():
        write_card(out / part, **card_text(f"base {part}", **told), **about, figures=own)
    return {"trees": trees, "grammar": grammar, "vectors_explain": explained}


def _bits(tensors: Mapping[str, torch.Tensor], options: BaseOptions) -> dict[str, int | torch.Tensor]:
    """How coarsely the layers' matrices and the words' rows are kept; the vocabulary's frequent pieces stand first."""
    found: dict[str, int | torch.Tensor] = {name: options.layer_bits for name in tensors if ".layer." in name}
    frequent = torch.arange(len(tensors[WORDS])) < options.frequent
    return {**found, WORDS: torch.where(frequent, options.embedding_bits, options.rare_bits)}


def _save_trunk(trunk: Any, options: BaseOptions, origin: Origin, path: Path) -> None:
    """The first layers and the embeddings."""
    config = {name: getattr(trunk.config, name) for name in SIZES} | {"num_hidden_layers": options.layers, "dropout": 0.0}
    dropped = tuple(f"encoder.layer.{n}." for n in range(options.layers, options.layers + options.own))
    kept = {name: tensor for name, tensor in stored_tensors(trunk).items() if not name.startswith(dropped)}
    description = {"config": config, "source": origin.name, "licence": origin.licence}
    save_weights(path, kept, description, bits=_bits(kept, options))


def _save_vectors(model: BaseModel, published: Any, seed: int, folder: Path) -> float:
    """The linear map from two of the rounded trunk's layers to vectors, which need no common part taken off; how much it explains."""
    options, layers = model.options, (model.middle, model.options.layers)
    save_weights(folder / COMMON_FILE, {"common": torch.zeros(options.vector_width)}, {"pieces": 0})
    (folder / VECTORS_FILE).unlink(missing_ok=True)
    record_files(folder.parent)  # what an earlier run left in the folder is on record with other hashes
    found = vector_map(
        load_encoder(folder, precision="bf16"),
        deepcopy(published).to(torch.bfloat16),
        map_texts(random.Random(seed)),
        layers=layers,
        levels=(options.lower_teacher, options.upper_teacher),
        width=options.vector_width,
    )
    tensors = {f"projection.{layer}": matrix.contiguous() for layer, matrix in found.projections.items()}
    save_weights(folder / VECTORS_FILE, {**tensors, "bias": found.bias}, {"layers": list(layers)})
    return round(found.explained, 3)


def _save_acceptability(model: BaseModel, trunk: Any, material: Material, origin: Origin, folder: Path) -> None:
    """The head with its own layers, calibrated on sentences held out from training."""
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
    description = {"sizes": head.sizes, "source": origin.name, "licence": origin.licence}
    save_weights(
        folder / GRAMMAR_FILE, kept, description, bits={name: options.layer_bits for name in kept if name.startswith("layers.")}
    )
