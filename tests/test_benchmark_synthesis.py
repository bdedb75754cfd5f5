"""The benchmark of the synthesis pipelines, on three texts with tiny models: figures, plots and examples in one page."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from synthesis_models import save_masked_and_judge

from rome.train.synthesis.pairs import Operation, SyntheticPair

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module."""
    for package in ("torch", "faiss", "matplotlib"):
        pytest.importorskip(package, reason="needs the extras train and evaluate")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr("torch.set_num_threads", lambda number: None)
    return importlib.import_module("synthesis")


def test_three_texts(benchmark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Page, tables and plots of what ran; a second run makes nothing again and keeps the rate; the page can be written anew."""
    models = save_masked_and_judge(tmp_path)
    texts = tmp_path / "texts.txt"
    texts.write_text(
        "".join(f"The president of house {n} slept, and the old dog did not.\n" for n in range(9)), encoding="utf-8"
    )

    def run(*only: str) -> tuple[int, dict[str, str]]:
        folders = ["--work", str(tmp_path / "work"), "--output", str(tmp_path / "out")]
        given = ["--fill", models["masked"], "--entailment", models["judge"], "--texts", str(texts), "--count", "3"]
        monkeypatch.setattr(sys, "argv", ["synthesis.py", *folders, *given, "--only", *only])
        return benchmark.main(), {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}

    code, files = run("sescore", "sescore2", "bleurt")
    page = files["synthesis.md"]
    assert code == 0 and all(f"### {name}\n" in page for name in ("sescore", "sescore2", "bleurt")) and "### rome" not in page
    assert page.count("\n| ") >= 2 * 10 + 4 and "3 lines of texts.txt of 12.0 words" in page
    pictures = {name for name in files if name.endswith(".svg")}
    assert pictures == {f"synthesis_{what}.svg" for what in ("edits", "labels", "kinds", "types")}
    assert all(f"]({name})" in page for name in pictures)
    _, header, *rows = (line.split("\t") for line in files["synthesis.tsv"].splitlines())
    assert [row[:2] for row in rows[:1]] == [["sescore", "3"]] and {len(row) for row in rows} == {len(header)}
    counts = [line.split("\t") for line in files["synthesis_distribution.tsv"].splitlines()]
    assert sum(int(row[4]) for row in counts if row[:2] == ["sescore", "edits"]) == 3
    capsys.readouterr()
    assert run("sescore") == (0, files) and "sescore: its pairs are there" in capsys.readouterr().out
    assert run() == (0, files)
    code, again = run("typo")
    assert (code, again) == (1, files) and "there is no pipeline 'typo'" in capsys.readouterr().err


def test_edits_are_marked(benchmark: Any) -> None:
    """What went and what came, in its place, also where one edit stands on what another one wrote; signs of Markdown are escaped."""
    page = importlib.import_module("synthesis_page")

    def marked(reference: str, *operations: tuple[int, int, str]) -> str:
        text, found = reference, []
        for start, end, new in operations:
            found.append(Operation("x", start, end, text[start:end], new))
            text = text[:start] + new + text[end:]
        return str(page.marked(SyntheticPair("1", "p", 0, reference, text, tuple(found))))

    assert marked("A b c.") == "A b c."
    assert marked("A b c.", (2, 3, "dd"), (5, 6, "")) == "A <del>b</del><b>dd</b> <del>c</del>."
    assert marked("A b c.", (1, 3, ""), (1, 1, " new")) == "A <del>b</del> <b>new</b> c."
    assert marked("A b.", (2, 3, "new"), (2, 6, "")) == "A <del>b.</del>"
    assert marked("A b.", (3, 3, " ")) == "A b<b>␣</b>."
    assert marked("a*b < c_d|", (0, 3, "x")) == "<del>a\\*b</del><b>x</b> &lt; c\\_d\\|"
