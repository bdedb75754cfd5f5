"""SEScore2 (Xu et al. 2023): parts of the difference between a sentence and a similar one, each step judged alone (§4.1, §4.2).

Random word drops are added to the steps towards the neighbour. Neighbours come from an exact index of sentence vectors (faiss, inner
product of unit vectors) by their ratio margin: the cosine of two texts over the mean of both texts' average cosine with their k nearest
neighbours (§4.1, appendices B, C, after Artetxe and Schwenk 2019 and Schwenk et al. 2021). Above 1 they are closer than neighbours usually
are there.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rome.exceptions import InputError
from rome.features.analyser.model_set import encoder_identity
from rome.features.analyser.transformer import PieceStates
from rome.features.packages import import_failed
from rome.train.synthesis.edits import SPACING, Difference, applied, chained, deletion, differences, error_type, words_of
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, batches, identifier, settings_signature
from rome.train.synthesis.severities import SeverityModel, with_severity


class Vectors(Protocol):
    """Gives each text a vector; ``identity`` differs for any two encoders that give different vectors."""

    identity: str

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32 rows of length 1; a text without words may give zeros."""


class SentenceVectors:
    """The mean of the piece states of the embedded encoder, scaled to length 1."""

    def __init__(self) -> None:
        self.states = PieceStates("")
        self.identity = f"mean:{encoder_identity('')}"

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32 unit rows; zeros for a text without pieces."""
        sums = [rows.sum(axis=0) for rows in self.states.of(texts)]
        return _unit_rows(np.stack(sums) if sums else np.zeros((0, 0)))


def _unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Scale the rows to length 1, contiguous float32; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


NEIGHBOURS = 128
"""Number of nearest neighbours, also of the average cosine (SEScore2, appendices B and C)."""
MARGIN = 1.06
"""Least margin of a neighbour (SEScore2 §4.1)."""
BATCH = 256


def key_of(text: str) -> str:
    """Return letters and digits alone, case folded; texts with the same key are near copies."""
    return "".join(filter(str.isalnum, text.casefold()))


class Neighbour(NamedTuple):
    """A text of the index near another one: its row, its cosine with it, and the margin of both."""

    row: int
    text: str
    cosine: float
    margin: float


@dataclass(frozen=True)
class SentenceIndex:
    """Texts without near copies, their vectors, and how near the neighbours of each are on average.

    Attributes
    ----------
    vectors
        (n, d) float32 unit rows.
    density
        (n,) mean cosine with the ``neighbours`` nearest other texts (all if there are fewer), infinite for a single text.
    encoder
        Source of the vectors.
    """

    texts: tuple[str, ...]
    vectors: NDArray[np.float32] = field(repr=False)
    density: NDArray[np.float64] = field(repr=False)
    neighbours: int
    encoder: Vectors = field(repr=False)

    @property
    def identity(self) -> str:
        """Return a name for everything that decides about neighbours: encoder, texts in their order, number of neighbours."""
        name = identifier(self.encoder.identity, self.neighbours, *self.texts)
        return f"{self.encoder.identity},k={self.neighbours},{name}"

    def of(self, texts: Sequence[str], margin: float = MARGIN) -> list[list[Neighbour]]:
        """Return for each text those of its k nearest whose margin is at least ``margin``, best margin first.

        The text itself and near copies are neither among them nor in the averages. A text without words has no neighbours.
        """
        if not texts:
            return []
        cosines, rows = _nearest(_unit_rows(self.encoder.of(texts)), self.vectors, self.neighbours + 1)
        return [self._neighbours(*found, margin) for found in zip(texts, cosines, rows, strict=True)]

    def _neighbours(self, text: str, cosines: NDArray[np.float32], rows: NDArray[np.int64], margin: float) -> list[Neighbour]:
        """Return the neighbours of a text among its k + 1 nearest rows, at most one of which is its copy."""
        key = key_of(text)
        others = [
            (row, cos) for row, cos in zip(rows.tolist(), cosines.tolist(), strict=True) if key_of(self.texts[row]) != key
        ]
        others = others[: self.neighbours]
        if not others or not key:
            return []
        own = sum(cos for _, cos in others) / len(others)
        found = [Neighbour(row, self.texts[row], cos, ratio_margin(cos, own, self.density[row])) for row, cos in others]
        return sorted((one for one in found if one.margin >= margin), key=lambda one: (-one.margin, one.row))


def sentence_index(texts: Iterable[str], encoder: Vectors, *, neighbours: int = NEIGHBOURS) -> SentenceIndex:
    """Return the index of the texts that have words, without near copies of earlier ones; a terminal shows a bar.

    Time grows with the square of the number of texts (10,000 take seconds, 100,000 minutes).

    Parameters
    ----------
    neighbours
        K of the search and of the margin, at least 1.

    Raises
    ------
    InputError
        For no texts.
    """
    distinct = {key_of(text): text for text in reversed(list(texts))}
    distinct.pop("", None)
    kept = tuple(reversed(distinct.values()))
    if not kept:
        raise InputError("no text has a letter or digit: give a corpus, one sentence per line")
    bar = tqdm(kept, "index", unit="text", leave=False, disable=None)
    vectors = _unit_rows(np.concatenate([encoder.of(block) for block in batches(bar, BATCH)]))
    return SentenceIndex(kept, vectors, _densities(vectors, neighbours), neighbours, encoder)


def ratio_margin(cosine: float, one: float, other: float) -> float:
    """Return the cosine of two texts over the mean of their average cosines, or 0 if that mean is not positive."""
    mean = (one + other) / 2
    return float(cosine / mean) if mean > 0 else 0.0


def _nearest(queries: NDArray[np.float32], rows: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the (n, min(k, rows)) greatest inner products and their rows, exact."""
    try:
        import faiss
    except ImportError as error:
        raise import_failed(error, "finding neighbours", '"rome-metric[train]"') from error
    cosines, found = faiss.knn(queries, rows, min(k, len(rows)), metric=faiss.METRIC_INNER_PRODUCT)
    return cosines, found


