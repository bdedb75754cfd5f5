"""Similar sentences: an exact index of sentence vectors, nearest neighbours, and their ratio margin.

The margin of two texts is their cosine over the mean of both texts' average cosine with their k nearest neighbours (SEScore2
§4.1 and appendices B, C, after Artetxe and Schwenk 2019 and Schwenk et al. 2021): above 1 they are closer than neighbours
usually are. Search is exact (faiss, inner product of unit vectors).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rome.exceptions import InputError, StoreError
from rome.features.analyser.model_set import encoder_identity
from rome.features.analyser.transformer import PieceStates
from rome.features.packages import import_failed
from rome.storage.files import atomic_path
from rome.train.synthesis.pairs import batches, identifier


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
        means = [rows.mean(axis=0) if len(rows) else None for rows in self.states.of(texts)]
        width = max((len(mean) for mean in means if mean is not None), default=0)
        vectors = np.array([np.zeros(width) if mean is None else mean for mean in means], dtype=np.float32)
        return _unit_rows(vectors.reshape(len(texts), width))


def _unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Scale the rows to length 1, contiguous float32; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


NEIGHBOURS = 128
"""Number of nearest neighbours, also of the average cosine (SEScore2, appendices B and C)."""
MARGIN = 1.06
"""Least margin of a neighbour (SEScore2 §4.1)."""
BATCH, BLOCK = 256, 1024


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
        return _index_name(self.texts, self.encoder, self.neighbours)

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


def sentence_index(
    texts: Iterable[str], encoder: Vectors, *, neighbours: int = NEIGHBOURS, folder: Path | None = None
) -> SentenceIndex:
    """Return the index of the texts that have words, without near copies of earlier ones; a terminal shows a bar.

    Time grows with the square of the number of texts (10,000 take seconds, 100,000 minutes).

    Parameters
    ----------
    neighbours
        K of the search and of the margin, at least 1.
    folder
        Keeps the vectors between runs; another corpus, encoder or k gets another file, and a damaged file is made anew.

    Raises
    ------
    InputError
        For no texts, and for a file in the place of the folder.
    StoreError
        If the file cannot be written.
    """
    distinct = {key_of(text): text for text in reversed(list(texts))}
    distinct.pop("", None)
    kept = tuple(reversed(distinct.values()))
    if not kept:
        raise InputError("no text has a letter or digit: give a corpus, one sentence per line")
    if neighbours < 1:
        raise InputError(f"neighbours must be at least 1, got {neighbours}")
    if folder is not None and folder.is_file():
        raise InputError(f"{folder} is a file: name a folder, which keeps the index")
    path = None if folder is None else folder / f"sentences-{_index_name(kept, encoder, neighbours)[-16:]}.npz"
    if path is not None and path.is_file():
        with suppress(OSError, ValueError, KeyError, EOFError, BadZipFile), np.load(path) as found:
            return SentenceIndex(kept, found["vectors"], found["density"], neighbours, encoder)
    bar = tqdm(kept, "index", unit="text", leave=False, disable=None)
    vectors = _unit_rows(np.concatenate([encoder.of(block) for block in batches(bar, BATCH)]))
    index = SentenceIndex(kept, vectors, _densities(vectors, neighbours), neighbours, encoder)
    if path is not None:
        _keep(index, path)
    return index


def _keep(index: SentenceIndex, path: Path) -> None:
    """Write the vectors of an index."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, vectors=index.vectors, density=index.density)
    except (OSError, InputError) as error:
        raise StoreError(f"{path} cannot be written ({error}): name a folder with room that may be written to") from error


def _index_name(texts: Sequence[str], encoder: Vectors, neighbours: int) -> str:
    return f"{encoder.identity},k={neighbours},{identifier(encoder.identity, neighbours, *texts)}"


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
    means = np.empty(len(vectors))
    for start in range(0, len(vectors), BLOCK):
        cosines, rows = _nearest(vectors[start : start + BLOCK], vectors, k + 1)
        for n, (values, found) in enumerate(zip(cosines.astype(np.float64), rows, strict=True), start):
            means[n] = values[found != n][:k].mean()
    return means
