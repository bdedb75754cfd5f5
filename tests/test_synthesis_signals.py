"""Pre-training signals and multi-task training: laws of the table, figures by hand, and a net that learns what is not noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from synthesis_models import FakeFiller, save_translator

from rome.evaluation.metrics.peers import BertScore
from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.bleurt import BleurtPipeline
from rome.train.synthesis.multitask import TrainingPlan, pair_vectors, pretrain
from rome.train.synthesis.multitask_model import MultiTaskModel
from rome.train.synthesis.multitask_state import TrainingState
from rome.train.synthesis.signal_table import SignalTable, read_signals, signal_table, write_signals
from rome.train.synthesis.signals import FLAG, SIGNALS, Signal, SignalSources, available_signals, make_signals
from rome.train.synthesis.translation import RoundTrip
from rome.train.synthesis.values import GeneratedPair

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


def test_the_table_on_disk(tmp_path: Path, signals: list[Signal], pairs: list[GeneratedPair]) -> None:
    """What is read is what was written, whole or some signals of it, with every signature; equal runs give equal bytes."""
    path, again = tmp_path / "signals.parquet", tmp_path / "again.parquet"
    assert write_signals(path, iter(pairs), signals, batch=5, progress=False) == len(pairs)
    write_signals(again, pairs, signals, batch=5)
    assert path.read_bytes() == again.read_bytes()
    full, read = signal_table(pairs, signals, batch=5), read_signals(path)
    assert read.ids == full.ids and list(read.signals.items()) == list(full.signals.items())
    assert all((read.columns[name] == column).all() for name, column in full.columns.items())
    assert all(signal["signature"] for signal in read.signals.values())
    part = read_signals(path, ["bleu", "likelihood_fr"])
    assert list(part.columns) == ["bleu", "likelihood_fr_hypothesis", "likelihood_fr_reference"]
    assert write_signals(path, [], signals) == len(read_signals(path)) == 0


def test_a_damaged_or_unlike_table_is_refused(tmp_path: Path, signals: list[Signal], pairs: list[GeneratedPair]) -> None:
    """Missing, no Parquet, cut short, another signal, two pairs of one id; a run that fails leaves no file behind."""
    path = tmp_path / "signals.parquet"
    with pytest.raises(InputError, match="missing"):
        read_signals(path)
    with pytest.raises(InputError, match="two pairs have the id made|0"):
        write_signals(path, [pairs[-1], pairs[-1]], signals)
    with pytest.raises(InputError, match="without a signal"):
        signal_table(pairs, [])
    assert list(tmp_path.iterdir()) == []
    path.write_text("no parquet")
    with pytest.raises(InputError, match="no table of signals"):
        read_signals(path)
    write_signals(path, pairs, signals[:1])
    with pytest.raises(InputError, match="lacks the signal rouge: choose among bleu"):
        read_signals(path, ["rouge"])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="no table of signals"):
        read_signals(path)


def test_the_table_gives_targets(signals: list[Signal], pairs: list[GeneratedPair]) -> None:
    """Joint signals are one task, the likelihoods one each; the flag is a class; training takes them as they are."""
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
    inputs = np.random.default_rng(0).normal(size=(len(pairs), 4))
    model = pretrain(inputs, targets, losses=losses, plan=TrainingPlan(steps=3, hidden=4))
    assert {name: found.shape[1] for name, found in model.predict(inputs).items()}["entailment"] == 3


def test_pair_vectors_by_hand() -> None:
    """Both vectors, their distance and their product, side by side; nothing for no pairs."""

    class Letters:
        identity = "letters"

        def of(self, texts: Sequence[str]) -> np.ndarray:
            return np.array([[text.count("a"), text.count("b")] for text in texts], dtype=np.float32).reshape(-1, 2)

    found = pair_vectors([pair("aab", "b"), pair("b", "b")], Letters())
    assert found.tolist() == [[2, 1, 0, 1, 2, 0, 0, 1], [0, 1, 0, 1, 0, 0, 0, 1]]
    assert pair_vectors([], Letters()).shape == (0, 8)


def made_up(count: int = 600) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Inputs, and signals that depend on them: two linear ones, a class, soft classes, and pure noise."""
    draw = np.random.default_rng(1)
    inputs = draw.normal(size=(count, 6))
    soft = np.exp(inputs[:, :3]) / np.exp(inputs[:, :3]).sum(1, keepdims=True)
    linear = 40 + 9 * inputs[:, :2] @ draw.normal(size=(2, 2))
    classes = (inputs[:, 2] > 0).astype(np.int64)
    return inputs, {"linear": linear, "class": classes, "soft": soft, "noise": draw.normal(size=count)}


