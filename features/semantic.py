"""Semantics: does the hypothesis say the same? Earth Mover's Distance over word vectors (RoMe §3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .idf import IdfTable
from .matching import best_assignment, cosines
from .protocol import AnalysedText, Feature, Resources, check_settings, index, number, string
from .values import Component, equal_fields

LARGE = 1 << 16
"""The most numbers of a table that is kept as it is."""
Emd = Literal["standard", "aligned", "soft"]
Position = Literal["complement", "difference"]


class LargeTable:
    """Keep a dataclass's array of float64 as a scipy.sparse array when it is large; reading gives the whole array.

    The tables of two texts of 1,000 words would fill 16 MB per segment.

    Parameters
    ----------
    filling
        The most frequent number of the table.
    """

    def __init__(self, filling: float) -> None:
        self.filling = filling

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the field's name."""
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the table; the class has none, so the field has no default."""
        if instance is None:
            raise AttributeError(self.name)
        held = instance.__dict__[self.name]
        return held if isinstance(held, np.ndarray) else held.toarray() + self.filling

    def __set__(self, instance: Any, table: NDArray[np.float64]) -> None:
        """Keep a table."""
        from scipy.sparse import csr_array

        instance.__dict__[self.name] = csr_array(table - self.filling) if np.size(table) > LARGE else table


@dataclass(frozen=True, slots=True)
class SemanticConfig:
    """Set how the distance is computed; the defaults were chosen on development data for the embedded encoder.

    ``SemanticConfig(delta=0.6, rho=0.0, position="difference")`` gives equations 1 to 5 of the RoMe paper as printed, with its delta, as does
    ``RoMe(preset="paper")``. Raises InputError for a word or number that is not allowed.

    Attributes
    ----------
    emd
        ``soft`` is RoMe in full (hard alignment, delta, soft position penalty); ``aligned`` leaves out the penalty; ``standard`` is the plain
        Earth Mover's Distance over all pairs of words (RoMe table 5: EMD_soft, EMD_align, EMD_std).
    delta
        An aligned pair counts only when its cosine exceeds it (eq. 4; the paper says nothing of a cosine that equals it).
    rho
        In [0, 1], the share of its cosine that every other pair is credited with: it costs 1 - rho max(cos, 0). Our generalisation: 0 is eq. 4
        as printed, where mass left over between two aligned words of unequal weight pays in full. ``standard`` knows no alignment and ignores
        it.
    penalty
        In [0, 1], how strong the soft position penalty is: it multiplies gamma. 1 is eq. 4 as printed; a weaker one agrees better with people
        (see docs/pages/features/semantic.md).
    position
        What the alignment multiplies cosines by (eq. 3): ``complement``, one minus the difference of relative position, as the method does that
        the paper cites; or ``difference``, as eq. 3 is printed. The printed one prefers distant words and separates near copies, unlike the
        paper's own examples.
    coverage
        In [0, 1], the share of the transport that covers the reference: each of its words is moved to its cheapest target,
        ignoring capacity (the relaxed distance of Kusner et al. 2015, section 4). 0 is the balanced transport of the paper, the same for
        both orders of the texts. ``standard`` is always balanced.
    """

    emd: Emd = "soft"
    delta: float = 0.4
    rho: float = 0.95
    penalty: float = 1.0
    coverage: float = 0.0
    position: Position = "complement"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self, emd=get_args(Emd), position=get_args(Position), delta=(-1, 1))
        check_settings(self, rho=(0, 1), penalty=(0, 1), coverage=(0, 1))


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """Word ``reference`` of the reference stands for word ``hypothesis`` of the hypothesis (indices into the words).

    Attributes
    ----------
    similarity
        The cosine of their vectors, above delta.
    distance
        The transport cost in [0, 1] (eq. 4).
    """

    reference: int
    hypothesis: int
    similarity: float
    distance: float


@dataclass(frozen=True, eq=False)
class SemanticEvidence:
    """The alignment and the transport that the distance was made of.

    Attributes
    ----------
    pairs
        Those of the one-to-one alignment whose cosine exceeds delta, in the order of the reference.
    weights
        (p,) and (q,) normalised TF-IDF masses.
    cost, flow
        (p, q) transport costs and masses; the distance is the sum of cost * flow. The rows of the flow add up to the reference's weights, and with
        no ``coverage`` its columns to the hypothesis'. Of long texts (over 65,536 pairs of words) both are kept
        small: the cost of a pair that is not aligned and carries no mass then reads 1.
    """

    reference_words: tuple[str, ...]
    hypothesis_words: tuple[str, ...]
    reference_weights: NDArray[np.float64]
    hypothesis_weights: NDArray[np.float64]
    pairs: tuple[AlignedPair, ...]
    cost: NDArray[np.float64] = LargeTable(1.0)  # type: ignore[assignment]
    flow: NDArray[np.float64] = LargeTable(0.0)  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Compare the words, the pairs and the tables."""
        return equal_fields(self, other, ("reference_words", "hypothesis_words", "pairs", "cost", "flow"))


