"""Which of two lists' texts are the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["equal_texts"]


def equal_texts(rows: Sequence[str], columns: Sequence[str]) -> NDArray[np.bool_]:
    """(p, q) whether row i and column j are the same text; texts are numbered first, because numbers compare faster."""
    number: dict[str, int] = {}
    numbered = [np.array([number.setdefault(text, len(number)) for text in texts], np.int64) for texts in (rows, columns)]
    found: NDArray[np.bool_] = numbered[0][:, None] == numbered[1][None, :]
    return found
