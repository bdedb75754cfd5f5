"""Meaning before surface: laws that every metric's figures obey, bad files named by line, both layouts, own texts, the command."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rome.cli import main
from rome.data.perturbations import registry
from rome.data.perturbations.perturbation import NotApplicable, Outcome, Parse, Perturbation, Perturbed
from rome.data.readers.meaning import MEANING_SETS, MeaningGroup, Wording, meaning_digest, read_meaning
from rome.data.sources import data_file
from rome.evaluation import perturbing
from rome.evaluation.diagnosis import meaning as meaning_module
from rome.evaluation.diagnosis import minimal_pairs
from rome.evaluation.diagnosis.meaning import CELLS, groups_of_texts, meaning
from rome.evaluation.metrics.registry import MetricMaker
from rome.exceptions import InputError
from rome.features.values import Analysis
from rome.reports.model import Table

FOUR = {
    "kind": "number",
    "reference": "It opens at nine.",
    "acceptable_near": "It really opens at nine.",
    "acceptable_far": "Nine is when doors open.",
    "critical_near": "It opens at ten.",
    "critical_far": "Ten is when doors open.",
}
LISTS = {
    "reference": "Prices are low.",
    "acceptable": ["Prices are not high.", "It is cheap."],
    "critical": ["Prices are high."],
}
SHARES = ("all", *CELLS, "whole")


class Made:
    """A metric that a function of one hypothesis makes; it counts what it was asked."""

    def __init__(self, function: Callable[[str], float], name: str = "made") -> None:
        self.function, self.name, self.signature = function, name, f"{name}:1"
        self.asked: list[tuple[tuple[str, ...], str]] = []

    def score(self, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> np.ndarray[Any, Any]:
        self.asked += [(tuple(given), text) for given, text in zip(references, hypotheses, strict=True)]
        return np.array([self.function(text) for text in hypotheses], dtype=np.float64)


def four_cells(count: int, kinds: Sequence[str] = ("number", "negation")) -> list[MeaningGroup]:
    """Groups whose texts say which side they are on."""
    return [
        MeaningGroup(
            (f"reference {n}",),
            (Wording(f"good near {n}", "near"), Wording(f"good far {n}", "far")),
            (Wording(f"bad near {n}", "near"), Wording(f"bad far {n}", "far")),
            kind=kinds[n % len(kinds)],
        )
        for n in range(count)
    ]


def oracle(text: str) -> float:
    return float(text.startswith("good"))


def by_name(tables: Sequence[Table]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table, by column."""
    return {table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows] for table in tables}


def all_shares(found: Sequence[Table]) -> set[float]:
    """Return every share and end of an interval in the main table and by kind."""
    names = {f"{share}{end}" for share in SHARES for end in ("", "_low", "_high")}
    tables = by_name(found)
    return {value for row in tables["meaning"] + tables["meaning_by_kind"] for name, value in row.items() if name in names}


@pytest.mark.parametrize(("sign", "share"), [(1, 100.0), (-1, 0.0), (0, 0.0)])
def test_an_oracle_is_always_right_its_negation_and_a_constant_never(sign: int, share: float) -> None:
    """100 everywhere, 0 everywhere, and 0 where everything ties; so in every cell, kind and end of an interval."""
    found = meaning([Made(lambda text: sign * oracle(text))], four_cells(6), samples=20)
    assert all_shares(found) == {share}
    assert len(found[-1].rows) == (0 if share else 10)


def test_chance_is_one_half_and_a_sixth() -> None:
    """Random scores order one half of the comparisons and put both acceptable texts above both critical ones in 2! 2! / 4!."""
    rng = np.random.default_rng(0)
    (row,) = by_name(meaning([Made(lambda text: rng.random())], four_cells(4000), samples=20))["meaning"]
    assert [row[share] for share in ("all", *CELLS)] == pytest.approx([50.0] * 5, abs=3)
    assert row["whole"] == pytest.approx(100 / 6, abs=2)
    assert row["all_low"] < row["all"] < row["all_high"]


