"""Cosine similarity between the words of two texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .once import once
from .values import Analysis

__all__ = ["cosine_matrix", "cosines", "unit_vectors"]

Vectors = NDArray[np.float64]


def cosine_matrix(rows: NDArray[np.floating], columns: NDArray[np.floating]) -> Vectors:
    """(p, q) cosines in [-1, 1] between (p, d) rows and (q, d) columns; a zero vector has cosine 0 with everything."""
    if not len(rows) or not len(columns):
        return np.zeros((len(rows), len(columns)))
    return cosines(_units(rows), _units(columns))


def cosines(rows: Vectors, columns: Vectors) -> Vectors:
    """(p, q) cosines in [-1, 1] between vectors of length 1 (or 0): what `unit_vectors` gives, or some of its rows."""
    if not len(rows) or not len(columns):
        return np.zeros((len(rows), len(columns)))
    found: Vectors = rows @ columns.T
    return np.clip(found, -1.0, 1.0, out=found)


@once
def unit_vectors(analysis: Analysis) -> Vectors:
    """(n, d) vectors of a text's words brought to length 1, a zero vector left as it is; not to be written to."""
    units = _units(analysis.vectors)
    units.flags.writeable = False
    return units


def _units(vectors: NDArray[np.floating]) -> Vectors:
    values = vectors.astype(np.float64)
    norms = np.sqrt(np.add.reduce(values * values, axis=1, keepdims=True))
    norms[norms == 0.0] = 1.0
    values /= norms
    return values
