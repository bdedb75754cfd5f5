"""Quality drift: samples as BLEURT draws them, items apart, and laws that any scorer obeys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from rome.combining.combiner import Combiner
from rome.combining.fitting import NetSettings
from rome.evaluation.diagnosis.drift import ALPHAS, drift, keep_probabilities, quality_bins
from rome.evaluation.diagnosis.fitting import fit_monotone_net
from rome.exceptions import InputError
from rome.reports.model import Lines, Table


def _data(items: int = 150, outputs: int = 2, *, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Two features, ratings that follow both, and items of several outputs."""
    chance = np.random.default_rng(0)
    features = chance.random((items * outputs, 2))
    return (
        features,
        features.sum(axis=1) + noise * chance.normal(size=len(features)),
        [f"i{n // outputs}" for n in range(len(features))],
    )


def _rows(table: Table) -> list[dict[str, object]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@settings(max_examples=50, deadline=None)
@given(ratings=st.lists(st.integers(0, 5).map(float), min_size=10, max_size=80), seed=st.integers(0, 50))
def test_bins_hold_equally_many_and_rise_with_the_rating(ratings: list[float], seed: int) -> None:
    """Ten bins differ by one row at most, and a better row never lies in a lower bin; ties are parted."""
    values = np.array(ratings)
    bins = quality_bins(values, np.random.default_rng(seed))
    counts = np.bincount(bins, minlength=11)[1:]
    assert counts.max() - counts.min() <= 1 and len(counts) == 10
    for number in range(1, 10):
        assert values[bins == number].max() <= values[bins == number + 1].min()


def test_probabilities_are_those_of_the_paper() -> None:
    """1 / B^alpha for training, 1 / (11 - B)^alpha for testing, 1 for alpha 0; skew 3 keeps the paper's 11.9 % of its training rows."""
    bins = np.arange(1, 11)
    assert keep_probabilities(bins, 0.0, "train").tolist() == keep_probabilities(bins, 0, "test").tolist() == [1.0] * 10
    assert keep_probabilities(bins, 2.0, "train")[[0, 1, 9]] == pytest.approx([1.0, 0.25, 0.01])
    assert keep_probabilities(bins, 1.5, "test").tolist() == keep_probabilities(bins, 1.5, "train")[::-1].tolist()
    assert keep_probabilities(bins, 3.0, "train").mean() == pytest.approx(0.119, abs=0.001)


@pytest.fixture(scope="module")
def found() -> tuple[Table, Lines]:
    """One experiment with a fitted scorer, a perfect metric and a useless one."""
    features, people, items = _data()
    useless = np.random.default_rng(7).random(len(people))
    metrics = {"perfect": people, "reversed": -people, "useless": useless}
    return drift(people, items, {"net": features}, metrics, seeds=range(4), progress=False)


def test_every_skew_of_both_sides_is_there(found: tuple[Table, Lines]) -> None:
    """A fitted scorer has a row for each pair of skews, a metric one for each test skew, and the figures the same numbers."""
    rows = _rows(found[0])
    assert len(rows) == len(ALPHAS) ** 2 + 3 * len(ALPHAS)
    assert set(found[1].series) == {f"net, training skew {a:g}" for a in ALPHAS} | {"perfect", "reversed", "useless"}
    assert all(len(line) == len(found[1].x) == len(ALPHAS) for line in found[1].series.values())
    for row in rows:
        name = row["scorer"] if row["training skew"] is None else f"{row['scorer']}, training skew {row['training skew']:g}"
        assert found[1].series[str(name)][ALPHAS.index(float(str(row["test skew"])))] == row["kendall_b"]


def test_perfect_metric_agrees_at_every_skew(found: tuple[Table, Lines]) -> None:
    """Tau is 1 without spread for a metric that equals the ratings, -1 for its reverse, near 0 for noise."""
    for row in _rows(found[0]):
        if row["scorer"] in ("perfect", "reversed"):
            assert row["kendall_b"] == pytest.approx(1.0 if row["scorer"] == "perfect" else -1.0, abs=1e-12)
            assert row["spread"] == pytest.approx(0.0, abs=1e-12)
        if row["scorer"] == "useless" and row["test skew"] == 0.0:
            assert abs(float(str(row["kendall_b"]))) < 0.15


def test_skew_zero_keeps_everything_and_more_skew_keeps_less(found: tuple[Table, Lines]) -> None:
    """At skew 0 all rows of a side are kept; a stronger skew keeps fewer, about the share expected."""
    fitted = [row for row in _rows(found[0]) if row["scorer"] == "net"]
    for side, other in (("training", "test"), ("test", "training")):
        kept = [float(str(row[f"{side} rows"])) for row in fitted if row[f"{other} skew"] == 0.0]
        assert kept[0] == 150.0 and sorted(kept, reverse=True) == kept
        expected = [np.mean(np.arange(1.0, 11.0) ** -alpha) for alpha in ALPHAS]
        assert np.array(kept) / 150.0 == pytest.approx(expected, abs=0.06)


def test_agreement_is_that_of_a_slow_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """At skew 0 the whole experiment is a split by items, a fit and scipy's tau."""
    features, people, items = _data(40)
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    def watching(rows: np.ndarray, ratings: np.ndarray, begin: object) -> object:
        seen.append((rows, ratings))
        return fit_monotone_net(rows, ratings)

    monkeypatch.setattr("rome.evaluation.diagnosis.drift.fit_monotone_net", watching)
    found = drift(people, items, {"s": features}, {}, alphas=[0.0], seeds=[5], progress=False)
    (rows, _), kept = seen[0], {tuple(row) for row in seen[0][0].tolist()}
    testing = np.array([tuple(row) not in kept for row in features.tolist()])
    trained = {item for item, there in zip(items, testing, strict=True) if not there}
    assert trained.isdisjoint(item for item, there in zip(items, testing, strict=True) if there)
    assert len(rows) == testing.sum() == 40
    slow = kendalltau(people[testing], fit_monotone_net(features[~testing], people[~testing])(features[testing])).statistic
    assert _rows(found[0])[0]["kendall_b"] == pytest.approx(slow)


def test_a_pre_trained_net_is_where_its_weights_cannot_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heavier the decay, the nearer the weights stay to those of the net from which the fit begins; both nets are in the table."""
    chance = np.random.default_rng(3)
    features = chance.random((80, 4))
    people = features[:, 1] + 0.3 * chance.normal(size=80)
    knows = Combiner(np.array([[2.0, 0.4, 0.4, 0.4]]), np.array([-1.0]), np.array([1.0]), np.array(0.0))
    fitted = {"alone": features, "pre-trained": features}
    kept = {"begin": {"pre-trained": knows}, "alphas": [0.0], "seeds": [0], "progress": False}
    table, _ = drift(people, list(range(80)), fitted, {}, **kept)  # type: ignore[arg-type]
    alone, begun = (row["kendall_b"] for row in _rows(table))
    assert alone != begun
    monkeypatch.setattr("rome.evaluation.diagnosis.fitting.NetSettings", lambda: NetSettings(decay=1e9))
    still = fit_monotone_net(features, people, knows)(features)
    assert kendalltau(still, knows.score_rows(features)).statistic > 0.99


def test_a_sample_without_different_ratings_gives_no_number() -> None:
    """Where a skew leaves nothing to learn from or to order, the cell is empty and the run goes on."""
    ratings = np.array([0.0] * 58 + [1.0, 2.0])
    found = drift(
        ratings,
        list(range(60)),
        {"s": np.random.default_rng(0).random((60, 1))},
        {},
        alphas=[0.0, 9.0],
        seeds=[0],
        progress=False,
    )
    assert any(np.isnan(float(str(row["kendall_b"]))) for row in _rows(found[0]))


def test_too_few_rows_for_the_bins_are_refused() -> None:
    """The message names the remedy."""
    with pytest.raises(InputError, match="too few for 10 bins"):
        drift(np.ones(4), list(range(4)), {}, {"m": np.ones(4)}, progress=False)
