"""The embedded encoder: one trunk, exact enough in eight bits, in either arithmetic, and read to the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rome.exceptions import ModelMissingError
from rome.features.analyser.config import embedded_folder
from rome.features.analyser.encoder import EmbeddedEncoder, load_tokenizer, load_trunk
from rome.features.analyser.identity import arithmetic, file_digest
from rome.features.analyser.memo import MemoisedTrunk
from rome.features.analyser.weights import load_weights, save_weights
from rome.features.cosine import cosine_matrix

FOLDER = embedded_folder() / "encoder"
SENTENCES = ["The cat sat on the mat.", "Ein Satz, der nicht englisch ist.", "Yes."]


def encoder(dtype: torch.dtype = torch.float32) -> EmbeddedEncoder:
    return EmbeddedEncoder(FOLDER, MemoisedTrunk(load_trunk(FOLDER).to(dtype)), load_tokenizer(FOLDER))


@pytest.fixture(scope="module")
def states() -> list[np.ndarray]:
    own = encoder()
    return own.states(own.encode(SENTENCES))


def test_bfloat16_gives_almost_the_same_vectors(states: list[np.ndarray]) -> None:
    """Processors that multiply bfloat16 matrices themselves use that: cosines with the float32 states stay above 0.995."""
    other = encoder(torch.bfloat16)
    for a, b in zip(states, other.states(other.encode(SENTENCES)), strict=True):
        assert np.diag(cosine_matrix(a, b)).min() > 0.995
    assert arithmetic() in ("bfloat16", "float32")


def test_states_do_not_depend_on_the_batch(states: list[np.ndarray]) -> None:
    """A sentence alone has the states that it has among others."""
    own = encoder()
    for sentence, together in zip(SENTENCES, states, strict=True):
        assert own.states(own.encode([sentence]))[0] == pytest.approx(together, abs=1e-4)


def test_a_word_in_another_context_has_another_vector_but_stays_nearest_to_itself() -> None:
    """Contextual vectors: "bank" by the river and "bank" for money differ, and each is nearer to the other than to "cat"."""
    own = encoder()
    texts = ["bank of the river", "bank for his money", "cat on a mat"]
    river, money, cat = (state[:1] for state in own.states(own.encode(texts)))
    assert 0.999 > cosine_matrix(river, money)[0, 0] > cosine_matrix(river, cat)[0, 0]


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


def test_the_identity_follows_the_files(tmp_path: Path) -> None:
    """Another byte in any model file is another identity; a model card is not a model file."""
    (tmp_path / "model.bin").write_bytes(b"1")
    before = file_digest(tmp_path)
    (tmp_path / "card.json").write_text("{}")
    assert file_digest(tmp_path) == before
    (tmp_path / "model.bin").write_bytes(b"2")
    assert file_digest(tmp_path) != before
