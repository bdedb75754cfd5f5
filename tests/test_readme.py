"""The README: two command lines, and every example in it works."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rome.cli import COMMANDS

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
ROME = [sys.executable, "-P", "-c", "import sys; from rome.cli import main; sys.exit(main())"]


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def test_two_command_lines() -> None:
    """One block with exactly two lines: the first scores the examples, the second runs the tests."""
    (block,) = blocks("sh")
    first, second = block.splitlines()
    assert first.endswith("rome score --examples") and '".[models]"' in first
    assert second.endswith("pytest") and '".[test]"' in second
    assert "constraints.txt" in first and "constraints.txt" in second


def test_every_command_is_shown() -> None:
    """No command of the package is missing from the README."""
    assert [name for name in COMMANDS if f"rome {name}" not in README] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the README's commands name, and a `rome` that is the tested one."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "references.txt").write_text("The museum opens at nine.\nPrices are low.\n")
    (folder / "hypotheses.txt").write_text("The museum opens at ten.\nPrices are low.\n")
    (folder / "pairs.tsv").write_text("reference\thypothesis\nPrices are low.\tPrices are high.\n")
    (folder / "pairs.jsonl").write_text('{"reference": "Prices are low.", "hypothesis": "Prices are high."}\n')
    script = folder / "bin" / "rome"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexec " + shlex.join(ROME) + ' "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.mark.skipif(shutil.which("sh") is None, reason="the README's commands are for a shell")
def test_console_commands_work(folder: Path) -> None:
    """Every command line of the README ends with exit code 0 in a folder that holds the files that it names."""
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    assert len(commands) >= 8
    for command in commands:
        path = f"PATH={folder / 'bin'}:$PATH; {command}"
        done = subprocess.run(["sh", "-c", path], cwd=folder, capture_output=True, text=True, check=False)
        assert (command, done.returncode, done.stderr) == (command, 0, "")
    assert (folder / "scores.tsv").read_text().startswith("segment\tscore")


def test_python_example_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The library example runs as it stands and prints what it says."""
    (block,) = blocks("python")
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "2 segments" in printed and "contributions" in printed
