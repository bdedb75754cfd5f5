"""The component ablation: columns as RoMe measures them, sets refitted on other items, and tables that say what was compared."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from rome.combining.combiner import Combiner
from rome.data.readers.rated import RatedSegment, RatedSet
from rome.evaluation.diagnosis.ablation import COLUMNS, GROWING_SETS, AblationFeatures, ablation, features_of
from rome.evaluation.diagnosis.fitting import cross_validated
from rome.evaluation.leaderboard import component_correlations
from rome.exceptions import InputError
from rome.metric import RoMe

from handmade import analysis, guessing

NET = Combiner.load()
REFERENCES = [["the grey cat sleeps on a mat", "a cat is asleep"], ["two dogs bark"], ["rain fell all night long"]]
HYPOTHESES = ["a cat sleeps", "dogs two bark loudly", ""]


@pytest.fixture
def metric(monkeypatch: pytest.MonkeyPatch) -> RoMe:
    """RoMe with hand-made analyses in the place of its models."""
    monkeypatch.setattr("rome.features.analyser.pair_reader.PairReader", lambda *_: guessing(0))
    metric = RoMe(progress=False)
    monkeypatch.setattr(metric._analyses, "of", lambda texts, *_: {text: analysis(text) for text in texts})
    return metric


def _table(rows: int, candidates: int = 1, seed: int = 0) -> AblationFeatures:
    chance = np.random.default_rng(seed)
    return AblationFeatures(np.repeat(np.arange(rows), candidates), chance.random((rows * candidates, 6)))


def _rated(ratings: np.ndarray, **signs: float) -> RatedSet:
    """Rated segments, two outputs for each item, rated in the dimension `good` and in those of other signs."""
    return RatedSet(
        "invented",
        tuple(
            RatedSegment(
                str(n // 2),
                ("a reference",),
                f"text {n}",
                {"good": float(r), **{name: sign * float(r) for name, sign in signs.items()}},
                system=f"s{n % 2}",
            )
            for n, r in enumerate(ratings)
        ),
    )


def test_columns_are_those_of_the_metric(metric: RoMe) -> None:
    """Soft, syntax, grammar and errors are bit by bit what `RoMe.features` gives for every candidate, in its order."""
    found, own = features_of(metric, REFERENCES, HYPOTHESES), metric.features(references=REFERENCES, hypotheses=HYPOTHESES)
    assert np.array_equal(found.values[:, 2:], own.values)
    assert np.array_equal(found.segment, own.segment)
    assert found.values.shape == (4, 6)


@pytest.mark.parametrize("emd", COLUMNS[:3])
def test_semantic_variants_are_those_of_the_metric(metric: RoMe, emd: str) -> None:
    """Each transport cost's column is the semantic component of a metric with that cost."""
    variant = RoMe(emd=emd, progress=False)  # type: ignore[arg-type]
    variant._analyses = metric._analyses
    own = variant.features(references=REFERENCES, hypotheses=HYPOTHESES)
    found = features_of(metric, REFERENCES, HYPOTHESES)
    assert np.array_equal(found.values[:, COLUMNS.index(emd)], own.values[:, 0])


def test_weights_by_the_references_are_refused() -> None:
    """A word weight that depends on the call cannot be kept pair by pair."""
    with pytest.raises(InputError, match="embedded"):
        features_of(RoMe(idf="references", progress=False), REFERENCES, HYPOTHESES)


def test_choice_of_reference_is_the_slow_one() -> None:
    """For random tables the chosen rows are those of a loop over the segments."""
    table = _table(20, candidates=3, seed=8)
    for name, columns in GROWING_SETS.items():
        place = [COLUMNS.index(column) for column in columns]
        slow = [max(table.values[3 * n : 3 * n + 3].tolist(), key=lambda row, p=place: row[p[0]]) for n in range(20)]
        assert table.matrix(columns).tolist() == [[row[p] for p in place] for row in slow], name


