"""Stored results: what `rome score --format jsonl --evidence` wrote, read back one segment at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rome.exceptions import InputError
from rome.features.protocol import feature_class, number, string
from rome.features.values import FEATURES, Component
from rome.results import Components, Contributions, SegmentScore
from rome.storage.bounded_gzip import as_input_error, long_lines_refused, unpacked

__all__ = ["iter_scores", "iter_systems"]

Stored = tuple[str | None, SegmentScore]

REMEDY = "give what `rome score --format jsonl --evidence` wrote"
_LONGEST = 1 << 28
"""Bytes of a line; the matrices of two texts of a thousand words take about a tenth of it."""


def iter_scores(path: str) -> Iterator[Stored]:
    """The id (None without one) and the score of every segment of a file, gzip or not; one line is held at a time.

    A file that was written without ``--evidence`` gives segments whose evidence is None.
    Raises InputError, with file and line, for what is no such result.
    """
    for row_number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}:{row_number}"
        try:
            row = json.loads(line)
        except RecursionError as error:
            raise InputError(f"{place}: nested too deep: {REMEDY}") from error
        except ValueError as error:
            raise InputError(f"{place}: not JSON ({error}): {REMEDY}") from error
        try:
            name = row.get("id")
            yield None if name is None else str(name), _segment_from(row)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{place}: no stored score ({type(error).__name__}: {error}): {REMEDY}") from error


def iter_systems(files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, tuple[SegmentScore, ...]]]:
    """The name of each segment (its id, or its number from 0) with the score of every system, segment by segment.

    files : (system, file). Raises InputError, with both places and counts, when the files do not hold the same segments: unequal
    numbers, other ids, or another text for the same reference.
    """
    readers = [iter_scores(path) for _, path in files]
    for count, rows in enumerate(zip_longest(*readers)):
        for (_, path), row in zip(files, rows, strict=True):
            if row is None:
                lengths = [count + sum(1 for _ in rest) + (left is not None) for rest, left in zip(readers, rows, strict=True)]
                told = ", ".join(f"{path} has {length}" for (_, path), length in zip(files, lengths, strict=True))
                raise InputError(
                    f"the files hold unequal numbers of segments ({told}): score every system on the same segments"
                )
            _check_same(rows[0], files[0][1], row, path, count)
        name = rows[0][0]
        yield str(count) if name is None else name, tuple(score for _, score in rows)


def _check_same(first: Stored, first_path: str, other: Stored, path: str, count: int) -> None:
    """Both are the same segment, and the same reference where the same one scored best."""
    (name, one), (its_name, two) = first, other
    if name != its_name:
        raise InputError(
            f"segment {count} is {its_name!r} in {path} and {name!r} in {first_path}: give the same order of segments"
        )
    if one.reference_index == two.reference_index and one.reference != two.reference:
        raise InputError(
            f"segment {count} has another reference in {path} than in {first_path}: score every system against the same references"
        )


def _lines(path: str) -> Iterator[bytes]:
    """The lines of a file, decompressed where it is gzip; the whole may be as long as it likes, evidence repeats itself."""
    with as_input_error(path), Path(path).open("rb") as stream:
        yield from long_lines_refused(unpacked(stream, path, bounded=False), path, _LONGEST, "write it without --evidence")


def _segment_from(row: dict[str, Any]) -> SegmentScore:
    """The SegmentScore whose ``to_dict()`` is the row; its tree edits are taken from the row, not found anew.

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
