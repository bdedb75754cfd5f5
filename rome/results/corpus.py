"""The scores of all segments, and their file: one JSON object per segment and line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import nlargest, nsmallest
from math import fsum
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from rome.combining.combiner import MEASURES
from rome.combining.signature import check_same_signature, fitted_on, labels
from rome.exceptions import InputError
from rome.features.errors.evidence import SHARES
from rome.features.packages import needed
from rome.features.protocol import feature_class, number, string
from rome.features.values import FEATURES, Component
from rome.reports.segment import SEVERITIES
from rome.results.displayed import Displayed, plain
from rome.results.segment import ComponentMeans, Components, Contributions, SegmentScore, known_errors
from rome.storage.files import as_input_error, open_output, raw_lines
from rome.storage.rows import parse_json

if TYPE_CHECKING:
    import pandas

    from rome.reports.model import Document

Stored = tuple[str | None, SegmentScore]
"""The id of a segment, None without one, and its score."""

SPAN = ("text", "start", "end")
PLACES = [f"{side}_{part}" for side in ("reference", "hypothesis") for part in SPAN]
ERROR = ("kind", "type", "severity", "weight", "confidence")
REMEDY = "give what `rome score --format jsonl --evidence` wrote"
_LONGEST = 1 << 28
"""Bytes of a line at most; only their own length is limited, because evidence repeats itself and packs well."""


@dataclass(frozen=True, slots=True)
class CorpusScore(Displayed):
    """The scores of all segments; a sequence of SegmentScore. ``print(result)`` shows a table."""

    segments: tuple[SegmentScore, ...]
    signature: str = ""

    @property
    def score(self) -> float:
        """The mean of the segments' scores, in [0, 1]; nan without segments."""
        return _mean([segment.score for segment in self.segments])

    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores of the segments, (n,) float64 in [0, 1]; a new array at every call."""
        return np.array([segment.score for segment in self.segments], dtype=np.float64)

    @property
    def components(self) -> ComponentMeans:
        """The means of the four components over the segments, each in [0, 1]; nan without segments."""
        return ComponentMeans(*(_mean([getattr(s.components, name).value for s in self.segments]) for name in FEATURES))

    @property
    def completeness(self) -> float:
        """The mean share of the references that is neither missing nor wrong, in [0, 1]; nan where a segment has no evidence."""
        return _mean([segment.completeness for segment in self.segments])

    @property
    def faithfulness(self) -> float:
        """The mean share of the hypotheses that is neither added nor wrong, in [0, 1]; nan where a segment has no evidence."""
        return _mean([segment.faithfulness for segment in self.segments])

    @property
    def measures(self) -> NDArray[np.float64]:
        """The score, the four components, completeness and faithfulness of each segment, (n, 7) float64, in the order of MEASURES."""
        return np.array([segment.measures for segment in self], dtype=np.float64).reshape(-1, len(MEASURES))

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.segments)

    def __iter__(self) -> Iterator[SegmentScore]:
        """Return the segments in the order they were given."""
        return iter(self.segments)

    @overload
    def __getitem__(self, index: int) -> SegmentScore: ...

    @overload
    def __getitem__(self, index: slice) -> CorpusScore: ...

    def __getitem__(self, index: int | slice) -> SegmentScore | CorpusScore:
        """Return one segment, or the result of a slice. Raises IndexError, with the number of segments, beyond the last."""
        if not isinstance(index, slice) and not -len(self) <= index < len(self):
            raise IndexError(f"there is no segment {index}: the result has {len(self)}, counted from 0")
        return replace(self, segments=self.segments[index]) if isinstance(index, slice) else self.segments[index]

    def worst(self, n: int = 10) -> CorpusScore:
        """Return the n segments with the lowest scores, the lowest first; those that score the same in their order."""
        return replace(self, segments=tuple(nsmallest(n, self.segments, key=float)))

    def best(self, n: int = 10) -> CorpusScore:
        """Return the n segments with the highest scores, the highest first; those that score the same in their order."""
        return replace(self, segments=tuple(nlargest(n, self.segments, key=float)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON line per segment with its evidence, as `rome score --format jsonl --evidence` does; gzip for ``.gz``.

        Raises InputError when it cannot be written; the file appears when it is complete.
        """
        with open_output(os.fspath(path)) as stream:
            stream.writelines(f"{stored_line(segment)}\n" for segment in self)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> CorpusScore:
        """Read the result that `save` or `rome score --format jsonl` wrote, equal in every number; no model is needed.

        Raises InputError, with file and line, for any other file; SignatureMismatchError for scores that were made in two ways.
        """
        segments = tuple(segment for _, segment in iter_scores(os.fspath(path)))
        signature = segments[0].signature if segments else ""
        for segment in segments:
            names = f"{path}: the first segment", f"segment {segment.segment}"
            check_same_signature(signature, segment.signature, names)
        return CorpusScore(segments, signature)

    def to_dict(self, *, evidence: bool = True) -> dict[str, Any]:
        """Return plain values, ready for JSON: all means, signature, and every segment's to_dict.

        A supervised score adds ``scorer`` and ``fitted_on``, the rated sets.
        """
        row = {
            "score": self.score,
            "components": self.components,
            **{name: getattr(self, name) for name in SHARES},
            "signature": self.signature,
            **labels(self.signature),
            "segments": [segment.to_dict(evidence=evidence) for segment in self.segments],
        }
        return dict(plain(row))

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row per segment: texts, score, the four components, completeness, faithfulness, ``_raw`` and ``_contribution`` of
        the components, the number of errors of each severity (``critical_count``), flags.

        A supervised score adds a column ``scorer``. Raises ModelMissingError, with the install command, without pandas.
        """
        return _pandas("to_dataframe").DataFrame(self.columns())

    def errors_to_dataframe(self) -> pandas.DataFrame:
        """Return one row per error: segment, kind, type, severity, weight, confidence, the span in each text, both texts.

        The columns of a span (``reference_text``, ``_start``, ``_end``; ``hypothesis_text`` ...) are empty in a text that the error does not
        touch. Raises InputError for a segment without evidence, ModelMissingError without pandas.
        """
        rows = []
        for segment in self:
            for error in known_errors(segment):
                spans = [getattr(span, part, None) for span in (error.reference, error.hypothesis) for part in SPAN]
                described = [getattr(error, name) for name in ERROR]
                rows.append((segment.segment, *described, *spans, segment.reference, segment.hypothesis))
        columns = ["segment", *ERROR, *PLACES, "reference", "hypothesis"]
        types = {"segment": "int64", "weight": "float64", "confidence": "float64"}
        types |= {name: "Int64" for name in PLACES if not name.endswith("text")}
        return _pandas("errors_to_dataframe").DataFrame(rows, columns=columns).astype(types)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_dataframe` as lists, one value per segment."""
        rows = self.segments
        names = ("segment", "reference", "hypothesis", "reference_index", "score")
        columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in names}
        for ending, field in (("", "value"), ("_raw", "raw")):
            columns |= {f"{name}{ending}": [getattr(getattr(row.components, name), field) for row in rows] for name in FEATURES}
            columns |= {} if ending else {name: [getattr(row, name) for row in rows] for name in SHARES}
        columns |= {f"{name}_contribution": [getattr(row.contributions, name) for row in rows] for name in FEATURES}
        columns |= {f"{severity}_count": [row.error_counts.get(severity) for row in rows] for severity in SEVERITIES}
        columns["flags"] = [",".join(row.flags) for row in rows]
        return columns | ({"scorer": ["supervised"] * len(rows)} if fitted_on(self.signature) else {})

    def __repr__(self) -> str:
        """Show the score and the number of segments."""
        scorer = ", scorer='supervised'" if fitted_on(self.signature) else ""
        return f"CorpusScore(score={self.score:.3f}, segments={len(self.segments)}{scorer})"

    def __str__(self) -> str:
        """Return the table that `rome score` prints."""
        from rome.reports.tables import corpus_table

        return corpus_table(self)

    def __float__(self) -> float:
        """Return the mean score."""
        return self.score

    def __format__(self, spec: str) -> str:
        """Format the mean score as a number; without a format return the table."""
        return format(self.score, spec) if spec else str(self)

    def _document(self) -> Document:
        """Show distributions of the components, their correlations, the worst segments."""
        from rome.reports.summaries import corpus_document

        return corpus_document(self)


