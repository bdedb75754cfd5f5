"""The command line: what it writes where, its exit codes, and one line for every mistake of a user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rome.cli import COMMANDS, main
from rome.cli.pairs import example_pairs
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def rome(fake_metric: Any, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command with a metric without models; exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(list(words), metric=lambda _: fake_metric)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    """A TSV file of two pairs, the first identical."""
    path = tmp_path / "pairs.tsv"
    path.write_text("id\treference\thypothesis\nx\tA cat.\tA cat.\ny\tA cat.\tA dog.\n")
    return str(path)


@pytest.fixture
def net(tmp_path: Path) -> str:
    """A small net on disk."""
    path = tmp_path / "net.safetensors"
    Combiner(np.ones((2, 4)), np.zeros(2), np.ones(2), np.array(-1.0)).save(path)
    return str(path)


def test_table_is_the_default(rome: Run, pairs: str) -> None:
    """`rome score` prints the table to standard output and nothing to standard error."""
    code, out, err = rome("score", pairs)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split()[:3] == ["segment", "score", "semantic"]
    assert "2 segments, score 0.750" in out


def test_tsv_has_one_line_a_segment(rome: Run, pairs: str) -> None:
    """Header and rows have the same columns; ids come from the input."""
    _, out, _ = rome("score", pairs, "--format", "tsv")
    header, *rows = [line.split("\t") for line in out.splitlines()]
    assert header[:4] == ["segment", "id", "score", "semantic"]
    assert [row[:3] for row in rows] == [["0", "x", "1.000000"], ["1", "y", "0.500000"]]
    assert {len(row) for row in rows} == {len(header)}


def test_json_and_json_lines_hold_the_same_segments(rome: Run, pairs: str) -> None:
    """Evidence only when asked for."""
    whole = json.loads(rome("score", pairs, "--format", "json")[1])
    lines = [json.loads(line) for line in rome("score", pairs, "--format", "jsonl")[1].splitlines()]
    assert whole["segments"] == lines
    assert (whole["score"], lines[0]["id"], "evidence" in lines[0]) == (0.75, "x", False)
    assert "evidence" in json.loads(rome("score", pairs, "--format", "json", "--evidence")[1])["segments"][0]


def test_examples_show_many_kinds_of_mistakes(rome: Run) -> None:
    """About twenty pairs, each with its own note, which the table shows."""
    notes = [row.note for row in example_pairs()]
    assert all(notes) and len(set(notes)) == len(notes) >= 20
    out = rome("score", "--examples")[1]
    assert all(note in out for note in notes)


def test_explain_one_pair(rome: Run) -> None:
    """From two texts, from an example, as text and as JSON."""
    assert "Where the points went" in rome("explain", "--reference", "A cat.", "--hypothesis", "A dog.")[1]
    row = json.loads(rome("explain", "--example", "0", "--format", "json")[1])
    assert row["hypothesis"] == example_pairs()[0].hypothesis
    assert row["evidence"]["errors"]["count"] == 5.75


def test_features_then_rescore(rome: Run, pairs: str, net: str, tmp_path: Path) -> None:
    """What `rome features` stored `rome rescore` combines, in every format, with contributions that add up."""
    table = str(tmp_path / "f.parquet")
    assert rome("features", pairs, "--output", table) == (0, "", f"rome: 2 segments measured: {table}\n")
    expected = Combiner.load(net).score(FeatureTable.load(table))
    rows = [json.loads(line) for line in rome("rescore", table, "--net", net, "--format", "jsonl")[1].splitlines()]
    assert [row["score"] for row in rows] == list(expected)
    total = 1.0 + sum(value for name, value in rows[1].items() if name.endswith("_contribution"))
    assert total == pytest.approx(rows[1]["score"])
    assert json.loads(rome("rescore", table, "--net", net, "--format", "json")[1])["segments"] == rows
    assert rome("rescore", table, "--net", net, "-q") == (0, f"{expected.mean():.3f}\n", "")
    said = f"rome: mean {expected.mean():.3f} of 2 segments: {table}.tsv\n"
    assert rome("rescore", table, "--net", net, "-f", "tsv", "-o", f"{table}.tsv") == (0, "", said)
    tsv = rome("rescore", table, "--net", net, "--format", "tsv")[1].splitlines()
    scored = rome("score", pairs, "--format", "tsv")[1].splitlines()
    more = {"id", "completeness", "faithfulness", "critical_count", "major_count", "minor_count"}
    assert len(tsv) == 3 and tsv[0].split("\t") == [name for name in scored[0].split("\t") if name not in more]
    assert rome("rescore", table, "--net", net)[1].splitlines()[-3].split()[:2] == ["mean", f"{expected.mean():.3f}"]


def test_missing_packages_give_the_install_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without torch the command says which extra to install; a missing module of our own is a bug and shows as one."""

    def lacks(name: str) -> Callable[[Namespace], Any]:
        def make(_: Namespace) -> Any:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        return make

    assert main(["score", "--examples"], metric=lacks("torch.nn")) == 2
    assert "torch, which is installed and cannot be loaded" in capsys.readouterr().err
    monkeypatch.setattr("rome.features.packages.find_spec", lambda name: None)
    assert main(["score", "--examples"], metric=lacks("torch.nn")) == 2
    assert "pip install 'rome-metric[models]'" in capsys.readouterr().err
    assert main(["score", "--examples"], metric=lacks("rome.nonsense")) == 4
    assert "(ModuleNotFoundError: No module named 'rome.nonsense')" in capsys.readouterr().err


