"""Entailment: the pair head, its recipe `rome train entailment`, and checkpoints of others."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_encoder import sentences, write_encoder, write_lines, write_texts
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification, BertTokenizerFast

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_encoder
from rome.features.analyser.pair_head import PAIR_FILE, PairHead, PairJudge, load_pair_head, pad
from rome.features.values import Analysis
from rome.train import entailment, entailment_data
from rome.train.card import FIELDS
from rome.train.entailment_data import RELATIONS, PairExample, load_material, perturbed_pairs
from rome.train.synthesis.entailment import EmbeddedEntailment, TransformerEntailment, load_entailment
from rome.train.synthesis.own_heads import own_head

from handmade import analysis

shipped = pytest.mark.skipif(not (set_folder() / "entailment" / PAIR_FILE).is_file(), reason="no entailment head is packaged")
PAIRS = [("A dog sleeps.", "An animal sleeps."), ("A dog sleeps.", "It rains in the old town."), ("It rains.", "It rains.")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> PairJudge:
    """A random head on a tiny trunk."""
    folder = write_encoder(tmp_path_factory.mktemp("models") / "encoder")
    torch.manual_seed(1)
    encoder = load_encoder(folder)
    return PairJudge(encoder, PairHead(hidden=24, width=8, heads=2))


def analyse(texts: Sequence[str]) -> Mapping[str, Analysis]:
    """Analyses without a model."""
    return {text: analysis(text) for text in texts}


def write_data(folder: Path) -> None:
    """Everything that the recipe reads, tiny."""
    write_texts(folder)
    labels = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
    for part in ("train", "dev", "test"):
        texts = sentences(12)
        rows = [{"a": a, "b": b, "entailment": labels[n % 3]} for n, (a, b) in enumerate(zip(texts, texts[::-1], strict=True))]
        write_lines(folder / "pairs" / f"sick_{part}.jsonl.gz", rows)
    texts = sentences(12, 9)
    rows = [{"a": a, "b": b, "paraphrase": n % 2} for n, (a, b) in enumerate(zip(texts, texts[::-1], strict=True))]
    write_lines(folder / "pairs" / "msrp_train.jsonl.gz", rows)
    write_lines(folder / "pairs" / "sts_2012_2016.jsonl.gz", [{**row, "similarity": n % 6} for n, row in enumerate(rows)])


def arguments(tmp_path: Path, name: str, *more: str) -> argparse.Namespace:
    """Options of a run of six steps."""
    parser = argparse.ArgumentParser()
    entailment.add_arguments(parser)
    options = ["--steps", "6", "--batch", "8", "--texts", "16", "--width", "8", "--every", "4", *more]
    return parser.parse_args(["--out", str(tmp_path / name), "--encoder", str(tmp_path / "encoder"), *options])


def test_recipe_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command writes a head that loads and a full card; the same seed gives the same bytes, and so does a run that was
    interrupted and resumed; with SICK the card says so."""
    write_data(tmp_path / "data")
    write_encoder(tmp_path / "encoder")
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(entailment, "analyser", lambda models, work, threads: analyse)
    assert entailment.run(arguments(tmp_path, "one")) == 0
    card = json.loads((tmp_path / "one" / "card.json").read_text(encoding="utf-8"))
    assert tuple(card) == FIELDS and card["steps"] == 6 and "SICK" not in " ".join(card["data"])
    assert set(card["figures"]) == {"sick_dev", "sick_test", "perturbations", "held_out"}
    assert all(0 <= row[name] <= 1 for row in card["figures"].values() for name in ("accuracy", "entailed_auc"))
    more = ("--resume", "--out", str(tmp_path / "two"), "--work", str(tmp_path / "one.work"))
    assert entailment.run(arguments(tmp_path, "one", *more)) == 0
    assert entailment.run(arguments(tmp_path, "three", "--sick", "1")) == 0
    files = [(tmp_path / name / PAIR_FILE).read_bytes() for name in ("one", "two", "three")]
    assert files[0] == files[1] != files[2]
    card = json.loads((tmp_path / "three" / "card.json").read_text(encoding="utf-8"))
    assert "SICK train" in card["data"] and "--sick 1" in card["recipe"] and "non-commercial" in card["notes"]
    loaded = load_pair_head(tmp_path / "one", tmp_path / "encoder")
    assert loaded.probabilities(PAIRS).shape == (3, 3)


