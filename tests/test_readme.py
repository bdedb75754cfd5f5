"""Test the README and the pages: every command line works on the files of `rome examples`."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from functools import cache, partial
from importlib import import_module
from os import chdir
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import rome
from rome.cli import COMMANDS, main
from rome.cli.options import make_metric
from rome.cli.train import NAMES
from rome.data.sources import SETS
from rome.features.analyser.config import set_folder

TOP = Path(__file__).resolve().parents[1]
PAGES = {
    str(path.relative_to(TOP)): path.read_text(encoding="utf-8")
    for path in (TOP / "README.md", *sorted((TOP / "docs/pages").rglob("*.md")))
}
README = PAGES["README.md"]
RUN = ("cp ", "cd ", "cat ", "rome ")
"""Programs whose lines are run; the others download a checkpoint of 400 MB."""


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def lines(text: str) -> list[str]:
    """Return the command lines of a page."""
    shown = [
        line.removeprefix("$ ") for block in blocks(text, "console") for line in block.splitlines() if line.startswith("$ ")
    ]
    return [*shown, *(code for code in here(text) if code.startswith("rome "))]


def here(text: str) -> list[str]:
    """Return the code in the last column of the table of peers, or of papers, without that with a word to replace, such as FOLDER."""
    rows = re.split(r"^\| .* \| (?:here|command) \|\n", text, maxsplit=1, flags=re.M)[-1].partition("\n\n")[0].splitlines()
    codes = [
        code for row in rows if row.startswith("| ") for code in re.findall("`([^`]+)`", row.strip("| ").rpartition(" | ")[2])
    ]
    return [code for code in codes if not re.search(r" [A-Z]{4,}\b", code)]


def test_two_command_lines() -> None:
    """Require one block with two lines: the first scores the examples, the second runs the tests."""
    (block,) = blocks(README, "sh")
    first, second = block.splitlines()
    assert first.endswith("rome score --examples") and '".[models]"' in first
    assert ".venv/bin/pytest" in second and '".[test]"' in second
    assert "constraints.txt" in first and "constraints.txt" in second


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    """Require at most 120 lines and 950 words, and every linked page and picture."""
    assert len(README.splitlines()) <= 120 and len(README.split()) <= 950
    linked = [place for place in re.findall(r"\]\(([^)#]+)[^)]*\)", README) if not place.startswith("http")]
    assert len(linked) > 10 and [place for place in linked if not (TOP / place).exists()] == []


def test_every_command_is_shown() -> None:
    """Find every command in the README or a page."""
    shown = "\n".join(PAGES.values())
    assert [name for name in COMMANDS if f"rome {name}" not in shown] == []


@cache
def _made(options: tuple[tuple[str, Any], ...]) -> Any:
    return make_metric(argparse.Namespace(**dict(options)))


def metric(options: argparse.Namespace) -> Any:
    """Return the real metric with the set `small`; commands with the same options share one."""
    given = {name: value for name, value in vars(options).items() if value is None or isinstance(value, (str, int, float))}
    given["set"] = tuple(vars(options).get("set") or ())
    given["models"] = "small" if given["models"] == "base" else given["models"]
    known = "models emd rho idf preset set errors net scorer empty_reference store threads device precision batch_size".split()
    return _made(tuple((name, given[name]) for name in known if name in given))


def new_lines() -> dict[str, list[str]]:
    """Return the command lines of each page that no earlier page has, and all of the README."""
    seen: set[str] = set()
    found = {}
    for name, text in PAGES.items():
        own = [line for line in lines(text) if name == "README.md" or line not in seen]
        own = [line for line in own if line.startswith(RUN)]
        seen |= set(own)
        found |= {name: own} if own else {}
    return found


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files of `rome examples`, and score both systems."""
    folder = tmp_path_factory.mktemp("examples")
    assert main(["examples", "--write", str(folder)]) == 0
    for name in ("old", "new"):
        texts = ("--references", f"{folder}/references.txt", "--hypotheses", f"{folder}/{name}.txt")
        form = ("--format", "jsonl", "--evidence", "--output", f"{folder}/{name}.jsonl")
        assert main(["score", *texts, *form], metric=metric) == 0
    return folder


