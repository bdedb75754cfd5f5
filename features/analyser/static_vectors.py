"""Static vectors of whole words: the embedded encoder's first layer, without any context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .config import set_folder
from .encoder import load_tokenizer, load_trunk

__all__ = ["static_vectors"]


def static_vectors(limit: int = 12_000) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """The encoder's first ``limit`` whole-word pieces (alphabetic, two letters or more), and (n, d) unit vectors without their mean.

    Raises ModelMissingError when the embedded encoder is not installed.
    """
    folder = set_folder("small") / "encoder"
    matrix = load_trunk(folder).embeddings.word_embeddings.weight.detach().numpy()
    pieces = load_tokenizer(folder).convert_ids_to_tokens(range(len(matrix)))
    kept = [row for row, piece in enumerate(pieces) if len(piece) > 1 and piece.isascii() and piece.isalpha()][:limit]
    vectors = matrix[kept] - matrix[kept].mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    return tuple(pieces[row] for row in kept), vectors.astype(np.float32)
