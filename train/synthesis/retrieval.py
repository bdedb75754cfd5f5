"""Similar sentences: an exact index of sentence vectors, nearest neighbours, and the ratio margin that tells real likeness.

The margin of two texts is their cosine over the mean of both texts' average cosine with their k nearest neighbours (SEScore2
§4.1 and appendices B, C, after Artetxe and Schwenk 2019 and Schwenk et al. 2021): above 1 they are closer than neighbours
usually are there. Search is exact (faiss, inner product of unit vectors).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
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
from rome.train.synthesis.pairs import batches


class Vectors(Protocol):
    """Gives each text a vector.

    Attributes
    ----------
    identity
        Which encoder, in one line; tells apart any two that give different vectors.
    """

    identity: str

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) float32 rows of length 1; a text without words may give zeros."""


class SentenceVectors:
    """The mean of the embedded encoder's piece states, scaled to length 1."""

    def __init__(self) -> None:
        self.states = PieceStates("")
        self.identity = f"mean:{encoder_identity('')}"

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) float32 unit rows; zeros for a text without pieces."""
        means = [rows.mean(axis=0) if len(rows) else None for rows in self.states.of(texts)]
        width = max((len(mean) for mean in means if mean is not None), default=0)
        vectors = np.array([np.zeros(width) if mean is None else mean for mean in means], dtype=np.float32)
        return unit_rows(vectors.reshape(len(texts), width))


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """The rows scaled to length 1, contiguous float32; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


NEIGHBOURS = 128
"""How many nearest neighbours are looked at, and over how many the average cosine is taken (SEScore2, appendices B and C)."""
MARGIN = 1.06
"""The least margin of a neighbour (SEScore2 §4.1)."""
BATCH, BLOCK = 256, 1024


def key_of(text: str) -> str:
    """Letters and digits alone, case folded: texts with the same key are copies, or differ in casing, spacing and signs only."""
    return "".join(filter(str.isalnum, text.casefold()))


class Neighbour(NamedTuple):
    """A text of the index near another: its row, its cosine with the other, and the margin of the two."""

    row: int
    text: str
    cosine: float
    margin: float


@dataclass(frozen=True)
class SentenceIndex:
    """Texts without near copies, their vectors, and how near each one's neighbours are on average.

    Attributes
    ----------
    vectors
        (n, d) float32 unit rows.
    density
        (n,) mean cosine with the ``neighbours`` nearest other texts (all others where there are fewer), infinite for a text that is alone.
    encoder
        What made the vectors.
    """

    texts: tuple[str, ...]
    vectors: NDArray[np.float32] = field(repr=False)
    density: NDArray[np.float64] = field(repr=False)
    neighbours: int
    encoder: Vectors = field(repr=False)

    @classmethod
    def build(cls, texts: Iterable[str], encoder: Vectors, *, neighbours: int = NEIGHBOURS) -> SentenceIndex:
        """Leave out wordless texts and near copies of earlier ones, and take the vectors of the others; a bar shows it on a terminal.

        Time grows with the square of the number of texts (10,000 take seconds, 100,000 minutes). Raises InputError for no texts.

        Parameters
        ----------
        neighbours
            K of the search and of the margin, >= 1.
        """
        if neighbours < 1:
            raise InputError(f"neighbours={neighbours}: give at least 1")
        kept = _without_copies(texts)
        bar = tqdm(kept, "index", unit="text", leave=False, disable=None)
        vectors = unit_rows(np.concatenate([encoder.of(block) for block in batches(bar, BATCH)]))
        return cls(kept, vectors, _densities(vectors, neighbours), neighbours, encoder)

    @cached_property
    def rows(self) -> dict[str, int]:
        """Where each text stands, by its key."""
        return {key_of(text): row for row, text in enumerate(self.texts)}

    @property
    def identity(self) -> str:
        """Everything that decides what is found: encoder, texts in their order, number of neighbours."""
        return f"{self.encoder.identity},{texts_digest(self.texts)},k={self.neighbours}"

    def of(self, texts: Sequence[str], margin: float = MARGIN) -> list[list[Neighbour]]:
        """For each text those of its k nearest whose margin is at least ``margin``, best margin first.

        Neither the text itself nor a near copy is ever among them, and neither counts in the averages. None for a text without
        words, and none from an index of one text, where no margin can be told.
        """
        keys = [key_of(text) for text in texts]
        found: list[list[Neighbour]] = [[] for _ in texts]
        asked = [n for n, key in enumerate(keys) if key]
        if asked:
            cosines, rows = _nearest(self._vectors([texts[n] for n in asked]), self.vectors, self.neighbours + 1)
            for n, near, where in zip(asked, cosines, rows, strict=True):
                found[n] = self._kept(self.rows.get(keys[n], -1), near, where, margin)
        return found

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows: those that are kept of texts of the index, those of the encoder of others."""
        vectors = np.zeros((len(texts), self.vectors.shape[1]), np.float32)
        rows = np.array([self.rows.get(key_of(text), -1) for text in texts])
        known = np.array([row >= 0 and self.texts[row] == text for row, text in zip(rows, texts, strict=True)])
        vectors[known] = self.vectors[rows[known]]
        if not known.all():
            vectors[~known] = unit_rows(self.encoder.of([text for text, told in zip(texts, known, strict=True) if not told]))
        return vectors

    def _kept(self, copy: int, cosines: NDArray[np.float32], rows: NDArray[np.int64], margin: float) -> list[Neighbour]:
        """The neighbours of a text out of its k + 1 nearest rows, one of which may be its copy: there is at most one."""
        others = [(int(row), float(cos)) for row, cos in zip(rows, cosines, strict=True) if row != copy][: self.neighbours]
        if not others:
            return []
        own = sum(cos for _, cos in others) / len(others)
        found = [Neighbour(row, self.texts[row], cos, ratio_margin(cos, own, self.density[row])) for row, cos in others]
        return sorted((one for one in found if one.margin >= margin), key=lambda one: (-one.margin, one.row))


def _without_copies(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts with words, but for near copies of earlier ones."""
    kept: dict[str, str] = {}
    for text in texts:
        kept.setdefault(key_of(text), text)
    kept.pop("", None)
    if not kept:
        raise InputError("no text with a letter or digit to build an index of: give a corpus, one sentence a line")
    return tuple(kept.values())