def copy_in_place_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the recipes by copies of the parts of `small`, because training takes hours."""
    from rome.train.common.recipe import load_recipe

    def copied(name: str, options: argparse.Namespace) -> int:
        whole = name == "base" or (name == "errors" and options.ratings)
        part = set_folder("small") / ("" if whole else name)
        if part.is_dir():
            shutil.copytree(part, options.out)
        return 0

    for name in NAMES:
        monkeypatch.setattr(load_recipe(name), "run", partial(copied, name))


def make_public_data(folder: Path) -> None:
    """Write two inputs in the layout of a public set."""
    path = folder / SETS["webnlg17"].file
    path.parent.mkdir(parents=True)
    rows = [
        {"system": system, "segment": n, "mr": f"facts {n}", "reference": [text], "hypothesis": hypothesis, "scores": {"fluency": rating}}
        for n, text in enumerate(("The museum opens at nine.", "Prices are low."))
        for system, hypothesis, rating in (("a", text, 3.0), ("b", f"{text[:-1]} now.", 2.0), ("c", "It is late.", 1.0))
    ]  # fmt: skip
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("page", new_lines())
def test_command_lines_work(
    page: str, examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run every line: exit code 0 (1 for a check), and nothing on standard error but the mean and the path."""
    if page != "README.md":
        shutil.copytree(examples, tmp_path, dirs_exist_ok=True)
        texts = (tmp_path / "texts.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "texts.txt").write_text("".join(texts[:2]), encoding="utf-8")  # each is perturbed in some sixty ways
    if "sets/mine" in PAGES[page]:
        shutil.copytree(set_folder("small"), tmp_path / "sets/mine")
        make_public_data(tmp_path / "public")
        monkeypatch.setenv("ROME_DATA", str(tmp_path / "public"))
    if "sets/base" in PAGES[page]:
        copy_in_place_of_training(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for line in new_lines()[page]:
        capsys.readouterr()
        *before, words = line.split(" | ")
        program, *rest = shlex.split(words, comments=True)
        if program == "cd":
            chdir(rest[0])
        elif program == "cp":
            subprocess.run([program, *rest], check=True)
        elif program == "rome" and (rest[0] == "serve" or (rest[0] == "annotate" and "--agreement" not in rest)):
            serve(*rest)
        elif program == "rome":
            for name in before:
                monkeypatch.setattr("sys.stdin", Path(name.removeprefix("cat ")).open())
            if "--workers" in rest:  # each loads models of its own
                code = main([*rest, "--models", "small"])
            else:
                few = ["--samples", "20"] if rest[0] in ("evaluate", "diagnose") else []  # resampled to be quick
                code = main([*rest, *few], **({} if rest == ["selfcheck"] else {"metric": metric}))
            errors = capsys.readouterr().err
            said = [told for told in errors.splitlines() if not re.match(r"report: |rome: (mean |skipped )?[\d.]+ ", told)]
            assert (line, code in ((0, 1) if rest[0] == "check" else (0,)), said) == (line, True, [])


def test_calls_of_the_table_of_peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluate each call of the table; its commands run with the other lines."""
    monkeypatch.chdir(tmp_path)
    page = PAGES["docs/pages/use/peers.md"]
    calls = [code for code in here(page) if not code.startswith("rome ")]
    references = ["The museum opens at nine.", "Prices are low."]
    scorer = metric(argparse.Namespace(models="small"))
    a, b = (scorer.score(references=references, hypotheses=texts) for texts in (references[::-1], references))
    frame = {"reference": references, "hypothesis": references}
    names = {
        "rome": rome,
        "metric": scorer,
        "references": references,
        "result": a,
        "a": a,
        "b": b,
        "segment": a[0],
        "CorpusScore": rome.CorpusScore,
        "outputs": references,
    }
    for name in ("frames", "huggingface", "running", "sacrebleu"):
        import_module(f"rome.integrations.{name}")
    for library in ("evaluate", "pandas"):
        names[library] = pytest.importorskip(library)
    names["frame"] = names["pandas"].DataFrame(frame)
    for call in calls:
        assert eval(call, names) is not None or ".save(" in call, call  # noqa: S307  (the page's own code)
    assert len(calls) > 10 and all(row.count(" | ") == 2 for row in page.splitlines() if row.startswith("| "))


def serve(*given: str) -> None:
    """Start a command that serves a page, read the page, and interrupt the command."""
    words = ["0" if before == "--port" else word for before, word in zip(["", *given], given, strict=False)]
    words += ["--no-browser"] if words[0] == "annotate" and "--no-browser" not in words else []
    if words not in served:  # the same on another page
        served.append(words)
        _serve(words)


served: list[list[str]] = []


def _serve(words: list[str]) -> None:
    program = [sys.executable, "-I", "-c", "import sys; from rome.cli import main; sys.exit(main(sys.argv[1:]))"]
    with subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline()  # type: ignore[union-attr]
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert address, line
            with urlopen(address.group(), timeout=120) as answer:
                assert b"<html" in answer.read()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(120) in (0, 130)


def test_python_example_works(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the library example; the wrong fact scores low and the rewrite high, as a stranger expects."""
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(README, "python")
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    wrong, rewrite = names["result"].scores  # type: ignore[attr-defined]
    assert wrong < 0.5 and rewrite > 0.8
    printed = capsys.readouterr().out
    assert "2 segments" in printed and "Where the points went" in printed
