"""Inverse document frequencies, and the normalised TF-IDF weights of the words of a text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import ModelMissingError


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
        """Return the inverse document frequency of one word, >= floor; an unseen word gets the highest value there is."""
        return max(self.floor, math.log((self.documents + 1) / (self.counts.get(word.lower(), 0) + 1)))

    def weights(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return (n,) sentence-level normalised TF-IDF weights that sum to 1; an empty array for no words.

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
        """Write the table: a line with ``documents`` and the name, then one a word with its number, rarest words last."""
        rows = sorted(self.counts.items(), key=lambda row: (-row[1], row[0]))
        lines = [(self.name, self.documents), *rows]
        Path(path).write_bytes("".join(f"{number}\t{word}\n" for word, number in lines).encode())

    @classmethod
    def load(cls, path: Path) -> IdfTable:
        """Read a table that save wrote; ModelMissingError when it is not there, or is none."""
        remedy = "reinstall rome-metric, or make it with `rome train idf`"
        if not Path(path).is_file():
            raise ModelMissingError(f"the IDF table {path} is missing: {remedy}")
        try:
            lines = Path(path).read_bytes().decode().removesuffix("\n").split("\n")
            numbers, words = zip(*(line.split("\t", 1) for line in lines), strict=True)
            documents, *counts = map(int, numbers)
        except ValueError as error:
            raise ModelMissingError(f"the IDF table {path} is damaged ({error}): {remedy}") from error
        return cls(documents, dict(zip(words[1:], counts, strict=True)), words[0])
