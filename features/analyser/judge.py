"""Acceptability of rows of pieces without padding: what `Acceptability.probabilities` gives, equal to the last bit in every batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from .acceptability import Acceptability
from .packed import at_least, attention_layers, blocks, layer_states

__all__ = ["Judge"]

BATCH_PIECES = 1024
"""Judged at once; few, so that what passes between two layers stays in the processor's cache."""

VECTORS = 64
"""A multiple of the numbers that any processor takes at once."""


class Judge:
    """Runs an Acceptability model over rows of different lengths. model : in evaluation mode; its weights are shared, not copied."""

    def __init__(self, model: Acceptability) -> None:
        self.model = model
        self._layers = attention_layers(model.layers)

    @torch.no_grad()
    def probabilities(self, rows: Sequence[torch.Tensor]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """(n,) that each row is an acceptable sentence, and for each row (L,) that each of its pieces is the right one.

        rows : (L, width) float32 states after the trunk's layer ``model.input_layer``, [CLS] and [SEP] included; L > 0.
        """
        order = sorted(range(len(rows)), key=lambda n: len(rows[n]))
        sentences = np.zeros(len(rows), np.float32)
        pieces = [np.zeros(0, np.float32)] * len(rows)
        for start, stop in blocks([len(rows[n]) for n in order], BATCH_PIECES):
            chosen = order[start:stop]
            accepted, fitting = self._batch([rows[n] for n in chosen])
            sentences[chosen] = accepted
            for n, values in zip(chosen, fitting, strict=True):
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
        fitting = _sigmoid(piece / model.piece_temperature)
        return _sigmoid(sentence).numpy(), [values.numpy() for values in fitting.split(lengths)]


def _scores(layer: torch.nn.Linear, states: torch.Tensor) -> torch.Tensor:
    """(n,) from a linear layer of one output, summed for each row alone."""
    return (states * layer.weight[0]).sum(dim=1) + layer.bias


def _sigmoid(scores: torch.Tensor) -> torch.Tensor:
    """(n,) probabilities. Scores are padded to whole vectors of the processor: what is left over is computed another way, to other bits."""
    return torch.sigmoid(functional.pad(scores, (0, -len(scores) % VECTORS)))[: len(scores)]
