"""The masked-language head: which words fit a place in a text, and how likely are the words that it has?

A `BertForMaskedLM` of transformers: the first layers of a trunk, layers of its own, and a prediction head without activation, whose
output is tied to the trunk's word embeddings, which are not stored again (as in BERT, Devlin et al. 2019, section 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM
from transformers.modeling_outputs import MaskedLMOutput

from .config import set_folder
from .encoder import load_trunk, renamed
from .weights import load_weights

FILL_FILE, MASK_ID = "fill.safetensors", 103
WINDOW = 128
"""Pieces of context around a place, special tokens included: the head was trained on sentences."""
NAMES = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
"""Parts of a layer by torch's names, which the packaged file has, and by BERT's."""


class FillModel(BertForMaskedLM):
    """The first layers of a trunk and a fill head; ``logits`` are (p, V), those at the p masks of a batch alone.

    Attributes
    ----------
    casing
        Lower-case word -> how it is written inside sentences ("Paris", "NATO", "I"); words that are not in it are lower case.
    sometimes
        Lower-case words that are written with a capital now and then: as names, where a name stood.
    """

    casing: Mapping[str, str] = {}
    sometimes: frozenset[str] = frozenset()

    def __init__(self, trunk: Any, layers: int = 2, input_layer: int = 2) -> None:
        super().__init__(BertConfig.from_dict(trunk.config.to_dict() | {"num_hidden_layers": input_layer + layers}))
        self.bert.embeddings = trunk.embeddings
        self.own_layers = self.bert.encoder.layer[input_layer:]
        self.bert.encoder.layer = nn.ModuleList([*trunk.encoder.layer[:input_layer], *self.own_layers])
        self.cls.predictions.transform.transform_act_fn = nn.Identity()
        self.tie_weights()

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> MaskedLMOutput:
        """Return the logits at the masks, read row by row."""
        return MaskedLMOutput(logits=self.cls(self.states(input_ids, attention_mask)))

    def states(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return (p, d) states of the last layer at the masks."""
        states: torch.Tensor = self.bert(input_ids, attention_mask=attention_mask).last_hidden_state
        return states[input_ids == MASK_ID]

    def parts(self) -> dict[str, Any]:
        """Return what the file stores: the own layers, the dense layer with its normalisation, and the bias of the output."""
        head = self.cls.predictions
        return {"layers": self.own_layers, "dense": head.transform.dense, "norm": head.transform.LayerNorm, "bias": head.bias}

    def stored(self) -> dict[str, torch.Tensor]:
        """Return the tensors of the file by their names."""
        parts = self.parts()
        bias = parts.pop("bias")
        return {f"{part}.{name}": tensor for part, own in parts.items() for name, tensor in own.state_dict().items()} | {
            "bias": bias
        }

    def fill_in(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Take the tensors of a file."""
        own = self.stored()
        for name, tensor in bert_names(tensors).items():
            own[name].data.copy_(tensor)


def bert_names(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return tensors by BERT's names."""
    found = dict[str, torch.Tensor]()
    for name, tensor in tensors.items():
        before, joined, kind = renamed(name, NAMES).partition("self_attn.in_proj_")
        names = [f"{before}attention.self.{part}.{kind}" for part in ("query", "key", "value")] if joined else [before]
        found |= zip(names, tensor.chunk(len(names)), strict=True)
    return found


def load_fill_head(folder: Path | None = None, encoder: Path | None = None) -> FillModel:
    """Load the embedded masked-language head, or one of a folder written by `rome train fill`; evaluation mode, no gradients.

    Raises ModelMissingError when either is not there.

    Parameters
    ----------
    encoder
        The folder of the trunk that it was trained on.
    """
    tensors, about = load_weights(Path(folder or set_folder("small") / "fill") / FILL_FILE)
    trunk = load_trunk(encoder or set_folder("small") / "encoder")
    model = FillModel(trunk, about["sizes"]["layers"], about["sizes"]["input_layer"])
    model.fill_in(tensors)
    model.casing, model.sometimes = about["casing"], frozenset(about["sometimes"].split())
    return model.eval().requires_grad_(False)
