"""The four features' evidence, read back from the plain values that `to_dict()` writes.

Every reader raises KeyError, TypeError, IndexError or ValueError for what no feature can have written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.features.errors.values import ErrorsEvidence, ErrorSpan, TextSpan
from rome.features.grammar import GrammarEvidence, SentenceAcceptability
from rome.features.semantic import AlignedPair, SemanticEvidence
from rome.features.syntax import SyntaxEvidence, Tree, TreeEdit

__all__ = ["READERS", "number", "text"]


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
