"""What a user of the command line reads after a mistake: one line with the file and the line, or with the option, and no word of Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rome.cli import main

PYTHON = re.compile(r"\w\[\d+\]|\w=(True|False|None|['\"(\[])|RoMe\(|ModelConfig|Combiner|--record|\bargument\b|decode\(")
"""What no such line may hold."""
RATED = "item\treference\thypothesis\trating:quality\n"
FILES = {
    "good.tsv": RATED + "1\tPrices are low.\tPrices are high.\t2\n2\tIt is late.\tIt is late.\t5\n",
    "no_rating.tsv": "item\treference\thypothesis\n1\tA cat.\tA cat.\n",
    "no_item.tsv": "reference\thypothesis\trating\nA cat.\tA cat.\t3\n",
    "word.tsv": RATED + "1\tA cat.\tA cat.\tgood\n",
    "short.tsv": RATED + "1\tA cat.\tA cat.\n",
    "twice.tsv": RATED + "1\tA cat.\tA cat.\t1\n1\tA cat.\tA dog.\t1\n",
    "empty.tsv": "",
    "no_reference.tsv": RATED + "1\t\tA cat.\t3\n",
    "groups.jsonl": '{"reference": "It is late.", "acceptable": ["Late it is."]}\n',
    "both.jsonl": '{"reference": "It is late.", "acceptable": ["So it is."], "critical": ["So it is."]}\n',
    "pairs.tsv": "reference\thypothesis\nPrices are low.\tPrices are high.\n\tIt is late.\n",
    "two.jsonl": '{"reference": ["It is late.", ""], "hypothesis": "It is late."}\n',
    "texts.txt": "It is late.\n" + "word " * 3000 + "\n",
}


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with all the files, without any public data."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "evaluate nowhere.tsv",
            "nowhere.tsv does not exist and is no rated set: name a file of your own, one of the sets bagel, ",
        ),
        (
            "evaluate webnlg",
            "webnlg does not exist and is no rated set: name a file of your own, one of the sets bagel, bagel-mr, ",
        ),
        ("evaluate own:nowhere.tsv", "nowhere.tsv does not exist"),
        ("evaluate mqm:one", "mqm: 1 arguments where mqm:path,references,[sources],[language_pair] is wanted"),
        ("evaluate no_rating.tsv", "no_rating.tsv:2: needs an item and a column rating or rating:NAME with a number"),
        ("evaluate no_item.tsv", "no_item.tsv:1: no column item among reference, hypothesis, rating"),
        ("evaluate word.tsv", "word.tsv:2: rating:quality is 'good', not a finite number"),
        ("evaluate short.tsv", "short.tsv:2: 3 columns where the header has 4"),
        ("evaluate twice.tsv", "twice.tsv:3: this system has item 1 already in twice.tsv:2"),
        ("evaluate empty.tsv", "empty.tsv is empty: it needs a header with item, reference, hypothesis"),
        ("evaluate no_reference.tsv", "no_reference.tsv:2: the reference is missing or empty"),
        ("evaluate good.tsv --metric chrff", "the metric 'chrff' is unknown: choose one of rome, rome-supervised"),
        ("evaluate good.tsv --metric my:metric", "my:metric cannot be imported"),
        ("evaluate good.tsv --metric mine=nowhere.txt", "nowhere.txt does not exist"),
        ("evaluate good.tsv --metric chrf chrf", "two metrics are called chrF2: give each once"),
        ("evaluate good.tsv --figure kendal", "the figure 'kendal' is unknown: write STATISTIC or STATISTIC/AVERAGE"),
        ("evaluate good.tsv --samples 0", "--samples 0 gives no interval: take 1 or more, 1000 is usual"),
        (
            "evaluate good.tsv --models best",
            "the models 'best' are unknown: give base, small, paper, or the folder of a model set",
        ),
        ("evaluate good.tsv --rho 2", "rho 2.0 is no share: give a number from 0 (the paper's cost) to 1"),
        ("diagnose", "name an experiment (texts, robustness, demetr, meaning, ablation, drift, sizes, domains), or your texts"),
        ("diagnose --texts nowhere.txt", "nowhere.txt does not exist"),
        ("diagnose meaning nowhere.jsonl --metric length", "nowhere.jsonl does not exist"),
        ("diagnose meaning groups.jsonl --metric length", "groups.jsonl:1: critical is missing: give `reference` with"),
        ("diagnose meaning both.jsonl --metric length", "both.jsonl:1: 'So it is.' is both acceptable and critical"),
        ("diagnose ablation", "ablation needs a rated SET, see `rome evaluate --help`"),
        ("perturb texts.txt", "texts.txt:2: the text has "),
        (
            "score pairs.tsv --models small",
            "pairs.tsv:3: reference 1 is empty: leave the segment out, or take --empty-reference score",
        ),
        ("score two.jsonl --models small", "two.jsonl:1: reference 2 is empty: leave the segment out"),
        ("selfcheck --models nowhere/", "nowhere does not exist: name a model set or its folder"),
    ],
)
def test_a_misuse_and_its_line(words: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and one line that begins as the table says."""
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"rome: error: {line}") or line in error, error
    assert error.count("\n") == 1 and not PYTHON.search(error), error


PUBLIC = {
    "bagel": "human/bagel_references.jsonl.gz",
    "webnlg17": "human/webnlg17_third.jsonl.gz",
    "wmt15": "human/wmt15_da_to-en.jsonl.gz",
    "wmt23": "human/wmt23_mqm_zh-en_spans.jsonl.gz",
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_set_that_is_not_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether ROME_DATA is unset, names nothing or a folder without the file: the variable, the file, and where the set comes from."""
    for place, said in (
        (None, "ROME_DATA is not set"),
        ("nowhere", "ROME_DATA names nowhere, which does not exist"),
        (str(tmp_path), "does not exist: name in ROME_DATA the folder"),
    ):
        if place is None:
            monkeypatch.delenv("ROME_DATA")
            monkeypatch.setattr("rome.data.sources.__file__", str(tmp_path / "a" / "b" / "c.py"))
        else:
            monkeypatch.setenv("ROME_DATA", place)
        assert main(["evaluate", name, "--metric", "length"]) == 2
        error = capsys.readouterr().err
        assert said in error and PUBLIC[name] in error and "from " in error and error.count("\n") == 1, error
        assert not PYTHON.search(error)


@pytest.mark.parametrize(("command", "names"), [("evaluate", (*PUBLIC, "sfhotel")), ("diagnose", ("demetr", "handmade"))])
def test_the_help_says_which_sets_exist(command: str, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Each set with its source and the file that it belongs in."""
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "ROME_DATA" in shown
    for name in names:
        assert re.search(rf"^  {name} +\w.*\n +from .*\n +file \$ROME_DATA/\w", shown, re.M), name
    assert all(len(line) <= 120 for line in shown.splitlines())
