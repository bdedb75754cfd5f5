"""Hostile files: whatever a reader is given, it reads it or says in one line what is wrong, soon and without a large allocation."""

from __future__ import annotations

import gzip
import json
import pickle
import re
import struct
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_readers_released import RELEASED, Files, single, write

from rome.checks import check_pairs
from rome.combining.combiner import Combiner
from rome.data.readers.lines import json_array, json_objects, number
from rome.data.readers.own import read_own
from rome.data.readers.rated import RatedSet
from rome.data.readers.texts import read_trees, read_wikipedia, read_wmt
from rome.exceptions import InputError, RomeError
from rome.features.analyser.weights import load_weights
from rome.storage.pair_files import PairRow, read_pairs

PAIRS_TSV: Files = {"pairs.tsv": "id\treference\treference_2\thypothesis\tnote\n1\tOne.\t\tTwo.\tfirst\n2\tA.\tB.\tC.\t\n"}
PAIRS_JSONL: Files = {
    "pairs.jsonl": '{"reference": "One.", "hypothesis": "Two.", "id": 1}\n{"reference": ["A.", "B."], "hypothesis": "", "note": "x"}\n'
}
PAIRS_CSV: Files = {"pairs.csv": 'id,references,prediction\n1,"One, two.",Two.\n2,A.,"C ""quoted""."\n'}
PAIRS_JSON: Files = {
    "pairs.json": '[{"references": ["A.", "B."], "prediction": "", "id": 1}, {"reference": "C.", "hypothesis": "D."}]'
}
CONLLU: Files = {
    "tree.conllu": "# text = I don't.\n1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_\n4\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
}
WIKIPEDIA: Files = {"w.jsonl": '{"text": "A and B.", "split": ["A.", "B."]}\n{"text": "C.", "split": []}\n'}
WMT: Files = {"wmt.jsonl": '{"lp": "de-en", "segment": 3, "reference": ["A."], "outputs": {"y": "B.", "x": "C."}}\n'}
Reader = tuple[str, Files, Callable[[Path], object]]
READERS: list[Reader] = [
    *((one.name, one.files, one.read) for one in RELEASED),
    ("pairs as a table", PAIRS_TSV, single(lambda path: read_pairs(str(path)), PAIRS_TSV)),
    ("pairs as JSON lines", PAIRS_JSONL, single(lambda path: read_pairs(str(path)), PAIRS_JSONL)),
    ("pairs as CSV", PAIRS_CSV, single(lambda path: read_pairs(str(path)), PAIRS_CSV)),
    ("pairs as JSON", PAIRS_JSON, single(lambda path: read_pairs(str(path)), PAIRS_JSON)),
    ("Wikipedia", WIKIPEDIA, single(lambda path: list(read_wikipedia(path)), WIKIPEDIA)),
    ("WMT", WMT, single(lambda path: list(read_wmt(path)), WMT)),
    ("CoNLL-U trees", CONLLU, single(lambda path: list(read_trees(path)), CONLLU)),
]
NUMBERS = (None, True, -1, 0, 3, 1.5, float("nan"), float("inf"), 10**400)
VALUES = (*NUMBERS, "", " ", "x", "1", "\ud800", "=1+1", [], [[]], ["x", 1], {}, {"a": {}})
CELLS = (
    *("", "x", "-1", "nan", "1e999", "²", "9" * 5000, "1-999999999999", "1-x"),
    *("\0", "\x85", "\ufeff", '"', "<v>", "\t", "\n"),
)
BYTES = (b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\r", b"\n", b"\t", b'"', b"{", b"[", b"<", b"\x1f\x8b")
DEEP = 100_000


def replaced(value: Any, path: tuple[int, ...], new: Any) -> Any:
    """The JSON value with the part that a path leads to replaced; each step takes one of the entries, counted round."""
    if not path or not isinstance(value, (dict, list)) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = replaced(value[key], path[1:], new)
    return changed


@st.composite
def mutated(draw: st.DrawFn, text: str) -> bytes:
    """The file's bytes after one to three hostile changes."""
    content = text.encode()
    kinds = st.sampled_from(["json", "cell", "cut", "insert", "flip", "repeat"])
    for kind in draw(st.lists(kinds, min_size=1, max_size=3)):
        at = draw(st.integers(0, len(content)))
        if kind == "json":
            content = draw(_other_json(content))
        elif kind == "cell":
            cells = re.split(rb"([\t\n, ])", content)
            cells[draw(st.integers(0, len(cells) - 1))] = draw(st.sampled_from(CELLS)).encode()
            content = b"".join(cells)
        elif kind == "cut":
            content = content[:at]
        elif kind == "insert":
            content = content[:at] + draw(st.sampled_from(BYTES)) + content[at:]
        elif kind == "flip" and at < len(content):
            content = content[:at] + bytes([content[at] ^ 1 << draw(st.integers(0, 7))]) + content[at + 1 :]
        elif kind == "repeat":
            lines = content.split(b"\n")
            lines.insert(draw(st.integers(0, len(lines))), lines[draw(st.integers(0, len(lines) - 1))])
            content = b"\n".join(lines)
    return gzip.compress(content)[: draw(st.integers(0, 400))] if draw(st.integers(0, 19)) == 7 else content


@st.composite
def _other_json(draw: st.DrawFn, content: bytes) -> bytes:
    """One value of the JSON, or of one JSON line, replaced; the content itself where it is no JSON."""
    path = tuple(draw(st.lists(st.integers(0, 9), max_size=6)))
    try:
        return json.dumps(replaced(json.loads(content), path, draw(st.sampled_from(VALUES)))).encode()
    except ValueError:
        lines = content.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    try:
        lines[at] = json.dumps(replaced(json.loads(lines[at]), path, draw(st.sampled_from(VALUES)))).encode()
    except ValueError:
        return content
    return b"\n".join(lines)


def refusal(read: Callable[[], object]) -> str:
    """The message of the one error that reading may end with, "" where it ends well; every text read can be written."""
    try:
        found = read()
    except RomeError as error:
        assert "\n" not in str(error) and ": " in str(error)
        return str(error)
    if isinstance(found, RatedSet):
        assert found.digest
        check_pairs([list(one.references) for one in found.segments], [""] * len(found.segments))
    if isinstance(found, list) and found and isinstance(found[0], PairRow):
        repr(found).encode()
        "".join(row.id + row.note for row in found).encode()
    return ""


@pytest.mark.parametrize(("name", "files", "read"), READERS, ids=[name for name, *_ in READERS])
@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_damaged_file_is_read_or_refused_in_one_line(
    name: str, files: Files, read: Callable[[Path], object], data: st.DataObject
) -> None:
    """Changed values, cells, lines, bytes and endings: no traceback, and no text that cannot be written again."""
    file = data.draw(st.sampled_from(sorted(files)))
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), files)
        (Path(folder) / file).write_bytes(data.draw(mutated(files[file])))
        refusal(lambda: read(Path(folder)))


