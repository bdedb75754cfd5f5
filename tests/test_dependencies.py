"""Dependencies: everything declared is pinned, some packages are never installed, and the audit reports what it found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from configparser import ConfigParser
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

TOP = Path(__file__).resolve().parents[1]
FORBIDDEN = {
    "diskcache": "it unpickles what it finds (CVE-2025-69872)",
    "sqlitedict": "it unpickles what it finds (CVE-2024-35515)",
    "mt-metrics-eval": "the name belongs to a stranger's package",
    "edist": "its licence is the GPL",
}
TOLERATED = {"sqlitedict"}
"""Required by flair, in the extra `train`; `.ci/audit.py` explains why it does no harm."""
COPYLEFT = {"udapi": "stanza", "udtools": "stanza"}
"""Packages under the GPL, and what brings them: Stanza declares them for its own evaluation."""
BROUGHT = {"markupsafe": "jinja2", "tokenizers": "transformers", "udtools": "stanza"}
"""Imported though not declared: part of what a declared package must bring."""
MODULES = {"sklearn": "scikit-learn", "ot": "pot", "faiss": "faiss-cpu", "text_to_num": "text2num"}
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


def test_the_command_names_the_extra_that_has_the_package() -> None:
    """`pip install 'rome-metric[...]'` in a message brings the package whose absence it is about."""
    from rome.cli.faults import EXTRAS as MESSAGES

    for module, extra in MESSAGES.items():
        package = plain(MODULES.get(module, module))
        assert package in named(extra) or BROUGHT.get(package) in named(extra) or package == "statsmodels"


@pytest.mark.parametrize("extra", [name for name in declared() if name != "train"])
def test_forbidden_packages_never_come_in(extra: str) -> None:
    """Neither declared nor required by another package."""
    assert not set(FORBIDDEN) & (named(extra) | brought(extra))


def test_training_brings_no_other_forbidden_package() -> None:
    """Of the forbidden packages, constraints.txt pins only those in TOLERATED, which the extra `train` requires indirectly."""
    assert not set(FORBIDDEN) & named("train")
    assert set(FORBIDDEN) & set(pins()) <= TOLERATED


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
