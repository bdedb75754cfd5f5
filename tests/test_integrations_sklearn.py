"""The transformer keeps scikit-learn's contract: clones, pipelines, named output, and the project's own estimator checks."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from rome.exceptions import InputError
from rome.features.values import FEATURES

from overlap_metric import OverlapMetric, numbers

sklearn = pytest.importorskip("sklearn")

PAIRS: list[Any] = [
    ("the cat sat", "the cat sat"),
    (["dogs bark", "a dog barks"], "a dog barks"),
    ("it rains", ""),
    ("a b", "b c"),
]


def made(**options: Any) -> Any:
    from rome.integrations.sklearn import RoMeFeatures

    return RoMeFeatures(OverlapMetric(), **options)


def expected(pairs: list[Any] = PAIRS) -> np.ndarray:
    """The oracle: the metric's own components."""
    columns = numbers(OverlapMetric(), [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    return np.array([columns[name] for name in FEATURES]).T


def test_pairs_and_frames_give_the_four_features() -> None:
    """A list of pairs, an (n, 2) array, a pandas and a polars frame: the same (n, 4) numbers, of the best reference."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert (made().fit(PAIRS).transform(PAIRS) == expected()).all()
    simple = [PAIRS[0], *PAIRS[2:]]
    columns = {"r": [pair[0] for pair in simple], "h": [pair[1] for pair in simple]}
    assert (made().fit_transform(np.array(simple, dtype=object)) == expected(simple)).all()
    for frame in (pandas.DataFrame(columns, index=[3, 1, 1]), polars.DataFrame(columns)):
        assert (made(reference="r", hypothesis="h").fit_transform(frame) == expected(simple)).all()


def test_output_has_names_and_the_kind_that_is_asked_for() -> None:
    """get_feature_names_out, and set_output for pandas and polars."""
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    assert list(made().get_feature_names_out()) == list(FEATURES)
    for kind in ("pandas", "polars"):
        found = made().set_output(transform=kind).fit_transform(PAIRS)
        assert list(found.columns) == list(FEATURES)
        assert (found.to_numpy() == expected()).all()


def test_other_columns_can_be_chosen() -> None:
    """Completeness and faithfulness, say, under their names; a column of texts, an unknown or a repeated one is refused."""
    wanted = ("faithfulness", "completeness", "minor_count")
    columns = numbers(OverlapMetric(), [pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS])
    found = made(columns=wanted)
    assert (found.fit_transform(PAIRS) == np.array([columns[name] for name in wanted]).T).all()
    assert tuple(found.get_feature_names_out()) == wanted
    with pytest.raises(InputError, match="columns must be a list of some of score, semantic"):
        made(columns=("flags",)).fit_transform(PAIRS)


def test_in_a_pipeline_with_a_regressor_and_in_cross_validation() -> None:
    """Fitted, predicting, searched over: the regressor learns from the features alone."""
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline

    pairs, ratings = PAIRS * 3, [0.9, 0.7, 0.1, 0.4] * 3
    model = make_pipeline(made(), LinearRegression()).fit(pairs, ratings)
    assert model.predict(pairs) == pytest.approx(LinearRegression().fit(expected(pairs), ratings).predict(expected(pairs)))
    assert list(model[:-1].get_feature_names_out()) == list(FEATURES)
    assert cross_val_predict(make_pipeline(made(), LinearRegression()), pairs, ratings, cv=3) == pytest.approx(ratings)
    assert pickle.loads(pickle.dumps(model)).predict(pairs) == pytest.approx(model.predict(pairs))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "X must have at least one"),
        ("text", "X must be a list.*got str"),
        ([("a", "b"), ("a",)], "row 1 of X must be"),
        ([("a", "b"), ("a", None)], "hypothesis of row 1"),
        (np.zeros((3, 2)), "row 0: reference is of type float, not a text"),
    ],
)
def test_wrong_input_is_named(rows: Any, words: str) -> None:
    """InputError, which is a ValueError as scikit-learn wants it, names the row."""
    with pytest.raises(InputError, match=words):
        made().fit_transform(rows)
    assert issubclass(InputError, ValueError)


def test_a_metric_that_looks_at_the_batch_is_refused() -> None:
    """Its features would leak from the rows of one fold to the next."""
    from rome.integrations.sklearn import RoMeFeatures

    with pytest.raises(InputError, match="RoMeFeatures scores batch by batch"):
        RoMeFeatures(OverlapMetric(idf="references")).fit(PAIRS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks_pass() -> None:
    """What check_estimator runs on an estimator of texts."""
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(made(), on_fail=None, on_skip=None)
    assert [row for row in results if row["status"] == "failed"] == []
    assert [row["check_name"] for row in results if row["status"] == "passed"]
