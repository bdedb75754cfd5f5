"""Stored results: one JSON object a segment and line, what `rome score --format jsonl --evidence` and `CorpusScore.save` write."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from rome.combining.signature import differing_keys
from rome.exceptions import InputError, SignatureMismatchError
from rome.features.protocol import feature_class, number, string
from rome.features.values import FEATURES, Component
from rome.results.scores import Components, Contributions, CorpusScore, SegmentScore
from rome.storage.files import as_input_error, open_output, raw_lines
from rome.storage.rows import parse_json

Stored = tuple[str | None, SegmentScore]

REMEDY = "give what `rome score --format jsonl --evidence` wrote"
_LONGEST = 1 << 28
"""Bytes of a line; the matrices of two texts of a thousand words take about a tenth of it."""


def stored_line(segment: SegmentScore, *, name: str | None = None, evidence: bool = True) -> str:
    """One segment as JSON, with what it is called where it has a name."""
    row: dict[str, Any] = {} if name is None else {"id": name}
    return json.dumps(row | segment.to_dict(evidence=evidence), ensure_ascii=False)


def save_scores(result: CorpusScore, path: str | os.PathLike[str]) -> None:
    """Write every segment with its evidence; see `CorpusScore.save`."""
    with open_output(os.fspath(path)) as stream:
        stream.writelines(f"{stored_line(segment)}\n" for segment in result)


def load_scores(path: str | os.PathLike[str]) -> CorpusScore:
    """Read the segments of a file; see `CorpusScore.load`."""
    segments = tuple(segment for _, segment in iter_scores(os.fspath(path)))
    signature = segments[0].signature if segments else ""
    for segment in segments:
        if segment.signature != signature:
            keys = "; ".join(differing_keys(signature, segment.signature, ("the first segment", f"segment {segment.segment}")))
            raise SignatureMismatchError(f"{path} holds scores that were made in two ways ({keys}): score all with one metric")
    return CorpusScore(segments, signature)


def iter_scores(path: str) -> Iterator[Stored]:
    """Yield the id (None without one) and the score of every segment of a file, gzip or not; one line is in memory at a time.

    A file that was written without ``--evidence`` gives segments whose evidence is None.
    Raises InputError, with file and line, for what is no such result.
    """
    for row_number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}:{row_number}"
        try:
            row = parse_json(line)
        except RecursionError as error:
            raise InputError(f"{place}: nested too deep: {REMEDY}") from error
        except ValueError as error:
            raise InputError(f"{place}: not JSON ({error}): {REMEDY}") from error
        try:
            name = row.get("id")
            yield None if name is None else str(name), _segment_from(row)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{place}: no stored score ({type(error).__name__}: {error}): {REMEDY}") from error


def _lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a file, gzip or not; the size of the whole has no bound, because evidence repeats itself."""
    with as_input_error(path), open(path, "rb") as stream:
        yield from raw_lines(stream, path, _LONGEST, "write it without --evidence", bounded=False)


def _segment_from(row: dict[str, Any]) -> SegmentScore:
    """Return the SegmentScore whose ``to_dict()`` is the row; its tree edits are read, not computed.

    Raises KeyError, TypeError, IndexError or ValueError when it is none.
    """
    if "baseline" in row:
        raise ValueError("it is of an earlier version, whose contributions are no losses: score the texts again")
    evidence = row.get("evidence") or {}
    parts = []
    for name in FEATURES:
        part, found = row["components"][name], evidence.get(name)
        proof = None if found is None else feature_class(name).evidence_from_dict(found)
        parts.append(Component(name, number(part["value"]), number(part["raw"]), string(part["unit"]), proof))
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
