"""Pre-training signals: laws of the table, and figures by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from synthesis_models import FakeFiller, save_translator

from rome.evaluation.metrics.peers import BertScore
from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.bleurt import BleurtPipeline
from rome.train.synthesis.pairs import GeneratedPair
from rome.train.synthesis.signals import (
    FLAG,
    SIGNALS,
    Signal,
    SignalSources,
    SignalTable,
    available_signals,
    make_signals,
    signal_table,
)
from rome.train.synthesis.translation import RoundTrip

EDGES = [("a cat", "a cat"), ("a cat sat", ""), ("", ""), ("...", "..."), ("one", "one"), ("one", "two"), ("é — ü", "é ü")]


class ThreeWay:
    """Entailment by counting: shared words entail, the rest is split."""

    signature = "counted"

    def classes(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        share = np.array([len({*a.split()} & {*b.split()}) / max(1, len({*a.split()} | {*b.split()})) for a, b in pairs])
        return np.stack([share, (1 - share) * 0.25, (1 - share) * 0.75], axis=1)

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        return self.classes(pairs)[:, 0]


def pair(reference: str, hypothesis: str, number: int = 0, **further: Any) -> GeneratedPair:
    return GeneratedPair(f"made|{number}", "made", 0, reference, hypothesis, **further)


@pytest.fixture(scope="module")
def round_trip(tmp_path_factory: pytest.TempPathFactory) -> RoundTrip:
    folder = tmp_path_factory.mktemp("translators")
    return RoundTrip.load("fr", save_translator(folder / "there"), save_translator(folder / "back", 1), beams=2, batch=3)


@pytest.fixture(scope="module")
def signals(round_trip: RoundTrip) -> list[Signal]:
    return make_signals(SIGNALS, SignalSources([round_trip], ThreeWay()))


@pytest.fixture(scope="module")
def pairs() -> list[GeneratedPair]:
    texts = ["Two dogs sat on the mat.", "The cat slept near a quiet river all day.", "Nobody knows why he left."]
    made = list(BleurtPipeline(FakeFiller(), drop=1.0).pairs([("made:1", text) for text in texts], 5))
    return made + [pair(*texts, n) for n, texts in enumerate(EDGES)]


def test_every_signal_is_in_its_range(signals: list[Signal], pairs: list[GeneratedPair]) -> None:
    """Shares and probabilities in [0, 1], likelihoods at most 0, BERTScore in [-1, 1]; entailment adds up to 1."""
    table = signal_table(pairs, signals)
    assert len(table) == len(pairs) and table.ids == tuple(made.id for made in pairs)
    for name, column in table.columns.items():
        low, high = (-np.inf, 0) if name.startswith("likelihood") else (-1 if name.startswith("bertscore") else 0, 1)
        assert np.isfinite(column).all() and (column >= low).all() and (column <= high + 1e-6).all(), name
    assert sum(table.columns[f"entailment_{name}"] for name in ("entail", "contradict", "neutral")) == pytest.approx(1)


def test_equal_texts_have_the_best_value(signals: list[Signal]) -> None:
    """Also where nothing can be counted: no words, one word, signs alone."""
    table = signal_table([pair(a, b, n) for n, (a, b) in enumerate(EDGES) if a == b], signals)
    for name in ("bleu", "rouge_precision", "rouge_recall", "rouge_f1", "bertscore_f1"):
        assert table.columns[name] == pytest.approx(1, abs=1e-5), name


def test_swapping_the_texts_swaps_precision_and_recall(signals: list[Signal], pairs: list[GeneratedPair]) -> None:
    """For ROUGE, BERTScore and the two directions of the likelihood; F1 stays."""
    table = signal_table(pairs, signals)
    turned = signal_table([replace(made, reference=made.hypothesis, hypothesis=made.reference) for made in pairs], signals)
    swaps = [(f"{name}_precision", f"{name}_recall") for name in ("rouge", "bertscore")]
    for one, other in [*swaps, ("rouge_f1", "rouge_f1"), ("likelihood_fr_hypothesis", "likelihood_fr_reference")]:
        assert table.columns[one] == pytest.approx(turned.columns[other], abs=1e-5)


def test_a_subset_has_the_columns_of_the_full_table(
    signals: list[Signal], pairs: list[GeneratedPair], round_trip: RoundTrip
) -> None:
    """One signal alone, other batches, another order: the same numbers."""
    full = signal_table(pairs, signals)
    for name in SIGNALS:
        part = signal_table(pairs, make_signals([name], SignalSources([round_trip], ThreeWay())), batch=4)
        for column, values in part.columns.items():
            assert values == pytest.approx(full.columns[column], abs=1e-6)
    turned = signal_table(pairs[::-1], signals)
    assert all(values[::-1] == pytest.approx(full.columns[name], abs=1e-6) for name, values in turned.columns.items())


def test_bleu_and_rouge_by_hand() -> None:
    """a b c d against a b x: precisions 2/3, 1/2, then 1/(2*1), no order 4; brevity exp(1 - 4/3); ROUGE 2/3 and 2/4."""
    table = signal_table([pair("a b c d", "a b x")], make_signals(["bleu", "rouge"]))
    wanted = np.exp(1 - 4 / 3) * (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3)
    assert table.columns["bleu"] == pytest.approx(wanted)
    found = [table.columns[f"rouge_{name}"][0] for name in ("precision", "recall", "f1")]
    assert found == pytest.approx([2 / 3, 1 / 2, 4 / 7])
    bigrams = signal_table([pair("a b c d", "a b x")], make_signals(["rouge"], SignalSources(rouge="rouge2")))
    assert bigrams.columns["rouge_recall"] == pytest.approx(1 / 3)


def test_bertscore_parts_and_its_f1_agree() -> None:
    """The three numbers are the slow greedy means over the pieces' cosines, and F1 is the metric's."""
    score, texts = BertScore(), ("A dog barks.", "Two dogs bark loudly.")
    states = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in score._loaded().of(list(texts))]
    recall = np.mean([max(float(a @ b) for b in states[1]) for a in states[0]])
    precision = np.mean([max(float(a @ b) for a in states[0]) for b in states[1]])
    table = signal_table([pair(*texts)], make_signals(["bertscore"]))
    assert table.columns["bertscore_precision"] == pytest.approx(precision, abs=1e-5)
    assert table.columns["bertscore_recall"] == pytest.approx(recall, abs=1e-5)
    assert table.columns["bertscore_f1"][0] == score([texts])[0]


def test_the_likelihood_is_the_slow_loop(round_trip: RoundTrip) -> None:
    """Token by token: the mean log probability of the hypothesis after the best translation of the reference (§4.2)."""
    reference, hypothesis = "the cat sat on a mat.", "two dogs slept."
    forward, backward = round_trip.forward, round_trip.backward
    foreign = forward.translate([reference])[0]
    ids = backward.tokenizer(hypothesis).input_ids
    source = torch.tensor([backward.tokenizer(foreign).input_ids])
    total, so_far = 0.0, [backward.model.config.decoder_start_token_id]
    for wanted in ids:
        logits = backward.model(input_ids=source, decoder_input_ids=torch.tensor([so_far])).logits[0, -1]
        total += float(torch.log_softmax(logits.double(), 0)[wanted])
        so_far.append(wanted)
    table = signal_table([pair(reference, hypothesis)], make_signals(["likelihood"], SignalSources([round_trip])))
    assert table.columns["likelihood_fr_hypothesis"] == pytest.approx(total / len(ids), abs=1e-5)


def test_a_text_beyond_the_window_has_no_likelihood(round_trip: RoundTrip) -> None:
    """NaN, never a likelihood of a part."""
    found = round_trip.likelihood(["the cat " * 30, "the cat", "the cat"], ["the cat", "the cat " * 30, "the cat"])
    assert np.isnan(found).tolist() == [True, True, False]
    assert round_trip.likelihood([], []).shape == (0,)


def test_the_flag_and_two_way_entailment() -> None:
    """The pair says how it was made, else its operations do; a two-way model gives one column, learnt by regression."""
    flags = [pair("a", "b", 0, signals={FLAG: 1.0}), pair("a", "b", 1)]
    assert signal_table(flags, make_signals(["backtranslation"])).columns[FLAG].tolist() == [1, 0]

    class TwoWay:
        signature, classes = "quarter", None

        def probabilities(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
            return np.full(len(pairs), 0.25)

    (signal,) = make_signals(["entailment"], SignalSources(entailment=TwoWay()))
    assert (signal.columns, signal.loss) == (("entailment_entail",), "regression")
    assert signal_table(flags, [signal]).columns["entailment_entail"].tolist() == [0.25, 0.25]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An absent model or package is an error when asked for by name, and a reason where everything there is is wanted."""
    for name, words in {"likelihood": "translation checkpoints", "entailment": "model of entailment"}.items():
        with pytest.raises(ModelMissingError, match=words):
            make_signals([name])
    with pytest.raises(InputError, match="meteor: choose"):
        make_signals(["meteor"])
    with pytest.raises(InputError, match="rouge7x"):
        make_signals(["rouge"], SignalSources(rouge="rouge7x"))
    monkeypatch.setitem(__import__("sys").modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(ModelMissingError, match="pip install"):
        make_signals(["rouge"])
    made, missing = available_signals()
    assert [signal.name for signal in made] == ["bleu", "bertscore", "backtranslation"]
    assert set(missing) == {"rouge", "likelihood", "entailment"}


def test_the_table_gives_targets(signals: list[Signal], pairs: list[GeneratedPair]) -> None:
    """Joint signals are one task, the likelihoods one each; the flag is a class; two pairs of one id are refused."""
    table: SignalTable = signal_table(pairs, signals)
    targets, losses = table.targets()
    shapes = {name: target.shape[1:] for name, target in targets.items()}
    assert shapes == {
        "bleu": (1,),
        "rouge": (3,),
        "bertscore": (3,),
        "likelihood_fr_hypothesis": (1,),
        "likelihood_fr_reference": (1,),
        "entailment": (3,),
        "backtranslation": (),
    }
    assert {name for name, loss in losses.items() if loss == "classes"} == {"entailment", "backtranslation"}
    with pytest.raises(InputError, match="two pairs have the id made|0"):
        signal_table([pairs[-1], pairs[-1]], signals)
    with pytest.raises(InputError, match="without a signal"):
        signal_table(pairs, [])
