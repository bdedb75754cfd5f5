"""Trivial baselines: what a table must beat. Pooled figures reward guessing how hard a segment is, and length guesses well."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from rome.evaluation.metrics.protocol import References, Scores

__all__ = ["Length", "Random"]


class Length:
    """Minus the number of characters of the hypothesis: long outputs are often judged worse."""

    name, signature = "length", "length:characters.negated"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) whole numbers, at most 0."""
        return -np.array([len(hypothesis) for hypothesis in hypotheses], dtype=np.float64)


class Random:
    """A number in [0, 1) that depends on nothing but the seed and the texts: what chance reaches."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @property
    def signature(self) -> str:
        """The seed."""
        return f"random:uniform|seed:{self.seed}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) in [0, 1)."""
        return np.array([self._draw(r, h) for r, h in zip(references, hypotheses, strict=True)], dtype=np.float64)

    def _draw(self, references: Sequence[str], hypothesis: str) -> float:
        text = "\0".join([str(self.seed), hypothesis, *references])
        return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=6).digest(), "big") / 2**48