def kept_index(folder: Path, texts: Sequence[str], encoder: Vectors, *, neighbours: int = NEIGHBOURS) -> SentenceIndex:
    """The index of these texts, whose vectors are computed once and kept in a folder.

    The file is named by encoder, texts and k, so that another corpus or encoder never gets this one; a damaged file is made anew. Raises
    StoreError when it cannot be written.
    """
    key = blake2b(f"{encoder.identity},{texts_digest(texts)},{neighbours}".encode(), digest_size=10).hexdigest()
    path = Path(folder) / f"sentences-{key}.npz"
    try:
        with np.load(path) as kept:
            return SentenceIndex(_without_copies(texts), kept["vectors"], kept["density"], neighbours, encoder)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        index = SentenceIndex.build(texts, encoder, neighbours=neighbours)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, vectors=index.vectors, density=index.density)
    except (OSError, InputError) as error:
        raise StoreError(f"{path} cannot be written ({error}): name a folder with room that may be written to") from error
    return index


def texts_digest(texts: Iterable[str]) -> str:
    """A digest of texts in their order."""
    digest = blake2b(digest_size=10)
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return digest.hexdigest()


def ratio_margin(cosine: float, one: float, other: float) -> float:
    """The cosine of two texts over the mean of their average cosines with their neighbours; 0 where that mean is not positive."""
    mean = (one + other) / 2
    return float(cosine / mean) if mean > 0 else 0.0


def _nearest(queries: NDArray[np.float32], rows: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(n, min(k, rows)) the greatest inner products and where they are, exact."""
    try:
        import faiss
    except ImportError as error:
        raise import_failed(error, "finding neighbours", '"rome-metric[train]"') from error
    cosines, found = faiss.knn(queries, rows, min(k, len(rows)), metric=faiss.METRIC_INNER_PRODUCT)
    return cosines, found


def _densities(vectors: NDArray[np.float32], k: int) -> NDArray[np.float64]:
    """(n,) each row's mean cosine with its k nearest others; infinite for a row that is alone."""
    if len(vectors) == 1:
        return np.array([np.inf])
    means = np.empty(len(vectors))
    for start in range(0, len(vectors), BLOCK):
        cosines, rows = _nearest(vectors[start : start + BLOCK], vectors, k + 1)
        for n, (values, found) in enumerate(zip(cosines.astype(np.float64), rows, strict=True), start):
            means[n] = values[found != n][:k].mean()
    return means
