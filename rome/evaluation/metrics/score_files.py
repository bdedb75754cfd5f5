"""Scores that were computed elsewhere: a file of them, or those published with the data, count as a metric."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rome.data.readers.rated import RatedSegment, RatedSet
from rome.evaluation.metrics.pairs import candidates
from rome.evaluation.metrics.protocol import References, Scores
from rome.exceptions import InputError
from rome.storage.files import read_lines
from rome.text_table import shorten

__all__ = ["PublishedScores", "ScoreFile"]

IDENTIFIERS = ("language_pair", "system", "item")
TEXTS = ("reference", "hypothesis")


class PublishedScores:
    """The scores of one metric that came with a rated set."""

    def __init__(self, name: str) -> None:
        self.key = name
        self.name = f"{name} (published)"
        self.signature = f"published:{name}"

    def score_set(self, rated: RatedSet) -> Scores:
        """(n,) as published. Raises InputError naming the segment that has none."""
        for segment in rated.segments:
            if self.key not in segment.published:
                raise InputError(f"{segment.place}: no published score of {self.key}: leave this metric out for {rated.name}")
        return np.array([segment.published[self.key] for segment in rated.segments], dtype=np.float64)


class ScoreFile:
    """A file of scores, higher is better, in one of three shapes.

    One number a line: the segments of one rated set in its order (their numbers must be equal).
    TSV with a header and the column ``score``: with ``item`` (and ``system``, ``language_pair`` where the set has them), every segment is
    looked up; with ``reference`` and ``hypothesis``, every pair of texts is. A further ``hypothesis`` beside ``item`` must be the
    segment's own text, so that a wrong pairing cannot pass.

    Raises InputError that names file, line and remedy.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.lines = read_lines(path)
        if not self.lines:
            raise InputError(f"{path} is empty: give one score a line, or a TSV file with a header")
        self.header = self.lines[0].split("\t")
        if _number(self.lines[0]) is not None:
            self.header = []
        elif "score" not in self.header or not ({"item"} <= set(self.header) or set(TEXTS) <= set(self.header)):
            raise InputError(
                f"{path}:1: the header is {', '.join(self.header)}: it needs `score`, and `item` or `reference` with `hypothesis`"
            )

    @property
    def signature(self) -> str:
        """The file's name and content."""
        content = "\n".join(self.lines).encode("utf-8")
        return f"file:{Path(self.path).name}|content:{hashlib.blake2b(content, digest_size=8).hexdigest()}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) looked up by text, the best reference of several. Raises InputError for a pair that the file does not hold."""
        if not set(TEXTS) <= set(self.header):
            raise InputError(
                f"{self.path} has no texts: give the columns `reference`, `hypothesis` and `score` to score any pair"
            )
        known = self._table(TEXTS)
        pairs, starts = candidates(references, hypotheses)
        for pair in pairs:
            if pair not in known:
                raise InputError(f"{self.path} has no score for the hypothesis {shorten(pair[1], 60)!r}: score every pair")
        return np.maximum.reduceat(np.array([known[pair][0] for pair in pairs]), starts) if pairs else np.zeros(0)

    def score_set(self, rated: RatedSet) -> Scores:
        """(n,) for the segments of a set."""
        if not self.header:
            return self._by_order(rated)
        if "item" not in self.header:
            return self.score([s.references for s in rated.segments], [s.hypothesis for s in rated.segments])
        columns = [name for name in IDENTIFIERS if name in self.header]
        known = self._table(columns)
        return np.array([self._of(segment, known, columns) for segment in rated.segments])

    def _by_order(self, rated: RatedSet) -> Scores:
        if len(self.lines) != len(rated.segments):
            raise InputError(
                f"{self.path} has {len(self.lines)} scores and {rated.name} has {len(rated.segments)} segments: "
                "give one score a segment, in the order of the set, or a TSV file with `item` and `score`"
            )
        return np.array([self._parsed(line, number) for number, line in enumerate(self.lines, start=1)])

    def _of(self, segment: RatedSegment, known: dict[tuple[str, ...], tuple[float, str, int]], columns: Sequence[str]) -> float:
        key = tuple(str(getattr(segment, name)) for name in columns)
        if key not in known:
            raise InputError(f"{self.path} has no score for {' '.join(key)} ({segment.place}): score every segment of the set")
        score, hypothesis, number = known[key]
        if "hypothesis" in self.header and hypothesis != segment.hypothesis:
            raise InputError(
                f"{self.path}:{number}: the hypothesis is {shorten(hypothesis, 50)!r} and that of {segment.place} is "
                f"{shorten(segment.hypothesis, 50)!r}: pair the scores with the outputs that they were made for"
            )
        return score

    def _table(self, columns: Sequence[str]) -> dict[tuple[str, ...], tuple[float, str, int]]:
        """Key of each line -> score, hypothesis, line number; a key that comes twice is refused."""
        known: dict[tuple[str, ...], tuple[float, str, int]] = {}
        for number, line in enumerate(self.lines[1:], start=2):
            cells = line.split("\t")
            if len(cells) != len(self.header):
                raise InputError(
                    f"{self.path}:{number}: {len(cells)} columns, the header has {len(self.header)}: write no tab in a text"
                )
            cell = dict(zip(self.header, cells, strict=True))
            key = tuple(cell[name] for name in columns)
            score = self._parsed(cell["score"], number)
            if key in known and known[key][0] != score:
                raise InputError(
                    f"{self.path}:{number}: {shorten(' '.join(key), 60)} has another score in line {known[key][2]}: keep one"
                )
            known[key] = score, cell.get("hypothesis", ""), number
        return known

    def _parsed(self, cell: str, number: int) -> float:
        value = _number(cell)
        if value is None or not math.isfinite(value):
            raise InputError(f"{self.path}:{number}: {cell!r} is no finite number: give one score a line")
        return value


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
