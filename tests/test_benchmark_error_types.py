"""The benchmark of error types: which error answers a perturbation, what class it has, and the real command on the real items."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from rome.data.readers.demetr import KINDS
from rome.exceptions import InputError
from rome.features.errors.evidence import ErrorSpan, TextSpan

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("error_types")


def error(kind: str, type_: str, text: str, weight: float = 1.0, severity: str = "minor") -> ErrorSpan:
    """An error of the hypothesis' first characters."""
    span = TextSpan(text, 0, len(text))
    missing = kind == "missing"
    return ErrorSpan(kind, type_, severity, weight, 0.9, span if missing else None, None if missing else span)  # type: ignore[arg-type]


def test_every_kind_of_change_has_a_fitting_class(benchmark: ModuleType) -> None:
    """The kinds of DEMETR but its four baselines, each with at least one class that `class_of` can give."""
    assert set(benchmark.FITTING) == {kind for kind, about in KINDS.items() if about.category != "baseline"}
    assert all(benchmark.FITTING.values())


def test_the_answer_is_the_heaviest_new_error(benchmark: ModuleType) -> None:
    """What the translation has too does not count, nor what is named no error; the same error twice is new once."""
    old = error("replacement", "noun", "dog", weight=5.0)
    new, lighter = error("unnecessary", "verb", "ran", weight=2.0), error("missing", "noun", "cat", weight=1.0)
    unnamed = error("missing", "noun", "house", weight=9.0, severity="none")
    assert benchmark.answer([old], [old, lighter, new, unnamed]) == new
    assert benchmark.answer([old], [old, old]) == old
    assert benchmark.answer([old], [old, unnamed]) is None
    assert benchmark.answer([], []) is None


@pytest.mark.parametrize(
    ("kind", "type_", "expected"),
    [
        ("missing", "noun", "omission"),
        ("unnecessary", "adjective", "addition"),
        ("unnecessary", "tense", "grammar"),
        ("unnecessary", "repetition", "repetition"),
        ("missing", "punctuation", "punctuation"),
        ("missing", "negation", "negation"),
        ("replacement", "agreement", "grammar"),
        ("replacement", "noun", "substitution"),
        ("replacement", "number", "number"),
        ("surface", "casing", "casing"),
        ("surface", "article", "grammar"),
        ("order", "order", "order"),
    ],
)
def test_classes(benchmark: ModuleType, kind: str, type_: str, expected: str) -> None:
    """Kind and type together give one class."""
    assert benchmark.class_of(error(kind, type_, "x")) == expected


def test_the_command_on_real_items(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One pair a kind: a row for each, a row of all, and the same in the file."""
    try:
        benchmark.read_demetr()
    except InputError as reason:
        pytest.skip(str(reason))
    monkeypatch.setattr("sys.argv", ["error_types.py", "--most", "1", "--output", str(tmp_path)])
    assert benchmark.main() == 0
    lines = (tmp_path / "error_types.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + len(benchmark.FITTING) + 1 and lines[-1].startswith("all\t31\t")
    assert capsys.readouterr().out.splitlines() == lines
