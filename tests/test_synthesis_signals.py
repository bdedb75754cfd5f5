"""Pre-training signals: laws of the table, and figures by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from synthesis_models import FakeFiller, save_masked_and_judge, save_translator

from rome.evaluation.metrics.peers import BertScore
from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.bleurt import BleurtPipeline
from rome.train.synthesis.fillers import RoundTrip
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.signals import FLAG, SIGNALS, Signal, available_signals, signal_targets

EDGES = [("a cat", "a cat"), ("a cat sat", ""), ("", ""), ("...", "..."), ("one", "one"), ("one", "two"), ("é — ü", "é ü")]


def pair(reference: str, hypothesis: str, number: int = 0, **further: Any) -> SyntheticPair:
    return SyntheticPair(f"made|{number}", "made", 0, reference, hypothesis, **further)


@pytest.fixture(scope="module")
def signals() -> list[Signal]:
    return [make() for make in SIGNALS.values()]


@pytest.fixture(scope="module")
def pairs() -> list[SyntheticPair]:
    texts = ["Two dogs sat on the mat.", "The cat slept near a quiet river all day.", "Nobody knows why he left."]
    made = list(BleurtPipeline(FakeFiller(), drop=1.0).pairs([("made:1", text) for text in texts], 5))
    return made + [pair(*texts, n) for n, texts in enumerate(EDGES)]


def columns(pairs: Sequence[SyntheticPair], signals: Sequence[Signal]) -> dict[str, np.ndarray]:
    """Each number of each signal by its name."""
    targets = signal_targets(pairs, signals)
    names = {"bleu": ["bleu"], "backtranslation": [FLAG]}
    names |= {name: [f"{name}_{part}" for part in ("precision", "recall", "f1")] for name in ("rouge", "bertscore")}
    return {name: targets[s.name].reshape(len(pairs), -1)[:, n] for s in signals for n, name in enumerate(names[s.name])}


def test_every_signal_is_in_its_range(signals: list[Signal], pairs: list[SyntheticPair]) -> None:
    """Shares in [0, 1], BERTScore in [-1, 1]."""
    table = columns(pairs, signals)
    for name, column in table.items():
        low = -1 if name.startswith("bertscore") else 0
        assert len(column) == len(pairs) and (column >= low).all() and (column <= 1 + 1e-6).all(), name


def test_equal_texts_have_the_best_value(signals: list[Signal]) -> None:
    """Also where nothing can be counted: no words, one word, signs alone."""
    table = columns([pair(a, b, n) for n, (a, b) in enumerate(EDGES) if a == b], signals)
    for name in ("bleu", "rouge_precision", "rouge_recall", "rouge_f1", "bertscore_f1"):
        assert table[name] == pytest.approx(1, abs=1e-5), name


def test_swapping_the_texts_swaps_precision_and_recall(signals: list[Signal], pairs: list[SyntheticPair]) -> None:
    """For ROUGE and BERTScore; F1 stays."""
    table = columns(pairs, signals)
    turned = columns([replace(made, reference=made.hypothesis, hypothesis=made.reference) for made in pairs], signals)
    swaps = [(f"{name}_precision", f"{name}_recall") for name in ("rouge", "bertscore")]
    for one, other in [*swaps, ("rouge_f1", "rouge_f1")]:
        assert table[one] == pytest.approx(turned[other], abs=1e-5)


def test_a_subset_has_the_columns_of_the_full_table(signals: list[Signal], pairs: list[SyntheticPair]) -> None:
    """One signal alone, another order: the same numbers."""
    full = columns(pairs, signals)
    for name in SIGNALS:
        part = columns(pairs, [SIGNALS[name]()])
        for column, values in part.items():
            assert values == pytest.approx(full[column], abs=1e-6)
    turned = columns(pairs[::-1], signals)
    assert all(values[::-1] == pytest.approx(full[name], abs=1e-6) for name, values in turned.items())


def test_bleu_and_rouge_by_hand() -> None:
    """A b c d against a b x: precisions 2/3, 1/2, then 1/(2*1), no order 4; brevity exp(1 - 4/3); ROUGE 2/3 and 2/4."""
    table = columns([pair("a b c d", "a b x")], [SIGNALS["bleu"](), SIGNALS["rouge"]()])
    wanted = np.exp(1 - 4 / 3) * (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3)
    assert table["bleu"] == pytest.approx(wanted)
    found = [table[f"rouge_{name}"][0] for name in ("precision", "recall", "f1")]
    assert found == pytest.approx([2 / 3, 1 / 2, 4 / 7])


def test_bertscore_parts_and_its_f1_agree() -> None:
    """The three numbers are the slow greedy means over the pieces' cosines, and F1 is the metric's."""
    score, texts = BertScore(), ("A dog barks.", "Two dogs bark loudly.")
    states = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in score._states.of(list(texts))]
    recall = np.mean([max(float(a @ b) for b in states[1]) for a in states[0]])
    precision = np.mean([max(float(a @ b) for a in states[0]) for b in states[1]])
    table = columns([pair(*texts)], [SIGNALS["bertscore"]()])
    assert table["bertscore_precision"] == pytest.approx(precision, abs=1e-5)
    assert table["bertscore_recall"] == pytest.approx(recall, abs=1e-5)
    assert (
        table["bertscore_f1"][0] == score([texts])[0] == pytest.approx(2 * recall * precision / (recall + precision), abs=1e-6)
    )
    assert score([("", ""), ("", "a"), ("a", "")]) == [1.0, 0.0, 0.0]


def test_the_flag() -> None:
    """The pair says how it was made, else its operations do."""
    flags = [pair("a", "b", 0, signals={FLAG: 1.0}), pair("a", "b", 1)]
    assert columns(flags, [SIGNALS["backtranslation"]()])[FLAG].tolist() == [1, 0]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An absent package is an error when asked for by name, and left out of the available ones."""
    monkeypatch.setitem(__import__("sys").modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(ModelMissingError, match="pip install"):
        SIGNALS["rouge"]()
    made, missing = available_signals()
    assert [signal.name for signal in made] == ["bleu", "bertscore", "backtranslation"]
    assert set(missing) == {"rouge", "likelihood", "entailment"} and "--entailment" in missing["entailment"]


def test_checkpoints_give_likelihoods_and_entailment(tmp_path: Path) -> None:
    """A likelihood is the slow sum over the pieces of the target, an absent number that of a text beyond the window; classes sum to 1."""
    classifier = save_masked_and_judge(tmp_path)["judge"]
    there, back = save_translator(tmp_path / "there"), save_translator(tmp_path / "back", 1)
    made, missing = available_signals(classifier, [("fr", there, back)])
    names = ["likelihood_fr_hypothesis", "likelihood_fr_reference", "entailment"]
    assert not missing and [signal.name for signal in made[4:]] == names
    targets = signal_targets([pair("the cat sat", "a dog slept"), pair("the cat", "the " * 40, 1)], made[4:])
    assert targets["entailment"].shape == (2, 3) and targets["entailment"].sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    (model, reading, _), (writer, writing, _) = (trip := RoundTrip("fr", there, back)).models
    with torch.no_grad():
        foreign = model.generate(
            reading("the cat sat", return_tensors="pt").input_ids, num_beams=4, max_length=None, max_new_tokens=23
        )
        ids = writing(reading.decode(foreign[0], skip_special_tokens=True), return_tensors="pt").input_ids
        labels = writing("a dog slept", return_tensors="pt").input_ids
        logs = writer(input_ids=ids, labels=labels).logits[0].log_softmax(-1)
    slow = np.mean([float(logs[n, piece]) for n, piece in enumerate(labels[0].tolist())])
    assert trip.likelihood("the cat sat", "a dog slept") == pytest.approx(slow, abs=1e-4)
    assert targets[names[0]][0, 0] == pytest.approx(slow, abs=1e-4) and np.isnan(targets[names[0]][1, 0])


def test_the_table_gives_targets(signals: list[Signal], pairs: list[SyntheticPair]) -> None:
    """Each signal is one task; the flag is a class; two pairs of one id are refused."""
    targets = signal_targets(pairs, signals)
    shapes = {name: target.shape[1:] for name, target in targets.items()}
    assert shapes == {"bleu": (1,), "rouge": (3,), "bertscore": (3,), "backtranslation": ()}
    assert [signal.name for signal in signals if signal.loss == "classes"] == ["backtranslation"]
    with pytest.raises(InputError, match="two pairs have one id"):
        columns([pairs[-1], pairs[-1]], signals)
