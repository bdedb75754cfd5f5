"""One pass of the frozen trunk over each row of word pieces, shared by tagger, parser, features and training.

The trunk never changes, so neither do its states for a row: they are computed once, without padding (features/analyser/packed.py),
and kept until `clear` is called or the memory's capacity is reached. They are the same to the last bit whatever other rows are
computed beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from .packed import Layer, bert_layers, blocks, embedded, layer_states

__all__ = ["MemoisedTrunk"]

Row = tuple[int, ...]


class MemoisedTrunk(nn.Module):
    """A frozen BertModel that remembers the states of every row of piece ids it has seen (without padding).

    Stanza takes it for an ordinary transformer: ``forward`` returns an object with ``hidden_states``, the trunk's layers from
    the first to the last, each (rows, length, width) float32 and zero at the padding.

    trunk : a BertModel; put into evaluation mode, gradients switched off.
    capacity : pieces kept in memory; the oldest rows leave first. A row costs layers * width numbers a piece.
    batch_pieces : pieces computed at once; few, so that what passes between two layers stays in the processor's cache.
    dtype : how states are stored; float16 halves the memory (for training, where the whole treebank is kept).
    """

    def __init__(
        self, trunk: Any, *, capacity: int = 100_000, batch_pieces: int = 1024, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.trunk = trunk.eval().requires_grad_(False)
        self.config = trunk.config
        self.capacity, self.batch_pieces, self.dtype = capacity, batch_pieces, dtype
        self._hf_peft_config_loaded = False
        self._rows: dict[Row, torch.Tensor] = {}
        self._pieces = 0
        self._packed: tuple[Layer, ...] | None = None

    @property
    def width(self) -> int:
        """Numbers in one state."""
        return int(self.config.hidden_size)

    @property
    def remembered(self) -> int:
        """How many rows are in memory."""
        return len(self._rows)

    def train(self, mode: bool = True) -> MemoisedTrunk:
        """Stay in evaluation mode whatever the model around this one does: the trunk is frozen."""
        return super().train(False)

    def clear(self) -> None:
        """Forget every row."""
        self._rows.clear()
        self._pieces = 0

    def states(self, ids: Iterable[Sequence[int]], layer: int = 0) -> list[torch.Tensor]:
        """One layer's states of each row of piece ids, [CLS] and [SEP] included: a list of (length, width) tensors.

        layer : counted from 1; 0 stands for the last one.

        An empty list for no rows. Rows already seen cost nothing; the others are computed in batches of similar length. Raises
        ValueError when a row is longer than the trunk's positions (512 pieces): cut it into windows first.
        """
        return [layers[layer - 1].float() for layers in self.layers([tuple(row) for row in ids])]

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_: Any) -> SimpleNamespace:
        """States of a padded (rows, length) batch, in the form that transformers' models return them."""
        lengths = [input_ids.shape[1]] * len(input_ids) if attention_mask is None else attention_mask.sum(1).tolist()
        rows = [tuple(row[: int(length)]) for row, length in zip(input_ids.tolist(), lengths, strict=True)]
        layers = self.layers(rows)
        padded = torch.zeros(int(self.config.num_hidden_layers), len(rows), input_ids.shape[1], self.width)
        for index, states in enumerate(layers):
            padded[:, index, : states.shape[1]] = states
        return SimpleNamespace(hidden_states=tuple(padded), last_hidden_state=padded[-1])

    def layers(self, rows: list[Row]) -> list[torch.Tensor]:
        """Every layer's states of each row, (layers, length, width) each, computing what is missing."""
        missing = sorted({row for row in rows if row and row not in self._rows}, key=len, reverse=True)
        limit = int(self.config.max_position_embeddings)
        if missing and len(missing[0]) > limit:
            raise ValueError(f"a row of {len(missing[0])} pieces exceeds the encoder's {limit}: cut it into windows")
        for start, stop in blocks([len(row) for row in missing], self.batch_pieces):
            self._compute(missing[start:stop])
        empty = torch.zeros(int(self.config.num_hidden_layers), 0, self.width, dtype=self.dtype)
        result = [self._rows[row] if row else empty for row in rows]
        self._forget_oldest()
        return result

    @torch.no_grad()
    def _compute(self, rows: list[Row]) -> None:
        """Run the trunk over rows sorted by length and keep the states of each."""
        if self._packed is None:
            self._packed = bert_layers(self.trunk)
        lengths = [len(row) for row in rows]
        layers = torch.stack(list(layer_states(self._packed, embedded(self.trunk, rows), lengths))).to(self.dtype)
        for row, states in zip(rows, layers.split(lengths, dim=1), strict=True):
            self._rows[row] = states
            self._pieces += len(row)

    def _forget_oldest(self) -> None:
        """Drop rows in the order they came until the capacity holds."""
        while self._pieces > self.capacity:
            oldest = next(iter(self._rows))
            del self._rows[oldest]
            self._pieces -= len(oldest)
