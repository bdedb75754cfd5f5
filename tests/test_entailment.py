"""Entailment and severity: what the reader of both texts says of a pair, and checkpoints of others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification, BertTokenizerFast

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.errors.evidence import READER_FILE, SEVERITIES, TYPES, PairPrediction
from rome.features.values import Analysis
from rome.train.synthesis import severities as severity_module
from rome.train.synthesis.edits import Operation
from rome.train.synthesis.severities import EntailmentSeverity, ReaderSeverity, SeverityModel, load_severity

from handmade import analysis

shipped = pytest.mark.skipif(
    not (set_folder() / "errors" / READER_FILE).is_file(), reason="the packaged set has no reader of both texts"
)
PAIRS = [("A dog sleeps.", "An animal sleeps."), ("A dog sleeps.", "It rains in the old town."), ("It rains.", "It rains.")]


def analyse(texts: Sequence[str]) -> Mapping[str, Analysis]:
    """Analyses without a model."""
    return {text: analysis(text) for text in texts}


class WordReader:
    """A word that only one text has: a minor error, or a critical one where it is a number; read is what it was asked."""

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []

    def __call__(self, pairs: Sequence[tuple[Analysis, Analysis]]) -> list[PairPrediction]:
        self.read += [(one.text, other.text) for one, other in pairs]
        return [self._one(*pair) for pair in pairs]

    def _one(self, one: Analysis, other: Analysis) -> PairPrediction:
        known = {word.text for word in one.words} & {word.text for word in other.words}
        words = [word.text for word in (*one.words, *other.words)]
        kinds = [0 if word in known else 3 if word.isdigit() else 1 for word in words]
        probabilities = np.eye(len(SEVERITIES))[kinds]
        return PairPrediction(
            probabilities, np.full((len(words), len(TYPES)), 1 / len(TYPES)), float((probabilities @ [0, 1, 5, 10]).sum())
        )


# The reader


def test_an_edit_weighs_what_its_worst_word_does() -> None:
    """Words that it takes and words that it brings, carried out alone; length does not add up; no word weighs nothing."""
    text = "The old dog ate 12 red apples ."
    edits = [
        Operation("replacement", 16, 18, "12", "15"),
        Operation("deletion", 4, 8, "old ", ""),
        Operation("insertion", 4, 4, "", "very very big "),
        Operation("replacement", 12, 18, "ate 12", "had 3 or so"),
        Operation("replacement", 3, 4, " ", "  "),
    ]
    reader = WordReader()
    judge = ReaderSeverity(analyse, reader)
    verdicts = judge.of([(text, edit) for edit in edits])
    assert [numbers["weight"] for _, numbers in verdicts] == [10, 1, 1, 10, 0] and judge.of([]) == []
    assert reader.read[1] == (text, "The dog ate 12 red apples .")
    assert verdicts[:2] == [(False, {"weight": 10.0}), (True, {"weight": 1.0})]
    assert [minor for minor, _ in ReaderSeverity(analyse, reader, harmless=1.0).of([(text, edit) for edit in edits])] == [
        False
    ] * 4 + [True]


def test_a_set_without_a_reader_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With both ways out."""
    monkeypatch.setattr(severity_module, "READER_FILE", "nothing.safetensors")
    with pytest.raises(ModelMissingError, match="the model set base has no reader .*give --severity a set .*`likelihood`"):
        load_severity("embedded")


@pytest.fixture(scope="module")
def judge() -> SeverityModel:
    """The packaged one."""
    return load_severity(threads=1)


@shipped
@pytest.mark.parametrize(
    "pair",
    [
        ("The dog bit the man.", "The man bit the dog."),
        ("The teacher praised the student.", "The student praised the teacher."),
        ("France defeated Germany in the final.", "Germany defeated France in the final."),
        ("Tom gave Mary a book.", "Mary gave Tom a book."),
        ("He is not guilty.", "He is guilty."),
        ("The tickets cost 15 euros.", "The tickets cost 12 euros."),
    ],
)
def test_what_turns_the_meaning_is_major(judge: SeverityModel, pair: tuple[str, str]) -> None:
    """Both ways; also where the words are the very same, and none is new."""
    assert minor_both_ways(judge, pair) == [False, False]


@shipped
@pytest.mark.parametrize(
    "pair",
    [
        ("The committee approved the plan on Friday.", "On Friday the plan was approved by the committee."),
        ("The museum was closed on Monday.", "On Monday the museum was closed."),
        ("It rains.", "It rains."),
    ],
)
def test_what_says_the_same_is_minor(judge: SeverityModel, pair: tuple[str, str]) -> None:
    """Both ways, in another voice and another order."""
    assert minor_both_ways(judge, pair) == [True, True]


def minor_both_ways(judge: SeverityModel, pair: tuple[str, str]) -> list[bool]:
    """The verdicts on the replacement of one whole text by the other, and back."""
    edits = [(one, Operation("swap", 0, len(one), one, other)) for one, other in (pair, pair[::-1])]
    return [minor for minor, _ in judge.of(edits)]


# Checkpoints


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
    ("labels", "column"),
    [
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), 2),
        (("entailment", "neutral", "contradiction"), 0),
        (("not_entailment", "entailment"), 1),
    ],
)
def test_a_checkpoint_agrees_with_transformers(tmp_path: Path, labels: Sequence[str], column: int) -> None:
    """The oracle: one pair at a time through the model itself; label names say which class is which."""
    folder = write_checkpoint(tmp_path / "model", labels)
    assert EntailmentSeverity(folder).signature.startswith("entailment:model@") and EntailmentSeverity(folder).of([]) == []
    found = EntailmentSeverity(folder).probabilities([*PAIRS, ("a dog sleeps . " * 20, "it rains .")])
    tokenizer, model = BertTokenizerFast.from_pretrained(folder), BertForSequenceClassification.from_pretrained(folder).eval()
    for (first, second), value in zip(PAIRS, found, strict=False):
        with torch.no_grad():
            logits = model(**tokenizer(first, second, return_tensors="pt")).logits[0]
        assert value == pytest.approx(float(torch.softmax(logits, 0)[column]), abs=1e-5)


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
            load_severity(str(folder))
        assert folder.name in str(caught.value)
    with pytest.raises(ModelMissingError, match="hf download someone/nothing-here"):
        load_severity("someone/nothing-here")
