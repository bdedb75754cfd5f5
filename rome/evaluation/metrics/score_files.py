"""Files of scores or error marks, and scores that were published with a set, as metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rome.data.readers.lines import json_objects, number, table
from rome.data.readers.mqm import MqmWeights, marks_score
from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet, marks_of
from rome.evaluation.metrics.functions import References, Scores, candidates
from rome.exceptions import InputError
from rome.storage.files import read_lines
from rome.text_table import shorten

IDENTIFIERS = ("language_pair", "system", "item")
TEXTS = ("reference", "hypothesis")


class PublishedScores:
    """Score by the scores of one metric that were published with a rated set."""

    def __init__(self, name: str) -> None:
        self.key = name
        self.name = f"{name} (published)"
        self.signature = f"published:{name}"

    def score_set(self, rated: RatedSet) -> Scores:
        """Return (n,) the published scores. Raises InputError naming a segment without one."""
        for segment in rated.segments:
            if self.key not in segment.published:
                raise InputError(f"{segment.place}: no published score of {self.key}: leave this metric out for {rated.name}")
        return np.array([segment.published[self.key] for segment in rated.segments], dtype=np.float64)


class ScoreFile:
    """Score by a file of scores, higher is better, in one of three layouts.

    One number per line: the segments of one rated set in its order.
    TSV with a header and the column ``score``: with ``item`` (and ``system``, ``language_pair`` if the set has them), every segment is
    looked up; with ``reference`` and ``hypothesis``, every pair of texts is. A ``hypothesis`` beside ``item`` must be the text of the segment.

    Raises InputError that names file, line and remedy.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.lines = read_lines(path)
        if not self.lines:
            raise InputError(f"{path} is empty: give one score per line, or a TSV file with a header")
        self.header = self.lines[0].split("\t")
        if _is_number(self.lines[0]):
            self.header = []
        elif "score" not in self.header or not ({"item"} <= set(self.header) or set(TEXTS) <= set(self.header)):
            raise InputError(
                f"{path}:1: the header is {', '.join(self.header)}: it needs `score`, and `item` or `reference` with `hypothesis`"
            )

    @property
    def signature(self) -> str:
        """Return the name of the file and a digest of its content."""
        content = "\n".join(self.lines).encode("utf-8")
        return f"file:{Path(self.path).name}|content:{hashlib.blake2b(content, digest_size=8).hexdigest()}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return (n,) scores of pairs of texts, for the best reference of several. Raises InputError for a pair without a score."""
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
        """Return (n,) scores of the segments of a set."""
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
                "give one score per segment, in the order of the set, or a TSV file with `item` and `score`"
            )
        return np.array([number(line, f"{self.path}:{at}", "the score") for at, line in enumerate(self.lines, start=1)])

    def _of(self, segment: RatedSegment, known: dict[tuple[str, ...], tuple[float, str, str]], columns: Sequence[str]) -> float:
        key = tuple(str(getattr(segment, name)) for name in columns)
        if key not in known:
            raise InputError(f"{self.path} has no score for {' '.join(key)} ({segment.place}): score every segment of the set")
        score, hypothesis, place = known[key]
        if "hypothesis" in self.header and hypothesis != segment.hypothesis:
            raise InputError(
                f"{place}: the hypothesis is {shorten(hypothesis, 50)!r} and that of {segment.place} is "
                f"{shorten(segment.hypothesis, 50)!r}: pair the scores with their outputs"
            )
        return score

    def _table(self, columns: Sequence[str]) -> dict[tuple[str, ...], tuple[float, str, str]]:
        """Return key of each line -> score, hypothesis, place; refuse a key with two scores."""
        known: dict[tuple[str, ...], tuple[float, str, str]] = {}
        for place, cell in table(self.path, ("score", *columns), lines=self.lines):
            key = tuple(cell[name] for name in columns)
            score = number(cell["score"], place, "the score")
            if key in known and known[key][0] != score:
                raise InputError(f"{place}: {shorten(' '.join(key), 60)} has another score in {known[key][2]}: keep one")
            known[key] = score, cell.get("hypothesis", ""), place
        return known


def _is_number(cell: str) -> bool:
    try:
        return float(cell) is not None
    except ValueError:
        return False


WEIGHTS = MqmWeights(critical=5.0, minor_punctuation=1.0, most=25.0)


class MarkFile:
    """Mark and score by JSON lines with ``item`` (and ``system``, ``language_pair`` if the set has them) and ``errors``.

    ``errors`` is a list of ``{start, end, severity, category}`` by characters of the hypothesis. Optional: ``hypothesis``, which must be the
    text of the segment, and ``score``. Without it the score is minus the severity-weighted count (minor 1, major 5, at most 25).

    Raises InputError that names file, line and remedy.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.rows = {_key(row): (place, row) for place, row in json_objects(path, ("item", "errors"))}

    @property
    def signature(self) -> str:
        """Return the name of the file and a digest of its content."""
        return f"marks:{self.name}|content:{hashlib.sha256(Path(self.path).read_bytes()).hexdigest()[:16]}"

    def marks_of(self, segments: Sequence[RatedSegment]) -> list[tuple[ErrorMark, ...]]:
        """Return the marks of each segment. Raises InputError for a segment without a line, another text, or a mark outside of it."""
        return [self._marks(segment) for segment in segments]

    def score_set(self, rated: RatedSet) -> Scores:
        """Return (n,) the scores of the file, or minus the weighted counts."""
        scores = []
        for segment in rated.segments:
            place, row = self._row(segment)
            value = row.get("score", marks_score({self.name: self._marks(segment)}, WEIGHTS))
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise InputError(f"{place}: the score must be a number, got {value!r}")
            scores.append(float(value))
        return np.array(scores, dtype=np.float64)

    def _row(self, segment: RatedSegment) -> tuple[str, Mapping[str, Any]]:
        key = (segment.language_pair, segment.item, segment.system)
        line = self.rows.get(key) or self.rows.get(("", *key[1:]))
        if line is None:
            raise InputError(
                f"{self.path} has no line for {' '.join(key).strip()} ({segment.place}): mark every segment, [] for none"
            )
        place, row = line
        if row.get("hypothesis", segment.hypothesis) != segment.hypothesis:
            raise InputError(f"{place}: the hypothesis is not that of {segment.place}: pair the marks with their outputs")
        return line

    def _marks(self, segment: RatedSegment) -> tuple[ErrorMark, ...]:
        place, row = self._row(segment)
        return marks_of(row["errors"], len(segment.hypothesis), place)


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(row.get("language_pair", "")), str(row["item"]), str(row.get("system", ""))
