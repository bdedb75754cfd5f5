"""What the reader gets of a text in training: the states of its words after the trunk's lower layers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rome.features.analyser.encoder import EmbeddedEncoder, load_tokenizer, load_trunk
from rome.features.analyser.pieces import pooled, touched

from .errors_net import Side
from .errors_texts import Made, Spans

__all__ = ["Sides"]


class Sides:
    """Reads texts with the lower layers of a trunk, in bfloat16 where that is fast enough to train with.

    folder : of the encoder. below : how many layers read each text alone.
    """

    def __init__(self, folder: Path, below: int, dtype: torch.dtype = torch.bfloat16) -> None:
        trunk = load_trunk(folder)
        trunk.encoder.layer = trunk.encoder.layer[:below]
        self.width, self.below = trunk.config.hidden_size, below
        self.encoder = EmbeddedEncoder(trunk.to(dtype), load_tokenizer(folder), torch.zeros(1))

    def marks(self) -> torch.Tensor:
        """(3, width) states of the marks that the trunk itself puts before and after a text, for the reader to begin with."""
        row = self.encoder.states_of_rows([self.encoder.tokenizer("The company said so.")["input_ids"]])[0][-1]
        return torch.stack([row[0], row[-1], row[-1]])

    def of(self, texts: Sequence[Made]) -> list[Side]:
        """One side a text, each different one read once."""
        different = {text.text: text for text in texts}
        surfaces = [text.text[a:b] for text in different.values() for a, b in text.sentences]
        read = iter(self.encoder.read(surfaces))
        found: dict[str, Side] = {}
        for text in different.values():
            words = _by_sentence(text)
            parts = [_pooled(start, own, next(read), self.below) for (start, _), own in zip(text.sentences, words, strict=True)]
            forms = tuple(text.text[a:b].lower() for own in words for a, b in own)
            found[text.text] = Side(np.concatenate(parts) if parts else np.zeros((0, self.width), np.float32), forms)
        return [found[text.text] for text in texts]


def _by_sentence(text: Made) -> list[Spans]:
    """The words of each sentence; a word belongs to the last sentence that begins before it."""
    rows: list[list[tuple[int, int]]] = [[] for _ in text.sentences]
    n = 0
    for a, b in text.words if rows else ():
        while n + 1 < len(text.sentences) and text.sentences[n + 1][0] <= a:
            n += 1
        rows[n].append((a, b))
    return [tuple(row) for row in rows]


def _pooled(start: int, words: Spans, states: Any, layer: int) -> NDArray[np.float32]:
    """(n, d) states of a sentence's words."""
    return pooled(states.merged(layer), touched(states.pieces.spans, [(a - start, b - start) for a, b in words]))
