"""Scores that grow batch by batch: the same number however the segments are cut, merged, pickled or shared out."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.integrations.columns import default_metric
from rome.integrations.running import MEANS, RunningScore

from overlap_metric import OverlapMetric, net, numbers

REFERENCES: list[Any] = ["the cat sat", ["dogs bark", "a dog barks"], "it rains", "he left", ["x", "y", "z"], "so it is"]
PREDICTIONS = ["the cat sat", "a dog barks", "", "she left early", "z", "it is so"]


def expected(metric: Any, references: Any = REFERENCES, predictions: Any = PREDICTIONS) -> dict[str, float]:
    """The oracle: everything in one call."""
    columns = numbers(metric, references, predictions)
    return {name: math.fsum(columns[name]) / len(predictions) for name in MEANS}


def running(metric: Any, *cuts: tuple[int, int]) -> RunningScore:
    """A score that saw these stretches of the segments."""
    state = RunningScore(metric)
    for start, end in cuts:
        state.update(predictions=PREDICTIONS[start:end], references=REFERENCES[start:end])
    return state


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, len(PREDICTIONS)), max_size=5), st.randoms())
def test_how_segments_are_cut_and_merged_does_not_matter(cuts: list[int], random: Any) -> None:
    """Any cutting into batches, any spreading over processes, any order of merging: the same floats."""
    metric = OverlapMetric()
    edges = sorted([0, *cuts, len(PREDICTIONS)])
    parts = [running(metric, cut) for cut in zip(edges, edges[1:], strict=False)]
    random.shuffle(parts)
    whole = RunningScore(metric)
    for part in parts:
        whole.merge_state(part)
    assert whole.compute() == running(metric, *zip(edges, edges[1:], strict=False)).compute() == expected(metric)
    assert len(whole) == len(PREDICTIONS)


def test_nothing_seen_and_reset() -> None:
    """Before the first segment every number is nan; an empty batch adds nothing; reset brings that state back."""
    state = RunningScore(OverlapMetric())
    state.update(predictions=[], references=[])
    assert list(state.compute()) == ["score", *FEATURES]
    assert all(math.isnan(value) for value in state.compute().values())
    with pytest.raises(InputError, match="call update first"):
        state.table  # noqa: B018 - the access is what is tested
    state.update(predictions=["a"], references=["a"])
    state.reset()
    assert math.isnan(state.compute()["score"]) and len(state) == 0


def test_texts_are_neither_kept_nor_measured_twice() -> None:
    """What is pickled holds no text, and compute measures nothing."""
    metric = OverlapMetric()
    state = RunningScore(metric)
    state.update(predictions=["a secret sentence"], references=["another secret"])
    state.compute()
    assert metric.calls == [1]
    assert b"secret" not in pickle.dumps(state)


def test_the_features_stay_for_another_net() -> None:
    """The table holds every candidate, numbered in the order of arrival, and is what one call would give."""
    metric = OverlapMetric()
    table = running(metric, (0, 1), (1, 5), (5, 6)).table
    assert table == metric.features(references=REFERENCES, hypotheses=PREDICTIONS)
    assert net(2.0).score(table).shape == (6,)


def test_pickles_and_copies_are_independent() -> None:
    """A copy goes on by itself, and shares the metric."""
    state = running(OverlapMetric(), (0, 3))
    for copied in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert copied.compute() == state.compute()
        copied.update(predictions=["a"], references=["a"])
        assert len(copied) == 4 and len(state) == 3


def test_a_refused_batch_leaves_no_trace() -> None:
    """An error in the second batch: the first is still there, alone."""
    state = running(OverlapMetric(), (0, 3))
    before = state.compute()
    for wrong in ({"predictions": ["a", None], "references": ["a", "b"]}, {"predictions": "a", "references": "b"}):
        with pytest.raises(InputError):
            state.update(**wrong)  # type: ignore[arg-type]
    assert state.compute() == before


def test_only_alike_states_are_merged() -> None:
    """Another net and a metric that weighs words by the batch are refused."""
    state = running(OverlapMetric(), (0, 3))
    with pytest.raises(InputError, match="states of one metric can be merged"):
        state.merge_state(running(OverlapMetric(net(3.0)), (0, 1)))
    with pytest.raises(InputError, match='idf="references" a score depends on its batch'):
        RunningScore(OverlapMetric(idf="references"))


def test_a_training_loop_with_the_real_metric() -> None:
    """Two epochs: each gives what one call gives, and the state travels as options, not as models."""
    state = RunningScore()
    epoch = {"predictions": ["A cat sat.", "Dogs sleep."], "references": [["It rains.", "The cat sat."], "Dogs bark."]}
    result = default_metric().score(references=epoch["references"], hypotheses=epoch["predictions"])  # type: ignore[arg-type]
    for _ in range(2):
        for row in range(2):
            state.update(predictions=epoch["predictions"][row : row + 1], references=epoch["references"][row : row + 1])  # type: ignore[arg-type]
        assert state.compute()["score"] == pytest.approx(result.score, abs=1e-6)
        assert [state.compute()[name] for name in FEATURES] == pytest.approx(list(result.components), abs=1e-6)
        packed = pickle.dumps(state)
        state.reset()
    assert len(packed) < 10_000
    assert pickle.loads(packed).signature == result.signature
