"""A metric and its results travel: pickled, copied, kept by joblib, sent to a fresh process and back."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
from collections.abc import Callable
from operator import methodcaller
from typing import Any

import pytest

from rome.metric import RoMe
from rome.results import CorpusScore
from rome.results.comparison import compare

from scored_segments import corpus

PAIRS = {"references": ["The museum opens at nine.", "Prices are low."], "hypotheses": ["The museum opens at ten.", ""]}
RESULTS = {
    "a corpus": corpus(6),
    "a corpus without evidence": corpus(6, evidence=False),
    "a segment": corpus(3)[2],
    "a comparison": compare(corpus(6, 1), corpus(6, 2), resamples=20),
    "a slice": corpus(6)[::2],
}


def joblib_copied(value: Any) -> Any:
    """What joblib's files and caches give back."""
    joblib = pytest.importorskip("joblib")
    joblib.dump(value, kept := io.BytesIO())
    kept.seek(0)
    return joblib.load(kept)


COPIED: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "joblib": joblib_copied,
}


@pytest.fixture(scope="module")
def metric() -> RoMe:
    return RoMe(models="small", progress=False, threads=1)


@pytest.fixture(scope="module")
def result(metric: RoMe) -> CorpusScore:
    return metric.score(**PAIRS)


@pytest.mark.parametrize("way", COPIED)
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_copied_whole(name: str, way: str) -> None:
    """Equal in every part, with the same text and page."""
    again = COPIED[way](RESULTS[name])
    assert type(again) is type(RESULTS[name]) and again == RESULTS[name]
    assert str(again) == str(RESULTS[name]) and again.to_html() == RESULTS[name].to_html()


@pytest.mark.parametrize("way", COPIED)
def test_what_the_models_found_is_copied_whole(way: str, result: CorpusScore) -> None:
    """Evidence as the features make it, arrays and trees, travels as hand-made evidence does."""
    assert COPIED[way](result) == result and COPIED[way](result[0].evidence).errors == result[0].evidence.errors


@pytest.mark.parametrize("way", COPIED)
def test_a_copied_metric_scores_as_before(way: str, metric: RoMe, result: CorpusScore) -> None:
    """The same options and signature; what has been loaded is no part of a copy, which is some kilobytes."""
    assert len(pickle.dumps(metric)) < 10_000
    again = COPIED[way](metric)
    assert repr(again) == repr(metric) and again.signature == metric.signature
    assert again.score(**PAIRS).scores == pytest.approx(result.scores, abs=1e-6)


def test_a_metric_and_results_cross_into_a_fresh_process(metric: RoMe, result: CorpusScore) -> None:
    """A spawned process loads the models anew at the first text; results come back with their evidence, and go there."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(methodcaller("score", **PAIRS), (metric,))
        worst = pool.apply(methodcaller("worst", 1), (result,))
    assert there.scores == pytest.approx(result.scores, abs=1e-6) and there.signature == result.signature
    assert there[0].evidence.errors.errors[0].type == "number" and worst == result.worst(1)