def test_nothing_that_judges_is_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SICK's development and test pairs and EWT's development sentences only judge; what is held out is not trained on."""
    write_data(tmp_path / "data")
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "data"))
    material = load_material(analyse, 16, False, 0)
    trained, held = {example.group for example in material.train}, {example.group for example in material.held}
    assert held and not held & trained and "sick" not in {example.kind for example in material.train}
    assert not {example.group for example in material.judging["perturbations"]} & trained
    assert "sick" in {example.kind for example in load_material(analyse, 16, True, 0).train}


def test_perturbed_pairs_know_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text entails itself; changed numbers do not follow in either direction; the same seed gives the same pairs."""
    monkeypatch.setattr(entailment_data, "A_TEXT", 100)
    texts = ["The farmer bought 12 red apples in Paris.", "It was not safe to swim in the cold river."]
    made = list(perturbed_pairs(texts, analyse, 3))
    assert made == list(perturbed_pairs(texts, analyse, 3))
    assert {(e.first, e.second) for e in made if e.kind == "identity"} == {(text, text) for text in texts}
    changed = [example for example in made if example.kind == "number_changed"]
    assert len(changed) == 2 and changed[0].first == changed[1].second == texts[0]
    assert all("e" not in example.answers for example in changed)
    assert all(set(answers) <= set("enc") for both in RELATIONS.values() for answers in both)


def test_partial_labels_by_hand() -> None:
    """The loss is minus the log-probability of all possible answers together."""
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2]] * 3))
    examples = [PairExample("a", "b", answers, "x", "a") for answers in ("e", "cn", "enc")]
    expected = -np.log([0.5, 0.5, 1.0])
    np.testing.assert_allclose(entailment.loss_of(logits, examples).numpy(), expected, atol=1e-6)


def test_figures_by_hand() -> None:
    """Accuracy counts every possible answer; entailment is judged where it is certain or excluded."""
    examples = [
        PairExample("a", "b", answers, kind, "a") for answers, kind in (("e", "x"), ("cn", "x"), ("n", "y"), ("en", "y"))
    ]
    probabilities = np.array([[0.8, 0.1, 0.1], [0.3, 0.3, 0.4], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    figures = entailment.figures_of(probabilities, examples)
    assert figures["accuracy"] == 0.5 and figures["entailed_accuracy"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["entailed_auc"] == 1.0 and figures["by_kind"] == {"x": 1.0, "y": 0.0}


def test_probabilities_are_a_distribution(tiny: PairJudge) -> None:
    """Each row sums to 1; again gives the same; no pairs give no rows."""
    found = tiny.probabilities(PAIRS)
    np.testing.assert_allclose(found.sum(1), 1.0, atol=1e-9)
    assert np.array_equal(found, tiny.probabilities(PAIRS)) and tiny.probabilities([]).shape == (0, 3)


def test_a_pair_does_not_depend_on_its_neighbours(tiny: PairJudge) -> None:
    """Alone or among longer pairs, the same probabilities: padding changes nothing."""
    pairs = [*PAIRS, ("long words " * 90, "A dog sleeps."), ("It rains.", "and so on " * 40)]
    together = tiny.probabilities(pairs)
    np.testing.assert_allclose(together, [tiny.probabilities([pair])[0] for pair in pairs], atol=1e-5)
    np.testing.assert_allclose(tiny.probabilities(pairs[::-1])[::-1], together, atol=1e-5)


def test_what_stands_under_the_mask_changes_nothing() -> None:
    """Even numbers that are not."""
    torch.manual_seed(0)
    head = PairHead(hidden=24, width=8, heads=2).eval()
    first, second = pad([torch.randn(3, 24), torch.randn(5, 24)]), pad([torch.randn(4, 24), torch.randn(2, 24)])
    expected = head(*first, *second)
    spoiled = [(states.masked_fill(~mask[:, :, None], float("nan")), mask) for states, mask in (first, second)]
    assert torch.allclose(expected, head(*spoiled[0], *spoiled[1]))


def test_empty_texts_are_decided(tiny: PairJudge) -> None:
    """Nothing follows from everything; from nothing follows nothing else."""
    found = tiny.probabilities([("A dog sleeps.", ""), ("", ""), (" ", "A dog sleeps.")])
    assert found.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_texts_beyond_the_window(tiny: PairJudge) -> None:
    """Thousands of words are judged whole."""
    assert np.isfinite(tiny.probabilities([("many words " * 700, "A dog sleeps.")])).all()


def test_embedded_entailment_follows_the_head(tiny: PairJudge) -> None:
    """The first class, and all three in the order entailed, contradicted, neither."""
    embedded = EmbeddedEntailment(tiny, "abc")
    found = tiny.probabilities(PAIRS)
    assert embedded.signature == "embedded@abc" and embedded.classes is not None
    np.testing.assert_allclose(embedded.probabilities(PAIRS), found[:, 0], atol=1e-6)
    np.testing.assert_allclose(embedded.classes(PAIRS), found[:, [0, 2, 1]], atol=1e-6)


def write_checkpoint(folder: Path, labels: Sequence[str], kind: type = BertForSequenceClassification) -> Path:
    """A tiny random checkpoint with its tokenizer."""
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "animal", "sleeps", "it", "rains", ".", "an"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
    torch.manual_seed(2)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(words), max_position_embeddings=32, id2label=dict(enumerate(labels)), **sizes)
    kind(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), [2, 0, 1]),
        (("entailment", "neutral", "contradiction"), [0, 2, 1]),
        (("not_entailment", "entailment"), [1]),
    ],
)
def test_label_names_say_which_class_is_which(tmp_path: Path, labels: Sequence[str], columns: list[int]) -> None:
    """Whatever the order; where two classes are one, only entailment is told."""
    model = TransformerEntailment(write_checkpoint(tmp_path / "model", labels))
    assert model.columns == columns and model.signature.startswith("classifier:model@")
    found = model.probabilities(PAIRS)
    assert found.shape == (3,) and (found >= 0).all() and (found <= 1).all()
    assert model.probabilities([]).shape == (0,)
    if len(columns) == 3:
        assert model.classes is not None
        np.testing.assert_allclose(model.classes(PAIRS).sum(1), 1.0, atol=1e-5)
        np.testing.assert_allclose(model.classes(PAIRS)[:, 0], found)
    else:
        assert model.classes is None


