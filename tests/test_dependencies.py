"""Dependencies: whatever is imported is declared where it is needed, whatever is declared is pinned, and some packages never come in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from sources import imports, sources

TOP = Path(__file__).resolve().parents[1]
FORBIDDEN = {
    "diskcache": "it unpickles what it finds (CVE-2025-69872)",
    "sqlitedict": "it unpickles what it finds (CVE-2024-35515)",
    "mt-metrics-eval": "the name belongs to a stranger's package",
    "edist": "its licence is the GPL",
}
TOLERATED = {"sqlitedict": "train"}
"""Forbidden packages that another one brings, and the only extra that may: flair names sqlitedict; `.ci/audit.py` says why it does no harm."""
COPYLEFT = {"udapi": "stanza", "udtools": "stanza"}
"""Packages under the GPL, and what brings them: Stanza declares them for its own evaluation."""
BROUGHT = {"markupsafe": "jinja2", "tokenizers": "transformers", "udtools": "stanza"}
"""Imported though not declared: part of what a declared package must bring."""
MODULES = {"sklearn": "scikit-learn", "ot": "pot", "faiss": "faiss-cpu", "text_to_num": "text2num"}
EXTRAS: dict[str, tuple[str, ...]] = {
    "rome.train": ("models", "train", "evaluate"),
    "rome.features": ("models", "zss"),
    "rome.data.perturbations": ("evaluate",),
    "rome.evaluation.annotate": ("evaluate", "serve"),
    "rome.evaluation": ("models", "evaluate"),
    "rome.reports": ("evaluate",),
    "rome.service": ("serve",),
    "rome.integrations.frames": ("frames",),
    "rome.integrations.ray": ("ray",),
    "rome.integrations.spark": ("spark",),
}
"""Where packages of an extra are imported; everywhere else only those of the base install."""
TOGETHER = {
    "rome.integrations.frames": {"polars"},
    "rome.integrations.huggingface": {"datasets", "evaluate"},
    "rome.integrations.sklearn": {"scikit-learn"},
    "rome.integrations.torchmetrics": {"torch", "torchmetrics"},
    "rome.integrations.pytest_plugin": {"pytest"},
    "rome.evaluation.findings": {"pandas"},
    "rome.results": {"pandas"},
}
"""Bridges to packages that whoever crosses them has; they are declared for the tests."""
TOOLS = {"pip", "setuptools", "wheel"}


def plain(name: str) -> str:
    """A package's name as all indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def declared() -> dict[str, tuple[Requirement, ...]]:
    """The requirements of every extra, those of the base install under ""."""
    config = ConfigParser()
    config.read(TOP / "setup.cfg")
    groups = {"": config["options"]["install_requires"], **config["options.extras_require"]}
    return {name: tuple(map(Requirement, group.split("\n")[1:])) for name, group in groups.items()}


def named(extra: str) -> set[str]:
    """The packages of an extra, and those of the extras of ours that it names."""
    own = [one for one in declared()[extra] if plain(one.name) == "rome-metric"]
    return {plain(one.name) for one in declared()[extra] if one not in own}.union(
        *(named(inner) for one in own for inner in one.extras)
    )


@cache
def pins() -> dict[str, str]:
    """The version of every package in constraints.txt."""
    lines = (TOP / "constraints.txt").read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {plain(one.name): str(one.specifier) for one in found}


@cache
def installed() -> dict[str, Any]:
    """Every package of this environment."""
    return {plain(one.metadata["Name"]): one for one in distributions()}


def closure(wanted: Iterable[Requirement], seen: set[tuple[str, str]] | None = None) -> set[str]:
    """Everything that these requirements bring in, as far as it is installed here."""
    seen = set() if seen is None else seen
    for one in wanted:
        for extra in ("", *one.extras):
            name = plain(one.name)
            if name not in installed() or (name, extra) in seen:
                continue
            seen.add((name, extra))
            needed = map(Requirement, installed()[name].requires or ())
            closure((r for r in needed if r.marker is None or r.marker.evaluate({"extra": extra})), seen)
    return {name for name, _ in seen}


def brought(extra: str) -> set[str]:
    """What an extra installs, with the base install."""
    names = named("") | named(extra)
    return closure(
        Requirement(f"{r.name}[{','.join(r.extras)}]") for group in declared().values() for r in group if plain(r.name) in names
    )


@cache
def imported() -> tuple[tuple[str, str], ...]:
    """Every module of the project with each package that it imports."""
    return tuple(_imported())


def _imported() -> Iterator[tuple[str, str]]:
    for name, path in sources():
        for found in {module.partition(".")[0] for module in imports(name, path)}:
            if found not in sys.stdlib_module_names and found != "rome":
                yield name, plain(MODULES.get(found, found))


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")