def test_surface_is_right_where_it_follows_the_meaning_only() -> None:
    """Who scores near texts higher is right for near above far, wrong for far above near, and ties elsewhere."""
    found = meaning([Made(lambda text: float("near" in text))], four_cells(4), samples=5)
    (row,) = by_name(found)["meaning"]
    assert [row[share] for share in SHARES] == [25.0, 0.0, 0.0, 0.0, 100.0, 0.0]
    (worst, *_) = found[-1].rows
    assert worst[1:] == ("number far>near", "reference 0", "good far 0", "bad near 0", 0.0, 1.0, -1.0)


def test_kinds_part_the_groups() -> None:
    """A metric that knows one kind of falsehood only is right on that one."""
    knows = {f"{side} {n}" for n in range(0, 8, 2) for side in ("good near", "good far")}
    found = meaning([Made(lambda text: float(text in knows))], four_cells(8), samples=5)
    rows = {row["kind"]: row for row in by_name(found)["meaning_by_kind"]}
    assert (rows["number"]["all"], rows["negation"]["all"], rows["number"]["comparisons"]) == (100.0, 0.0, 16)
    assert by_name(found)["meaning"][0]["all"] == 50.0


def test_each_distinct_pair_is_asked_once() -> None:
    """A text that stands in two groups of one reference is scored once, in one call."""
    made = Made(len)
    meaning([made], [*four_cells(3), *four_cells(3)], samples=2)
    assert len(made.asked) == len(set(made.asked)) == 12


def written(path: Path, *rows: object) -> Path:
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["groups.jsonl", "groups.jsonl.gz"])
def test_both_layouts_are_read(tmp_path: Path, name: str) -> None:
    """Lists and four cells, in one file if need be, plain or packed; blank lines pass."""
    lists, four = read_meaning(written(tmp_path / name, LISTS, "", {**FOUR, "reference": ["A b.", "B a."], "category": "x"}))
    assert lists == MeaningGroup(
        ("Prices are low.",),
        (Wording("Prices are not high."), Wording("It is cheap.")),
        (Wording("Prices are high."),),
        place=f"{tmp_path / name}:1",
    )
    assert (four.kind, four.references, four.place) == ("number", ("A b.", "B a."), f"{tmp_path / name}:3")
    assert [(one.distance, one.text) for one in four.critical] == [
        ("near", FOUR["critical_near"]),
        ("far", FOUR["critical_far"]),
    ]
    assert meaning_digest([lists]) != meaning_digest([four])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("not JSON", "not JSON"),
        ({key: FOUR[key] for key in FOUR if key != "critical_far"}, "critical_far is missing"),
        ({**FOUR, "critical_far": 3}, "critical_far is no text"),
        ({**FOUR, "acceptable_near": " "}, "acceptable holds an empty text"),
        ({**LISTS, "critical": [3]}, "neither a text nor a list"),
        ({key: LISTS[key] for key in ("acceptable", "critical")}, "reference is missing"),
        ({**LISTS, "critical": ["It is cheap."]}, "both acceptable and critical"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, row: object, message: str) -> None:
    """File, line and what is wrong with it."""
    path = written(tmp_path / "g.jsonl", LISTS, row)
    with pytest.raises(InputError, match=message) as caught:
        read_meaning(path)
    assert str(caught.value).startswith(f"{path}:2: ")


def test_the_development_sets() -> None:
    """Both are read, and chrF is what everybody fears: a near-copy with a wrong fact beats nearly every rewrite."""
    try:
        data_file("meaning")
    except InputError as error:
        pytest.skip(str(error))
    handmade, webnlg = (read_meaning(name) for name in MEANING_SETS)
    assert (len(handmade), len(webnlg)) == (10, 600)
    assert len({group.kind for group in webnlg}) == 3
    (row,) = by_name(meaning([MetricMaker().make("chrf")], read_meaning("webnlg_dev", limit=50), samples=20))["meaning"]
    assert row["far>near"] < 10 and row["near>far"] > 90


def analyse(texts: Sequence[str]) -> dict[str, Analysis]:
    """Texts without words: enough for the perturbations below."""
    return {text: Analysis(text, (), (), np.zeros((0, 1), np.float32), np.zeros(0, np.float32)) for text in texts}


