"""Hugging Face: the metric module and the function for map, with the real packages and no network; nothing is written elsewhere."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.integrations.columns import DEFAULT_COLUMNS, default_metric
from rome.integrations.huggingface import batch_scorer, module_path
from rome.metric import RoMe

from overlap_metric import OverlapMetric, numbers

PREDICTIONS, REFERENCES = ["the cat sat", "dogs sleep"], ["the cat sat", "dogs bark"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache of this file; every connection is refused, and the packages are told where to write even if they are loaded already."""
    for package in ("datasets", "evaluate"):
        pytest.importorskip(package)
    import datasets.config
    import evaluate.config

    home = tmp_path_factory.mktemp("huggingface")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HF_CACHE_HOME", "HF_EVALUATE_CACHE", "HF_METRICS_CACHE", "HF_MODULES_CACHE"):
            patch.setattr(evaluate.config, name, home / name)
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", home / "datasets")
        patch.setattr(socket.socket, "connect", _offline(socket.socket.connect))
        patch.setattr(sys, "path", [entry for entry in sys.path if not (Path(entry) / "evaluate_modules").is_dir()])
        for name in [name for name in sys.modules if name.partition(".")[0] == "evaluate_modules"]:  # another test loaded one
            patch.delitem(sys.modules, name)
        yield home


def _offline(connect: Callable[..., None]) -> Callable[..., None]:
    """Connections within the machine's own files only (processes speak so with each other)."""

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            raise OSError(f"no network in this test: {address}")
        connect(self, address)

    return guarded


@pytest.fixture(scope="module")
def module(folder: Path) -> Any:
    import evaluate
    return evaluate.load(module_path(), cache_dir=str(folder / "metrics"))


def test_evaluate_loads_the_module_offline(module: Any, folder: Path) -> None:
    """Name, description, citation, and both shapes of references; what evaluate writes stands in the folders that it was told."""
    assert module.name == "rome_score"
    assert "rony-etal-2022-rome" in module.citation
    assert "Earth Mover" in module.description and "signature" in module.inputs_description
    assert [str(shape["references"]) for shape in module.features] == ["List(Value('string'))", "Value('string')"]
    assert Path(module.data_dir).is_relative_to(folder / "metrics")
    assert Path(str(inspect.getfile(type(module)))).is_relative_to(folder / "HF_MODULES_CACHE")


def test_the_real_metric_through_evaluate(module: Any) -> None:
    """Without options it is RoMe(): the same floats, the same signature, plain values that JSON holds."""
    references = [["It rains.", "The cat sat."], ["Dogs bark."]]
    found = module.compute(predictions=["A cat sat.", "Dogs sleep."], references=references)
    result = default_metric().score(references=references, hypotheses=["A cat sat.", "Dogs sleep."])
    assert found["scores"] == [segment.score for segment in result]
    assert found["score"] == result.score
    for name in FEATURES:
        assert found[name] == [getattr(segment.components, name).value for segment in result]
    assert found["signature"] == result.signature
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    "references",
    [REFERENCES, [["a", "the cat sat"], ["dogs bark"]], ["the cat sat", ["dogs", "bark"]], [["the cat sat"], "dogs bark"]],
)
def test_every_shape_of_references_is_scored_as_it_is(module: Any, references: Any) -> None:
    """One text, several, and both mixed: evaluate alone would turn a list among texts into a text, and a text among lists into letters."""
    found = module.compute(predictions=PREDICTIONS, references=references, metric=OverlapMetric())
    assert found["scores"] == numbers(OverlapMetric(), references, PREDICTIONS)["score"]


def test_batches_add_up(module: Any) -> None:
    """add, add_batch with either shape, compute: what one call gives."""
    module.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    module.add_batch(predictions=PREDICTIONS[1:], references=[[REFERENCES[1], "dogs"]])
    found = module.compute(metric=OverlapMetric())
    wanted = numbers(OverlapMetric(), [REFERENCES[0], [REFERENCES[1], "dogs"]], PREDICTIONS)
    assert found["scores"] == wanted["score"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"predictions": ["a"], "references": ["a", "b"]}, "references has 2 segments"),
        ({"predictions": [1], "references": ["a"]}, "of type int, not a text"),
        ({"predictions": "ab", "references": "ab"}, "bare string"),
        ({"predictions": [], "references": []}, "both empty"),
        ({}, "compute needs predictions="),
        ({"predictions": ["a"], "references": ["a"], "emd": "soft"}, "metric= cannot be combined with options, got emd"),
    ],
)
def test_wrong_input_is_refused_and_the_next_call_works(module: Any, arguments: dict[str, Any], words: str) -> None:
    """Evaluate would make texts of numbers and letters of a bare string; here it is an error that leaves nothing behind."""
    with pytest.raises(InputError, match=words):
        module.compute(**arguments, metric=OverlapMetric())
    assert len(module.compute(predictions=["a"], references=["a"], metric=OverlapMetric())["scores"]) == 1


