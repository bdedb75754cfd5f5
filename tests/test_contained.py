"""Contained: the commands reach nothing beyond this machine, and write where they were told and nowhere else, with the real models.

Three libraries keep caches of their own: compiled code beside the modules (Python, numba), a list of fonts (matplotlib). Their own settings
lead them elsewhere here; .github/SECURITY.md names them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from test_evaluate_command import ratings_file

from rome.cli import COMMANDS as ALL_COMMANDS

import contained
from whole_metric import ANSWERS

ROOMS = ("rome", "rome.features", "rome.data", "rome.train")
APART = {
    "annotate": "it listens, as serve does",
    "synthesize": "needs language models of its own",
    "train": "for maintainers",
    "serve": "served",
}
OUTPUTS = {
    *("scores.jsonl", "scores.txt.gz", "features.parquet", "rescored.tsv", "explained.html", "report.html", "models.txt"),
    *("others.jsonl", "checked.xml", "checked.md", "compared.html", "examples"),
    *("perturbed.jsonl", "diagnosis.html", "kept", "analyses.sqlite"),
}
INPUTS = {"pairs.jsonl", "texts.txt", "ratings.tsv"}


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file, but for Python's own __pycache__."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def package() -> dict[str, tuple[int, int]]:
    """The files of the installed package."""
    folders = [Path(str(spec.origin)).parent for spec in map(find_spec, ROOMS) if spec is not None]
    return {name: seen for folder in folders for name, seen in tree(folder).items()}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A home, a working directory with the inputs, a folder for temporary files, and one for the caches of other libraries."""
    top = tmp_path_factory.mktemp("contained")
    found = {name: top / name for name in ("home", "work", "temporary", "caches")}
    for folder in found.values():
        folder.mkdir()
    rows = [{"reference": r, "hypothesis": h} for r, hypotheses in list(ANSWERS.items())[:2] for h in hypotheses[:2]]
    (found["work"] / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (found["work"] / "texts.txt").write_text("".join(f"{reference}\n" for reference in list(ANSWERS)[:4]), encoding="utf-8")
    ratings_file(found["work"] / "ratings.tsv")
    return found


@pytest.fixture(scope="module")
def events(places: dict[str, Path]) -> dict[str, Any]:
    """What the commands did; the package's files are compared on the way."""
    before = package()
    environment = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LANG")},
        **{"HOME": str(places["home"]), "TMPDIR": str(places["temporary"]), "NUMBA_CACHE_DIR": str(places["caches"])},
        **{"PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(places["caches"])},
    }
    program = str(Path(contained.__file__).resolve())
    result = places["home"].parent / "events.json"
    done = subprocess.run(
        [sys.executable, program, result], env=environment, cwd=places["work"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert package() == before
    return dict(json.loads(result.read_text()))


def test_every_command_worked(events: dict[str, Any]) -> None:
    """What follows says something only about commands that did their work; every one is tried, but those that APART names."""
    assert {name: code for name, code in events["codes"].items() if code not in ("0", "200")} == {}
    assert {line.split()[0] for line in contained.COMMANDS} == set(ALL_COMMANDS) - set(APART)


def test_nothing_beyond_this_machine_is_reached(events: dict[str, Any]) -> None:
    """No connection, no name looked up, though nothing told any package to stay offline."""
    assert events["reached"] == []


def test_nothing_else_is_started(events: dict[str, Any]) -> None:
    """No other program, but where a report says what made it, and where matplotlib lists the fonts of the system for the first time."""
    others = {line.split()[1] for line in events["started"]}
    assert others <= {"git", "uname", "fc-list"}


def test_files_are_written_where_they_were_asked_for(events: dict[str, Any], places: dict[str, Path]) -> None:
    """Only below the working directory, where all outputs were named, and in the folder for temporary files, which holds no file afterwards.

    torch leaves an empty folder there when an optimizer is made, as Stanza does when it loads a model.
    """
    allowed = [places["work"], places["temporary"], places["caches"]]
    outside = [path for path in map(Path, events["written"]) if not any(path.is_relative_to(one) for one in allowed)]
    assert [path for path in outside if path != Path(os.devnull)] == []
    assert tree(places["home"]) == {} and tree(places["temporary"]) == {}
    assert {path.name for path in places["work"].iterdir()} == OUTPUTS | INPUTS
