"""Cosine similarity between the words of two texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["cosine_matrix"]


def cosine_matrix(rows: NDArray[np.floating], columns: NDArray[np.floating]) -> NDArray[np.float64]:
    """(p, q) cosines in [-1, 1] between (p, d) rows and (q, d) columns; a zero vector has cosine 0 with everything."""

    def unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
        values = vectors.astype(np.float64)
        norms = np.linalg.norm(values, axis=1, keepdims=True)
        return values / np.where(norms == 0.0, 1.0, norms)

    if not len(rows) or not len(columns):
        return np.zeros((len(rows), len(columns)))
    return np.clip(unit(rows) @ unit(columns).T, -1.0, 1.0)