def replaced(name: str, severity: Any, old: str, new: str) -> Perturbation:
    """A perturbation that replaces one word by another."""

    def function(parse: Parse) -> Outcome:
        return Perturbed(parse.text.replace(old, new), ()) if old in parse.text else NotApplicable(f"no {old}")

    return Perturbation(name, "accuracy", "word", severity, None, function)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two perturbations that turn the meaning, two that keep it, one that does neither."""
    made = [
        replaced("antonym", "critical", "cheap", "dear"),
        replaced("number", "critical", "two", "nine"),
        replaced("synonym", "none", "shop", "store"),
        replaced("spelling", "none", "cheap", "inexpensive"),
        replaced("misspelled", "minor", "shop", "shpo"),
    ]
    monkeypatch.setattr(registry, "PERTURBATIONS", {one.name: one for one in made})
    for module in (perturbing, minimal_pairs, meaning_module):
        monkeypatch.setattr(module, "PERTURBATIONS", registry.PERTURBATIONS)


TEXTS = ["A cheap shop.", "A cheap place.", "A shop of two.", "Nothing here."]


def test_groups_of_own_texts(few: None) -> None:
    """Near: the text and its critical copy; far: both after one rewrite that applies to both; none where none does."""
    groups, table = groups_of_texts([[text] for text in TEXTS], TEXTS, analyse)
    shop, place, two = groups
    assert [(one.kind, one.rewrite, one.cluster) for one in groups] == [
        ("antonym", "synonym", "text 1"),
        ("antonym", "", "text 2"),
        ("number", "synonym", "text 3"),
    ]
    assert [one.text for one in shop.acceptable] == ["A cheap shop.", "A cheap store."]
    assert [one.text for one in shop.critical] == ["A dear shop.", "A dear store."]
    assert (place.acceptable, place.critical) == ((Wording("A cheap place.", "near"),), (Wording("A dear place.", "near"),))
    assert two.references == ("A shop of two.",)
    assert {row[0]: row[3] for row in table.rows} == {"antonym": 2, "number": 1, "synonym": 2, "spelling": 2}
    assert len(groups_of_texts([[text] for text in TEXTS], TEXTS, analyse, limit=1)[0]) == 2
    assert groups_of_texts([[text] for text in TEXTS], TEXTS, analyse, seed=0)[0] == groups
    with pytest.raises(InputError, match="no perturbation changes"):
        groups_of_texts([["Nothing."]], ["Nothing."], analyse)


def test_own_texts_by_kind_and_rewrite(few: None) -> None:
    """Shares by both; a group with near texts only says nothing of whole groups."""
    groups, _ = groups_of_texts([[text] for text in TEXTS], TEXTS, analyse)
    found = meaning([Made(lambda text: float("dear" not in text and "nine" not in text))], groups, samples=5)
    assert [row[:4] for row in found[-2].rows] == [("made", "synonym", 8, 100.0), ("made", "(none)", 1, 100.0)]
    assert np.isnan(by_name(found)["meaning_by_rewrite"][1]["whole"])
    assert by_name(found)["meaning"][0]["whole"] == 100.0
    assert "over texts" in found[0].note


COMMAND, SAMPLES = ["diagnose", "meaning"], ["--samples", "10"]


def test_the_command_on_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two files, each with its tables on standard output; --worst bounds the comparisons shown."""
    one, two = written(tmp_path / "one.jsonl", FOUR), written(tmp_path / "two.jsonl.gz", LISTS)
    command = [*COMMAND, str(one), str(two), "--metric", "chrf", "length", "--worst", "1"]
    assert main([*command, *SAMPLES]) == 0
    shown = capsys.readouterr().out
    assert "one: In order, over 1 groups and 4 comparisons" in shown and "two: In order" in shown
    assert "far>near" in shown and "number" in shown
    assert main([*command, *SAMPLES, "-f", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert [row["metric"] for row in tables["one-meaning_worst"]["rows"]] == ["chrF2", "length"]


def test_the_command_on_own_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Texts are perturbed with the models that ship, and shares come by kind."""
    path = tmp_path / "texts.txt"
    path.write_text("The old museum opens at nine.\nThe committee approved the new budget.\n", encoding="utf-8")
    assert main([*COMMAND, "--texts", str(path), "--metric", "chrf", "--limit", "1", *SAMPLES]) == 0
    shown = capsys.readouterr().out
    assert "In order by kind of falsehood" in shown and "negation_added" in shown
