"""Packages that are absent, too old or damaged are told apart, each with the line that mends it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rome.cli import main
from rome.exceptions import ModelMissingError
from rome.features.packages import check_versions, import_failed

ABSENT = "import sys; sys.modules['stanza'] = None; "
RUN = "from rome.cli import main; raise SystemExit(main(['score', '--examples', '--models', 'small']))"


def package(folder: Path, name: str, number: str, code: str) -> Path:
    """A folder of installed packages that has this one, as pip leaves it."""
    (folder / f"{name}-{number}.dist-info").mkdir(parents=True)
    (folder / f"{name}-{number}.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n")
    (folder / f"{name}-{number}.dist-info" / "RECORD").write_text(f"{name}/__init__.py,,\n")
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(code)
    return folder


def scored(code: str, site: Path) -> subprocess.CompletedProcess[str]:
    """`rome score` in a process of its own that finds the packages of this folder first."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=site)


def test_a_package_that_does_not_fit_is_told_from_a_missing_one(tmp_path: Path) -> None:
    """Print one line with a remedy, and exit with code 2: a part of Stanza is missing, or all of it."""
    broken = package(tmp_path, "stanza", "1.16", "import stanza.gone")
    remedies = {RUN: "pip install --force-reinstall stanza", ABSENT + RUN: 'pip install "rome-metric[models]"'}
    for code, remedy in remedies.items():
        done = scored(code, broken)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and remedy in done.stderr, done


@pytest.mark.parametrize("call", ["load()", "analyse(['a'])", "score(references=['a'], hypotheses=['b'])"])
def test_python_names_the_extra_too(call: str, tmp_path: Path) -> None:
    """Where torch is missing, whatever is asked first."""
    done = scored(f"import sys; sys.modules['torch'] = None; import rome; rome.RoMe(models='small').{call}", tmp_path)
    assert 'needs the package torch: run `pip install "rome-metric[models]"`' in done.stderr.splitlines()[-1]


def test_what_is_installed_here_is_new_enough() -> None:
    """And every bound of the base install and the models is compared with what is installed."""
    check_versions()
    bounds = [
        one for one in map(Requirement, requires("rome-metric") or ()) if str(one.marker) in ("None", 'extra == "models"')
    ]
    assert {"numpy", "torch", "stanza", "transformers"} <= {one.name for one in bounds}
    assert all(one.specifier.contains(version(one.name)) and ">=" in str(one.specifier) for one in bounds)


def test_training_asks_for_the_same_versions(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Before a recipe is loaded."""
    monkeypatch.setattr("rome.features.packages.version", lambda name: "2.5.1+cpu" if name == "torch" else version(name))
    assert main(["train", "parser", "--out", "x"]) == 2
    assert "torch 2.5.1+cpu is too old: RoMe needs torch>=2.6, run `pip install" in capsys.readouterr().err
    error = import_failed(ImportError("no such symbol", name="torch._C"), "it", "x")
    assert isinstance(error, ModelMissingError) and str(error).startswith("torch 2.5.1+cpu is too old")
