"""Test that citation, notice, changelog, matrix, issue forms and package page agree with setup.cfg and the models."""

from __future__ import annotations

import json
import re
import runpy
from configparser import ConfigParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

yaml: Any = pytest.importorskip("yaml", reason="PyYAML reads the citation and the forms; mkdocs brings it")

TOP = Path(__file__).resolve().parents[1]
SETUP = ConfigParser()
SETUP.read(TOP / "setup.cfg")
META = SETUP["metadata"]
NOTICE = (TOP / "NOTICE").read_text(encoding="utf-8")
MATRIX = runpy.run_path(str(TOP / ".ci" / "matrix"))
CITED = {
    "authors", "cff-version", "message", "title", "type", "version", "license", "abstract", "keywords", "references",
    "repository-code", "url", "doi", "date-released",
}  # fmt: skip
"""Fields of the Citation File Format 1.2.0; the first four are required."""
REFERENCE = {"type", "title", "authors", "notes", "collection-title", "year", "start", "end", "doi", "url"}
ANTHOLOGY = "https://aclanthology.org/"


def listed(text: str) -> list[str]:
    """Return the lines of a value of setup.cfg."""
    return [line for line in text.split("\n") if line]


def citation() -> dict[str, Any]:
    """Return the fields of CITATION.cff."""
    fields: dict[str, Any] = yaml.safe_load((TOP / "CITATION.cff").read_text(encoding="utf-8"))
    return fields


def cards() -> dict[str, dict[str, Any]]:
    """Return the card of every model, by set and folder."""
    paths = sorted((TOP / "data" / "models").glob("*/*/card.json"))
    return {"/".join(path.parts[-3:-1]): json.loads(path.read_text(encoding="utf-8")) for path in paths}


def test_the_citation_is_that_of_this_package() -> None:
    """Compare version, licence, author and keywords with setup.cfg."""
    fields = citation()
    assert {"authors", "cff-version", "message", "title"} <= fields.keys() <= CITED
    assert (fields["cff-version"], fields["type"]) == ("1.2.0", "software")
    assert (fields["version"], fields["license"]) == (META["version"], META["license"])
    assert fields["authors"] == [{"name": META["author"]}] and fields["keywords"] == META["keywords"].split(", ")


def test_the_papers_are_cited_whole() -> None:
    """Require five papers with authors, year, pages and DOI; setup.cfg links the first."""
    papers = citation()["references"]
    assert [(one["authors"][0]["family-names"], one["year"]) for one in papers] == [
        ("Rony", 2022), ("Xu", 2022), ("Xu", 2023), ("Sellam", 2020), ("Karpinska", 2022),
    ]  # fmt: skip
    for one in papers:
        assert one.keys() == REFERENCE and one["type"] == "conference-paper" and one["start"] < one["end"]
        assert all(person.keys() == {"family-names", "given-names"} for person in one["authors"])
        assert re.fullmatch(r"10\.18653/v1/[\w.-]+", one["doi"]) and str(one["year"]) in one["doi"]
        assert one["url"] == ANTHOLOGY + one["doi"].rpartition("/")[2]
    assert f"Paper = {papers[0]['url']}" in listed(META["project_urls"])


def test_the_notice_has_the_licence_of_every_model() -> None:
    """Require each model below the licence of its card, and below no other."""
    part = NOTICE.split("MODELS, BY THE LICENCE THAT THEIR CARDS STATE\n")[1].split("\n\n\n")[0].splitlines()
    stated = {
        model: licence
        for licence, models in pairwise(part)
        if models.startswith("    ")
        for model in models.strip().split(", ")
    }
    assert stated == {model: card["licence"] for model, card in cards().items()}


def test_the_notice_names_what_the_models_were_made_from() -> None:
    """Require a paragraph for every collection that a card names, and no other paragraph."""
    part = NOTICE.split("WHAT THEY WERE MADE FROM\n\n")[1].split("\n\n")[0].splitlines()
    names = {name for line in part if not line.startswith(" ") for name in line.split(", ")}
    data = " ".join(text for card in cards().values() for text in card["data"]).lower()
    assert {name for name in names if all(word.lower() not in data for word in (name, name.partition(" ")[0]))} == set()
    known = re.compile(
        "|".join(map(re.escape, names | {"written by hand", "perturbations", "system outputs", "distinct texts", "pairs of", "of the first four"})),
        re.I,
    )
    assert [text for card in cards().values() for text in card["data"] if not known.search(text)] == []


def test_the_package_page_needs_no_file_beside_it() -> None:
    """Require a long description without links into the checkout and without lost lines."""
    readme, page = (TOP / "README.md").read_text(encoding="utf-8"), runpy.run_path(str(TOP / "setup.py"))["package_page"]()
    link = re.compile(r"!?\[[^]]*\]\((?!https:|#)[^)]*\)")
    assert link.search(readme) and not link.search(page)
    assert "long_description" not in META and META["long_description_content_type"] == "text/markdown"
    assert [line for line in readme.splitlines() if not link.search(line) and line not in page] == []


# The matrix


def test_the_matrix_has_every_python_of_the_package() -> None:
    """Compare the versions of Python in setup.cfg, the workflow and the script."""
    named = [line.rpartition(" ")[2] for line in listed(META["classifiers"]) if re.search(r":: 3\.\d+$", line)]
    assert tuple(named) == MATRIX["PYTHONS"] and SETUP["options"]["python_requires"] == f">={named[0]}"
    jobs = yaml.safe_load((TOP / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    cells = jobs["matrix"]["strategy"]["matrix"]
    assert (cells["python"], cells["dependencies"]) == (named, list(MATRIX["DEPENDENCIES"]))
    assert [step["run"].partition(" ")[0] for job in jobs.values() for step in job["steps"] if "run" in step] == [
        ".ci/run",
        ".ci/matrix",
    ]


@pytest.mark.parametrize("python", MATRIX["PYTHONS"])
def test_the_oldest_versions_are_those_of_setup_cfg(python: str) -> None:
    """Require for each package a version that setup.cfg has as a bound."""
    lines = [*listed(SETUP["options"]["install_requires"]), *listed(SETUP["options.extras_require"]["models"])]
    needed = [one for one in map(Requirement, lines) if one.marker is None or one.marker.evaluate({"python_version": python})]
    taken = MATRIX["oldest"](python)
    assert taken.keys() == {one.name for one in needed}
    assert [str(one) for one in needed if not one.specifier.contains(taken[one.name])] == []
    assert {f">={version}" for version in taken.values()} <= {str(one.specifier) for one in needed}


def test_files_of_tests_that_the_matrix_names_exist() -> None:
    """Require every file."""
    files = MATRIX["test_files"](f"{MATRIX['BASE_TESTS']} {MATRIX['MODEL_TESTS']}")
    assert [name for name in files if not (TOP / name).is_file()] == []