def _pandas(name: str) -> Any:
    """Return pandas for a method of this name. Raises ModelMissingError, with the install command, without it."""
    with needed(name, "pandas"):
        import pandas
    return pandas


def _mean(values: list[float]) -> float:
    """Return the mean; nan without values."""
    return sum(values) / len(values) if values else float("nan")


def stored_line(segment: SegmentScore, *, name: str | None = None, evidence: bool = True, **more: Any) -> str:
    """Return one segment as JSON, with its name as ``id`` where it has one, and ``more`` keys."""
    row: dict[str, Any] = {} if name is None else {"id": name}
    return json.dumps(row | segment.to_dict(evidence=evidence) | more, ensure_ascii=False)


def iter_scores(path: str) -> Iterator[Stored]:
    """Yield the id (None without one) and the score of every segment of a file, gzip or not; one line is in memory at a time.

    A file that was written without ``--evidence`` gives segments whose only evidence are the errors.
    Raises InputError, with file and line, for any other file.
    """
    with as_input_error(path), open(path, "rb") as stream:
        lines = raw_lines(stream, path, _LONGEST, "write it without --evidence", bounded=False)
        for row_number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            place = f"{path}:{row_number}"
            try:
                row = parse_json(line)
            except (RecursionError, ValueError) as error:
                raise InputError(f"{place}: not JSON ({error}): {REMEDY}") from error
            try:
                name = row.get("id")
                yield None if name is None else str(name), _segment_from(row)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise InputError(f"{place}: not a stored score ({type(error).__name__}: {error}): {REMEDY}") from error