def test_a_checkpoint_agrees_with_transformers(tmp_path: Path) -> None:
    """The oracle: one pair at a time through the model itself."""
    folder = write_checkpoint(tmp_path / "model", ("neutral", "entailment", "contradiction"))
    found = load_entailment(str(folder)).probabilities([*PAIRS, ("a dog sleeps . " * 20, "it rains .")])
    tokenizer, model = BertTokenizerFast.from_pretrained(folder), BertForSequenceClassification.from_pretrained(folder).eval()
    for (first, second), value in zip(PAIRS, found, strict=False):
        with torch.no_grad():
            logits = model(**tokenizer(first, second, return_tensors="pt")).logits[0]
        assert value == pytest.approx(float(torch.softmax(logits, 0)[1]), abs=1e-5)


def test_checkpoints_of_the_wrong_kind_are_refused(tmp_path: Path) -> None:
    """By name, with what would do: no entailment among the labels, another task, weights missing, no model at all."""
    wrong = {
        "labels LABEL_0, LABEL_1": write_checkpoint(tmp_path / "sentiment", ("LABEL_0", "LABEL_1")),
        "BertForMaskedLM": write_checkpoint(tmp_path / "masked", ("entailment", "other"), BertForMaskedLM),
    }
    bare = write_checkpoint(tmp_path / "bare", ("entailment", "other"), BertForMaskedLM)
    config = json.loads((bare / "config.json").read_text(encoding="utf-8"))
    (bare / "config.json").write_text(json.dumps({**config, "architectures": None}), encoding="utf-8")
    wrong["no weights for"] = bare
    (tmp_path / "nothing").mkdir()
    wrong["no model"] = tmp_path / "nothing"
    for message, folder in wrong.items():
        with pytest.raises(InputError, match=message) as caught:
            load_entailment(str(folder))
        assert folder.name in str(caught.value)
    with pytest.raises(ModelMissingError, match="hf download someone/nothing-here"):
        load_entailment("someone/nothing-here")
    with pytest.raises(ModelMissingError, match="entailment.safetensors"):
        load_pair_head(tmp_path)


@shipped
def test_the_packaged_head_knows_identity_from_unrelated() -> None:
    """A text entails itself more than an unrelated one does, and a lost number or a lost not is seen."""
    judge = load_entailment("embedded")
    texts = [*sentences(6), "The museum was closed on Monday.", "She did not sign the contract with 12 partners."]
    same = judge.probabilities([(text, text) for text in texts])
    other = judge.probabilities([(text, PAIRS[1][1]) for text in texts])
    assert (same > other).all() and same.mean() > 0.9 and other.mean() < 0.3
    changed = [("She signed the contract with 12 partners.", texts[-1]), (texts[-1].replace("12", "15"), texts[-1])]
    assert judge.probabilities(changed).max() < same.min()


def test_a_head_of_a_folder_and_none_at_all(tmp_path: Path) -> None:
    """A folder that a recipe wrote is known by its file, another folder is some other checkpoint; without the embedded one the way out is named."""
    assert own_head(str(tmp_path), "entailment") is None
    (tmp_path / "entailment.safetensors").write_bytes(b"")
    assert own_head(str(tmp_path), "entailment") == tmp_path
    with pytest.raises(ModelMissingError, match="give --nothing FOLDER"):
        own_head("embedded", "nothing")
