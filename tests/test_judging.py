"""`rome.evaluate` and `rome.diagnose`: from whatever stands for a metric and for data to the tables of the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rome
from rome.cli import main
from rome.data.readers.rated import RatedSet
from rome.evaluation.findings import Findings
from rome.exceptions import InputError

from rated_sets import REFERENCES, rated_set, ratings_file

FAST: Any = {"samples": 20, "permutations": 5}
GROUP = {"reference": "Prices are low.", "acceptable": ["Prices are not high."], "critical": ["Prices are high."]}


def shared(references: list[list[str]], hypotheses: list[str]) -> list[float]:
    """Share of the hypothesis' words that the first reference has."""
    return [len({*r[0].split()} & {*h.split()}) / max(1, len(h.split())) for r, h in zip(references, hypotheses, strict=True)]


def rows_of(rated: RatedSet, rating: str = "rating:quality") -> dict[str, list[Any]]:
    """The set as the columns of a frame."""
    return {
        "item": [s.item for s in rated.segments],
        "system": [s.system for s in rated.segments],
        "reference": [list(s.references) for s in rated.segments],
        "hypothesis": [s.hypothesis for s in rated.segments],
        rating: [s.ratings["quality"] for s in rated.segments],
    }


def test_the_command_and_the_call_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the command prints is what the result shows, table by table, for agreement and for a diagnosis."""
    path = str(ratings_file(tmp_path / "ratings.tsv"))
    assert main(["evaluate", path, "--metric", "chrf", "--samples", "20", "--permutations", "5"]) == 0
    assert repr(rome.evaluate("chrf", path, **FAST)) == capsys.readouterr().out.strip("\n")
    groups = tmp_path / "groups.jsonl"
    groups.write_text(json.dumps(GROUP) + "\n", encoding="utf-8")
    assert main(["diagnose", "meaning", str(groups), "--metric", "chrf", "--samples", "20"]) == 0
    assert repr(rome.diagnose("chrf", groups, "meaning", samples=20)) == capsys.readouterr().out.strip("\n")


def test_everything_that_stands_for_data(tmp_path: Path) -> None:
    """A file, a frame of pandas or polars, a set: one table, whatever the rating's column is called."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rated, columns = rated_set(), rows_of(rated_set())
    given = [
        ratings_file(tmp_path / "ratings.tsv"),
        pandas.DataFrame(columns, index=[f"x{n}" for n in range(12)]),
        polars.DataFrame(columns),
        pandas.DataFrame(rows_of(rated, "rating")),
        rated,
    ]
    found = [rome.evaluate("chrf", one, dimensions="quality" if one is rated else (), **FAST).to_dataframe() for one in given]
    numbers = [frame.set_index("metric").loc["chrF2"].drop(["set", "dimension"]).astype(float) for frame in found]
    for other in numbers[1:]:
        assert np.allclose(numbers[0], other)
    assert [frame["set"][0] for frame in found] == ["ratings", "data", "data", "data", "small"]
    assert found[3]["dimension"][0] == "rating"


def test_everything_that_stands_for_a_metric() -> None:
    """A function, a name, an object with a score, and several under names of one's own; baselines stand beside unless refused."""

    class Mine:
        name, signature = "mine", "mine:1"

        def score(self, references: Any, hypotheses: Any) -> Any:
            return np.array([float(len(text)) for text in hypotheses])

    found = rome.evaluate([shared, "chrf", Mine()], rated_set(), dimensions=["quality"], **FAST)
    assert set(found.to_dataframe()["metric"]) == {"shared", "chrF2", "mine", "length", "random", "theirs (published)"}
    assert found.signatures["mine"] == "mine:1" and found.data == {"small": rated_set().digest}
    plain = {"baselines": False, "published": False}
    found = rome.evaluate({"one": shared, "two": lambda r, h: [0.0] * len(h)}, rated_set(), **plain, **FAST)
    assert set(found.to_dataframe()["metric"]) == {"one", "two"}


def test_a_rome_is_scored_and_two_need_names() -> None:
    """A RoMe stands for its score; two of them are told apart by the names that a dictionary gives."""
    metric = rome.RoMe(models="small", progress=False)
    rated = RatedSet("three", rated_set().segments[:3])
    found = rome.evaluate(
        {"small": metric, "again": rome.RoMe(models="small", progress=False)}, rated, samples=2, permutations=0, baselines=False
    )
    frame = found.to_dataframe("three_quality_leaderboard").set_index("metric")
    assert frame.loc["small", "kendall_b"] == frame.loc["again", "kendall_b"] == 1.0
    with pytest.raises(InputError, match="two metrics are called RoMe: name each once, or give them different names"):
        rome.evaluate([metric, metric], rated)


