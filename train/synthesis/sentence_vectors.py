"""One vector a sentence: the mean of an encoder's states, for finding similar sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rome.features.analyser.identity import encoder_identity
from rome.features.analyser.piece_states import PieceStates

__all__ = ["SentenceVectors", "Vectors", "unit_rows"]


class Vectors(Protocol):
    """Gives each text a vector.

    identity : tells apart any two that give different vectors.
    """

    @property
    def identity(self) -> str:
        """Which encoder, in one line."""

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) float32 rows of length 1; a text without words may give zeros."""


class SentenceVectors:
    """The mean of an encoder's piece states, scaled to length 1.

    encoder : "" for the embedded one, else a local folder or hub name; layer : of its hidden states. Raises ModelMissingError
    when it is not on this machine.
    """

    def __init__(self, encoder: str = "", layer: int = -1) -> None:
        self.states = PieceStates(encoder, layer)
        self.identity = f"mean:{encoder_identity(encoder)}" + (f"@{layer}" if encoder else "")

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) float32 unit rows; zeros for a text without pieces."""
        means = [rows.mean(axis=0) if len(rows) else None for rows in self.states.of(texts)]
        width = max((len(mean) for mean in means if mean is not None), default=0)
        vectors = np.array([np.zeros(width) if mean is None else mean for mean in means], dtype=np.float32)
        return unit_rows(vectors.reshape(len(texts), width))


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """The rows scaled to length 1, contiguous float32; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
