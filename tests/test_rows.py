"""Scoring a batch of rows, which every engine for many machines does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from pairs_metric import PairsMetric

from rome.exceptions import InputError, ModelMissingError
from rome.features.values import FEATURES
from rome.integrations.columns import COLUMNS, RowOptions, ScoreBatches, score_rows

GOOD = [("A cat sat.", "A cat sat."), ("A dog ran.", "A dog sat."), (["One.", "Two."], "Two."), ("It rains.", "")]
BAD: list[tuple[Any, Any, str]] = [
    (None, "a", "reference is None, not a text"),
    ("a", None, "hypothesis is None, not a text"),
    ("", "a", "reference is empty"),
    ([], "a", "reference is an empty list"),
    (["a", None], "a", r"reference\[1\] is None"),
    ("a", "\ud800", "lone surrogate"),
]


def columns(rows: Sequence[tuple[Any, Any]]) -> dict[str, list[Any]]:
    """The rows as columns."""
    return {"reference": [row[0] for row in rows], "hypothesis": [row[1] for row in rows]}


def rows_of(out: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """The columns as rows that compare."""
    return [tuple(map(repr, row)) for row in zip(*out.values(), strict=True)]


def test_a_scored_row_has_every_column(fake_metric: Any) -> None:
    """Values of the segment under the documented names and types; no error."""
    out = score_rows(columns(GOOD), fake_metric)
    assert list(out) == [*COLUMNS, "error"]
    assert out["score"] == [1.0, 0.5, 0.5, 0.5]
    assert out["semantic"] == [0.9] * 4
    assert out["errors_raw"] == [5.75] * 4
    assert out["error"] == [None] * 4
    assert [sum(out[f"{name}_contribution"][n] for name in FEATURES) for n in range(4)] == pytest.approx(
        [0.0, -0.5, -0.5, -0.5]
    )
    given = pa.table({"reference": ["A cat sat.", ""], "hypothesis": ["A cat sat.", "A dog."], "id": [3, 4]})
    table = ScoreBatches(lambda: fake_metric, RowOptions(keep=("id",)))(given)
    assert table.schema.field("flags").type == pa.list_(pa.string())
    assert table["id"].to_pylist() == [3, 4] and table["score"].to_pylist() == [1.0, None]


@pytest.mark.parametrize(("reference", "hypothesis", "message"), BAD)
def test_a_bad_row_is_reported_and_stops_nothing(fake_metric: Any, reference: Any, hypothesis: Any, message: str) -> None:
    """Its message in ``error``, everything else null; its neighbours are what they are without it."""
    out = score_rows(columns([GOOD[0], (reference, hypothesis), GOOD[1]]), fake_metric)
    alone = score_rows(columns([GOOD[0], GOOD[1]]), fake_metric)
    assert out["error"][0] is None
    assert pa.compute.match_substring_regex(pa.array([out["error"][1]]), message)[0].as_py(), out["error"][1]
    assert {out[name][1] for name in COLUMNS} == {None}
    assert [rows_of(out)[n] for n in (0, 2)] == rows_of(alone)


def test_a_row_that_breaks_the_metric_is_found_among_the_others(fake_metric: Any) -> None:
    """The rows are scored one by one when a batch fails; a missing model is no fault of a row."""

    class Fragile(PairsMetric):
        def score(self, *, references: Any, hypotheses: Any) -> Any:
            if "boom" in hypotheses:
                raise RuntimeError("too hard")
            if "model" in hypotheses:
                raise ModelMissingError("gone")
            return fake_metric.score(references=references, hypotheses=hypotheses)

    out = score_rows(columns([*GOOD, ("a", "boom")]), Fragile())
    assert out["error"] == [None] * 4 + ["RuntimeError: too hard"]
    with pytest.raises(ModelMissingError):
        score_rows(columns([("a", "model")]), Fragile())


def test_kept_columns_and_absent_ones(fake_metric: Any) -> None:
    """Copy the kept columns; refuse an absent column and one that the results have."""
    given = {**columns(GOOD), "system": ["x", "y", None, "z"]}
    assert score_rows(given, fake_metric, RowOptions(keep=("system",)))["system"] == given["system"]
    for wrong in (RowOptions(keep=("nr",)), RowOptions(reference="ref")):
        with pytest.raises(InputError, match="must be a column"):
            score_rows(given, fake_metric, wrong)
    with pytest.raises(InputError, match="keep must name .*got 'score'"):
        RowOptions(keep=("score",))


def test_a_metric_whose_rows_depend_on_each_other_is_refused(fake_metric: Any) -> None:
    """IDF weights of the references of a batch would make a score depend on where a row was sent."""

    class Dependent(type(fake_metric)):  # type: ignore[misc]
        idf = "references"

    with pytest.raises(InputError, match="score_rows scores batch by batch"):
        score_rows(columns(GOOD), Dependent())
