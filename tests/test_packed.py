"""Layers without padding: the numbers of the padded layers, the same to the last bit whatever stands beside a row."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn.functional import linear  # noqa: E402

from rome.features.analyser.acceptability import Acceptability, AcceptabilityClassifier  # noqa: E402
from rome.features.analyser.trunk import at_least, attention_layers, blocks, layer_states, torch_threads  # noqa: E402

LENGTHS = [1, 1, 2, 3, 3, 3, 7, 20, 20, 41]


@pytest.fixture(scope="module")
def model() -> Acceptability:
    """A judge of the embedded one's kind, small and untrained."""
    torch.manual_seed(0)
    return Acceptability(2, 3, hidden=48, heads=4, inner=96).eval()


@pytest.fixture(scope="module")
def biased() -> Acceptability:
    """One whose attention knows how far apart two pieces stand."""
    torch.manual_seed(4)
    return Acceptability(2, 3, hidden=48, heads=4, inner=96, buckets=16).eval()


@pytest.fixture(scope="module")
def rows() -> list[torch.Tensor]:
    """States of rows of several lengths."""
    torch.manual_seed(1)
    return [torch.randn(length, 48) for length in LENGTHS]


def packed(model: Acceptability, rows: list[torch.Tensor]) -> list[torch.Tensor]:
    """The last states of rows, computed together."""
    *_, last = layer_states(attention_layers(model.layers), torch.cat(rows), [len(row) for row in rows])
    return list(last.split([len(row) for row in rows]))


def test_packed_layers_compute_what_torchs_layers_compute(model: Acceptability, rows: list[torch.Tensor]) -> None:
    """Each row has the states that torch's own encoder layers give it alone."""
    for row, found in zip(rows, packed(model, rows), strict=True):
        states = row[None]
        for layer in model.layers:
            states = layer(states)
        torch.testing.assert_close(found, states[0].detach(), atol=1e-5, rtol=1e-5)


def test_a_row_has_the_same_bits_in_every_company(model: Acceptability, rows: list[torch.Tensor]) -> None:
    """Alone, with shorter, with equal and with longer rows, and doubled: not one bit differs."""
    together = packed(model, rows)
    for n, row in enumerate(rows):
        for company in ([row], rows[: n + 1], rows[n:], [row] * 5):
            place = next(m for m, other in enumerate(company) if other is row)
            assert torch.equal(packed(model, company)[place], together[n])


@pytest.mark.parametrize("kind", ["model", "biased"])
def test_the_judge_says_what_the_model_says(kind: str, rows: list[torch.Tensor], request: pytest.FixtureRequest) -> None:
    """Probabilities equal those of the padded model, and are the same bits in any order and company."""
    model: Acceptability = request.getfixturevalue(kind)
    judge = AcceptabilityClassifier(model)
    sentences, pieces = judge.probabilities(rows)
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    mask = torch.arange(padded.shape[1])[None] < torch.tensor(LENGTHS)[:, None]
    wanted, wanted_pieces = model.probabilities(padded, mask)
    np.testing.assert_allclose(sentences, wanted.numpy(), atol=1e-5)
    for n, length in enumerate(LENGTHS):
        np.testing.assert_allclose(pieces[n], wanted_pieces[n, :length].numpy(), atol=1e-5)
    backwards, backward_pieces = judge.probabilities(rows[::-1])
    assert np.array_equal(backwards[::-1], sentences)
    for n, row in enumerate(rows):
        (alone,), (alone_pieces,) = judge.probabilities([row])
        assert alone == sentences[n] and np.array_equal(alone_pieces, pieces[n])
        assert np.array_equal(backward_pieces[::-1][n], pieces[n])
    assert judge.probabilities([])[0].shape == (0,)


def test_biases_of_places_are_learned_and_seen(biased: Acceptability, rows: list[torch.Tensor]) -> None:
    """Training and evaluation compute the same with them, gradients reach the table, and it changes what is said."""
    row, mask = rows[-1][None], torch.ones(1, len(rows[-1]), dtype=torch.bool)
    with torch.no_grad():
        plain = biased(row, mask)[1]
    learned = biased.train()(row, mask)[1]
    biased.eval()
    torch.testing.assert_close(plain, learned.detach(), atol=1e-5, rtol=1e-4)
    learned.sum().backward()
    table = biased.relative_attention_bias
    assert table is not None and table.weight.grad is not None and float(table.weight.grad.abs().sum()) > 0
    without = Acceptability(2, 3, hidden=48, heads=4, inner=96).eval()
    without.load_state_dict({name: value for name, value in biased.state_dict().items() if "relative" not in name})
    assert not torch.allclose(without(row, mask)[1], plain, atol=1e-3)


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_no_product_of_few_rows_differs(threads: int) -> None:
    """What the equality rests on: a product's row has the same bits with as many rows as `at_least` gives and with a thousand, for any threads."""
    torch.manual_seed(2)
    for width, out in ((384, 1152), (384, 384), (384, 1536), (1536, 384), (768, 384), (768, 3072)):
        states, weight, bias = torch.randn(1000, width), torch.randn(out, width), torch.randn(out)
        with torch_threads(1):
            whole = linear(states, weight, bias)
        with torch_threads(1):  # which puts the number back
            torch.set_num_threads(threads)  # however few processors there are
            for count in (1, 2, 5, 13, 16, 17, 27, 31, 100, 257, 999):
                assert torch.equal(linear(at_least(states[:count]), weight, bias)[:count], whole[:count])
                assert torch.equal(linear(at_least(states[-count:]), weight, bias)[:count], whole[-count:])


def test_blocks_hold_every_row_once() -> None:
    """Neighbouring rows, as many as fit, and never none: a longer one stands alone."""
    assert list(blocks([3, 3, 3, 9, 1], 6)) == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert list(blocks([], 6)) == []
