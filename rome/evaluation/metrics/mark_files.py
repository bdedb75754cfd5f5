"""Error spans that were found elsewhere: a file of JSON lines counts as a metric that marks errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rome.data.readers.lines import json_objects
from rome.data.readers.mqm import MqmWeights, mqm_score
from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet, check_marks
from rome.evaluation.metrics.protocol import Scores
from rome.exceptions import InputError

__all__ = ["MarkFile"]

WEIGHTS = MqmWeights(critical=5.0, minor_punctuation=1.0, most=25.0)


class MarkFile:
    """JSON lines with ``item`` (and ``system``, ``language_pair`` where the set has them), ``errors`` (a list of
    ``{start, end, severity, category}`` by characters of the hypothesis) and optionally ``hypothesis``, which must then be the segment's
    own text, and ``score``. Without scores, minus the severity-weighted count counts (minor 1, major 5, at most 25).

    Raises InputError that names file, line and remedy.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.rows = {_key(row): (place, row) for place, row in json_objects(path, ("item", "errors"))}

    @property
    def signature(self) -> str:
        """The file's name and content."""
        from rome.reports.manifest import file_digest

        return f"marks:{self.name}|content:{file_digest(self.path)[7:23]}"

    def marks_of(self, segments: Sequence[RatedSegment]) -> list[tuple[ErrorMark, ...]]:
        """The marks of each segment. Raises InputError for a segment without a line, another text, or a mark outside of it."""
        return [self._marks(segment) for segment in segments]

    def score_set(self, rated: RatedSet) -> Scores:
        """(n,) the scores of the file, or minus the weighted counts."""
        found = []
        for segment in rated.segments:
            place, row = self._row(segment)
            counted = mqm_score({self.name: [(mark.severity, mark.category) for mark in self._marks(segment)]}, WEIGHTS)
            value = row.get("score", counted)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise InputError(f"{place}: the score is {value!r}: give a number")
            found.append(float(value))
        return np.array(found, dtype=np.float64)

    def _row(self, segment: RatedSegment) -> tuple[str, Mapping[str, Any]]:
        key = (segment.language_pair, segment.item, segment.system)
        found = self.rows.get(key) or self.rows.get(("", *key[1:]))
        if found is None:
            raise InputError(
                f"{self.path} has no line for {' '.join(key).strip()} ({segment.place}): mark every segment, [] for none"
            )
        place, row = found
        if row.get("hypothesis", segment.hypothesis) != segment.hypothesis:
            raise InputError(
                f"{place}: the hypothesis is not that of {segment.place}: pair the marks with the outputs they were made for"
            )
        return found

    def _marks(self, segment: RatedSegment) -> tuple[ErrorMark, ...]:
        place, row = self._row(segment)
        if not isinstance(row["errors"], list) or not all(isinstance(error, Mapping) for error in row["errors"]):
            raise InputError(f"{place}: errors is no list of objects: give [] where there is none")
        marks = tuple(
            ErrorMark(e.get("start"), e.get("end"), str(e.get("severity", "")).lower(), str(e.get("category", "")))
            for e in row["errors"]
        )
        check_marks(marks, len(segment.hypothesis), place)
        return marks


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(row.get("language_pair", "")), str(row["item"]), str(row.get("system", ""))
