"""RoMe as a torchmetrics.Metric, with the real package."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.integrations.columns import DEFAULT_COLUMNS

from overlap_metric import OverlapMetric, numbers

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

NAMES = ("rome", *(f"rome_{name}" for name in (*FEATURES, "completeness", "faithfulness")))
TARGET: list[Any] = ["the cat sat", ["dogs bark", "a dog barks"], "it rains", "he left"]
PREDS = ["the cat sat", "a dog barks", "", "she left early"]


def made(**options: Any) -> Any:
    from rome.integrations.torchmetrics import RoMeScore

    return RoMeScore(OverlapMetric(), **options)


def floats(result: dict[str, Any]) -> dict[str, float]:
    return {name: value.item() for name, value in result.items()}


def expected(rows: slice = slice(None)) -> dict[str, float]:
    """The oracle: one call of the metric."""
    columns = numbers(OverlapMetric(), TARGET[rows], PREDS[rows])
    return {name: float(sum(columns[c]) / len(PREDS[rows])) for name, c in zip(NAMES, DEFAULT_COLUMNS, strict=True)}


def test_batches_add_up_to_one_call() -> None:
    """update, compute, compute again, reset."""
    metric = made()
    for row in range(4):
        metric.update(PREDS[row : row + 1], TARGET[row : row + 1])
    metric.update([], [])
    assert floats(metric.compute()) == pytest.approx(expected())
    assert metric.compute() == metric.compute()
    metric.reset()
    metric.update(PREDS[:2], TARGET[:2])
    assert floats(metric.compute()) == pytest.approx(expected(slice(2)))


def test_forward_gives_the_batch_and_keeps_the_whole() -> None:
    """Called as a function in a loop, as torchmetrics allows."""
    metric = made()
    assert floats(metric(PREDS[:2], TARGET[:2])) == pytest.approx(expected(slice(2)))
    assert floats(metric(PREDS[2:], TARGET[2:])) == pytest.approx(expected(slice(2, 4)))
    assert floats(metric.compute()) == pytest.approx(expected())


def test_states_of_two_processes_merge() -> None:
    """Torchmetrics' merge_state, and a pickle on the way; no text travels."""
    one, other = made(), made()
    one.update(PREDS[:1], TARGET[:1])
    other.update(PREDS[1:], TARGET[1:])
    packed = pickle.dumps(other)
    assert b"barks" not in packed
    one.merge_state(pickle.loads(packed))
    assert floats(one.compute()) == pytest.approx(expected())
    assert one.clone()._metric is one._metric


def test_in_a_collection_with_another_text_metric() -> None:
    """Beside BLEU, by position and by name; its keys clash with no other's."""
    collection = torchmetrics.MetricCollection([made(), torchmetrics.text.BLEUScore(n_gram=1)])
    references = [[text] if isinstance(text, str) else text for text in TARGET]
    collection.update(PREDS, references)
    collection.update(preds=PREDS, target=references)
    found = collection.compute()
    assert {name: found[name].item() for name in NAMES} == pytest.approx(expected())
    assert set(found) == {*NAMES, "BLEUScore"}
    collection.reset()


def test_wrong_input_is_refused() -> None:
    """Unequal lengths, and a metric whose scores depend on the batch."""
    from rome.integrations.torchmetrics import RoMeScore

    with pytest.raises(InputError):
        made().update(["a"], ["a", "b"])
    with pytest.raises(InputError, match="RoMeScore scores batch by batch"):
        RoMeScore(OverlapMetric(idf="references"))