def test_what_is_imported_is_declared_where_it_is_needed() -> None:
    """A module imports packages of the base install, of its own extra, or those that it is a bridge to; no package comes by chance."""
    wrong = []
    for name, package in imported():
        extras = next((found for prefix, found in EXTRAS.items() if within(name, prefix)), ())
        allowed = named("").union(
            *map(named, extras), *(packages for prefix, packages in TOGETHER.items() if within(name, prefix))
        )
        if package not in allowed and BROUGHT.get(package) not in allowed:
            wrong.append(f"{name} imports {package}")
    assert wrong == []


def test_bridges_are_tested() -> None:
    """What a bridge leads to is installed with the extra `test`."""
    assert set().union(*TOGETHER.values()) <= named("test")


def test_packages_that_others_bring_are_theirs() -> None:
    """Each one that is imported undeclared is a requirement of the package that is said to bring it."""
    for package, bringer in (BROUGHT | COPYLEFT).items():
        if bringer in installed() and package in installed():
            assert package in closure([Requirement(bringer)])


def test_the_command_names_the_extra_that_has_the_package() -> None:
    """`pip install 'rome-metric[...]'` in a message brings the package whose absence it is about."""
    from rome.cli.faults import EXTRAS as MESSAGES

    for module, extra in MESSAGES.items():
        package = plain(MODULES.get(module, module))
        assert package in named(extra) or BROUGHT.get(package) in named(extra) or package == "statsmodels"


@pytest.mark.parametrize("extra", [name for name in declared() if name != "train"])
def test_forbidden_packages_never_come_in(extra: str) -> None:
    """Not declared, not imported, not brought by another; in the extra `train` as TOLERATED says."""
    assert not set(FORBIDDEN) & (named(extra) | {package for _, package in imported()})
    assert not set(FORBIDDEN) & brought(extra)


def test_training_brings_no_other_forbidden_package() -> None:
    """What constraints.txt pins is what all extras bring in; of the forbidden ones that is what another package drags along."""
    assert not set(FORBIDDEN) & named("train")
    assert set(FORBIDDEN) & set(pins()) <= {name for name, extra in TOLERATED.items() if extra == "train"}


@pytest.mark.parametrize("extra", ["", "models", "evaluate", "serve"])
def test_licences_let_anyone_use_it(extra: str) -> None:
    """What users install is under no licence that binds their own work, but for what COPYLEFT names."""
    assert {name for name in brought(extra) if "GPL" in licence(name) and "LGPL" not in licence(name)} <= set(COPYLEFT)


@cache
def licence(name: str) -> str:
    """The licence as a package's metadata name it; a whole text counts as nothing."""
    data = installed()[name].metadata
    fields = [data.get("License-Expression"), data.get("License"), *(data.get_all("Classifier") or ())]
    return " ".join(field for field in fields if field and len(field) < 100 and ("Classifier" not in field))


@pytest.mark.parametrize("extra", declared())
def test_everything_that_is_installed_is_pinned(extra: str) -> None:
    """Every package that an extra brings in, however indirectly, has one exact version in constraints.txt."""
    assert brought(extra) - TOOLS - {"rome-metric"} <= set(pins())
    assert all(re.fullmatch(r"==[^=*]+", version) for version in pins().values())


# The look-up, with a program that stands for pip-audit


AUDIT = TOP / ".ci" / "audit.py"
ANSWER: dict[str, Any] = {"dependencies": [{"name": "a", "version": "1.0", "vulns": []}], "fixes": []}
HOLE = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["1.1"]}
KNOWN = {"id": "PYSEC-2", "aliases": ["CVE-2024-35515"], "fix_versions": []}


def audited(folder: Path, script: str | None) -> subprocess.CompletedProcess[str]:
    """Run the audit where `pip-audit` is this script, or nothing."""
    if script is not None:
        program = folder / "pip-audit"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:/usr/bin:/bin" if script is not None else str(folder)}
    return subprocess.run([sys.executable, AUDIT], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
@pytest.mark.parametrize(
    ("script", "code", "says"),
    [
        (None, 0, "audit: skipped, pip-audit is not installed"),
        ("echo ERROR: no connection >&2; exit 1", 0, "audit: skipped, no answer (ERROR: no connection)"),
        (f"echo '{json.dumps(ANSWER)}'", 0, "audit: 1 packages, 0 vulnerabilities, 0 accepted"),
        (
            f"echo '{json.dumps(ANSWER).replace('[]', json.dumps([HOLE]), 1)}'; exit 1",
            1,
            "FAILED  a 1.0: PYSEC-1, CVE-1: take 1.1",
        ),
        (f"echo '{json.dumps(ANSWER).replace('[]', json.dumps([KNOWN]), 1)}'; exit 1", 0, "accepted  a 1.0: PYSEC-2, CVE-2024"),
    ],
    ids=["absent", "offline", "clean", "a hole", "an accepted one"],
)
def test_the_audit_says_what_it_found_or_that_it_could_not_look(
    tmp_path: Path, script: str | None, code: int, says: str
) -> None:
    """One line where it is skipped; a vulnerability fails, unless the script says why it does not matter."""
    done = audited(tmp_path, script)
    assert (done.returncode, says in done.stdout) == (code, True), done