def position_differences(p: int, q: int) -> NDArray[np.float64]:
    """Return (p, q) differences of relative position |q (i + 1) - p (j + 1)| / (p q), zero-based i and j (eq. 3 and 4)."""
    away = (q * np.arange(1, p + 1))[:, None] - (p * np.arange(1, q + 1))[None, :]
    differences: NDArray[np.float64] = np.abs(away, out=away) / (p * q)
    return differences


def align(similarity: NDArray[np.float64], position: Position = "complement") -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the one-to-one alignment of (p, q) words with the highest sum of cosine * (1 - position difference) (eq. 3).

    With ``position="difference"`` cosines are multiplied by the difference itself, as printed. An optimal assignment takes the place of a
    greedy pass, so the hard constraint of §3.1, which names no algorithm, holds on both sides by construction.
    """
    gain = position_differences(*similarity.shape)
    if position == "complement":
        np.subtract(1.0, gain, out=gain)
    gain *= similarity
    return best_assignment(gain)


def transport_plan(source: NDArray[np.float64], target: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (p, q) masses moved at the least total cost from (p,) source to (q,) target, each summing to 1.

    POT's network simplex (Bonneel et al. 2011).

    Parameters
    ----------
    cost
        (p, q).
    """
    import ot

    plan: NDArray[np.float64] = ot.emd(source, target, cost, numItermax=1_000_000, center_dual=False, check_marginals=False)
    return plan


def soft_cost(
    similarity: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp], config: SemanticConfig
) -> NDArray[np.float64]:
    """Return (p, q) costs in [0, 1]: 1 - cos * exp(gamma * position difference) for aligned pairs above delta (eq. 4), else 1 - rho max(cos, 0).

    gamma = -penalty |j - i| / max(p, q) (soft penalty); 0 for ``emd="aligned"``.

    Parameters
    ----------
    rows, columns
        The alignment.
    """
    p, q = similarity.shape
    above = similarity[rows, columns] > config.delta
    rows, columns = rows[above], columns[above]
    gamma = -config.penalty * np.abs(columns - rows) / max(p, q) if config.emd == "soft" else np.zeros(len(rows))
    near = 1.0 - similarity[rows, columns] * np.exp(gamma * (np.abs(q * (rows + 1) - p * (columns + 1)) / (p * q)))
    cost = np.maximum(similarity, 0.0)
    cost *= -config.rho
    cost += 1.0
    cost[rows, columns] = np.clip(near, 0.0, 1.0)
    return cost


