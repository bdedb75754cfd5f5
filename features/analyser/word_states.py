"""What the encoder knows of each word of a sentence, as Stanza's tagger and parser read it: the states of the word's last piece.

Stanza gives its encoder a sentence as words, each of which is cut into pieces for itself; so the pieces of a word are remembered,
and a row is put together from them. Rows longer than the encoder's window are read in overlapping slices, as in Stanza.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from .memo import MemoisedTrunk, Row
from .memory import Memory

__all__ = ["WordStates"]

OVERLAP = 20
"""Pieces that a slice of a long row shares with the one before it, whose states count."""
INVISIBLE = "-"
"""What the encoder reads for a word that it has no piece for, as in Stanza."""


class WordStates:
    """States of the words of sentences. trunk : gives the states of rows of pieces. tokenizer : its word pieces."""

    def __init__(self, trunk: MemoisedTrunk, tokenizer: Any) -> None:
        self._trunk, self._tokenizer = trunk, tokenizer
        self._window = min(int(tokenizer.model_max_length), int(trunk.config.max_position_embeddings))
        self._pieces: Memory[str, Row] = Memory(self._cut)

    def _cut(self, words: list[str]) -> list[Row]:
        """The pieces of each word, at least one."""
        *found, instead = self._tokenizer([*words, INVISIBLE], add_special_tokens=False, verbose=False)["input_ids"]
        return [tuple(pieces or instead) for pieces in found]

    @torch.no_grad()
    def of(self, sentences: Sequence[Sequence[str]]) -> torch.Tensor:
        """(layers, n, width) states: for each sentence those of its beginning, then those of its words; sentences one after another."""
        rows: list[Row] = []
        wanted: list[list[int]] = []
        for words in sentences:
            row, ends = [self._tokenizer.cls_token_id], [0]
            for pieces in self._pieces.of(words):
                row += pieces
                ends.append(len(row) - 1)
            row.append(self._tokenizer.sep_token_id)
            for part, places in self._slices(tuple(row), ends):
                rows.append(part)
                wanted.append(places)
        found = [
            states.index_select(1, torch.tensor(places))
            for states, places in zip(self._trunk.layers(rows), wanted, strict=True)
        ]
        return torch.cat(found, dim=1).float()

    def _slices(self, row: Row, ends: list[int]) -> Iterator[tuple[Row, list[int]]]:
        """The row in slices that fit the window, each with the places of those ends that no earlier slice holds."""
        start, new = 0, 0
        while new < len(row):
            upto = start + self._window
            yield row[start:upto], [end - start for end in ends if new <= end < upto]
            start, new = upto - OVERLAP, upto
