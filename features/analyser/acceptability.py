"""Acceptability: is a sentence English that a native speaker would write, and which of its words are not?

A few transformer layers on the states of one of the trunk's layers, with two heads: one probability a sentence (the CoLA class
"acceptable", RoMe section 3.3) and one probability a word piece (the piece is the right one in its place).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from .config import BATCH_SIZE
from .trunk import at_least, attention_layers, blocks, distance_bias, in_precision, layer_states
from .weights import load_weights

GRAMMAR_FILE = "grammar.safetensors"
HIDDEN, HEADS, INNER = 384, 12, 1536
VECTORS = 64
"""A multiple of the numbers that any processor takes at once."""


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
            nn.TransformerEncoderLayer(hidden, heads, inner, dropout, _gelu, layer_norm_eps=1e-12, batch_first=True)
            for _ in range(layers)
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
        """(1, heads, length, length) what is added to the attention scores of a row; None for nothing."""
        return distance_bias(self.relative_attention_bias, length)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of a batch: (b,) that each sentence is acceptable, (b, L) that each piece is the right one.

        Parameters
        ----------
        states
            (b, L, 384) float32, the trunk's states after layer ``input_layer`` of sentences with [CLS] and [SEP].
        mask
            (b, L) bool, True for real pieces; what stands under False changes nothing, and its logits mean nothing.
        """
        ignored = torch.zeros_like(mask, dtype=states.dtype).masked_fill(~mask, float("-inf"))
        bias = self.position_bias(mask.shape[1])
        bias = None if bias is None else bias.expand(len(mask), -1, -1, -1).flatten(0, 1)
        for layer in self.layers:
            states = layer(states, src_mask=bias, src_key_padding_mask=ignored)
        states = states.masked_fill(~mask[:, :, None], 0.0)
        mean = states.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp_min(1)
        pooled = torch.tanh(self.sentence_hidden(torch.cat([states[:, 0], mean], dim=1)))
        sentence = self.sentence_out(self.dropout(pooled))[:, 0] / self.sentence_temperature
        pieces = self.piece_out(nn.functional.gelu(self.piece_hidden(states)))[:, :, 0] / self.piece_temperature
        return sentence, pieces

    @torch.no_grad()
    def probabilities(self, states: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As `forward`, without gradients, as calibrated probabilities in [0, 1]; 1.0 for pieces outside the mask."""
        sentence, pieces = self(states, mask)
        return torch.sigmoid(sentence), torch.sigmoid(pieces).masked_fill(~mask, 1.0)


def _gelu(states: torch.Tensor) -> torch.Tensor:
    """A function of our own: torch's fused layers, which it takes for plain GELU, know masks of yes and no only, not biases."""
    return nn.functional.gelu(states)


def load_acceptability(folder: Path) -> Acceptability:
    """Load the embedded grammar model from a folder written by `rome train grammar`; evaluation mode, no gradients.

    Raises ModelMissingError when the folder does not hold it.
    """
    tensors, description = load_weights(Path(folder) / GRAMMAR_FILE)
    sizes: dict[str, Any] = dict(description["sizes"])  # type: ignore[call-overload]
    with torch.device("meta"):  # no random numbers that would only be written over
        model = Acceptability(**sizes)
    model.load_state_dict(tensors, assign=True)
    return model.eval().requires_grad_(False)


class AcceptabilityClassifier:
    """Runs an Acceptability model over rows of different lengths without padding: equal to the last bit in every batch.

    Parameters
    ----------
    model
        In evaluation mode; its weights are shared, not copied, and it computes where they are. In another precision than float32 its layers are
        taken from it.
    batch_size
        Word pieces that are judged at once.
    precision
        Of the layers' products, see `in_precision`.
    """

    def __init__(self, model: Acceptability, batch_size: int = BATCH_SIZE, precision: str = "float32") -> None:
        self.model, self.batch_size = model, batch_size
        self._layers = in_precision(attention_layers(model.layers), precision)
        if precision != "float32":
            model.layers = nn.ModuleList()  # the rounded ones compute, and nobody needs these

    @torch.no_grad()
    def probabilities(self, rows: Sequence[torch.Tensor]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """(n,) that each row is an acceptable sentence, and for each row (L,) that each of its pieces is the right one.

        Parameters
        ----------
        rows
            (L, width) float32, on the model's device, states after the trunk's layer ``model.input_layer``, [CLS] and [SEP] included; L > 0.
        """
        order = sorted(range(len(rows)), key=lambda n: len(rows[n]))
        sentences = np.zeros(len(rows), np.float32)
        pieces = [np.zeros(0, np.float32)] * len(rows)
        for start, stop in blocks([len(rows[n]) for n in order], self.batch_size):
            chosen = order[start:stop]
            acceptable, probabilities = self._batch([rows[n] for n in chosen])
            sentences[chosen] = acceptable
            for n, values in zip(chosen, probabilities, strict=True):
                pieces[n] = values
        return sentences, pieces

    def _batch(self, rows: list[torch.Tensor]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Both probabilities for rows sorted by length."""
        model, lengths = self.model, [len(row) for row in rows]
        states = torch.cat(rows)
        for after in layer_states(self._layers, states, lengths, model.position_bias):
            states = after
        pooled = torch.stack([torch.cat([row[0], row.sum(dim=0) / len(row)]) for row in states.split(lengths)])
        hidden = torch.tanh(model.sentence_hidden(at_least(pooled)))[: len(rows)]
        sentence = _scores(model.sentence_out, hidden) / model.sentence_temperature
        piece = _scores(model.piece_out, functional.gelu(model.piece_hidden(at_least(states)))[: len(states)])
        probabilities = _sigmoid(piece / model.piece_temperature).cpu()
        return _sigmoid(sentence).cpu().numpy(), [values.numpy() for values in probabilities.split(lengths)]


def _scores(layer: torch.nn.Linear, states: torch.Tensor) -> torch.Tensor:
    """(n,) from a linear layer of one output, summed for each row alone."""
    return (states * layer.weight[0]).sum(dim=1) + layer.bias


def _sigmoid(scores: torch.Tensor) -> torch.Tensor:
    """(n,) probabilities. Scores are padded to whole vectors of the processor: what is left over is computed another way, to other bits."""
    return torch.sigmoid(functional.pad(scores, (0, -len(scores) % VECTORS)))[: len(scores)]
