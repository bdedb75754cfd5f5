"""Judging metrics on a rated set: leaderboards, tests, systems and spans say what small hand-made sets make plain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rome.data.readers.rated import ErrorMark, RatedSet
from rome.evaluation.leaderboard import differences, error_spans, leaderboard, parts_of, systems
from rome.evaluation.rated_scores import ALL_FIGURES, FIGURES, EvaluationSettings, Measure, RatedScores, evaluate
from rome.exceptions import InputError
from rome.reports.model import Table

from rated_sets import rated_set

PLAN = EvaluationSettings(samples=50, permutations=20)


class Given:
    """A metric whose scores are given, in the order of the set."""

    def __init__(self, name: str, scores: Any) -> None:
        self.name, self.signature, self.scores = name, f"given:{name}", np.array(scores, dtype=np.float64)

    def score_set(self, rated: RatedSet) -> Any:
        return self.scores


def right_and_wrong(rated: RatedSet) -> list[Given]:
    """A metric that says what people say, and its opposite."""
    people = [segment.ratings["quality"] for segment in rated.segments]
    return [Given("right", people), Given("wrong", [-value for value in people])]


@pytest.fixture(scope="module")
def judged() -> RatedScores:
    rated = rated_set(language_pairs=("de-en", "zh-en"))
    return evaluate(rated, right_and_wrong(rated), PLAN, ["quality"])[0]


def rows_of(table: Table) -> dict[str, dict[str, Any]]:
    """First column -> the row by column names."""
    return {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_leaderboard_orders_and_brackets(judged: RatedScores) -> None:
    """Perfect agreement is 1 in every figure and comes first, its opposite is last; every interval holds its value."""
    table, bars = leaderboard(judged)
    rows = rows_of(table)
    assert list(rows) == ["right", "wrong"] == list(bars.labels)
    for measure in judged.figures:
        assert rows["right"][measure.label] == pytest.approx(1.0)
        for row in rows.values():
            assert row[f"{measure.label}_low"] - 1e-9 <= row[measure.label] <= row[f"{measure.label}_high"] + 1e-9
    assert bars.values == tuple(row[judged.figures[0].label] for row in rows.values())


def test_every_statistic_under_every_average() -> None:
    """All figures can be asked for at once; perfect agreement is the best possible one under each."""
    rated = rated_set(language_pairs=("de-en", "zh-en"))
    every = evaluate(rated, right_and_wrong(rated), EvaluationSettings(ALL_FIGURES, samples=5, permutations=0), ["quality"])[0]
    assert {measure.average for measure in every.figures} == {"none", "item", "language_pair"}
    row = rows_of(leaderboard(every)[0])["right"]
    assert all(row[measure.label] == pytest.approx(1.0) for measure in every.figures)


def test_figures_follow_what_the_set_offers() -> None:
    """Without groups of outputs, systems or language pairs their averages are left out; one figure always stays."""
    rated = rated_set()
    single = RatedSet("single", tuple(segment for segment in rated.segments if segment.system == "good"))
    labels = [measure.label for measure in evaluate(single, right_and_wrong(single), PLAN, ["quality"])[0].figures]
    assert labels == ["kendall_b", "spearman", "pearson"]
    only = EvaluationSettings((Measure("kendall_b", "item"),))
    assert evaluate(single, right_and_wrong(single), only, ["quality"])[0].figures == (FIGURES[0],)


@pytest.mark.parametrize("text", ["nonsense", "kendall_b/colour", "/item"])
def test_unknown_figures_are_refused(text: str) -> None:
    """The message lists statistics and averages."""
    with pytest.raises(InputError, match="STATISTIC/AVERAGE"):
        Measure.of(text)


def test_differences_tell_a_real_one_from_none(judged: RatedScores) -> None:
    """Right beats wrong in every resample with a small p; a metric against its twin is a tie with p 1."""
    row = rows_of(differences(judged))["wrong"]
    assert (row["wins"], row["difference"]) == (1.0, pytest.approx(2.0))
    assert row["permutation_p"] < 0.06
    assert row["williams_p"] < 1e-6
    people = [segment.ratings["quality"] for segment in judged.rated.segments]
    twins = evaluate(judged.rated, [Given("a", people), Given("b", [3 * value + 1 for value in people])], PLAN, ["quality"])[0]
    row = rows_of(differences(twins))["b"]
    assert (row["difference"], row["wins"], row["permutation_p"]) == (pytest.approx(0.0), 0.5, 1.0)


def test_systems_are_ranked(judged: RatedScores) -> None:
    """Three systems in the right order: every pair right; the opposite metric gets none. Two systems give no table."""
    table = systems(judged)
    assert table is not None
    assert [row["pairwise_accuracy"] for row in rows_of(table).values()] == [1.0, 0.0]
    two = RatedSet("two", tuple(segment for segment in judged.rated.segments if segment.system != "bad"))
    assert systems(evaluate(two, right_and_wrong(two), PLAN, ["quality"])[0]) is None


class Marker(Given):
    """A metric that marks the first three characters of what is not good."""

    def marks(self, references: Any, hypotheses: list[str]) -> list[tuple[ErrorMark, ...]]:
        good = [references[n][0] == hypothesis for n, hypothesis in enumerate(hypotheses)]
        return [() if fine else (ErrorMark(0, 3, "major"),) for fine in good]


def test_error_spans() -> None:
    """Marks like the rater's are perfect, marking nothing finds nothing; no table where nobody marked."""
    rated = rated_set(marks=True)
    marker = Marker("marker", range(12))
    table = error_spans(rated, [marker, Given("silent", range(12))])
    assert table is not None
    rows = rows_of(table)
    assert (rows["marker"]["precision"], rows["marker"]["recall"], rows["marker"]["f1"]) == (1.0, 1.0, 1.0)
    assert rows["nothing"]["recall"] == 0.0
    assert rows["everything, major"]["recall"] == 1.0 > rows["everything, major"]["precision"]
    assert "silent" not in rows
    assert error_spans(rated_set(), [marker]) is None
    assert error_spans(rated, []) is None


def test_parts_have_names_of_their_own(judged: RatedScores) -> None:
    """Every part of a set can be a file: names are unique, and people stand beside the metrics in the correlations."""
    rated = rated_set(language_pairs=("de-en", "zh-en"), marks=True)
    metrics = right_and_wrong(rated)
    parts = parts_of(evaluate(rated, metrics, PLAN), metrics)
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    assert "people: quality" in parts[-1].rows  # type: ignore[union-attr]
