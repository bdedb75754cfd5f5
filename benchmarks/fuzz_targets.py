"""Targets of `fuzz.py`: every reader of a file or a request that a stranger may have written, with accepted files.

A reader may return anything or refuse with one line; any other error is a finding.
"""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rome.checks import check_pairs
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.data.readers.lines import json_array
from rome.data.readers.own import read_own
from rome.data.readers.texts import read_trees
from rome.evaluation.annotate.ratings import rated_items, read_records
from rome.exceptions import RomeError
from rome.features.analyser.weights import load_weights
from rome.features.errors.typos import tidy
from rome.results.corpus import iter_scores
from rome.service import requests
from rome.service.limits import Limits
from rome.storage import pair_files
from rome.storage.files import text_lines
from rome.storage.pair_files import pair_rows
from rome.text_table import shorten


@dataclass(frozen=True)
class Target:
    """Hold a reader of bytes, and accepted contents from which the fuzzer starts."""

    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]


def outcome(target: Target, content: bytes) -> str:
    """Return "read" or "refused". Raises what the reader must not raise; a refusal of several lines is an AssertionError."""
    try:
        target.read(content)
    except RomeError as error:
        if "\n" in str(error):
            raise AssertionError(f"a refusal of several lines: {error!r}") from error
        return "refused"
    return "read"


@cache
def scratch() -> Path:
    """Return a temporary folder for readers that need a file name."""
    return Path(tempfile.mkdtemp(prefix="rome-fuzz-"))


