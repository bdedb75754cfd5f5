"""What a command writes never takes the place of what it reads or keeps."""

from __future__ import annotations

import os
import shlex
from argparse import Action
from pathlib import Path
from typing import Any

import pytest

from rome.cli import COMMANDS, _parser, main
from rome.cli.options import READ, WRITTEN, check_outputs

CONTENT = "reference\thypothesis\nA cat.\tA dog.\n"
LINES = [
    "score pairs.tsv -o pairs.tsv",
    "score pairs.tsv -o link.tsv",
    "score hard.tsv -o pairs.tsv",
    "score --references ref.txt --hypotheses hyp.txt -o ref.txt",
    "score pairs.tsv --store new.sqlite -o ./new.sqlite",
    "features pairs.tsv -o pairs.tsv",
    "report --scores one=pairs.tsv two=hyp.txt -o link.tsv",
    "compare ref.txt hyp.txt -o hyp.txt",
    "check pairs.tsv --junit new.xml --markdown new.xml",
    "check --scores pairs.tsv --baseline hyp.txt --markdown hyp.txt",
    "perturb ref.txt --antonyms hyp.txt -o hyp.txt",
    "synthesize sescore2 ref.txt --corpus hyp.txt -o hyp.txt",
]


@pytest.mark.parametrize("line", LINES)
def test_an_output_that_is_read_is_refused(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever path or link leads there, before anything is read: one line, and every file is as it was."""
    for name in ("pairs.tsv", "ref.txt", "hyp.txt"):
        (tmp_path / name).write_text(CONTENT)
    (tmp_path / "folder").symlink_to(".")
    (tmp_path / "link.tsv").symlink_to("pairs.tsv")
    os.link(tmp_path / "pairs.tsv", tmp_path / "hard.tsv")
    monkeypatch.chdir(tmp_path)

    def never(_: object) -> Any:
        raise AssertionError("a metric was made")

    assert main(shlex.split(line), metric=never) == 2
    said = capsys.readouterr().err
    assert "is the same file as" in said and said.startswith("rome: error: --") and said.count("\n") == 1
    assert sorted(os.listdir()) == ["folder", "hard.tsv", "hyp.txt", "link.tsv", "pairs.tsv", "ref.txt"]
    assert all(Path(name).read_text() == CONTENT for name in ("pairs.tsv", "ref.txt", "hyp.txt", "hard.tsv"))


@pytest.mark.parametrize(
    "line",
    [
        "score pairs.tsv -o other.tsv",
        f"score {os.devnull} {os.devnull} -o {os.devnull}",
        "score - -o -",
        "explain --reference other.tsv --hypothesis A -o other.tsv",
        "report --pairs pairs.tsv --title other.tsv -o other.tsv",
        "annotate --output other.tsv --agreement other.tsv",
    ],
)
def test_what_may_be_the_same(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices, `-`, texts that are called like a file, ratings that are only read, and what another run wrote."""
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text(CONTENT)
    Path("other.tsv").write_text(CONTENT)
    check_outputs(_parser(line.split()[0]).parse_args(line.split()))


def test_every_option_that_names_a_file_is_known() -> None:
    """A new one is compared with the outputs too."""

    def files(action: Action) -> bool:
        words = " ".join([action.metavar] if isinstance(action.metavar, str) else action.metavar or ())
        return any(word in words for word in ("FILE", "PATH", "FOLDER", "TEXTS")) or words in ("FIRST", "SECOND")

    for name in COMMANDS:
        (commands,) = (action for action in _parser(name)._actions if action.dest == "command")
        found = {action.dest for action in commands.choices[name]._actions if files(action)}  # type: ignore[index, call-overload]
        assert found - {"names"} <= {*READ, *WRITTEN}, name
