"""Stored results: what `rome score --format jsonl --evidence` wrote, read back one segment at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError
from rome.features.errors.values import ErrorsEvidence, ErrorSpan, TextSpan
from rome.features.grammar import GrammarEvidence, SentenceAcceptability
from rome.features.semantic import AlignedPair, SemanticEvidence
from rome.features.syntax import SyntaxEvidence, Tree, TreeEdit
from rome.features.values import FEATURES, Component
from rome.results import Components, Contributions, SegmentScore
from rome.storage.bounded_gzip import as_input_error, long_lines_refused, unpacked

__all__ = ["iter_scores", "iter_systems", "segment_from"]

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
            yield None if name is None else str(name), segment_from(row)
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


def segment_from(row: dict[str, Any]) -> SegmentScore:
    """The SegmentScore whose ``to_dict()`` is the row; its tree edits are taken from the row, not found anew.

    Raises KeyError, TypeError, IndexError or ValueError when it is none.
    """
    if "baseline" in row:
        raise ValueError("it is of an earlier version, whose contributions are no losses: score the texts again")
    evidence = row.get("evidence") or {}
    parts = []
    for name in FEATURES:
        part, found = row["components"][name], evidence.get(name)
        proof = None if found is None else READERS[name](found)
        parts.append(Component(name, number(part["value"]), number(part["raw"]), text(part["unit"]), proof))
    return SegmentScore(
        segment=int(row["segment"]),
        reference=text(row["reference"]),
        hypothesis=text(row["hypothesis"]),
        reference_index=int(row["reference_index"]),
        score=number(row["score"]),
        components=Components(*parts),
        contributions=Contributions(*(number(row["contributions"][name]) for name in FEATURES)),
        flags=tuple(map(text, row["flags"])),
        signature=text(row["signature"]),
    )


# The evidence of each feature; every reader raises KeyError, TypeError, IndexError or ValueError for what no feature can have written.


def number(value: Any) -> float:
    """A float; null is what JSON has for a number that is not finite."""
    if isinstance(value, (str, bool)):
        raise TypeError(f"{value!r} is no number")
    return float("nan") if value is None else float(value)


def text(value: Any) -> str:
    """The text itself."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _index(value: Any, size: int) -> int:
    """A place in a list of this size."""
    if not isinstance(value, int) or not 0 <= value < size:
        raise ValueError(f"{value!r} is no place among {size}")
    return value


def _semantic(row: dict[str, Any]) -> SemanticEvidence:
    words = [tuple(map(text, row[f"{side}_words"])) for side in ("reference", "hypothesis")]
    p, q = map(len, words)
    pairs = tuple(
        AlignedPair(
            _index(pair["reference"], p), _index(pair["hypothesis"], q), number(pair["similarity"]), number(pair["distance"])
        )
        for pair in row["pairs"]
    )
    weights = [np.array(row[f"{side}_weights"], np.float64).reshape(n) for side, n in (("reference", p), ("hypothesis", q))]
    cost, flow = (np.array(row[name], np.float64).reshape(p, q) for name in ("cost", "flow"))
    return SemanticEvidence(words[0], words[1], weights[0], weights[1], pairs, cost, flow)


def _syntax(row: dict[str, Any]) -> SyntaxEvidence:
    reference, hypothesis = _tree(row["reference"]), _tree(row["hypothesis"])
    n, m = len(hypothesis.labels), len(reference.labels)
    equal: NDArray[np.bool_] = np.array(row["equal"], np.bool_).reshape(n, m)
    evidence = SyntaxEvidence(reference, hypothesis, equal, number(row["distance"]), number(row["bound"]))
    if "operations" in row:
        vars(evidence)["operations"] = tuple(_edit(edit, n, m) for edit in row["operations"])
    return evidence


def _edit(row: dict[str, Any], n: int, m: int) -> TreeEdit:
    places = [None if row[side] is None else _index(row[side], size) for side, size in (("reference", m), ("hypothesis", n))]
    if row["kind"] not in ("match", "change", "insert", "delete"):
        raise ValueError(f"{row['kind']!r} is no tree edit")
    return TreeEdit(row["kind"], places[0], places[1])


def _tree(row: dict[str, Any]) -> Tree:
    """A tree whose columns are equally long, under one root that stands first, without a cycle."""
    labels, relations = tuple(map(text, row["labels"])), tuple(map(text, row["relations"]))
    parents, words = tuple(map(int, row["parents"])), tuple(map(int, row["words"]))
    if not labels or len({len(labels), len(relations), len(parents), len(words)}) > 1 or parents[0] != -1:
        raise ValueError("a tree whose columns do not fit together")
    reached, waiting = {0}, [0]
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents[1:], start=1):
        children.setdefault(_index(parent, len(labels)), []).append(node)
    while waiting:
        found = children.get(waiting.pop(), [])
        reached.update(found)
        waiting += found
    if len(reached) != len(labels):
        raise ValueError("a tree with a cycle")
    return Tree(labels, parents, relations, words)


def _grammar(row: dict[str, Any]) -> GrammarEvidence:
    return GrammarEvidence(
        tuple(
            SentenceAcceptability(
                text(sentence["text"]),
                int(sentence["start"]),
                int(sentence["end"]),
                number(sentence["probability"]),
                number(sentence["word_probability"]),
            )
            for sentence in row["sentences"]
        ),
        None if row["reference_probability"] is None else number(row["reference_probability"]),
    )


def _errors(row: dict[str, Any]) -> ErrorsEvidence:
    return ErrorsEvidence(
        tuple(map(_error, row["errors"])), number(row["count"]), tuple(map(_error, row.get("differences", ())))
    )


def _error(row: dict[str, Any]) -> ErrorSpan:
    if row["severity"] not in ("none", "minor", "major", "critical"):
        raise ValueError(f"{row['severity']!r} is no severity")
    return ErrorSpan(
        kind=text(row["kind"]),  # type: ignore[arg-type]
        type=text(row["type"]),
        severity=row["severity"],
        weight=number(row["weight"]),
        confidence=number(row["confidence"]),
        reference=None if row["reference"] is None else _span(row["reference"]),
        hypothesis=None if row["text"] is None else _span(row),
    )


def _span(row: dict[str, Any]) -> TextSpan:
    return TextSpan(text(row["text"]), int(row["start"]), int(row["end"]))


READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "semantic": _semantic,
    "syntax": _syntax,
    "grammar": _grammar,
    "errors": _errors,
}
"""The reader of each feature's evidence."""
