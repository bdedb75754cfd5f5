"""The trunk as MPNet's encoder: the numbers that transformers' MPNetModel gives, padded, alone and packed, and how checkpoints are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_mpnet import LAYERS, PAD, WIDTH, random_mpnet, write_checkpoint
from transformers import BertConfig, BertModel, MPNetModel

from rome.exceptions import InputError
from rome.features.analyser.trunk import Trunk, bert_layers, distance_buckets, embedded, layer_states
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
def trunk(checkpoint: Path) -> Trunk:
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


def test_states_are_those_of_mpnet(trunk: Trunk, mpnet: MPNetModel, rows: list[list[int]]) -> None:
    """Of rows alone and of padded rows: positions, distances and every layer; the last two states are the same."""
    padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)
    with torch.no_grad():
        together = torch.stack(trunk(padded, attention_mask=(padded != PAD).long()).hidden_states, dim=1)
    for row, expected, found in zip(rows, wanted(mpnet, rows), together, strict=True):
        with torch.no_grad():
            alone = trunk(torch.tensor([row]))
        assert torch.equal(alone.last_hidden_state, alone.hidden_states[-1])
        torch.testing.assert_close(torch.cat(alone.hidden_states), expected, atol=2e-5, rtol=1e-4)
        torch.testing.assert_close(found[:, : len(row)], expected, atol=2e-5, rtol=1e-4)


def test_distances_matter(trunk: Trunk, rows: list[list[int]]) -> None:
    """Without their table other states come out: the test above sees it."""
    other = read_without_distances(trunk)
    with torch.no_grad():
        one, two = (model(torch.tensor([rows[-1]])).last_hidden_state for model in (trunk, other))
    assert not torch.allclose(one, two, atol=1e-2)


def read_without_distances(trunk: Trunk) -> Trunk:
    """The same weights, all distances alike."""
    other = Trunk(trunk.config)
    other.load_state_dict({n: torch.zeros_like(t) if "relative" in n else t for n, t in trunk.state_dict().items()})
    return other.eval()


def packed(trunk: Trunk, rows: list[list[int]]) -> list[torch.Tensor]:
    """(layers, length, width) states of rows without padding."""
    lengths = [len(row) for row in rows]
    layers = layer_states(bert_layers(trunk), embedded(trunk, rows), lengths, trunk.encoder.position_bias)
    return list(torch.stack(list(layers)).split(lengths, dim=1))


def test_packed_rows_have_the_same_states(trunk: Trunk, mpnet: MPNetModel, rows: list[list[int]]) -> None:
    """Packed layers give transformers' numbers, and not one bit differs in other company."""
    together = packed(trunk, rows)
    for n, (row, expected) in enumerate(zip(rows, wanted(mpnet, rows), strict=True)):
        torch.testing.assert_close(together[n], expected[1:], atol=2e-5, rtol=1e-4)
        for company in ([row], rows[: n + 1], rows[n:], [row] * 3):
            assert torch.equal(packed(trunk, company)[company.index(row)], together[n])


def test_distances_fall_into_buckets() -> None:
    """Left and right apart, near ones each alone, far ones together, all beyond the furthest one."""
    found = distance_buckets(300, 32)
    assert found[10, 10] == 0 and found[10, 9] == 1 and found[10, 11] == 17
    assert found.unique().tolist() == [*range(16), *range(17, 32)]
    assert found[299, 0] == found[299, 299 - 128] == 15 and found[0, 299] == 31
    assert torch.equal(found[:50, :50], distance_buckets(50, 32))


def test_the_longest_row_fits(trunk: Trunk) -> None:
    """The window is what the positions have room for; one piece more has no position."""
    assert trunk.config.window == 198
    trunk(torch.full((1, 198), 5))
    with pytest.raises(IndexError):
        trunk(torch.full((1, 199), 5))


def test_names_of_a_language_model_are_known(checkpoint: Path, tmp_path: Path, trunk: Trunk) -> None:
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
        (with_other_config(hidden_size=None), "holds no MPNet checkpoint .*hidden_size"),
        (with_other_config(hidden_act="relu"), "holds no MPNet checkpoint .*relu"),
        (with_other_config(num_hidden_layers=4), "has no encoder.layer.3.attention.self.query.weight as config.json says"),
        (with_other_config(vocab_size=9), "has no embeddings.word_embeddings.weight as config.json says"),
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


def test_tiny_models_are_alike_only_in_kind() -> None:
    """The random weights are large enough to be seen in every state."""
    model = random_mpnet(vocab_size=50)
    ids = torch.arange(2, 12)[None]
    with torch.no_grad():
        states = model(ids, output_hidden_states=True).hidden_states
    assert all(not torch.allclose(one, other, atol=0.1) for one, other in zip(states, states[1:], strict=False))