def test_several_sets_and_figures() -> None:
    """One frame for all sets; the figures that were asked for, by a name or a list of names."""
    sets = [rated_set(), rated_set(name="other")]
    found = rome.evaluate("chrf", sets, figures="pearson", published=False, **FAST)
    frame = found.to_dataframe()
    assert list(frame.columns) == ["set", "dimension", "metric", "pearson", "pearson_low", "pearson_high"]
    assert set(zip(frame["set"], frame["dimension"], strict=True)) == {
        (name, dimension) for name in ("small", "other") for dimension in ("quality", "noise")
    }
    assert found.shown == tuple(
        f"{name}_{rating}_leaderboard" for name in ("small", "other") for rating in ("quality", "noise")
    )


def test_the_display() -> None:
    """Text in a terminal, HTML without script in a notebook, every table as a frame by its name; an unknown name lists them."""
    found = rome.evaluate(["chrf", shared], rated_set(), dimensions="quality", **FAST)
    page = found._repr_html_()
    assert isinstance(found, Findings) and "agreement with people, quality" in repr(found)
    assert "<table" in page and "<script" not in page and "chrF2" in page
    assert list(found.to_dataframe("small_quality_differences")["metric"])[0] == "shared"
    assert max(map(len, found.to_text(80).splitlines())) <= 80 < max(map(len, found.to_text().splitlines()))
    assert str(found) == repr(found) == found.to_text() and found.to_html().startswith("<!doctype html>")
    assert len(found.to_dataframe("small_correlations")) == len(found.signatures) + 1  # a figure is the table of its numbers
    with pytest.raises(InputError, match=r"table 'nonsense' is unknown: choose one of small_quality_leaderboard, "):
        found.to_dataframe("nonsense")


def test_meaning_from_a_file_and_from_groups(tmp_path: Path) -> None:
    """Groups of a file and the same as dictionaries give one table; few groups are said to be few."""
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps(GROUP) + "\n", encoding="utf-8")
    from_file = rome.diagnose(shared, path, "meaning", samples=5)
    given = rome.diagnose(shared, [GROUP], "meaning", samples=5)
    assert from_file.to_dataframe().equals(given.to_dataframe()) and from_file.to_dataframe()["all"][0] == 0.0
    assert "1 groups are few" in repr(given) and list(given.data) == ["groups"]


def test_blind_spots_of_texts_and_of_a_frame() -> None:
    """Texts and pairs are perturbed; a metric of lengths is blind to swapped words."""

    def length(references: Any, hypotheses: list[str]) -> list[float]:
        return [float(len(text)) for text in hypotheses]

    texts = list(REFERENCES[:2])
    found = rome.diagnose({"length": length}, texts, samples=5, limit=2)
    spots = found.to_dataframe("blind_spots")
    assert "word_swap" in set(spots["perturbation"]) and "2 texts are few" in repr(found)
    frame = pytest.importorskip("pandas").DataFrame({"reference": texts, "hypothesis": texts})
    again = rome.diagnose({"length": length}, frame, samples=5, limit=2)
    assert again.to_dataframe("blind_spots").equals(spots)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rome.evaluate(3, rated_set()), "a metric must be a RoMe, a name such as 'chrf', or a function"),
        (lambda: rome.evaluate("nonsense", rated_set()), "the metric 'nonsense' is unknown: choose one of rome"),
        (lambda: rome.evaluate("chrf", rated_set(), dimensions="colour"), "no dimension 'colour'"),
        (
            lambda: rome.evaluate(["chrf", "chrf"], rated_set()),
            "two metrics are called chrF2: name each once, or give them different names",
        ),
        (lambda: rome.diagnose("chrf"), "texts needs texts: give a list of them"),
        (lambda: rome.diagnose("chrf", ["A."], "nonsense"), "the experiment 'nonsense' is unknown: choose one of texts"),
        (lambda: rome.diagnose("chrf", [GROUP | {"critical": []}], "meaning"), "group 0: critical is missing"),
    ],
)
def test_misuse_is_told_what_to_give(call: Any, message: str) -> None:
    """An InputError that says what is wrong and what to give instead."""
    with pytest.raises(InputError) as found:
        call()
    assert message in str(found.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": None}, "the frame has no column item: name the columns item, reference, hypothesis, rating"),
        ({"hypothesis": [None] * 12}, "row 0: the hypothesis is missing"),
        ({"rating:quality": None}, "row 0: needs an item and a column rating or rating:NAME"),
        ({"rating:quality": ["good"] * 12}, "row 0: rating:quality must be a finite number, got 'good'"),
    ],
)
def test_a_frame_that_does_not_line_up(change: dict[str, Any], message: str) -> None:
    """The row and what it lacks, in the words of a frame."""
    columns = {name: cells for name, cells in (rows_of(rated_set()) | change).items() if cells is not None}
    with pytest.raises(InputError) as found:
        rome.evaluate("chrf", pytest.importorskip("polars").DataFrame(columns))
    assert message in str(found.value)
