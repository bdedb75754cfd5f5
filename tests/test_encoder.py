"""The embedded encoder: one trunk, exact enough in eight bits, in either precision, and read to the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_encoder import write_encoder

from rome.exceptions import ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import (
    COMMON_FILE,
    TRUNK_FILE,
    VECTORS_FILE,
    EmbeddedEncoder,
    SentenceStates,
    load_encoder,
    load_last_layers,
    load_tokenizer,
    load_trunk,
)
from rome.features.analyser.model_set import file_digest
from rome.features.analyser.trunk import Trunk, TrunkConfig, bert_layers, layer_states
from rome.features.analyser.weights import load_weights, save_weights
from rome.features.matching import cosines, unit_vectors

FOLDER = set_folder("small") / "encoder"
SENTENCES = ["The cat sat on the mat.", "Ein Satz, der nicht englisch ist.", "Yes."]


def encoder(precision: str = "float32") -> EmbeddedEncoder:
    return load_encoder(FOLDER, precision=precision)


def vectors_of(given: EmbeddedEncoder, texts: list[str]) -> list[np.ndarray]:
    return given.vectors(given.read(texts))


@pytest.fixture(scope="module")
def states() -> list[np.ndarray]:
    return vectors_of(encoder(), SENTENCES)


def test_bfloat16_gives_almost_the_same_vectors(states: list[np.ndarray]) -> None:
    """Cosines with the float32 states stay above 0.995."""
    other = encoder("bf16")
    for a, b in zip(states, vectors_of(other, SENTENCES), strict=True):
        assert np.diag(cosines(unit_vectors(a), unit_vectors(b))).min() > 0.995


def random_trunk(**changed: int) -> Trunk:
    """A tiny trunk with random numbers."""
    sizes = {"vocab_size": 30522, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    trunk = Trunk(TrunkConfig.of({**sizes, "max_position_embeddings": 64, **changed}))
    torch.manual_seed(0)
    for parameter in trunk.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return trunk.eval().requires_grad_(False)


KINDS = [{}, {"type_vocab_size": 0, "first_position": 2, "relative_attention_num_buckets": 16}]
TEXTS = [
    "A cat.",
    "The cat sat on the mat, and so did the dog.",
    "",
    "word " * 150,
    "A cat.",
    "x",
    *(f"Number {n}." for n in range(9)),
]


@pytest.mark.parametrize("changed", KINDS, ids=["bert", "mpnet"])
def test_states_are_the_trunks_own_whatever_stands_beside(changed: dict[str, int]) -> None:
    """Together, backwards and alone: the same bits; and nearly those that the trunk gives one padded row after the other."""
    own = EmbeddedEncoder(random_trunk(**changed), load_tokenizer(FOLDER), torch.zeros(24))
    together = own.read(TEXTS)
    for text, found, again in zip(TEXTS, together, own.read(TEXTS[::-1])[::-1], strict=True):
        (alone,) = own.read([text])
        assert alone.pieces == found.pieces
        for row, ids, *others in zip(found.rows, found.pieces.rows, again.rows, alone.rows, strict=True):
            assert row.shape == (3, len(ids), 24) and all(torch.equal(row, other) for other in others)
            plain = torch.stack(own.trunk(torch.tensor([ids])).hidden_states[1:])[:, 0]
            torch.testing.assert_close(row, plain, atol=1e-4, rtol=1e-4)


def test_a_long_text_is_read_whole() -> None:
    """Rows overlap; merged there is one state a piece, and both marks around them; layers are counted from either end."""
    own = EmbeddedEncoder(random_trunk(), load_tokenizer(FOLDER), torch.zeros(24))
    long, short = own.read([TEXTS[3], TEXTS[0]])
    assert len(long.rows) > 2 and max(row.shape[1] for row in long.rows) == own.window
    assert long.merged().shape == (150, 24) and long.whole(2).shape == (2, 152, 24)
    np.testing.assert_array_equal(long.whole(3)[2, 1:-1].numpy(), long.merged(-1))
    assert torch.equal(short.whole(2), short.rows[0][:2]) and torch.equal(short.after(3)[0], short.after(-1)[0])
    assert isinstance(long, SentenceStates) and own.read([]) == [] and own.vectors([]) == []


def test_vectors_can_be_a_learned_map_of_several_layers(tmp_path: Path) -> None:
    """With vectors.safetensors a vector is the sum of what its matrices make of their layers' states, less the common part; any batch."""
    folder = write_encoder(tmp_path / "encoder")
    torch.manual_seed(1)
    tensors = {"projection.1": torch.randn(24, 8), "projection.2": torch.randn(24, 8), "bias": torch.randn(8)}
    save_weights(folder / VECTORS_FILE, tensors, {"layers": [1, 2]})
    save_weights(folder / COMMON_FILE, {"common": torch.ones(8)}, {})
    own, rounded = load_encoder(folder), load_weights(folder / VECTORS_FILE)[0]
    texts = [*TEXTS, "many words " * 400]
    for text, found in zip(texts, vectors_of(own, texts), strict=True):
        (states,) = own.read([text])
        wanted = states.merged(1) @ rounded["projection.1"].numpy() + states.merged(2) @ rounded["projection.2"].numpy()
        np.testing.assert_allclose(found, wanted + rounded["bias"].numpy() - 1, atol=1e-4)
        assert np.array_equal(vectors_of(own, [text])[0], found)


