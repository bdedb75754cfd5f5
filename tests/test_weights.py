"""Matrices in few bits: how coarse, how near, and the same again from the file."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rome.features.analyser.weights import load_weights, quantise, save_weights


def matrix(rows: int = 40, columns: int = 64) -> torch.Tensor:
    """Numbers with some far out, as trained weights have, and a row of zeros."""
    torch.manual_seed(3)
    found = torch.randn(rows, columns) ** 3 * torch.rand(rows, 1)
    found[0] = 0.0
    return found


def restored(found: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    values, scale = found
    return values.float() * scale[:, None]


def test_eight_bits_are_plain_rounding() -> None:
    """One scale a row, its largest number is 127 steps, nothing is cut, no number moves by more than half a step."""
    weights = matrix()
    values, scale = quantise(weights)
    assert values.dtype == torch.int8 and scale.shape == (40,)
    expected = (weights.abs().amax(dim=1) / 127).clamp_min(1e-12 / 127)
    assert torch.equal(scale, expected) and torch.equal(values, torch.round(weights / expected[:, None]).to(torch.int8))
    assert ((restored((values, scale)) - weights).abs() <= scale[:, None] * 0.5001).all()
    assert torch.equal(restored((values, scale))[0], torch.zeros(64))


@pytest.mark.parametrize("bits", [7, 5, 4, 2])
def test_fewer_bits_are_fewer_values(bits: int) -> None:
    """At most 2**bits - 1 different ones, as many below zero as above; cutting the largest never makes a row worse."""
    weights, top = matrix(), 2 ** (bits - 1) - 1
    values, scale = quantise(weights, bits)
    assert values.abs().max() <= top and len(values.unique()) <= 2**bits - 1
    plain = weights.abs().amax(dim=1).clamp_min(1e-12) / top
    uncut = torch.round(weights / plain[:, None]) * plain[:, None]
    error, before = (((found - weights) ** 2).sum(dim=1) for found in (restored((values, scale)), uncut))
    assert (error <= before * 1.0001 + 1e-12).all() and (scale <= plain * 1.0001).all()
    if bits <= 4:
        assert (error < before * 0.9).any()  # there is something to gain


def test_rows_may_differ_in_bits() -> None:
    """Each row is as it would be in a matrix of its bits alone."""
    weights, bits = matrix(), torch.tensor([8, 5, 3, 2] * 10)
    values, scale = quantise(weights, bits)
    for kept in (8, 5, 3, 2):
        whole = quantise(weights, kept)
        assert torch.equal(values[bits == kept], whole[0][bits == kept]) and torch.equal(
            scale[bits == kept], whole[1][bits == kept]
        )


def test_the_file_gives_the_rounded_numbers(tmp_path: Path) -> None:
    """Matrices as quantise has them, each with its own bits; their scales and everything else as float16; writing twice is the same."""
    tensors = {
        "coarse": matrix(),
        "fine": matrix(),
        "vector": torch.randn(5),
        "cube": torch.randn(2, 3, 4),
        "row": torch.randn(1, 6),
    }
    save_weights(tmp_path / "w.safetensors", tensors, {"a": [1, "b"]}, bits={"coarse": 4})
    found, about = load_weights(tmp_path / "w.safetensors")
    assert about == {"a": [1, "b"]} and set(found) == set(tensors)
    rounded = {name: quantise(tensors[name], bits) for name, bits in (("coarse", 4), ("fine", 8))}
    assert all(torch.equal(found[name], restored((values, scale.half()))) for name, (values, scale) in rounded.items())
    assert all(torch.equal(found[name], tensors[name].half().float()) for name in ("vector", "cube", "row"))
    save_weights(tmp_path / "again.safetensors", tensors, {"a": [1, "b"]}, bits={"coarse": 4})
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "w.safetensors").read_bytes()


def test_what_is_rounded_stays_as_it_is(tmp_path: Path) -> None:
    """Rounded matrices that are written and read again differ in the last digit at most: a set can be exported anew."""
    for bits in (8, 5):
        first = restored(quantise(matrix(), bits))
        torch.testing.assert_close(restored(quantise(first, bits)), first, rtol=1e-6, atol=1e-9)


def test_training_state_can_be_kept_whole(tmp_path: Path) -> None:
    """With round_matrices=False nothing is rounded, whatever the bits."""
    save_weights(tmp_path / "w.safetensors", {"m": matrix()}, {}, round_matrices=False, bits={"m": 2})
    assert torch.equal(load_weights(tmp_path / "w.safetensors")[0]["m"], matrix())