def _errors_lost(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the evidence of errors as the losses of a row without evidence contain it; None where its errors are not known."""
    raw = row["components"]["errors"]["raw"]
    errors = [loss["error"] for loss in row.get("losses", ()) if loss["error"] is not None]
    count = min(fsum(error["weight"] for error in errors), raw)
    return {"errors": errors, "count": count, "doubt": raw - count} if errors or row.get("completeness", not raw) else None


def _segment_from(row: dict[str, Any]) -> SegmentScore:
    """Return the SegmentScore whose ``to_dict()`` is the row; its tree edits are read, not computed.

    Raises KeyError, TypeError, IndexError or ValueError for any other row.
    """
    if "baseline" in row:
        raise ValueError("an earlier version wrote it, whose contributions are not losses: score the texts again")
    evidence = row.get("evidence") or {}
    parts = []
    for name in FEATURES:
        part, stored = row["components"][name], evidence.get(name)
        stored = _errors_lost(row) if name == "errors" and stored is None else stored
        read = None if stored is None else feature_class(name).evidence_from_dict(stored)
        parts.append(Component(name, number(part["value"]), number(part["raw"]), string(part["unit"]), read))
    return SegmentScore(
        segment=int(row["segment"]),
        reference=string(row["reference"]),
        hypothesis=string(row["hypothesis"]),
        reference_index=int(row["reference_index"]),
        score=number(row["score"]),
        components=Components(*parts),
        contributions=Contributions(*(number(row["contributions"][name]) for name in FEATURES)),
        flags=tuple(map(string, row["flags"])),
        signature=string(row["signature"]),
    )
