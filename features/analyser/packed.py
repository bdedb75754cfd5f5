"""Transformer layers over rows of any length without padding: the same numbers for a row whatever stands beside it.

The pieces of all rows lie in one matrix, so the layers' products see no padding; attention takes the rows of equal length
together. A product's row does not depend on how many rows it is computed with, once there are a few (`LEAST`): so states are
equal to the last bit in every batch, which a padded batch cannot promise.

Measured and left alone, on a processor with AVX2 and neither AMX nor VNNI: the products run at 65 to 85 GFLOP/s in torch, oneDNN,
MKL with packed weights and OpenBLAS alike, which is what one core has. Eight bits (torch's dynamic quantisation, fbgemm) multiply
1.6 times as fast, so a text would take about a sixth less in all; but a result is then off by up to a tenth of its spread, one
scale for a whole batch lets a sentence's score depend on its neighbours, and rounding to eight bits turns differences between
processors in the seventh digit into such in the second. bfloat16 needs AMX (features/analyser/identity.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
from torch.nn import functional

__all__ = [
    "LEAST",
    "Layer",
    "at_least",
    "attention_layers",
    "bert_layers",
    "blocks",
    "embedded",
    "layer_states",
    "torch_threads",
]

LEAST = 16
"""Rows of a matrix; products of fewer than five rows a thread use other kernels, with other last digits."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one post-norm layer; ``inputs`` stands for queries, keys and values in one matrix (3 * width, width)."""

    heads: int
    epsilon: float
    inputs: tuple[torch.Tensor, torch.Tensor]
    output: tuple[torch.Tensor, torch.Tensor]
    first_norm: tuple[torch.Tensor, torch.Tensor]
    inner: tuple[torch.Tensor, torch.Tensor]
    outer: tuple[torch.Tensor, torch.Tensor]
    second_norm: tuple[torch.Tensor, torch.Tensor]


def _pair(module: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of a linear layer or a norm."""
    return module.weight.detach(), module.bias.detach()


def bert_layers(model: Any) -> tuple[Layer, ...]:
    """The layers of a trunk. Raises ValueError for another activation than GELU: its layers compute something else."""
    if model.config.hidden_act != "gelu":
        raise ValueError(f"packed layers compute GELU, not {model.config.hidden_act}")
    layers = []
    for layer in model.encoder.layer:
        own, out = layer.attention.self, layer.attention.output
        weights, biases = zip(*(_pair(part) for part in (own.query, own.key, own.value)), strict=True)
        layers.append(
            Layer(
                heads=int(model.config.num_attention_heads),
                epsilon=float(model.config.layer_norm_eps),
                inputs=(torch.cat(weights), torch.cat(biases)),
                output=_pair(out.dense),
                first_norm=_pair(out.LayerNorm),
                inner=_pair(layer.intermediate.dense),
                outer=_pair(layer.output.dense),
                second_norm=_pair(layer.output.LayerNorm),
            )
        )
    return tuple(layers)


def attention_layers(modules: Any) -> tuple[Layer, ...]:
    """The layers of a list of torch's own TransformerEncoderLayer (post-norm, GELU)."""
    return tuple(
        Layer(
            heads=int(module.self_attn.num_heads),
            epsilon=float(module.norm1.eps),
            inputs=(module.self_attn.in_proj_weight.detach(), module.self_attn.in_proj_bias.detach()),
            output=_pair(module.self_attn.out_proj),
            first_norm=_pair(module.norm1),
            inner=_pair(module.linear1),
            outer=_pair(module.linear2),
            second_norm=_pair(module.norm2),
        )
        for module in modules
    )


def blocks(lengths: Sequence[int], pieces: int) -> Iterator[tuple[int, int]]:
    """Half-open ranges of neighbouring rows of together at most ``pieces`` pieces, or of one row."""
    start = filled = 0
    for n, length in enumerate(lengths):
        if n > start and filled + length > pieces:
            yield start, n
            start, filled = n, 0
        filled += length
    if start < len(lengths):
        yield start, len(lengths)


def at_least(matrix: torch.Tensor) -> torch.Tensor:
    """The matrix, with rows of zeros below when it has fewer than LEAST."""
    missing = LEAST - len(matrix)
    return matrix if missing <= 0 else torch.cat([matrix, matrix.new_zeros(missing, *matrix.shape[1:])])


@torch.no_grad()
def embedded(model: Any, rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """A trunk's embeddings of rows of piece ids, one below the other: (pieces, width)."""
    ids = torch.tensor([piece for row in rows for piece in row])
    found: torch.Tensor = model.embeddings(ids, torch.cat([torch.arange(len(row)) for row in rows]))
    return found


def _no_bias(length: int) -> None:
    """Attention that does not look at places."""


@torch.no_grad()
def layer_states(
    layers: Sequence[Layer],
    states: torch.Tensor,
    lengths: Sequence[int],
    position_bias: Callable[[int], torch.Tensor | None] = _no_bias,
) -> Iterator[torch.Tensor]:
    """The states after each layer, (pieces, width) each.

    states : (pieces, width), what the first layer reads, the pieces of each row one below the other. lengths : pieces of each
    row, equal ones best side by side: they are attended to together. position_bias : what is added to the attention scores of a
    row of so many pieces, (1, heads, length, length); None for nothing.
    """
    count = len(states)
    biases = {length: position_bias(length) for length in dict.fromkeys(lengths)}
    states = at_least(states)
    for layer in layers:
        mixed = functional.linear(_attended(layer, functional.linear(states, *layer.inputs), lengths, biases), *layer.output)
        states = _normed(states + mixed, layer.first_norm, layer.epsilon)
        inner = functional.gelu(functional.linear(states, *layer.inner))
        states = _normed(states + functional.linear(inner, *layer.outer), layer.second_norm, layer.epsilon)
        yield states[:count]


def _normed(states: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor], epsilon: float) -> torch.Tensor:
    """Layer norm of each piece."""
    return functional.layer_norm(states, norm[0].shape, *norm, epsilon)


def _attended(
    layer: Layer, inputs: torch.Tensor, lengths: Sequence[int], biases: Mapping[int, torch.Tensor | None]
) -> torch.Tensor:
    """(pieces, width) what each piece takes from the pieces of its own row."""
    width = inputs.shape[1] // 3
    result = inputs.new_zeros(len(inputs), width)
    at = 0
    for length, same in groupby(lengths):
        rows = sum(1 for _ in same)
        upto = at + rows * length
        parts = inputs[at:upto].view(rows, length, 3, layer.heads, width // layer.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], attn_mask=biases[length])
        result[at:upto] = mixed.transpose(1, 2).reshape(rows * length, width)
        at = upto
    return result


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` threads inside each operation, and put its own number back."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