def _densities(vectors: NDArray[np.float32], k: int) -> NDArray[np.float64]:
    """Return (n,) mean cosines of each row with its k nearest others; infinite for a single row."""
    if len(vectors) == 1:
        return np.array([np.inf])
    cosines, rows = _nearest(vectors, vectors, k + 1)
    others_first = np.argsort(rows == np.arange(len(vectors))[:, None], axis=1, kind="stable")
    others = np.take_along_axis(cosines.astype(np.float64), others_first, axis=1)
    means: NDArray[np.float64] = others[:, : min(k, len(vectors) - 1)].mean(axis=1)
    return means


# The pipeline

VERSION = 4


@dataclass(frozen=True, slots=True)
class SEScore2Settings:
    """Numbers of the pipeline, the paper's where it gives one.

    Attributes
    ----------
    margin
        Least ratio margin of a neighbour (1.06).
    most
        Largest number of operations (5), drawn evenly from 1 to it.
    longest, longest_drop
        Words of the longest step (6) and of the longest drop (3).
    shortest
        Texts of fewer words are skipped (3).
    drops
        Share of the operations that drop words (1/3), whatever the neighbour is.
    """

    margin: float = MARGIN
    most: int = 5
    longest: int = 6
    longest_drop: int = 3
    shortest: int = 3
    drops: float = 1 / 3


class SEScore2Pipeline(Pipeline):
    """Make at most one pair per text.

    ``signals`` of a pair are row, cosine and margin of the neighbour. Types of operations are those of SEScore; their details hold the
    number behind the severity, and whether the step leads towards the neighbour or drops words (``retrieved``, 1 or 0).

    Parameters
    ----------
    index
        Source of the neighbours.
    severities
        Tell minor steps from major ones.
    """

    name = "sescore2"

    def __init__(
        self, index: SentenceIndex, severities: SeverityModel, settings: SEScore2Settings | None = None, *, block: int = 64
    ) -> None:
        self.index, self.severities, self.settings = index, severities, settings or SEScore2Settings()
        parts = f"index:{index.identity}", severities.signature, settings_signature(self.settings)
        super().__init__("|".join((f"{self.name}-{VERSION}", *parts)), block, self.settings.shortest)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield the pairs; every step is judged in a text without the other steps, all at once."""
        works = []
        for (source, text), near in zip(texts, self.index.of([t for _, t in texts], self.settings.margin), strict=True):
            if not near:
                self.skipped["no neighbour"] += 1
                continue
            chance = random.Random(f"{self.name}\0{seed}\0{text}")
            chosen = chance.choice(sorted(near, key=lambda one: one.row))
            steps = draw_steps(text, chosen.text, self.settings, chance)
            if applied(text, *chained(step.operation for step in steps)) == text:
                self.skipped["nothing to change"] += 1
            else:
                works.append((source, text, chosen, steps))
        verdicts = iter(self.severities.of([(text, step.operation) for _, text, _, steps in works for step in steps]))
        for source, text, chosen, steps in works:
            weighed = []
            for step in steps:
                typed = replace(step.operation, type=error_type(step.operation), details={"retrieved": float(not step.is_drop)})
                weighed.append(with_severity(typed, next(verdicts)))
            about = {"cosine": round(chosen.cosine, 4), "margin": round(chosen.margin, 4)}
            yield self.pair(source, text, chained(weighed), seed, signals={"neighbour": float(chosen.row), **about})


def draw_steps(text: str, neighbour: str, settings: SEScore2Settings, chance: random.Random) -> list[Difference]:
    """Return a random part of the differences of two texts and some drops, from left to right; maybe none.

    A word remains between any two of them, and drops leave at least half of the words.
    """
    count = chance.randint(1, settings.most)
    drops = sum(chance.random() < settings.drops for _ in range(count))
    able = [
        step
        for step in differences(text, neighbour)
        if step.operation.kind != SPACING and max(step.last - step.first, step.added) <= settings.longest
    ]
    chosen = chance.sample(able, min(count - drops, len(able)))
    words = words_of(text)
    room = len(words) // 2 - sum(max(0, step.last - step.first - step.added) for step in chosen)
    for _ in range(drops):
        blocked = {n for step in chosen for n in range(step.first - 1, step.last + 1)}
        free = [n for n in range(len(words)) if n not in blocked]
        if not free or room < 1:
            break
        first = chance.choice(free)
        last, limit = first + 1, first + min(room, chance.randint(1, settings.longest_drop))
        while last < min(limit, len(words)) and last not in blocked:
            last += 1
        operation = deletion(text, words[first].start, words[last - 1].end)
        if operation is not None:
            chosen.append(Difference(first, last, 0, operation, is_drop=True))
            room -= last - first
    return sorted(chosen, key=lambda step: step.first)
