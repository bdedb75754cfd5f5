"""The embedded encoder: one trunk, exact enough in eight bits, in either precision, and read to the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_encoder import write_encoder
from tiny_reader import TRUNKS, WIDTH, write_trunk

from rome.exceptions import ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import (
    COMMON_FILE,
    TRUNK_FILE,
    VECTORS_FILE,
    EmbeddedEncoder,
    SentenceStates,
    load_encoder,
    load_tokenizer,
    load_trunk,
)
from rome.features.analyser.model_set import file_digest
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


TEXTS = [
    "A cat.",
    "The cat sat on the mat, and so did the dog.",
    "",
    "word " * 150,
    "A cat.",
    "x",
    *(f"Number {n}." for n in range(9)),
]


def tiny(kind: str, folder: Path) -> EmbeddedEncoder:
    """Return an encoder of a tiny random trunk."""
    return EmbeddedEncoder(load_trunk(write_trunk(folder, kind)), load_tokenizer(FOLDER), torch.zeros(WIDTH))


@pytest.mark.parametrize("kind", TRUNKS)
def test_states_are_the_trunks_own_whatever_stands_beside(kind: str, tmp_path: Path) -> None:
    """Law: a text has the states that the trunk gives it alone, together with others and in any order."""
    own = tiny(kind, tmp_path / "encoder")
    for found, again in zip(own.read(TEXTS), own.read(TEXTS[::-1])[::-1], strict=True):
        for row, ids, other in zip(found.rows, found.pieces.rows, again.rows, strict=True):
            alone = torch.stack(own.trunk(torch.tensor([ids]), output_hidden_states=True).hidden_states[1:])[:, 0]
            assert row.shape == (2, len(ids), WIDTH)
            for one in (row, other):
                torch.testing.assert_close(one, alone, atol=1e-4, rtol=1e-4)


def test_a_long_text_is_read_whole(tmp_path: Path) -> None:
    """Rows overlap; merged there is one state per piece, and both marks around them; layers are counted from either end."""
    own = tiny("bert", tmp_path / "encoder")
    long, short = own.read(["word " * 1200, TEXTS[0]])
    assert len(long.rows) > 2 and max(row.shape[1] for row in long.rows) == own.window
    assert long.merged().shape == (1200, WIDTH) and long.whole(2).shape == (2, 1202, WIDTH)
    np.testing.assert_array_equal(long.whole(2)[1, 1:-1].numpy(), long.merged(-1))
    assert torch.equal(short.whole(2), short.rows[0][:2]) and torch.equal(short.after(2)[0], short.after(-1)[0])
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
        np.testing.assert_allclose(vectors_of(own, [text])[0], found, atol=1e-4)


def test_a_word_in_another_context_has_another_vector_but_stays_nearest_to_itself() -> None:
    """Contextual vectors: "bank" by the river and "bank" for money differ, and each is nearer to the other than to "cat"."""
    own = encoder()
    texts = ["bank of the river", "bank for his money", "cat on a mat"]
    river, money, cat = (state[:1] for state in vectors_of(own, texts))
    assert (
        0.999 > cosines(unit_vectors(river), unit_vectors(money))[0, 0] > cosines(unit_vectors(river), unit_vectors(cat))[0, 0]
    )


def test_a_missing_file_names_the_remedy(tmp_path: Path) -> None:
    """No weights: the message says how to get them."""
    with pytest.raises(ModelMissingError, match="reinstall rome-metric"):
        load_trunk(tmp_path)


def test_a_file_that_does_not_fit_its_configuration_is_refused(tmp_path: Path) -> None:
    """Another number of layers, or another activation: the message names the file."""
    tensors, about = load_weights(write_encoder(tmp_path / "tiny") / TRUNK_FILE)
    for changed in ({"num_hidden_layers": 5}, {"hidden_act": "relu"}, {"vocab_size": 9}):
        save_weights(tmp_path / TRUNK_FILE, tensors, {"config": {**about["config"], **changed}})
        with pytest.raises(ValueError, match=TRUNK_FILE):
            load_trunk(tmp_path)


def test_the_identity_follows_the_files(tmp_path: Path) -> None:
    """Another byte in any model file is another identity; a model card is not a model file."""
    (tmp_path / "model.bin").write_bytes(b"1")
    before = file_digest(tmp_path)
    (tmp_path / "card.json").write_text("{}")
    assert file_digest(tmp_path) == before
    (tmp_path / "model.bin").write_bytes(b"2")
    assert file_digest(tmp_path) != before
