"""Refitted scorers: monotone, the same whatever the order of the rows, and never trained on what they judge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize
from scipy.stats import spearmanr

from rome.combining.fitting import NetSettings, fit_net
from rome.evaluation.diagnosis.fitting import cross_validated, fit_monotone_net, fold_numbers, held_out_half
from rome.exceptions import InputError


def _rated(rows: int, columns: int = 3, *, noise: float = 0.2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features in [0, 1] and ratings that rise with the first two of them."""
    chance = np.random.default_rng(seed)
    features = chance.random((rows, columns))
    return features, features[:, : min(2, columns)].sum(axis=1) + noise * chance.normal(size=rows)


def test_the_gradient_is_that_of_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finite differences of the loss give the same gradient, with clamped scores, weights and ranked pairs; L-BFGS lowers the loss."""
    seen: list[Callable[[np.ndarray], tuple[float, np.ndarray]]] = []

    def watching(loss: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray, **options: object) -> object:
        seen.append(loss)
        found = minimize(loss, start, **options)
        assert found.fun < loss(start)[0]
        return found

    monkeypatch.setattr("rome.combining.fitting.minimize", watching)
    chance = np.random.default_rng(0)
    values = np.vstack([np.ones((5, 4)), chance.random((45, 4))])
    order = chance.integers(50, size=(30, 2))
    for ranked in (order, order[:0]):
        fit_net(values, chance.random(50), chance.random(50), ranked, NetSettings(hidden=3, weight_floor=(1.0, 0.02, 0.6, 1.0)))
        for _ in range(3):
            point = chance.normal(size=19)
            assert check_grad(lambda at: seen[-1](at)[0], lambda at: seen[-1](at)[1], point) < 1e-4


def test_targets_of_zero_and_one_are_learned() -> None:
    """Perfect features with the target 1, the worst with 0: a finite loss, and scores at both ends of the scale."""
    values, targets = np.array([[1.0] * 4, [0.5] * 4, [0.0] * 4]), np.array([1.0, 0.4, 0.0])
    scores = fit_net(values, targets, np.ones(3), np.empty((0, 2), np.int64), NetSettings()).score_rows(values)
    assert scores[0] == 1.0 and scores[1] == pytest.approx(0.4, abs=0.05) and scores[2] < 0.1


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), columns=st.integers(1, 5), rows=st.integers(3, 40))
def test_raising_a_feature_never_lowers_the_prediction(seed: int, columns: int, rows: int) -> None:
    """Both fits are monotone in every feature, also where ratings fall as features rise, and far outside the data."""
    chance = np.random.default_rng(seed)
    features = chance.random((rows, columns))
    predict = fit_monotone_net(features, chance.normal(size=rows) - features[:, 0])
    low = chance.uniform(-3.0, 3.0, size=(200, columns))
    high = low + chance.random((200, columns)) * (chance.random((200, columns)) < 0.5)
    assert (predict(high) - predict(low) >= -1e-12).all()


def test_order_of_rows_and_repetition_change_nothing() -> None:
    """Shuffled rows give the same predictions, and so does fitting again."""
    features, ratings = _rated(120)
    order = np.random.default_rng(3).permutation(120)
    once, again, shuffled = (
        fit_monotone_net(*rows)(features) for rows in ((features, ratings),) * 2 + ((features[order], ratings[order]),)
    )
    assert np.array_equal(once, again)
    assert np.allclose(once, shuffled, atol=1e-6)


def test_no_group_is_ever_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit sees every fold's training rows, and never a row of an item that it then judges; each row is judged once."""
    features, ratings = _rated(90)
    items = [("de-en", n % 17) for n in range(90)]
    tagged = np.c_[features, [item[1] for item in items]]
    judged: list[float] = []

    def watching(rows: np.ndarray, _: np.ndarray) -> object:
        trained = set(rows[:, -1])

        def predict(values: np.ndarray) -> np.ndarray:
            assert not trained & set(values[:, -1])
            judged.extend(values[:, -1])
            return values[:, 0]

        return predict

    monkeypatch.setattr("rome.evaluation.diagnosis.fitting.fit_monotone_net", watching)
    found = cross_validated(tagged, ratings, items)
    assert sorted(judged) == sorted(tagged[:, -1])
    assert np.array_equal(found, features[:, 0])


@settings(max_examples=40, deadline=None)
@given(
    rated=st.lists(st.tuples(st.integers(0, 30), st.floats(-1, 1)), min_size=20, max_size=60),
    folds=st.integers(2, 4),
    seed=st.integers(0, 99),
)
def test_folds_are_even_and_know_no_order(rated: list[tuple[int, float]], folds: int, seed: int) -> None:
    """Folds differ by one item at most, and an item's fold does not depend on where its rows stand."""
    items, ratings = (list(column) for column in zip(*rated, strict=True))
    if len(set(items)) < folds:
        return
    fold = fold_numbers(items, folds, seed, ratings)
    sizes = [len({item for item, f in zip(items, fold, strict=True) if f == number}) for number in range(folds)]
    assert max(sizes) - min(sizes) <= 1
    assert np.array_equal(fold_numbers(items[::-1], folds, seed, ratings[::-1]), fold[::-1])
    assert len({(item, f) for item, f in zip(items, fold, strict=True)}) == len(set(items))


def test_balanced_folds_have_the_same_ratings() -> None:
    """Each run of five neighbours by rating is spread over the five folds."""
    ratings = np.random.default_rng(0).permutation(50).astype(float)
    fold = fold_numbers(list(range(50)), 5, 1, ratings)
    for start in range(0, 50, 5):
        assert sorted(fold[(ratings >= start) & (ratings < start + 5)]) == [0, 1, 2, 3, 4]


def test_held_out_items_are_whole_and_half() -> None:
    """Half of the items is kept for testing, with all their rows."""
    testing = held_out_half([n // 2 for n in range(40)], 3)
    assert int(testing.sum()) == 20 and (testing[::2] == testing[1::2]).all()


def test_constant_feature_is_ignored() -> None:
    """A column that never varies in training does not divide by zero, and the others are still used."""
    features, ratings = _rated(80, 2, noise=0.05)
    predict = fit_monotone_net(np.c_[features, np.full(80, 0.7)], ratings)
    assert spearmanr(predict(np.c_[features, np.full(80, 0.7)]), ratings).statistic > 0.95


@pytest.mark.parametrize("ratings", [[], [1.0], [3.0] * 5])
def test_what_cannot_be_fitted_is_refused(ratings: list[float]) -> None:
    """No rows, one row and constant ratings are named."""
    with pytest.raises(InputError, match="two different ratings"):
        fit_monotone_net(np.ones((len(ratings), 2)), ratings)


def test_folds_and_groups_that_do_not_fit_are_refused() -> None:
    """Fewer items than folds, and one fold are named with the remedy."""
    features, ratings = _rated(12)
    with pytest.raises(InputError, match="3 items cannot be split into 5 folds"):
        cross_validated(features, ratings, [n % 3 for n in range(12)])
    with pytest.raises(InputError, match="1 folds"):
        cross_validated(features, ratings, list(range(12)), folds=1)