PLAN = TrainingPlan(steps=180, hidden=24, every=30, rate=5e-3)


def test_training_lowers_the_loss_and_predicts_what_was_held_out() -> None:
    """On rows that were not trained on, signals come out in their own units, and noise does not."""
    inputs, targets = made_up()
    model = pretrain(inputs[:450], {name: rows[:450] for name, rows in targets.items()}, losses={"soft": "classes"}, plan=PLAN)
    totals = [row.held_out for row in model.history]
    assert min(totals) < totals[0] and [row.step for row in model.history] == [30, 60, 90, 120, 150, 180]
    for name, most in {"linear": 0.1, "class": 0.3, "soft": 0.95}.items():
        assert model.history[-1].tasks[name] < most, name
    found = model.predict(inputs[450:])
    assert np.corrcoef(found["linear"][:, 0], targets["linear"][450:, 0])[0, 1] > 0.98
    assert abs(found["linear"].mean() - targets["linear"][450:].mean()) < 2
    assert ((found["class"][:, 1] > 0.5) == targets["class"][450:]).mean() > 0.93
    assert np.abs(found["soft"] - targets["soft"][450:]).mean() < 0.05
    assert found["soft"].sum(1) == pytest.approx(1)
    assert abs(np.corrcoef(found["noise"][:, 0], targets["noise"][450:])[0, 1]) < 0.3


def test_losses_are_those_of_the_paper() -> None:
    """Squared distance of the normalised target over its columns, and cross-entropy, by hand (§4.3)."""
    inputs, targets = made_up(80)
    model = pretrain(inputs, targets, losses={"soft": "classes"}, plan=replace(PLAN, steps=5, held_out=0))
    losses, found = model.losses(inputs, targets), model.predict(inputs)
    spread = targets["linear"].std(axis=0)
    assert losses["linear"] == pytest.approx((((found["linear"] - targets["linear"]) / spread) ** 2).mean(), rel=1e-4)
    assert losses["soft"] == pytest.approx(-(targets["soft"] * np.log(found["soft"])).sum(1).mean(), rel=1e-4)
    chosen = found["class"][np.arange(80), targets["class"]]
    assert losses["class"] == pytest.approx(-np.log(chosen).mean(), rel=1e-4)


def test_same_seed_same_weights_also_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run stopped in the middle and begun again ends with the bytes of one that was not; another seed does not."""
    inputs, targets = made_up(120)
    plan = replace(PLAN, steps=60, every=20)
    whole, other, resumed = (tmp_path / name for name in ("whole", "other", "resumed"))
    torch.manual_seed(99)
    state = torch.get_rng_state()
    pretrain(inputs, targets, plan=plan).save(whole)
    assert torch.equal(torch.get_rng_state(), state)
    pretrain(inputs, targets, plan=replace(plan, seed=1)).save(other)
    update, checkpoint = TrainingState.update, tmp_path / "checkpoint"

    def stopped(self: TrainingState, loss: torch.Tensor) -> float:
        if self.step == 47:
            raise KeyboardInterrupt
        return update(self, loss)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingState, "update", stopped)
        with pytest.raises(KeyboardInterrupt):
            pretrain(inputs, targets, plan=plan, checkpoint=checkpoint)
    model = pretrain(inputs, targets, plan=plan, checkpoint=checkpoint)
    model.save(resumed)
    assert whole.read_bytes() == resumed.read_bytes() != other.read_bytes()
    assert [row.step for row in model.history] == [20, 40, 60]
    with pytest.raises(InputError, match="another run"):
        pretrain(inputs + 1, targets, plan=plan, checkpoint=checkpoint)
    with pytest.raises(InputError, match="no checkpoint"):
        pretrain(inputs, targets, plan=plan, checkpoint=__file__)


def test_a_saved_model_predicts_the_same(tmp_path: Path) -> None:
    """With the default body and with one's own; another file is refused."""
    inputs, targets = made_up(60)
    path = tmp_path / "model.safetensors"
    model = pretrain(inputs, targets, plan=replace(PLAN, steps=4))
    model.save(path)
    again = MultiTaskModel.load(path).predict(inputs)
    assert all((again[name] == found).all() for name, found in model.predict(inputs).items())

    class Lookup(torch.nn.Module):
        """States found by row number."""

        def __init__(self) -> None:
            super().__init__()
            self.table = torch.from_numpy(inputs).float()
            self.layer = torch.nn.Linear(6, 5)

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return torch.tanh(self.layer(self.table[rows]))

    own = pretrain(np.arange(60), targets, body=Lookup(), plan=replace(PLAN, steps=4))
    own.save(path)
    with pytest.raises(InputError, match="body of its own"):
        MultiTaskModel.load(path)
    again = MultiTaskModel.load(path, Lookup()).predict(np.arange(60))
    assert all((again[name] == found).all() for name, found in own.predict(np.arange(60)).items())


