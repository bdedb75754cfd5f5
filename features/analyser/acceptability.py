"""Acceptability: is a sentence English that a native speaker would write, and which of its words are not?

A few transformer layers on the states of one of the trunk's layers, with two heads: one probability a sentence (the CoLA class
"acceptable", RoMe section 3.3) and one probability a word piece (the piece is the right one in its place).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from .config import BATCH_SIZE
from .pieces import batches_of, padded
from .weights import load_weights

GRAMMAR_FILE = "grammar.safetensors"
HIDDEN, HEADS, INNER = 384, 12, 1536


class Acceptability(nn.Module):
    """Transformer layers (post-norm, GELU) on the trunk's states after layer ``input_layer``; 0 means its embeddings.

    Parameters
    ----------
    buckets
        Distances told apart by a table of attention biases that the layers share, as MPNet's do; 0 for no such table.
    sentence_temperature, piece_temperature
        The logits are divided by them, so that probabilities are calibrated.
    """

    sentence_temperature: torch.Tensor
    piece_temperature: torch.Tensor

    def __init__(
        self,
        layers: int = 2,
        input_layer: int = 4,
        *,
        hidden: int = HIDDEN,
        heads: int = HEADS,
        inner: int = INNER,
        buckets: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.input_layer = input_layer
        self.sizes = {
            "layers": layers, "input_layer": input_layer, "hidden": hidden, "heads": heads, "inner": inner, "buckets": buckets
        }  # fmt: skip
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(hidden, heads, inner, dropout, "gelu", layer_norm_eps=1e-12) for _ in range(layers)
        )
        self.relative_attention_bias = nn.Embedding(buckets, heads) if buckets else None
        self.sentence_hidden = nn.Linear(2 * hidden, hidden)
        self.sentence_out = nn.Linear(hidden, 1)
        self.piece_hidden = nn.Linear(hidden, hidden)
        self.piece_out = nn.Linear(hidden, 1)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("sentence_temperature", torch.ones(1))
        self.register_buffer("piece_temperature", torch.ones(1))

    def position_bias(self, length: int) -> torch.Tensor | None:
        """Return (heads, length, length) what is added to the attention scores of a row; None for nothing."""
        if self.relative_attention_bias is None:
            return None
        steps = torch.arange(length, device=self.relative_attention_bias.weight.device)
        buckets = MPNetEncoder.relative_position_bucket(
            steps[None] - steps[:, None], self.relative_attention_bias.num_embeddings
        )
        biases: torch.Tensor = self.relative_attention_bias(buckets).permute(2, 0, 1)
        return biases

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of a batch: (b,) that each sentence is acceptable, (b, L) that each piece is the right one.

        Parameters
        ----------
        states
            (b, L, 384) float32, the trunk's states after layer ``input_layer`` of sentences with [CLS] and [SEP].
        mask
            (b, L) bool, True for real pieces; places under False change nothing, and its logits mean nothing.
        """
        ignored = torch.zeros_like(mask, dtype=states.dtype).masked_fill(~mask, float("-inf"))
        bias = self.position_bias(mask.shape[1])
        bias = None if bias is None else bias.repeat(len(mask), 1, 1)
        states = states.transpose(0, 1).contiguous()  # the order in which the layers multiply without copies
        for layer in self.layers:
            states = layer(states, src_mask=bias, src_key_padding_mask=ignored)
        states = states.transpose(0, 1)
        states = states.masked_fill(~mask[:, :, None], 0.0)
        mean = states.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp_min(1)
        pooled = torch.tanh(self.sentence_hidden(torch.cat([states[:, 0], mean], dim=1)))
        sentence = self.sentence_out(self.dropout(pooled))[:, 0] / self.sentence_temperature
        pieces = self.piece_out(nn.functional.gelu(self.piece_hidden(states)))[:, :, 0] / self.piece_temperature
        return sentence, pieces

    @torch.no_grad()
    def probabilities(self, states: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return calibrated probabilities in [0, 1] in the form of `forward`, without gradients; 1.0 for pieces outside the mask."""
        sentence, pieces = self(states, mask)
        return torch.sigmoid(sentence), torch.sigmoid(pieces).masked_fill(~mask, 1.0)


def load_acceptability(folder: Path) -> Acceptability:
    """Load the embedded grammar model from a folder written by `rome train grammar`; evaluation mode, no gradients.

    Raises ModelMissingError when the folder does not hold it.
    """
    tensors, description = load_weights(Path(folder) / GRAMMAR_FILE)
    with torch.device("meta"):  # no random numbers that would only be replaced
        model = Acceptability(**description["sizes"])
    model.load_state_dict(tensors, assign=True)
    return model.eval().requires_grad_(False)


def probabilities_of(
    model: Acceptability, rows: Sequence[torch.Tensor], batch_size: int = BATCH_SIZE
) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
    """Return (n,) the probability of each row to be acceptable, and (L,) of each row's pieces to be the right ones, marks included.

    Parameters
    ----------
    rows
        (L, width) float32, on the model's device, states after the trunk's layer ``model.input_layer``, [CLS] and [SEP] included; L > 0.
    batch_size
        Word pieces that are judged at once.
    """
    sentences, pieces = np.zeros(len(rows), np.float32), [np.zeros(0, np.float32)] * len(rows)
    for chosen in batches_of([len(row) for row in rows], batch_size):
        acceptable, right = model.probabilities(*padded([rows[n] for n in chosen]))
        sentences[chosen] = acceptable.float().cpu().numpy()
        for n, values in zip(chosen, right.float().cpu().numpy(), strict=True):
            pieces[n] = values[: len(rows[n])]
    return sentences, pieces