DEEP_JSON: Files = {"deep.json": "[" * DEEP, "deep.jsonl": '{"a": ' * DEEP, "table.json": '[{"a": ' + "[" * DEEP}


@pytest.mark.parametrize(
    "read",
    [
        lambda folder: list(json_objects(folder / "deep.jsonl")),
        lambda folder: list(json_array(folder / "table.json")),
        lambda folder: read_own(folder / "deep.jsonl"),
        lambda folder: read_pairs(str(folder / "deep.jsonl")),
        lambda folder: read_pairs(str(folder / "deep.json")),
    ],
)
def test_deep_nesting_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    """A hundred thousand brackets are no traceback but a file that is not as released."""
    assert re.search("nested too deep|not JSON", refusal(lambda: read(write(tmp_path, DEEP_JSON))))


@pytest.mark.parametrize("value", [10**400, "9" * 400, "1e999", float("nan"), float("-inf"), True, None, [], {}])
def test_only_finite_numbers_are_numbers(value: object) -> None:
    """Numbers beyond every float, and what is none, are refused with their place."""
    with pytest.raises(InputError, match="f:1: z must be a finite number"):
        number(value, "f:1", "z")


def header(content: object) -> bytes:
    """A safetensors file that has only a header."""
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return struct.pack("<Q", len(text)) + text


SAFETENSORS = {
    "a header of terabytes": struct.pack("<Q", 1 << 42) + b"{}",
    "a header beyond every number": b"\xff" * 8 + b"{}",
    "a tensor of terabytes": header({"w": {"dtype": "F32", "shape": [1 << 20, 1 << 20], "data_offsets": [0, 1 << 42]}}),
    "a shape beyond every number": header({"w": {"dtype": "F32", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 4]}})
    + b"1234",
    "deep nesting": header(b"[" * 100_000),
    "no JSON": header(b"{not json"),
    "half a header": header({"w": {}})[:9],
    "nothing": b"",
    "a pickle": pickle.dumps({"w": 1}),
    "a description that is none": header({"__metadata__": {"description": "{"}}),
    "a deep description": header({"__metadata__": {"description": "[" * 100_000}}),
}


@pytest.mark.parametrize("content", SAFETENSORS.values(), ids=list(SAFETENSORS))
def test_damaged_weights_are_refused_at_once(tmp_path: Path, content: bytes) -> None:
    """Weights and nets: whatever the header claims, one clear error, and nothing of that size is allocated."""
    path = tmp_path / "weights.safetensors"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        for load in (load_weights, Combiner.load):
            with pytest.raises(RomeError, match="weights.safetensors") as caught:
                load(path)
            assert "\n" not in str(caught.value)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()