def test_interruption_is_quiet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Ctrl-C ends with 130, no traceback, and no half-written output."""

    def interrupted(_: Namespace) -> Any:
        raise KeyboardInterrupt

    assert main(["score", "--examples", "--output", str(tmp_path / "out")], metric=interrupted) == 130
    assert capsys.readouterr().err == "rome: interrupted\n"
    assert os.listdir(tmp_path) == []


def test_broken_pipe_is_quiet() -> None:
    """When the reader of the output goes away, nothing is reported about it."""
    program = "import sys; from rome.cli import main; sys.exit(main(['--help']))"
    process = subprocess.Popen([sys.executable, "-I", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


def test_version_and_help(rome: Run) -> None:
    """Both go to standard output with exit code 0; help lists every command."""
    assert rome("--version")[1].startswith("rome 0.")
    code, out, _ = rome("--help")
    assert code == 0 and all(name in out for name in COMMANDS)


def test_training_recipes_get_their_own_options(rome: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rome train NAME` loads that recipe alone and hands it its options; its help is its own."""

    def add_arguments(parser: ArgumentParser) -> None:
        parser.add_argument("--steps", type=int)

    recipe = types.SimpleNamespace(__doc__="Train it.", add_arguments=add_arguments, run=lambda options: options.steps)
    monkeypatch.setitem(sys.modules, "rome.train.idf", recipe)
    assert rome("train", "idf", "--steps", "3")[0] == 3
    assert "--steps" in rome("train", "idf", "--help")[1]
    assert rome("train", "idf", "--nonsense")[0] == 2


def test_models_prints_the_cards(rome: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Size, licence, data and task of every card, set by set; the whole cards as JSON."""
    folder = tmp_path / "models" / "small" / "parser"
    folder.mkdir(parents=True)
    monkeypatch.setattr("rome.features.analyser.config.files", lambda _: tmp_path)
    assert "no model card" in rome("models")[2]
    card = {"name": "parser", "task": "heads", "data": ["EWT"], "licence": "CC", "size_bytes": 1_500_000}
    (folder / "card.json").write_text(json.dumps(card))
    out = rome("models")[1]
    assert ["parser", "1.5", "CC", "EWT", "heads"] in [line.split() for line in out.splitlines()]
    assert json.loads(rome("models", "--format", "json")[1]) == {"small": [card]}
    (tmp_path / "models" / "base" / "trees").mkdir(parents=True)
    (tmp_path / "models" / "base" / "trees" / "card.json").write_text(json.dumps({**card, "name": "trees"}))
    lines = rome("models")[1].splitlines()
    assert 0 == lines.index("base") < lines.index("small") and any(line.startswith("trees") for line in lines)
    assert list(json.loads(rome("models", "--format", "json")[1])) == ["base", "small"]
