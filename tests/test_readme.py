"""The README: two command lines, and every example in it works."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from rome.cli import COMMANDS, main
from rome.features.analyser.config import set_folder

SYSTEMS = {"a": "The shop sold cars.", "bb": "The shop sold a car.", "ccc": "Shop cars."}
RATED = {"item": "1", "system": "a", "reference": "Prices are low.", "hypothesis": "Prices are low.", "errors": []}
README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def test_two_command_lines() -> None:
    """One block with exactly two lines: the first scores the examples, the second runs the tests."""
    (block,) = blocks("sh")
    first, second = block.splitlines()
    assert first.endswith("rome score --examples") and '".[models]"' in first
    assert ".venv/bin/pytest" in second and '".[test]"' in second
    assert "constraints.txt" in first and "constraints.txt" in second


def test_the_scale_is_the_scorers_card() -> None:
    """The table of what the score means holds the shipped net's own figures, to two digits."""
    figures = json.loads((set_folder() / "scorer" / "card.json").read_text(encoding="utf-8"))["figures"]
    table = README.split("<!-- scale -->")[1].split("<!-- /scale -->")[0]
    rows = re.findall(r"^\| ([a-z ,]+) \| (\d\.\d\d) \|$", table, re.M)
    assert {name: value for name, value in rows} == {
        name.removeprefix("mean_").replace("_", " "): f"{value:.2f}"
        for name, value in figures.items()
        if name.startswith("mean_")
    }


def test_every_command_is_shown() -> None:
    """No command of the package is missing from the README."""
    assert [name for name in COMMANDS if f"rome {name}" not in README] == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the files that the README's commands name."""
    (tmp_path / "references.txt").write_text("The museum opens at nine.\nPrices are low.\n")
    (tmp_path / "hypotheses.txt").write_text("The museum opens at ten.\nPrices are low.\n")
    (tmp_path / "pairs.tsv").write_text("reference\thypothesis\nPrices are low.\tPrices are high.\n")
    (tmp_path / "pairs.jsonl").write_text('{"reference": "Prices are low.", "hypothesis": "Prices are high."}\n')
    (tmp_path / "texts.txt").write_text("The museum opens at nine on weekdays.\nShe sold two old cars in Berlin.\n")
    rows = [f"{n}\t{s}\tThe shop sold {n} cars.\t{text}\t{5 - len(s)}" for n in range(4) for s, text in SYSTEMS.items()]
    header = "item\tsystem\treference\thypothesis\trating:quality"
    (tmp_path / "ratings.tsv").write_text("\n".join([header, *rows]) + "\n")
    judged = [RATED | {"annotator": name, "ratings": {"fluency": rating}} for name, rating in (("ann", 3), ("bob", 2))]
    (tmp_path / "annotated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_console_commands_work(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command line of the README ends with exit code 0 and says nothing on standard error but where a report is."""
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    assert len(commands) >= 15
    for command in commands:
        *before, words = command.split(" | ")
        for name in before:
            monkeypatch.setattr("sys.stdin", (folder / name.removeprefix("cat ")).open())
        program, *rest = shlex.split(words)
        if "--no-browser" in rest or rest[0] == "serve":
            serve(rest)
            continue
        code, errors = main(rest), capsys.readouterr().err
        said = [line for line in errors.splitlines() if not line.startswith("report: ")]
        assert (program, command, code, said) == ("rome", command, 0, [])
    assert (folder / "scores.tsv").read_text().startswith("segment\tscore")
    assert "<table" in (folder / "agreement" / "index.html").read_text()
    assert "<table" in (folder / "blind-spots" / "index.html").read_text()


def serve(words: list[str]) -> None:
    """A command that serves a page: it prints its address, answers there, and ends when it is interrupted."""
    program = [sys.executable, "-P", "-c", "import sys; from rome.cli import main; sys.exit(main(sys.argv[1:]))"]
    with subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline()  # type: ignore[union-attr]
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert address, line
            with urlopen(address.group(), timeout=20) as answer:
                assert b"<html" in answer.read()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)


def test_python_example_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The library example runs as it stands and prints what it says."""
    (block,) = blocks("python")
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "2 segments" in printed and "Contributions" in printed
