"""How telling a word is: inverse document frequencies, and the normalised TF-IDF weights of the words of a text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import ModelMissingError

from .model_files import verified


@dataclass(frozen=True)
class IdfTable:
    """In how many of ``documents`` texts each word (lower-cased) occurs.

    The weight of a word is ln((N + 1) / (df + 1)), smoothed so that an unseen word is finite, and at least ``floor``.
    """

    documents: int
    counts: dict[str, int] = field(repr=False)
    name: str = "custom"
    floor: float = 0.1

    def idf(self, word: str) -> float:
        """The inverse document frequency of one word, >= floor; an unseen word gets the highest value there is."""
        return max(self.floor, math.log((self.documents + 1) / (self.counts.get(word.lower(), 0) + 1)))

    def weights(self, words: Sequence[str]) -> NDArray[np.float64]:
        """(n,) sentence-level normalised TF-IDF weights that sum to 1; an empty array for no words.

        Every occurrence carries its own mass, so that a word that stands twice weighs twice (RoMe §2.1, §3.1). A word made of
        punctuation alone weighs the floor.
        """
        raw = np.array([self.idf(word) if any(map(str.isalnum, word)) else self.floor for word in words])
        return raw / raw.sum() if len(raw) else raw

    @classmethod
    def from_texts(cls, texts: Iterable[Sequence[str]], name: str = "custom", minimum: int = 1) -> IdfTable:
        """Count words over tokenised texts; words in fewer than ``minimum`` texts are left out (they count as unseen)."""
        counts: Counter[str] = Counter()
        documents = 0
        for words in texts:
            documents += 1
            counts.update({word.lower() for word in words})
        return cls(documents, {word: n for word, n in counts.items() if n >= minimum}, name)

    def save(self, path: Path) -> None:
        """Write the table as Parquet, rarest words last."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = sorted(self.counts.items(), key=lambda row: (-row[1], row[0]))
        table = pa.table({"word": [row[0] for row in rows], "documents": pa.array([row[1] for row in rows], pa.int32())})
        table = table.replace_schema_metadata({"documents": str(self.documents), "name": self.name})
        pq.write_table(table, path, compression="zstd")

    @classmethod
    def load(cls, path: Path) -> IdfTable:
        """Read a table that save wrote; ModelMissingError when it is not there."""
        if not Path(path).is_file():
            raise ModelMissingError(f"the IDF table {path} is missing: reinstall rome-metric, or make it with `rome train idf`")
        import pyarrow.parquet as pq

        with pq.ParquetFile(verified(Path(path))) as file:  # read_table would load pandas where that is installed
            table = file.read()
        metadata = table.schema.metadata or {}
        counts = dict(zip(table["word"].to_pylist(), table["documents"].to_pylist(), strict=True))
        return cls(int(metadata[b"documents"]), counts, metadata[b"name"].decode())
