"""SEScore2 (Xu et al. 2023): parts of the difference between a sentence and a similar one, each step judged alone (§4.1, §4.2).

Random word drops are added to the steps towards the neighbour. Neighbours come from an exact index of sentence vectors (faiss, inner
product of unit vectors) by their ratio margin: the cosine of two texts over the mean of both texts' average cosine with their k nearest
neighbours (§4.1, appendices B, C, after Artetxe and Schwenk 2019 and Schwenk et al. 2021). Above 1 they are closer than neighbours usually
are there.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError
from rome.features.analyser.model_set import encoder_identity
from rome.features.analyser.transformer import PieceStates
from rome.features.packages import needed
from rome.train.synthesis.edits import SPACING, Operation, applied, chained, deletion, differences, error_type, words_of
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, identifier, settings_signature
from rome.train.synthesis.severities import SeverityModel, Work, judged_pairs


class SentenceVectors:
    """The mean of the piece states of the embedded encoder, scaled to length 1; ``identity`` names the encoder."""

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


NEIGHBOURS, MARGIN = 128, 1.06
"""Number of nearest neighbours, also of the average cosine, and least margin of a neighbour (SEScore2 §4.1, appendices B and C)."""


def key_of(text: str) -> str:
    """Return letters and digits alone, case folded; texts with the same key are near copies."""
    return "".join(filter(str.isalnum, text.casefold()))


class Neighbour(NamedTuple):
    """A text of the index near another one: its row, its cosine with it, and the margin of both."""

    row: int
    text: str
    cosine: float
    margin: float


class SentenceIndex:
    """The texts of a corpus that have words, without near copies of earlier ones.

    Time grows with the square of the number of texts (10,000 take seconds, 100,000 minutes). Raises InputError for no texts.

    Parameters
    ----------
    encoder
        Gives (n, d) vectors of texts by ``of``, and has an ``identity``.
    neighbours
        K of the search and of the margin, at least 1.
    """

    def __init__(self, texts: Iterable[str], encoder: Any, *, neighbours: int = NEIGHBOURS) -> None:
        distinct = {key_of(text): text for text in reversed(list(texts))}
        distinct.pop("", None)
        self.texts = tuple(reversed(distinct.values()))
        if not self.texts:
            raise InputError("no text has a letter or digit: give a corpus, one sentence per line")
        self.encoder, self.neighbours = encoder, neighbours
        self.vectors = _unit_rows(encoder.of(self.texts))
        self.identity = f"{encoder.identity},k={neighbours},{identifier(encoder.identity, neighbours, *self.texts)}"
        self.density = [_mean_cosine(found) for found in self._nearest(self.texts, self.vectors)]

    def of(self, texts: Sequence[str], margin: float = MARGIN) -> list[list[Neighbour]]:
        """Return for each text those of its k nearest whose margin is at least ``margin``, best margin first.

        The text itself and near copies are neither among them nor in the averages. A text without words has no neighbours.
        """
        found = []
        for near in self._nearest(texts, _unit_rows(self.encoder.of(texts))) if texts else []:
            own = _mean_cosine(near)
            rated = [Neighbour(row, self.texts[row], cos, ratio_margin(cos, own, self.density[row])) for row, cos in near]
            found.append(sorted((one for one in rated if one.margin >= margin), key=lambda one: (-one.margin, one.row)))
        return found

    def _nearest(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> Iterator[list[tuple[int, float]]]:
        """Yield for each text row and cosine of its k nearest, without its copy; none for a text without words."""
        with needed("finding neighbours", '"rome-metric[train]"'):
            import faiss
        count = min(self.neighbours + 1, len(self.texts))
        cosines, rows = faiss.knn(vectors, self.vectors, count, metric=faiss.METRIC_INNER_PRODUCT)
        for text, *found in zip(texts, rows.tolist(), cosines.tolist(), strict=True):
            key = key_of(text)
            others = [(row, cos) for row, cos in zip(*found, strict=True) if key_of(self.texts[row]) != key]
            yield others[: self.neighbours] if key else []


def _mean_cosine(near: Sequence[tuple[int, float]]) -> float:
    return sum(cosine for _, cosine in near) / len(near) if near else float("inf")


def ratio_margin(cosine: float, one: float, other: float) -> float:
    """Return the cosine of two texts over the mean of their average cosines, or 0 if that mean is not positive."""
    mean = (one + other) / 2
    return float(cosine / mean) if mean > 0 else 0.0


VERSION = 5


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
        works: list[Work] = []
        for (source, text), near in zip(texts, self.index.of([t for _, t in texts], self.settings.margin), strict=True):
            if not near:
                self.skipped["no neighbour"] += 1
                continue
            chance = random.Random(f"{self.name}\0{seed}\0{text}")
            chosen = chance.choice(sorted(near, key=lambda one: one.row))
            steps = draw_steps(text, chosen.text, self.settings, chance)
            if applied(text, *chained(steps)) == text:
                self.skipped["nothing to change"] += 1
                continue
            signals = {"neighbour": float(chosen.row), "cosine": round(chosen.cosine, 4), "margin": round(chosen.margin, 4)}
            works.append((source, text, [(text, replace(step, type=error_type(step))) for step in steps], signals))
        yield from judged_pairs(self, works, seed, chained)


def draw_steps(text: str, neighbour: str, settings: SEScore2Settings, chance: random.Random) -> list[Operation]:
    """Return a random part of the differences of two texts and some drops, from left to right; maybe none.

    A word remains between any two of them, and drops leave at least half of the words.
    """
    count = chance.randint(1, settings.most)
    drops = sum(chance.random() < settings.drops for _ in range(count))
    steps = [step for step in differences(text, neighbour) if step.kind != SPACING]
    able = [step for step in steps if max(len(words_of(step.original)), len(words_of(step.new))) <= settings.longest]
    chosen = [replace(step, details={"retrieved": 1.0}) for step in chance.sample(able, min(count - drops, len(able)))]
    words = words_of(text)
    for _ in range(drops):
        for first in chance.sample(range(len(words)), len(words)):
            last = min(first + chance.randint(1, settings.longest_drop), len(words)) - 1
            drop = deletion(text, words[first].start, words[last].end)
            if drop is None or not all(_is_apart(text, drop, step) for step in chosen):
                continue
            if 2 * len(words_of(applied(text, *chained([*chosen, drop])))) >= len(words):
                chosen.append(replace(drop, details={"retrieved": 0.0}))
                break
    return sorted(chosen, key=lambda step: step.start)


def _is_apart(text: str, *steps: Operation) -> bool:
    """Tell whether a word remains between two edits of a text."""
    one, other = sorted(steps, key=lambda step: step.start)
    return bool(words_of(text[one.end : other.start]))