def test_table_has_the_rows_of_the_paper_and_its_numbers_are_those_of_scipy() -> None:
    """Every growing set and left-out component is there for each dimension; values agree with a direct computation."""
    features = _table(40)
    people = features.values[:, 2] + 0.5 * features.values[:, 4] + 0.1 * np.random.default_rng(1).normal(size=40)
    rated = _rated(people, bad=-1.0)
    table = ablation(rated, features, NET, samples=50, progress=False)
    rows = {tuple(row[n] for n in (0, 1, 3)): dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert len(rows) == len(table.rows) == 2 * (3 + 2 * (6 + 4))
    for name in GROWING_SETS:
        assert ("good", name, "refitted") in rows
    alone = rows["good", "EMD soft", "alone"]
    assert alone["spearman"] == pytest.approx(spearmanr(features.values[:, 2], people).statistic)
    assert alone["kendall_b"] == pytest.approx(kendalltau(features.values[:, 2], people).statistic)
    items = [segment.group for segment in rated.segments]
    full = cross_validated(features.matrix(GROWING_SETS["+ errors"]), people, items)
    assert rows["good", "+ errors", "refitted"]["spearman"] == pytest.approx(spearmanr(full, people).statistic)
    best = features.matrix(GROWING_SETS["+ errors"])
    shipped = NET.score_rows(np.column_stack([best[:, :2], np.ones(40), best[:, 3]]))
    assert rows["good", "all without grammar", "as shipped"]["spearman"] == pytest.approx(spearmanr(shipped, people).statistic)
    for row in rows.values():
        assert row["spearman low"] <= row["spearman"] <= row["spearman high"] or row["dimension"] == "bad"
        if row["compared with"] is not None:
            other = next(r for k, r in rows.items() if k[0] == row["dimension"] and f"{k[1]} {k[2]}" == row["compared with"])
            assert row["change"] == pytest.approx(row["spearman"] - other["spearman"], abs=1e-12)


def test_a_component_that_matters_shows_and_one_that_does_not_does_not() -> None:
    """Ratings made of meaning and grammar: adding or leaving out grammar changes the agreement beyond chance, errors do not."""
    features = _table(120, seed=3)
    people = features.values[:, 2] + features.values[:, 4] + 0.1 * np.random.default_rng(1).normal(size=120)
    table = ablation(_rated(people), features, NET, samples=60, progress=False)
    rows = {(row[1], row[3]): dict(zip(table.columns, row, strict=True)) for row in table.rows if row[0] == "good"}
    assert rows["+ grammar", "refitted"]["change low"] > 0.05
    assert rows["all without grammar", "refitted"]["change high"] < -0.05
    assert abs(rows["all without errors", "refitted"]["change"]) < 0.02
    assert abs(rows["+ errors", "refitted"]["change"]) < 0.02


def test_given_scores_stand_beside_and_the_run_repeats() -> None:
    """Other metrics get a row a dimension, compared with the full set; the same seed gives the same table."""
    features = _table(30)
    rated = _rated(features.values[:, 3])
    tables = [
        ablation(rated, features, NET, others={"other": features.values[:, 3]}, samples=20, progress=False) for _ in range(2)
    ]
    assert repr(tables[0]) == repr(tables[1])
    found = dict(zip(tables[0].columns, next(row for row in tables[0].rows if row[:2] == ("good", "other")), strict=True))
    assert found["spearman"] == 1.0 and found["compared with"] == "+ errors refitted" and found["scorer"] == "as given"


def test_correlations_between_scores() -> None:
    """The matrix is symmetric with 1 on its diagonal, and each cell is scipy's; a constant side has no correlation."""
    chance = np.random.default_rng(0)
    scores = {"a": chance.random(30), "b": chance.random(30).round(1), "c": np.ones(30)}
    found = component_correlations(scores)
    assert found.rows == found.columns == ("a", "b", "c")
    assert np.array_equal(found.values, found.values.T, equal_nan=True)
    assert found.values[0, 0] == pytest.approx(1.0) and np.isnan(found.values[2]).all()
    assert found.values[0, 1] == pytest.approx(spearmanr(scores["a"], scores["b"]).statistic)
