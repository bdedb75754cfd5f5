"""Files of scores, and scores that were published with a set, as metrics."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from rome.data.readers.lines import number, table
from rome.data.readers.rated import RatedSet
from rome.evaluation.metrics.functions import Scores
from rome.exceptions import InputError
from rome.storage.files import read_lines
from rome.text_table import shorten

IDENTIFIERS = ("language_pair", "system", "item")


class PublishedScores:
    """Score by the scores of one metric that were published with a rated set."""

    def __init__(self, name: str) -> None:
        self.key = name
        self.name = f"{name} (published)"
        self.signature = f"published:{name}"

    def score_set(self, rated: RatedSet) -> Scores:
        """Return (n,) the published scores."""
        return np.array([segment.published[self.key] for segment in rated.segments], dtype=np.float64)


class ScoreFile:
    """Score the segments of one rated set by a file of scores, higher is better.

    The file has one number per line in the order of the set, or is a TSV table with the columns ``item`` and ``score``, and ``system`` and
    ``language_pair`` if the set has them. A column ``hypothesis`` must have the text of the segment.

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
        elif not {"item", "score"} <= set(self.header):
            raise InputError(f"{path}:1: the header must have `item` and `score`, got {', '.join(self.header)}")

    @property
    def signature(self) -> str:
        """Return the name of the file and a digest of its content."""
        content = "\n".join(self.lines).encode("utf-8")
        return f"file:{Path(self.path).name}|content:{hashlib.blake2b(content, digest_size=8).hexdigest()}"

    def score_set(self, rated: RatedSet) -> Scores:
        """Return (n,) scores of the segments of a set."""
        return self._by_item(rated) if self.header else self._by_order(rated)

    def _by_order(self, rated: RatedSet) -> Scores:
        if len(self.lines) != len(rated.segments):
            raise InputError(
                f"{self.path} has {len(self.lines)} scores and {rated.name} has {len(rated.segments)} segments: "
                "give one score per segment, in the order of the set, or a TSV file with `item` and `score`"
            )
        return np.array([number(line, f"{self.path}:{at}", "the score") for at, line in enumerate(self.lines, start=1)])

    def _by_item(self, rated: RatedSet) -> Scores:
        columns = [name for name in IDENTIFIERS if name in self.header]
        known, scores = self._table(columns), []
        for segment in rated.segments:
            key = tuple(str(getattr(segment, name)) for name in columns)
            if key not in known:
                raise InputError(
                    f"{self.path} has no score for {' '.join(key)} ({segment.place}): score every segment of the set"
                )
            score, hypothesis, place = known[key]
            if "hypothesis" in self.header and hypothesis != segment.hypothesis:
                raise InputError(f"{place}: the hypothesis is not that of {segment.place}: pair the scores with their outputs")
            scores.append(score)
        return np.array(scores)

    def _table(self, columns: list[str]) -> dict[tuple[str, ...], tuple[float, str, str]]:
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
