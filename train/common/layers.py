"""Where new layers start: from layers that are trained already, under other names or with fewer inner units."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import AutoModel

from rome.features.analyser.acceptability import HIDDEN
from rome.features.analyser.encoder import stored_tensors
from rome.features.analyser.transformer import pretrained
from rome.train.encoder import source_folder

NAMES = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
"""torch's names of a transformer layer's parts, and BERT's."""


def torch_layer(layer: nn.Module) -> dict[str, torch.Tensor]:
    """The parameters of a trunk's or BERT's layer under the names of torch's TransformerEncoderLayer."""
    found, made = stored_tensors(layer), {}
    for part in ("weight", "bias"):
        made.update({f"{name}.{part}": found[f"{old}.{part}"] for name, old in NAMES.items()})
        own = [found[f"attention.self.{name}.{part}"] for name in ("query", "key", "value")]
        made[f"self_attn.in_proj_{part}"] = torch.cat(own)
    return made


def narrowed(layer: nn.Module, inner: int) -> dict[str, torch.Tensor]:
    """The parameters of torch's layer with so many inner units: those whose weights, times in and out, are largest, in their old order."""
    found = layer.state_dict()
    weight = found["linear1.weight"].norm(dim=1) * found["linear2.weight"].norm(dim=0)
    kept = weight.argsort(descending=True)[:inner].sort().values
    found.update({name: found[name][kept] for name in ("linear1.weight", "linear1.bias")})
    return {**found, "linear2.weight": found["linear2.weight"][:, kept]}


def start_from_encoder(layers: Any, first: int) -> None:
    """Copy layers of all-MiniLM-L6-v2, from ``first`` on, into torch's transformer layers; those beyond the sixth keep their random start."""
    if len(layers) and layers[0].norm1.normalized_shape[0] == HIDDEN:  # a toy model starts from random numbers
        source = pretrained(AutoModel, source_folder())
        for layer, old in zip(layers, source.encoder.layer[first:], strict=False):
            layer.load_state_dict(torch_layer(old))
