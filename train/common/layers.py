"""Start values of new layers: those of trained layers, under other names or with fewer inner units."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import AutoModel

from rome.features.analyser.acceptability import HIDDEN
from rome.features.checkpoints import pretrained
from rome.train.encoder import source_folder

NAMES = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
"""Names of the parts of a transformer layer in torch and in BERT."""


def torch_layer(layer: nn.Module) -> dict[str, torch.Tensor]:
    """Return the parameters of a layer of a trunk or of BERT under the names of torch's TransformerEncoderLayer."""
    found, made = layer.state_dict(), {}
    for part in ("weight", "bias"):
        made.update({f"{name}.{part}": found[f"{old}.{part}"] for name, old in NAMES.items()})
        own = [found[f"attention.self.{name}.{part}"] for name in ("query", "key", "value")]
        made[f"self_attn.in_proj_{part}"] = torch.cat(own)
    return made


def narrowed(layer: nn.Module, inner: int) -> dict[str, torch.Tensor]:
    """Return the parameters of a torch layer with its ``inner`` heaviest inner units, in their old order."""
    found = layer.state_dict()
    weight = found["linear1.weight"].norm(dim=1) * found["linear2.weight"].norm(dim=0)
    kept = weight.argsort(descending=True)[:inner].sort().values
    found.update({name: found[name][kept] for name in ("linear1.weight", "linear1.bias")})
    return {**found, "linear2.weight": found["linear2.weight"][:, kept]}


def start_from_encoder(layers: Any, first: int) -> None:
    """Copy layers of all-MiniLM-L6-v2, from ``first`` on, into torch's transformer layers; those beyond the sixth stay random."""
    if len(layers) and layers[0].norm1.normalized_shape[0] == HIDDEN:  # a toy model starts from random numbers
        source = pretrained(AutoModel, source_folder())
        for layer, old in zip(layers, source.encoder.layer[first:], strict=False):
            layer.load_state_dict(torch_layer(old))
