"""The acceptability model: what it promises about padding, files and probabilities; and a few sentences that it must order."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rome.exceptions import ModelMissingError
from rome.features.analyser.acceptability import GRAMMAR_FILE, Acceptability, load_acceptability, probabilities_of
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.weights import save_weights

MODELS = Path(load_trunk.__code__.co_filename).resolve().parents[2] / "data" / "models" / "small"

PAIRS = (
    ("The dogs are barking in the garden.", "The dogs is barking in the garden."),
    ("She has gone to the market.", "She has go to the market."),
    ("He bought a new car yesterday.", "He bought new car yesterday a."),
    ("We want to go home.", "We want go to home."),
    ("There are two books on the table.", "There are two book on the table."),
    ("The children played in the park.", "The the children played park the in."),
    ("Blue Spice is an Italian restaurant near the river.", "Blue Spice is a Italian restaurant restaurant near river the."),
    ("This house is bigger than that one.", "This house is more bigger than that one."),
    ("They did not see anything.", "They did not saw anything."),
    ("I gave him the letter.", "I gave he the letter."),
)


def small(seed: int = 0) -> Acceptability:
    """A tiny model with random weights."""
    torch.manual_seed(seed)
    return Acceptability(2, 1, hidden=24, heads=4, inner=48).eval()


def judge(texts: list[str]) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Sentence and piece probabilities of the embedded model."""
    model, trunk = load_acceptability(MODELS / "grammar"), load_trunk(MODELS / "encoder")
    rows = [torch.tensor(row) for row in load_tokenizer(MODELS / "encoder")(texts)["input_ids"]]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    mask = torch.arange(ids.shape[1])[None] < torch.tensor([len(row) for row in rows])[:, None]
    with torch.no_grad():
        states = trunk(ids, mask.long(), output_hidden_states=True).hidden_states[model.input_layer]
    sentences, pieces = model.probabilities(states, mask)
    return sentences, [row[real] for row, real in zip(pieces, mask, strict=True)]


@pytest.mark.parametrize("buckets", [0, 32])
def test_rows_of_any_length_have_the_probabilities_of_each_alone(buckets: int) -> None:
    """Law: in batches of any size, with and without biases of distances."""
    torch.manual_seed(0)
    model, rows = (
        Acceptability(2, 1, hidden=24, heads=4, inner=48, buckets=buckets).eval(),
        [torch.randn(n, 24) for n in (1, 7, 3, 41, 7)],
    )
    for size in (1, 16, 1000):
        sentences, pieces = probabilities_of(model, rows, size)
        for row, sentence, own in zip(rows, sentences, pieces, strict=True):
            alone, alone_pieces = model.probabilities(row[None], torch.ones(1, len(row), dtype=torch.bool))
            assert float(sentence) == pytest.approx(float(alone), abs=1e-5)
            torch.testing.assert_close(torch.from_numpy(own), alone_pieces[0], atol=1e-5, rtol=1e-5)
    assert probabilities_of(model, [])[0].shape == (0,)


def test_biases_of_distances_are_learned_and_seen() -> None:
    """Training and evaluation compute the same with them, and gradients reach the table."""
    torch.manual_seed(0)
    model = Acceptability(2, 1, hidden=24, heads=4, inner=48, buckets=32).eval()
    states, mask = torch.randn(1, 9, 24), torch.ones(1, 9, dtype=torch.bool)
    with torch.no_grad():
        plain = model(states, mask)[1]
    learned = model.train()(states, mask)[1]
    torch.testing.assert_close(plain, learned.detach(), atol=1e-5, rtol=1e-4)
    learned.sum().backward()
    table = model.relative_attention_bias
    assert table is not None and table.weight.grad is not None and float(table.weight.grad.abs().sum()) > 0


def test_probabilities_are_calibrated_logits() -> None:
    """In [0, 1], softened by the temperatures, 1 outside the mask, without gradients."""
    model, states, mask = small(), torch.randn(2, 5, 24), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    sharp, _ = model.probabilities(states, mask)
    model.sentence_temperature.fill_(2.0)
    soft, pieces = model.probabilities(states, mask)
    torch.testing.assert_close(torch.logit(soft) * 2, torch.logit(sharp), atol=1e-5, rtol=1e-4)
    assert pieces.shape == (2, 5) and bool((pieces[~mask] == 1).all()) and not soft.requires_grad


def test_round_trip_through_a_file(tmp_path: Path) -> None:
    """A saved model comes back with its sizes and temperatures; only the matrices are rounded."""
    model = small()
    model.piece_temperature.fill_(1.5)
    save_weights(tmp_path / GRAMMAR_FILE, dict(model.state_dict()), {"sizes": model.sizes})
    loaded = load_acceptability(tmp_path)
    assert loaded.sizes == model.sizes and loaded.input_layer == 1 and not loaded.training
    assert float(loaded.piece_temperature) == 1.5
    states, mask = torch.randn(2, 5, 24), torch.ones(2, 5, dtype=torch.bool)
    torch.testing.assert_close(loaded(states, mask)[0], model(states, mask)[0], atol=0.05, rtol=0.05)


def test_missing_folder_says_what_to_do(tmp_path: Path) -> None:
    """Not a bare file error."""
    with pytest.raises(ModelMissingError, match="rome train"):
        load_acceptability(tmp_path)


@pytest.fixture(scope="module")
def judged() -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The embedded model's judgement of both sides of PAIRS."""
    if not (MODELS / "grammar" / GRAMMAR_FILE).is_file():
        pytest.skip("the embedded grammar model is not in this checkout")
    return judge([text for pair in PAIRS for text in pair])


def test_embedded_model_orders_obvious_pairs(judged: tuple[torch.Tensor, list[torch.Tensor]]) -> None:
    """The good sentence scores above the bad one in at least nine pairs of ten, and is acceptable more often than not."""
    good, bad = judged[0][0::2], judged[0][1::2]
    assert int((good > bad).sum()) >= len(PAIRS) - 1
    assert float(good.mean()) > 0.5 > float(bad.mean())


def test_embedded_model_finds_the_wrong_piece(judged: tuple[torch.Tensor, list[torch.Tensor]]) -> None:
    """The lowest piece of the bad sentence is below the lowest of the good one in at least eight pairs of ten."""
    lowest = [float(row[1:-1].min()) for row in judged[1]]
    assert sum(bad < good for good, bad in zip(lowest[0::2], lowest[1::2], strict=True)) >= len(PAIRS) - 2