def test_weights_choose_what_is_learnt() -> None:
    """A task of weight 0 changes nothing for the others; unknown values are passed over."""
    inputs, targets = made_up(300)
    alone = pretrain(inputs, {"linear": targets["linear"]}, plan=PLAN).predict(inputs)["linear"]
    both = {"linear": targets["linear"], "noise": targets["noise"]}
    ignored = pretrain(inputs, both, {"noise": 0.0}, plan=PLAN).predict(inputs)["linear"]
    assert np.corrcoef(alone[:, 0], ignored[:, 0])[0, 1] > 0.99
    gaps = targets["linear"].copy()
    gaps[::2] = np.nan
    half = targets["class"].copy()
    half[::3] = -1
    found = pretrain(inputs, {"linear": gaps, "class": half}, plan=PLAN).predict(inputs)
    assert np.corrcoef(found["linear"][::2, 0], targets["linear"][::2, 0])[0, 1] > 0.9
    assert ((found["class"][::3, 1] > 0.5) == targets["class"][::3]).mean() > 0.85


def test_rows_of_one_group_stay_together() -> None:
    """Held-out rows share no reference with the trained ones (appendix B.2): a signal known by group alone is not predicted."""
    draw = np.random.default_rng(0)
    groups = [f"g{n // 10}" for n in range(300)]
    inputs = np.eye(30)[np.arange(300) // 10]
    target = draw.normal(size=30)[np.arange(300) // 10]
    plan = replace(PLAN, held_out=0.3)
    together = pretrain(inputs, {"t": target}, groups=groups, plan=plan).history[-1].tasks["t"]
    apart = pretrain(inputs, {"t": target}, plan=plan).history[-1].tasks["t"]
    assert apart < 0.01 < 0.3 < together


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inputs": np.zeros((0, 3))}, "one row and one signal"),
        ({"targets": {}}, "one row and one signal"),
        ({"targets": {"t": np.zeros(9)}}, "shape"),
        ({"targets": {"t": np.full(10, np.nan)}}, "no known value"),
        ({"targets": {"t": np.full(10, np.inf)}}, "infinite"),
        ({"targets": {"t": np.full(10, -1)}}, "no classes"),
        ({"weights": {"u": 1.0}}, "no signal is called u"),
        ({"weights": {"t": -1.0}}, "at least 0"),
        ({"losses": {"t": "hinge"}}, "regression or classes"),
        ({"targets": {"t": np.full((10, 2), 0.9)}, "losses": {"t": "classes"}}, "not probabilities"),
        ({"groups": ["a"]}, "groups"),
        ({"plan": TrainingPlan(steps=0)}, "positive"),
        ({"inputs": np.full((10, 3), np.nan)}, "not finite"),
        ({"body": torch.nn.Flatten(0)}, "must give"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], words: str) -> None:
    """One line that names what is wrong, before any training."""
    given: dict[str, Any] = {"inputs": np.ones((10, 3)), "targets": {"t": np.zeros(10)}, "plan": TrainingPlan(steps=1)}
    with pytest.raises(InputError, match=words):
        pretrain(**(given | change))
