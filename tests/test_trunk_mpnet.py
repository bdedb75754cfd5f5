"""The trunk as MPNet's encoder: the numbers that transformers' MPNetModel gives, padded and alone, and how checkpoints are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_mpnet import LAYERS, PAD, WIDTH, write_checkpoint
from transformers import BertConfig, BertModel, MPNetModel

from rome.exceptions import InputError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import EmbeddedEncoder, load_tokenizer
from rome.train.base.recipe import read_mpnet

LENGTHS = [2, 2, 5, 9, 9, 150]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("mpnet"))


@pytest.fixture(scope="module")
def mpnet(checkpoint: Path) -> MPNetModel:
    model: MPNetModel = MPNetModel.from_pretrained(checkpoint, add_pooling_layer=False).eval()
    return model


@pytest.fixture(scope="module")
def trunk(checkpoint: Path) -> Any:
    return read_mpnet(checkpoint, checked=False)


@pytest.fixture(scope="module")
def rows() -> list[list[int]]:
    """Piece ids of rows of several lengths, some longer than the furthest distance that the bias tells apart."""
    torch.manual_seed(1)
    return [torch.randint(PAD + 1, 30522, (length,)).tolist() for length in LENGTHS]


@torch.no_grad()
def wanted(mpnet: MPNetModel, rows: list[list[int]]) -> list[torch.Tensor]:
    """(layers + 1, length, width) transformers' states of each row alone."""
    return [torch.cat(mpnet(torch.tensor([row]), output_hidden_states=True).hidden_states) for row in rows]


def test_states_are_those_of_mpnet(trunk: Any, mpnet: MPNetModel, rows: list[list[int]]) -> None:
    """Oracle: rows read together have the states that transformers' own checkpoint gives each of them alone."""
    encoder = EmbeddedEncoder(trunk, load_tokenizer(set_folder("small") / "encoder"), torch.zeros(WIDTH), batch_size=320)
    for expected, found in zip(wanted(mpnet, rows), encoder.states_of_rows(rows), strict=True):
        torch.testing.assert_close(found, expected[1:], atol=2e-5, rtol=1e-4)


def test_the_longest_row_fits(trunk: Any) -> None:
    """The window is what the positions have room for; one piece more has no position."""
    encoder = EmbeddedEncoder(trunk, load_tokenizer(set_folder("small") / "encoder"), torch.zeros(WIDTH))
    assert encoder.window == 198
    encoder.states_of_rows([[5] * 198])
    with pytest.raises(IndexError):
        encoder.states_of_rows([[5] * 199])


def test_names_of_a_language_model_are_known(checkpoint: Path, tmp_path: Path, trunk: Any) -> None:
    """A checkpoint with a head has ``mpnet.`` before the trunk's names."""
    folder = copied(checkpoint, tmp_path)
    tensors = load_file(folder / "model.safetensors")
    save_file({**{f"mpnet.{n}": t for n, t in tensors.items()}, "lm_head.bias": torch.zeros(3)}, folder / "model.safetensors")
    found = read_mpnet(folder, checked=False).state_dict()
    assert all(torch.equal(tensor, found[name]) for name, tensor in trunk.state_dict().items())


def copied(checkpoint: Path, folder: Path) -> Path:
    """A checkpoint to change."""
    for path in checkpoint.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def with_other_config(**changes: Any) -> Callable[[Path], Any]:
    """A change of config.json; None takes an entry away."""

    def change(folder: Path) -> None:
        config = {**json.loads((folder / "config.json").read_text()), **changes}
        (folder / "config.json").write_text(json.dumps({name: value for name, value in config.items() if value is not None}))

    return change


def as_bert(folder: Path) -> None:
    """A BERT of the same sizes."""
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": 48}
    BertModel(BertConfig(vocab_size=50, **sizes), add_pooling_layer=False).save_pretrained(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "has no config.json: give the unpacked folder of all-mpnet-base-v2"),
        (
            lambda folder: [(folder / n).unlink() for n in ("model.safetensors", "tokenizer.json")],
            "no model.safetensors, no tokenizer.json",
        ),
        (lambda folder: (folder / "config.json").write_text("{"), "holds no MPNet checkpoint"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 40), "holds no MPNet checkpoint"),
        (with_other_config(hidden_size=None), "holds no MPNet checkpoint"),
        (with_other_config(hidden_act="relu"), "holds no MPNet checkpoint .*relu"),
        (with_other_config(num_hidden_layers=4), "encoder.layer.3"),
        (with_other_config(vocab_size=9), "embeddings.word_embeddings.weight"),
        (as_bert, "holds no MPNet checkpoint .its model_type is 'bert'.: give the folder of one as --source"),
    ],
)
def test_what_is_no_checkpoint_is_refused(
    checkpoint: Path, tmp_path: Path, change: Callable[[Path], Any], message: str
) -> None:
    """Missing files are all named; a damaged file, another architecture or other sizes are told from each other."""
    change(copied(checkpoint, tmp_path))
    with pytest.raises(InputError, match=message):
        read_mpnet(tmp_path, checked=False)


def test_only_the_published_weights_are_taken(checkpoint: Path, tmp_path: Path) -> None:
    """Another checkpoint has another hash; a folder that is not there says what to give."""
    with pytest.raises(InputError, match="is not the published all-mpnet-base-v2 .SHA-256 78c0197b6159d926"):
        read_mpnet(checkpoint)
    with pytest.raises(InputError, match="no model.safetensors.*--source"):
        read_mpnet(tmp_path / "nowhere")
