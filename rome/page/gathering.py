"""What the page knows of every segment before it is opened: numbers, texts, flags and kinds of errors, in plain columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import SignatureMismatchError
from rome.page.blocks import clean
from rome.results import Components, CorpusScore, SegmentScore
from rome.results.comparison import MEASURES, differing_keys, measures

__all__ = ["DIGITS", "Gathered"]

DIGITS = 6
"""Decimals that the page keeps of every number, as many as `rome score --format tsv` writes."""


class _Pool:
    """Distinct values in the order they came, each known by its place."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, value: str) -> int:
        """Where the value stands, from 0."""
        return self.places.setdefault(value, len(self.places))

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)


class Gathered:
    """Takes the scores of one segment after the other, one of each system, and keeps what needs no evidence.

    names : the systems. corpora : their scores without evidence, for statistics. values : (systems, segments, 5) MEASURES.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(map(clean, names))
        self.signature: str | None = None
        self.segment_names: list[str] = []
        self._segments: list[list[SegmentScore]] = [[] for _ in names]
        self._texts, self._flags, self._kinds = _Pool(), _Pool(), _Pool()
        self._rows: list[tuple[int, int, list[int], list[int]]] = []

    def __len__(self) -> int:
        """The number of segments."""
        return len(self.segment_names)

    def add(self, name: str, scores: Sequence[SegmentScore]) -> None:
        """Take a segment. Raises SignatureMismatchError when its scores were not made in the same way as those before."""
        number = len(self)
        for system, score in enumerate(scores):
            if self.signature is None:
                self.signature = score.signature
            if score.signature != self.signature:
                where = (f"segment {name} of {self.names[system]}", "the segments before it")
                keys = "; ".join(differing_keys(score.signature, self.signature, where))
                raise SignatureMismatchError(f"scores that were made in two ways ({keys}): score every system with one metric")
            parts = Components(*(replace(part, evidence=None) for part in score.components))
            self._segments[system].append(replace(score, segment=number, components=parts, signature=self.signature))
            self._rows.append(self._row(score))
        self.segment_names.append(clean(name))

    def _row(self, score: SegmentScore) -> tuple[int, int, list[int], list[int]]:
        """Places of the reference, the hypothesis, the flags and the errors that count (kind of error by kind, as often as it occurs)."""
        evidence = score.evidence.errors
        found = [error for error in evidence.errors if error.severity != "none"] if evidence is not None else []
        kinds = [self._kinds.place(clean(f"{error.severity}\t{error.type or error.kind}")) for error in found]
        flags = [self._flags.place(clean(flag)) for flag in score.flags]
        return self._texts.place(clean(score.reference)), self._texts.place(clean(score.hypothesis)), flags, sorted(kinds)

    @property
    def corpora(self) -> list[CorpusScore]:
        """One CorpusScore a system, without evidence."""
        return [CorpusScore(tuple(segments), self.signature or "") for segments in self._segments]

    @property
    def values(self) -> NDArray[np.float64]:
        """(systems, segments, 5) the MEASURES of every row."""
        return np.stack([measures(corpus) for corpus in self.corpora])

    def columns(self) -> dict[str, Any]:
        """Everything as plain columns for the page; row = segment * systems + system. Numbers are whole, in 10 ** -DIGITS."""
        scale, rows = 10**DIGITS, self._rows
        values = self.values.transpose(2, 1, 0).reshape(len(MEASURES), -1)
        numbers = [[None if math.isnan(value) else round(value * scale) for value in column] for column in values.tolist()]
        return {
            "systems": list(self.names),
            "segments": self.segment_names,
            "measures": list(MEASURES),
            "scale": scale,
            "numbers": numbers,
            "texts": list(self._texts),
            "references": [row[0] for row in rows],
            "hypotheses": [row[1] for row in rows],
            "flagNames": list(self._flags),
            "flags": [row[2] for row in rows],
            "kinds": [kind.split("\t", 1) for kind in self._kinds],
            "errors": [row[3] for row in rows],
        }