def in_file(read: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    """Return a reader of bytes, made from a reader of a file."""

    def work(content: bytes) -> object:
        path = scratch() / name
        path.write_bytes(content)
        found = read(path)
        return list(found) if hasattr(found, "__next__") else found  # type: ignore[call-overload]

    return work


def made(write: Callable[[Path], object]) -> bytes:
    """Return the content that a function writes to a file."""
    path = scratch() / "seed"
    write(path)
    return path.read_bytes()


def text(*rows: object) -> bytes:
    """Return JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


PAIR = {"id": "1", "note": "n", "reference": ["A cat.", "Cats."], "hypothesis": "A dog"}
ASKED = {"reference": "A cat.", "hypothesis": "A dog."}
TSV = b"id\treference\treference_2\thypothesis\tnote\n1\tA cat.\t\tA dog\tn\n"
RATED = {"item": "1", "system": "x", "reference": "A cat.", "hypothesis": "A dog", "ratings": {"quality": 2.5}}
MARKED = {
    **RATED,
    "errors": [{"start": 2, "end": 5, "severity": "major", "category": "accuracy"}],
    "annotator": "a",
    "scale": "1-3",
}
CONLLU = b"# text = I don't.\n1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n" + (
    b"2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_\n\n"
)
TREE = {"labels": ["<root>", "cat"], "parents": [-1, 0], "relations": ["", "root"], "words": [-1, 0]}
SENTENCE = {"text": "Dogs", "start": 0, "end": 4, "probability": 0.9, "word_probability": 0.9}
ERROR = {"text": "Dogs", "start": 0, "end": 4, "kind": "replacement", "type": "noun", "severity": "major", "weight": 4.5}
COSTS = {"reference_weights": [1.0], "hypothesis_weights": [1.0], "cost": [[1.0]], "flow": [[1.0]]}
EVIDENCE = {
    "semantic": {
        **{"reference_words": ["Cats"], "hypothesis_words": ["Dogs"], **COSTS},
        "pairs": [{"reference": 0, "hypothesis": 0, "similarity": 0.5, "distance": 1.0}],
    },
    "syntax": {"reference": TREE, "hypothesis": TREE, "equal": [[True, False], [False, True]], "distance": 0.0, "bound": 1.0},
    "grammar": {"sentences": [SENTENCE], "reference_probability": 0.5, "different_words": 0.5},
    "errors": {"errors": [{**ERROR, "confidence": 0.9, "reference": {"text": "Cats", "start": 0, "end": 4}}], "count": 4.5},
}
PARTS = ("semantic", "syntax", "grammar", "errors")
SCORED: dict[str, Any] = {
    **{"segment": 0, "reference": "Cats", "hypothesis": "Dogs", "reference_index": 0, "score": 0.5},
    **{
        "components": {name: {"value": 0.5, "raw": 1.0, "unit": "u"} for name in PARTS},
        "flags": ["long"],
        "signature": "rome:x",
    },
    **{"contributions": dict.fromkeys(PARTS, -0.125)},
}


def net() -> Combiner:
    """Return a small net."""
    return Combiner(np.eye(4), np.zeros(4), np.ones(4), np.array(-2.0))


def features() -> FeatureTable:
    """Return a small table."""
    return FeatureTable(np.arange(3), np.zeros(3, np.int32), np.full((3, 4), 0.5), np.zeros((3, 4)), signature="x")


def read_pairs(content: bytes) -> None:
    """Read and check pairs as `rome score` does."""
    rows = list(pair_rows(text_lines(io.BytesIO(content), "f"), "f"))
    check_pairs([one.references for one in rows], [one.hypothesis for one in rows])
    "".join(f"{one.id}{one.note}" for one in rows).encode()


def read_text(content: bytes) -> None:
    """Prepare a text for the models and for a table in a terminal."""
    try:
        given = content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        given = content.decode("utf-8", "replace")
    (pair,) = check_pairs(["a"], [given])
    found = tidy(pair.hypothesis)
    places = [found.place(at, at + 1) for at in range(len(found.text))]
    if not all(0 <= start <= end <= len(given) for start, end in places):
        raise ValueError("a place outside the text")
    if not shorten(given, 20).isprintable():
        raise ValueError("a line of a table that cannot be printed")


def read_scores(path: Path) -> None:
    """Read stored scores and make a report of them."""
    for name, score in iter_scores(str(path)):
        json.dumps([name, score.to_dict()])


def read_request(content: bytes) -> None:
    """Read the body of a request."""
    requests.read_pairs(requests.parse_body(content), Limits())


TARGETS: dict[str, Target] = {
    "pairs": Target(
        read_pairs,
        lambda: [
            *(TSV, text(PAIR), b"[" + text(PAIR) + b"]", TSV.replace(b"\t", b",")),
            *(gzip.compress(TSV), b"\xef\xbb\xbf" + TSV, TSV.replace(b"\n", b"\r\n")),
        ],
    ),
    "texts": Target(read_text, lambda: ["Don't — “go”,\u00a0e\u0301. 3,5 %!".encode(), b"A cat .", b"\xed\xa0\x80"]),
    "stored scores": Target(
        in_file(read_scores, "s.jsonl"), lambda: [text({**SCORED, "evidence": EVIDENCE}), text({**SCORED, "id": "x"})]
    ),
    "request": Target(read_request, lambda: [text({"pairs": [ASKED]}), text(ASKED)]),
    "table of features": Target(in_file(FeatureTable.load, "f.parquet"), lambda: [made(features().save)]),
    "net": Target(in_file(Combiner.load, "n.safetensors"), lambda: [made(net().save)]),
    "weights": Target(in_file(load_weights, "w.safetensors"), lambda: [made(net().save)]),
    "own ratings": Target(in_file(read_own, "o.jsonl"), lambda: [text(RATED, {**MARKED, "system": "y"})]),
    "own ratings as a table": Target(
        in_file(read_own, "o.tsv"), lambda: [b"item\tsystem\treference\thypothesis\trating:q\tscore:m\n1\tx\tA\tB\t1\t0.5\n"]
    ),
    "annotations": Target(
        in_file(lambda path: read_records(str(path)), "a.jsonl"), lambda: [text(MARKED, {**MARKED, "errors": []})]
    ),
    "pairs to rate": Target(
        in_file(lambda path: rated_items(pair_files.read_pairs(str(path))), "i.jsonl"),
        lambda: [text({**PAIR, "system": "x"}), TSV],
    ),
    "CoNLL-U": Target(in_file(read_trees, "t.conllu"), lambda: [CONLLU]),
    "JSON list": Target(
        in_file(json_array, "l.json"), lambda: [b"[" + text(RATED) + b"]", b"[]", b'[{"a": "\\ud83d\\ude00"}]']
    ),
}
