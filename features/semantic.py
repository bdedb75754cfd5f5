"""Semantics: does the hypothesis say the same? Earth Mover's Distance over word vectors (RoMe §3.1)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")  # POT would load torch only to offer a backend that is not used here

import numpy as np
import ot
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from .cosine import cosine_matrix
from .idf import IdfTable
from .values import Analysis, Component

__all__ = ["AlignedPair", "Semantic", "SemanticConfig", "SemanticEvidence", "align", "position_differences"]

Emd = Literal["standard", "aligned", "soft"]


@dataclass(frozen=True, slots=True)
class SemanticConfig:
    """How the distance is built; defaults found on development data for the embedded encoder.

    emd : ``soft`` is RoMe in full (hard alignment, delta, soft position penalty); ``aligned`` leaves out the penalty; ``standard``
        is the plain Earth Mover's Distance over all pairs of words (RoMe table 5: EMD_soft, EMD_align, EMD_std).
    delta : an aligned pair counts only when its cosine exceeds it (eq. 4).
    """

    emd: Emd = "soft"
    delta: float = 0.4


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """Word ``reference`` of the reference stands for word ``hypothesis`` of the hypothesis (indices into the words).

    similarity : the cosine of their vectors; distance : the transport cost in [0, 1] (eq. 4; 1 when the cosine is below delta).
    """

    reference: int
    hypothesis: int
    similarity: float
    distance: float


@dataclass(frozen=True, eq=False)
class SemanticEvidence:
    """The alignment and the transport that the distance was made of.

    pairs : the one-to-one alignment, in the order of the reference. weights : (p,) and (q,) normalised TF-IDF masses.
    cost, flow : (p, q) transport costs and masses; the distance is the sum of cost * flow.
    """

    reference_words: tuple[str, ...]
    hypothesis_words: tuple[str, ...]
    reference_weights: NDArray[np.float64]
    hypothesis_weights: NDArray[np.float64]
    pairs: tuple[AlignedPair, ...]
    cost: NDArray[np.float64]
    flow: NDArray[np.float64]

    def __eq__(self, other: object) -> bool:
        """Equal when the words, the pairs and the three tables are."""
        return isinstance(other, SemanticEvidence) and (
            (self.reference_words, self.hypothesis_words, self.pairs)
            == (other.reference_words, other.hypothesis_words, other.pairs)
            and np.array_equal(self.cost, other.cost)
            and np.array_equal(self.flow, other.flow)
        )


def position_differences(p: int, q: int) -> NDArray[np.float64]:
    """(p, q) differences of relative position |q (i + 1) - p (j + 1)| / (p q), zero-based i and j (eq. 3 and 4)."""
    i, j = np.arange(1, p + 1)[:, None], np.arange(1, q + 1)[None, :]
    return np.abs(q * i - p * j) / (p * q)


def align(similarity: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The one-to-one alignment of (p, q) words with the highest sum of cosine * (1 - position difference) (eq. 3).

    The published formula multiplies by the difference itself; the method it cites multiplies by its complement, as here. An optimal
    assignment takes the place of a greedy pass, so the hard constraint of §3.1 holds on both sides by construction.
    """
    p, q = similarity.shape
    return linear_sum_assignment(similarity * (1.0 - position_differences(p, q)), maximize=True)


def soft_cost(
    similarity: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp], config: SemanticConfig
) -> NDArray[np.float64]:
    """(p, q) costs of eq. 4: 1 - cos * exp(gamma * position difference) for aligned pairs above delta, else 1.

    gamma = -|j - i| / max(p, q) (soft penalty); 0 for ``emd="aligned"``.
    """
    p, q = similarity.shape
    gamma = -np.abs(columns - rows) / max(p, q) if config.emd == "soft" else np.zeros(len(rows))
    cosine = similarity[rows, columns]
    near = 1.0 - cosine * np.exp(gamma * position_differences(p, q)[rows, columns])
    cost = np.ones((p, q))
    cost[rows, columns] = np.where(cosine > config.delta, np.clip(near, 0.0, 1.0), 1.0)
    return cost


class Semantic:
    """One minus the exact Earth Mover's Distance between the two texts' words."""

    name = "semantic"

    def __init__(self, idf: IdfTable, config: SemanticConfig = SemanticConfig()) -> None:
        self.idf, self.config = idf, config

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """The similarity in [0, 1]; raw is the distance (transport cost, 0 = same).

        Two texts without words are the same (1); one without words shares nothing (0).
        """
        p, q = len(reference.words), len(hypothesis.words)
        words = tuple(w.text for w in reference.words), tuple(w.text for w in hypothesis.words)
        masses = self.idf.weights(words[0]), self.idf.weights(words[1])
        if not p or not q:
            distance = 0.0 if p == q else 1.0
            empty = SemanticEvidence(*words, *masses, (), np.zeros((p, q)), np.zeros((p, q)))
            return Component(self.name, 1.0 - distance, distance, "transport cost", empty)
        similarity = cosine_matrix(reference.vectors, hypothesis.vectors)
        rows, columns = align(similarity)
        if self.config.emd == "standard":
            cost = np.clip(1.0 - similarity, 0.0, 1.0)
        else:
            cost = soft_cost(similarity, rows, columns, self.config)
        flow = ot.emd(*masses, cost, numItermax=1_000_000)
        distance = float(np.clip((flow * cost).sum(), 0.0, 1.0))
        pairs = tuple(
            AlignedPair(int(i), int(j), float(similarity[i, j]), float(cost[i, j])) for i, j in zip(rows, columns, strict=True)
        )
        return Component(
            self.name, 1.0 - distance, distance, "transport cost", SemanticEvidence(*words, *masses, pairs, cost, flow)
        )
