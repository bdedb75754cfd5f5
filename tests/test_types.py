"""What type checkers make of a user's script: values are known, any iterable of texts passes, a wrong call does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(str(find_spec("rome").origin)).parent  # type: ignore[union-attr]
ROOMS = {room: Path(str(find_spec(f"rome.{room}").origin)).parent for room in ("features", "data", "train")}  # type: ignore[union-attr]

SCRIPT = """
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import rome
from rome import CorpusScore, RoMe, SegmentScore


def hypotheses() -> Iterator[str]:
    yield "A cat sits."


def total(references: Iterable[Iterable[str]]) -> float:
    metric = RoMe(models="small", threads=1)
    result = metric.score(references=references, hypotheses=hypotheses())
    metric.score(references=("A cat sat.",), hypotheses=np.array(["A cat sits."]))
    metric.features(references=[["A cat sat.", "The cat sat."], "A dog sat."], hypotheses=map(str.strip, ["a", "b"]))
    worst: CorpusScore = result.worst(3)[:1]
    for segment in result:
        words: list[str] = [error.type for error in segment.evidence.errors.errors if error.hypothesis is not None]
        for error in segment.evidence.errors.errors:
            print(words, error.severity.upper(), error.weight + 1.0, f"{segment:.3f}")
        for edit in segment.components.syntax.evidence.operations:
            print(edit.kind, segment.components.syntax.value + 1.0)
    result.save(Path("scores.jsonl.gz"))
    print(CorpusScore.load("scores.jsonl.gz").to_html().isascii(), result.to_html("page.html"))
    print(rome.compare(result, worst, names=("new", "old")).score.p_value, result.scores.mean())
    return float(result) + float(result[0])


def reveal(segment: SegmentScore, result: CorpusScore) -> None:
    reveal_type(segment.evidence.semantic)  # SemanticEvidence
    reveal_type(segment.evidence.syntax)  # SyntaxEvidence
    reveal_type(segment.evidence.grammar)  # GrammarEvidence
    reveal_type(segment.evidence.errors)  # ErrorsEvidence
    reveal_type(segment.components.errors.evidence)  # ErrorsEvidence
    reveal_type(segment.losses[0].error)  # ErrorSpan
    reveal_type(result[0])  # SegmentScore
    reveal_type(result[:2])  # CorpusScore
    reveal_type(result.best())  # CorpusScore
    reveal_type(result.to_html())  # str


def wrong(metric: RoMe, segment: SegmentScore) -> None:
    metric.score(["A cat sat."], ["A cat sits."])  # wrong
    metric.score(references=["A cat sat."], hypotheses=[1])  # wrong
    RoMe(modles="small")  # wrong
    print(segment.evidence.errors.erors)  # wrong
    print(segment.evidence.grammar.sentences[0].probabilty)  # wrong
"""
LINES = SCRIPT.splitlines()
REVEALED = {n: line.split("# ")[1] for n, line in enumerate(LINES, 1) if "reveal_type" in line}
WRONG = {n for n, line in enumerate(LINES, 1) if line.endswith("# wrong")}
UNTYPED = "torch,transformers,stanza,scipy,pandas,pyarrow,ot,narwhals,matplotlib"
"""Packages that the checker need not read: nothing of theirs is in the types of the script."""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script, beside the package in the shape that an install has."""
    folder = tmp_path_factory.mktemp("user")
    ours = shutil.ignore_patterns("__pycache__", "models")
    for inside, room in ((".", ROOT), *ROOMS.items()):
        shutil.copytree(room, folder / "site" / "rome" / inside, ignore=ours, dirs_exist_ok=True)
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_knows_the_types(user: Path) -> None:
    """Strict mypy accepts a user's script, and refuses its wrong lines alone."""
    (user / "mypy.ini").write_text(
        "[mypy]\nstrict = True\nfollow_imports = silent\n"
        f"[mypy-{','.join(f'{name}.*' for name in UNTYPED.split(','))}]\nfollow_imports = skip\nignore_missing_imports = True\n"
    )
    options = ["--no-pretty", "--no-error-summary", "--config-file", "mypy.ini"]
    command = [sys.executable, "-I", "-m", "mypy", *options, "script.py"]
    run = subprocess.run(command, cwd=user, capture_output=True, text=True, env=os.environ | {"MYPYPATH": "site"})
    found = re.findall(r"^script\.py:(\d+): (error|note): (.*)$", run.stdout, re.M)
    notes = {int(n): text for n, kind, text in found if kind == "note"}
    assert run.stderr == "" and found != [], run.stdout
    assert {int(n) for n, kind, _ in found if kind == "error"} == WRONG
    assert {n for n, name in REVEALED.items() if not re.search(rf"\b{name}\b", notes.get(n, ""))} == set()


def test_the_script_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the checkers accept works: generators, tuples, arrays."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(SCRIPT, "script.py", "exec"), names)
    assert 0.0 < names["total"](iter([("A cat sat.", "The cat sat.")])) <= 2.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "scores.jsonl.gz"]