def test_options_are_those_of_rome(module: Any) -> None:
    """Make the metric of an option once; refuse an unknown one."""
    with pytest.raises(TypeError, match="no argument nonsense: it takes models"):
        module.compute(predictions=["a"], references=["a"], nonsense=1)
    with pytest.raises(InputError, match="emd must be soft"):
        module.compute(predictions=["a"], references=["a"], emd="wrong")
    assert default_metric(emd="aligned") is default_metric(emd="aligned") is not default_metric()


def test_map_adds_the_columns(folder: Path) -> None:
    """Dataset.map(batched=True), in batches: the metric's own numbers beside the old columns."""
    import datasets
    rows = {"reference": [*REFERENCES, "it rains"], "hypothesis": [*PREDICTIONS, ""], "id": [1, 2, 3]}
    data = datasets.Dataset.from_dict(rows)
    scored = data.map(batch_scorer(OverlapMetric()), batched=True, batch_size=2)
    assert scored.column_names == ["reference", "hypothesis", "id", *DEFAULT_COLUMNS]
    assert scored["score"][:] == numbers(OverlapMetric(), rows["reference"], rows["hypothesis"])["score"]


def test_map_reads_lists_of_references_and_missing_texts(folder: Path) -> None:
    """Several references count as several; missing="null" leaves a gap, the default names the row."""
    import datasets
    data = datasets.Dataset.from_dict({"reference": [["a", "b c"], None], "hypothesis": ["b c", "d"]})
    scored = data.map(batch_scorer(OverlapMetric(), missing="null", prefix="rome_", columns=["score"]), batched=True)
    assert scored["rome_score"][:] == [*numbers(OverlapMetric(), [["a", "b c"]], ["b c"])["score"], None]
    with pytest.raises(InputError, match="reference of row 1"):
        data.map(batch_scorer(OverlapMetric()), batched=True)


def test_the_same_settings_give_the_same_fingerprint(folder: Path) -> None:
    """Two metrics, before and after use, pickled or not: datasets finds its cache again. Any other setting gives another one."""
    from datasets.fingerprint import Hasher

    metric = RoMe(progress=False)
    first = Hasher.hash(batch_scorer(metric))
    metric.combiner.score([[0.5] * 4])  # the net keeps what its scores are measured against
    default_metric().score(references=["a cat"], hypotheses=["the cat"])
    same = [batch_scorer(metric), batch_scorer(), batch_scorer(default_metric()), pickle.loads(pickle.dumps(batch_scorer()))]
    assert {Hasher.hash(scorer) for scorer in same} == {first}
    others = [
        batch_scorer(RoMe(emd="aligned")),
        batch_scorer(RoMe(scorer="supervised")),
        batch_scorer(RoMe(combiner=replace(metric.combiner, output_bias=metric.combiner.output_bias + 1e-9))),
        batch_scorer(RoMe(empty_reference="score")),
        *(batch_scorer(**{name: "other"}) for name in ("reference", "hypothesis", "prefix")),
        *(batch_scorer(columns=["score"]), batch_scorer(missing="null")),
    ]
    found = {Hasher.hash(scorer) for scorer in others}
    assert len(found) == len(others) and first not in found


def test_what_cannot_be_mapped_is_refused() -> None:
    """A clash of names, an absent column, a row in place of a batch, and a metric whose scores depend on the batch."""
    batch = {"reference": ["a"], "hypothesis": ["b"]}
    with pytest.raises(InputError, match="new columns must not exist, got score"):
        batch_scorer(OverlapMetric())({**batch, "score": [1.0]})
    with pytest.raises(InputError, match="reference must be a column.*got 'ref'"):
        batch_scorer(OverlapMetric(), reference="ref")(batch)
    with pytest.raises(InputError, match="batched=True"):
        batch_scorer(OverlapMetric())({"reference": "a", "hypothesis": "b"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match=r"Dataset\.map scores batch by batch"):
        batch_scorer(OverlapMetric(idf="references"))


@pytest.mark.skipif(os.name != "posix", reason="the workers are forked")
def test_a_forked_worker_does_not_hang(folder: Path) -> None:
    """num_proc=2 after torch has used threads in this process: the workers build the metric anew and give the same numbers."""
    import datasets
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    (torch.ones(400, 400) @ torch.ones(400, 400)).sum()
    try:
        data = datasets.Dataset.from_dict({"reference": REFERENCES, "hypothesis": PREDICTIONS})
        scored = data.map(batch_scorer(), batched=True, num_proc=2)
    finally:
        torch.set_num_threads(before)
    wanted = default_metric().score(references=REFERENCES, hypotheses=PREDICTIONS)
    assert scored["score"][:] == pytest.approx([segment.score for segment in wanted], abs=1e-6)