def test_a_word_in_another_context_has_another_vector_but_stays_nearest_to_itself() -> None:
    """Contextual vectors: "bank" by the river and "bank" for money differ, and each is nearer to the other than to "cat"."""
    own = encoder()
    texts = ["bank of the river", "bank for his money", "cat on a mat"]
    river, money, cat = (state[:1] for state in vectors_of(own, texts))
    assert (
        0.999 > cosines(unit_vectors(river), unit_vectors(money))[0, 0] > cosines(unit_vectors(river), unit_vectors(cat))[0, 0]
    )


def test_weights_survive_the_file(tmp_path: Path) -> None:
    """Matrices come back within half a step of their row's scale, vectors exactly, the description as it was."""
    matrix, vector = torch.randn(5, 7), torch.randn(3)
    save_weights(tmp_path / "w.safetensors", {"matrix": matrix, "vector": vector}, {"name": "x"})
    tensors, description = load_weights(tmp_path / "w.safetensors")
    step = matrix.abs().amax(1, keepdim=True) / 127
    assert ((tensors["matrix"] - matrix).abs() <= step / 2 + 1e-6).all()
    assert torch.equal(tensors["vector"], vector)
    assert description == {"name": "x"}


def test_a_missing_file_names_the_remedy(tmp_path: Path) -> None:
    """No weights: the message says how to get them."""
    with pytest.raises(ModelMissingError, match="reinstall rome-metric"):
        load_trunk(tmp_path)


@pytest.mark.parametrize("number", [1, 3, 4])
def test_the_last_layers_are_those_of_the_whole_trunk(number: int) -> None:
    """Law: read alone, they make of given states what they make of them in the trunk, to the last bit; embeddings are left on disk."""
    folder = set_folder("small") / "encoder"
    whole, last = load_trunk(folder), load_last_layers(folder, number)
    states = torch.randn(20, whole.config.hidden_size, generator=torch.Generator().manual_seed(0))
    *_, expected = layer_states(bert_layers(whole)[-number:], states, [20])
    *_, found = layer_states(bert_layers(last), states, [20])
    assert torch.equal(found, expected) and not list(last.embeddings.parameters())


@pytest.mark.parametrize("name", ["small", "base"])
def test_vectors_that_stay_rounded_are_the_same_numbers(name: str) -> None:
    """Law: looked up in eight bits, every piece's embedding equals that of the whole trunk to the last bit; the table is held in a quarter."""
    whole, rounded = (load_trunk(set_folder(name) / "encoder", rounded=way).embeddings for way in (False, True))
    ids = torch.arange(whole.word_embeddings.weight.shape[0])[:, None]
    assert torch.equal(rounded(ids), whole(ids)) and rounded.word_embeddings.weight.dtype == torch.int8


def test_a_table_that_was_never_rounded_stays_as_it_is(tmp_path: Path) -> None:
    """A trunk kept in float32 loads either way."""
    tensors, description = load_weights(FOLDER / TRUNK_FILE)
    save_weights(tmp_path / TRUNK_FILE, tensors, description, round_matrices=False)
    row = torch.tensor([[101, 2023, 102]])
    for rounded in (False, True):
        embeddings = load_trunk(tmp_path, rounded=rounded).embeddings
        assert embeddings.word_embeddings.weight.dtype == torch.float32
        assert torch.equal(embeddings(row), load_trunk(FOLDER).embeddings(row))


def test_packed_layers_share_the_trunks_numbers() -> None:
    """Queries, keys and values in one matrix are held once: the trunk's own stand in it, and it computes what it did."""
    trunk = load_trunk(set_folder("small") / "encoder")
    row = torch.tensor([[101, 2023, 2003, 102]])
    before = trunk(row).last_hidden_state
    first, own = bert_layers(trunk)[0], trunk.encoder.layer[0].attention["self"]
    assert own["query"].weight.data_ptr() == first.inputs[0].data_ptr()
    assert torch.equal(trunk(row).last_hidden_state, before)


def test_the_identity_follows_the_files(tmp_path: Path) -> None:
    """Another byte in any model file is another identity; a model card is not a model file."""
    (tmp_path / "model.bin").write_bytes(b"1")
    before = file_digest(tmp_path)
    (tmp_path / "card.json").write_text("{}")
    assert file_digest(tmp_path) == before
    (tmp_path / "model.bin").write_bytes(b"2")
    assert file_digest(tmp_path) != before