def relaxed_plan(source: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (p, q) masses when each row's moves whole to its cheapest column (Kusner et al. 2015, section 4), the first of equals."""
    plan = np.zeros(cost.shape)
    plan[np.arange(len(source)), cost.argmin(axis=1)] = source
    return plan


def _kept(cost: NDArray[np.float64], flow: NDArray[np.float64], pairs: Sequence[AlignedPair]) -> NDArray[np.float64]:
    """Return the costs; of long texts only those of aligned pairs and where mass flows, all others 1."""
    if cost.size <= LARGE:
        return cost
    kept = flow > 0.0
    kept[[pair.reference for pair in pairs], [pair.hypothesis for pair in pairs]] = True
    return np.where(kept, cost, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedText:
    """One side of a pair: its words, their masses, which sum to 1, and their vectors of length 1."""

    text: str
    words: tuple[str, ...]
    masses: NDArray[np.float64]
    units: NDArray[np.float64]


class Semantic(Feature[WeightedText]):
    """One minus the exact Earth Mover's Distance between the two texts' words."""

    name, config_class = "semantic", SemanticConfig
    about = "does the output say the same as the reference? One minus the transport cost between their words' vectors."

    def __init__(self, idf: IdfTable, config: SemanticConfig = SemanticConfig()) -> None:
        self.idf, self.config = idf, config

    @classmethod
    def make(cls, config: SemanticConfig, resources: Resources) -> Semantic:
        """Return the feature with the set's word weights."""
        return cls(resources.idf, config)

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> SemanticEvidence:
        """Return the evidence that ``to_dict()`` wrote."""
        words = [tuple(map(string, row[f"{side}_words"])) for side in ("reference", "hypothesis")]
        p, q = map(len, words)
        pairs = (
            (index(one["reference"], p), index(one["hypothesis"], q), number(one["similarity"]), number(one["distance"]))
            for one in row["pairs"]
        )
        weights = [np.array(row[f"{side}_weights"], np.float64).reshape(n) for side, n in (("reference", p), ("hypothesis", q))]
        cost, flow = (np.array(row[name], np.float64).reshape(p, q) for name in ("cost", "flow"))
        return SemanticEvidence(
            words[0], words[1], weights[0], weights[1], tuple(AlignedPair(*one) for one in pairs), cost, flow
        )

    def prepare(self, text: AnalysedText) -> WeightedText:
        """Return words, masses and vectors."""
        words = tuple(word.text for word in text.analysis.words)
        return WeightedText(text.analysis.text, words, self.idf.weights(words), text.units)

    def compare(self, reference: WeightedText, hypothesis: WeightedText) -> Component:
        """Return the similarity in [0, 1]; raw is the distance (transport cost, 0 = same).

        Without ``coverage`` the same for both orders of the texts: every pair is solved one way round, so that ties in the alignment
        cannot tell which came first. A text against itself is 1, two texts without words too; one without words shares nothing (0).
        """
        p, q = len(reference.words), len(hypothesis.words)
        sides = reference.words, hypothesis.words, reference.masses, hypothesis.masses
        if not p or not q:
            distance = 0.0 if p == q else 1.0
            empty = SemanticEvidence(*sides, (), np.zeros((p, q)), np.zeros((p, q)))
            return Component(self.name, 1.0 - distance, distance, "transport cost", empty)
        turned = (q, hypothesis.text) < (p, reference.text)
        one, other = (hypothesis, reference) if turned else (reference, hypothesis)
        similarity = cosines(one.units, other.units)
        rows, columns = align(similarity, self.config.position)
        if self.config.emd == "standard":
            cost = np.clip(1.0 - similarity, 0.0, 1.0)
        else:
            cost = soft_cost(similarity, rows, columns, self.config)
        flow = transport_plan(one.masses, other.masses, cost)
        moved = (flow * cost).sum()
        if turned:
            order = np.argsort(columns)
            rows, columns = columns[order], rows[order]
            similarity, cost, flow = (np.ascontiguousarray(table.T) for table in (similarity, cost, flow))
        coverage = 0.0 if self.config.emd == "standard" else self.config.coverage
        if coverage:
            relaxed = relaxed_plan(reference.masses, cost)
            flow = (1.0 - coverage) * flow + coverage * relaxed
            moved = (1.0 - coverage) * moved + coverage * (relaxed * cost).sum()
        same = one.text == other.text  # a cosine of equal vectors may miss 1 by its last digits
        distance = 0.0 if same else float(np.clip(moved, 0.0, 1.0))
        found = rows.tolist(), columns.tolist(), similarity[rows, columns].tolist(), cost[rows, columns].tolist()
        aligned = (AlignedPair(*each) for each in zip(*found, strict=True))
        pairs = tuple(pair for pair in aligned if pair.similarity > self.config.delta)
        evidence = SemanticEvidence(*sides, pairs, _kept(cost, flow, pairs), flow)
        return Component(self.name, 1.0 - distance, distance, "transport cost", evidence)
