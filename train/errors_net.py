"""The pair reader in torch, with gradients: the trunk's upper layers over the words of both texts, changed by low-rank adapters.

What `features/analyser/pair_reader.py` computes; here batched with padding. Source of the adapters: Hu et al. 2022 (LoRA), equation 3.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention, softplus

from rome.features.analyser.pair_reader import ADAPTED, COMPANY, joined
from rome.features.analyser.trunk import Trunk, distance_bias
from rome.features.errors.reader import MARKS, SEVERITIES, TYPES, WEIGHTS

__all__ = ["Adapted", "PairNet", "Read", "Side"]


class Adapted(nn.Module):
    """A frozen linear map plus a product of two narrow ones, the second of them zero at first."""

    def __init__(self, base: nn.Linear, rank: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("weight", base.weight.detach().to(dtype))
        self.bias = nn.Parameter(base.bias.detach().clone())
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, states: Tensor) -> Tensor:
        """(..., out) of (..., in)."""
        return linear(states, self.weight, self.bias.to(self.weight.dtype)) + linear(linear(states, self.down), self.up)


class Layer(nn.Module):
    """A layer of the trunk with its linear maps adapted."""

    def __init__(self, layer: Any, rank: int, dropout: float, dtype: torch.dtype) -> None:
        super().__init__()
        own, out = layer.attention["self"], layer.attention["output"]
        maps = (own["query"], own["key"], own["value"], out["dense"], layer.intermediate["dense"], layer.output["dense"])
        self.maps = nn.ModuleDict({name: Adapted(one, rank, dtype) for name, one in zip(ADAPTED, maps, strict=True)})
        self.norms = nn.ModuleList(copy.deepcopy(one["LayerNorm"]).requires_grad_(True) for one in (out, layer.output))
        self.heads, self.drop = layer.heads, nn.Dropout(dropout)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        """(b, N, d) states to states. bias : (b, heads or 1, N, N) added to the scores of attention."""
        shape = (*states.shape[:2], self.heads, -1)
        query, key, value = (self.maps[name](states).view(shape).transpose(1, 2) for name in ADAPTED[:3])
        seen = scaled_dot_product_attention(query, key, value, attn_mask=bias.to(query.dtype))
        seen = seen.transpose(1, 2).reshape(states.shape)
        states = self.norms[0](states + self.drop(self.maps["attention"](seen)))
        found: Tensor = self.norms[1](states + self.drop(self.maps["outer"](nn.functional.gelu(self.maps["inner"](states)))))
        return found


@dataclass(frozen=True, eq=False)
class Side:
    """One text as the reader gets it: (n, d) states of its words, and their forms in small letters."""

    states: NDArray[np.float32]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What the reader says of b pairs of up to N words, the marks among them.

    logits : (b, N, severities). types : (b, N, types). amount : (b,) >= 0, log(1 + what the pair's errors weigh together). start : (b, d)
    states of the first mark, from which the amount is told.
    """

    logits: Tensor
    types: Tensor
    amount: Tensor
    start: Tensor


class PairNet(nn.Module):
    """The reader of both texts. trunk : whose last layers it starts from, so many as ``above``. below : layers that read each text alone."""

    def __init__(
        self,
        trunk: Trunk,
        below: int,
        rank: int = 32,
        above: int = 3,
        dropout: float = 0.1,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        super().__init__()
        config = trunk.config
        self.below, width = below, config.hidden_size
        self.layers = nn.ModuleList(Layer(one, rank, dropout, dtype) for one in trunk.encoder.layer[-above:])
        self.distance = copy.deepcopy(trunk.encoder.relative_attention_bias)
        if self.distance is not None:
            self.distance.requires_grad_(True)
        self.marks = nn.Parameter(torch.randn(len(MARKS), width) * 0.02)
        self.sides, self.shared = nn.Parameter(torch.zeros(2, width)), nn.Parameter(torch.zeros(COMPANY, width))
        self.severity, self.kind = nn.Linear(width, len(SEVERITIES)), nn.Linear(width, len(TYPES))
        self.amount = nn.Linear(width + 2, 1)
        with torch.no_grad():
            self.severity.weight *= 0.1
            self.severity.bias.copy_(torch.tensor([4.0, 0.0, 0.0, 0.0]))
            self.amount.weight *= 0.1
            self.amount.weight[0, -2:] = 0.5
            self.amount.bias.fill_(-2.0)

    def start_marks(self, states: Tensor) -> None:
        """Begin the marks as (3, d) states of the trunk's own."""
        with torch.no_grad():
            self.marks.copy_(states)

    def rows(self, pairs: Sequence[tuple[Side, Side]]) -> tuple[Tensor, Tensor]:
        """(b, N, d) what goes in and (b, N) which places are real: mark, reference, mark, hypothesis, mark."""
        lengths = [len(one.forms) + len(other.forms) + len(MARKS) for one, other in pairs]
        rows = self.marks.new_zeros(len(pairs), max(lengths), self.marks.shape[1])
        real = torch.zeros(rows.shape[:2], dtype=torch.bool)
        for n, (one, other) in enumerate(pairs):
            row = joined(one.states, other.states, one.forms, other.forms, self.marks, self.sides, self.shared)
            rows[n, : len(row)], real[n, : len(row)] = row, True
        return rows, real

    def forward(self, pairs: Sequence[tuple[Side, Side]]) -> Read:
        """Read some pairs."""
        states, real = self.rows(pairs)
        bias = torch.zeros(len(pairs), 1, 1, states.shape[1]).masked_fill(~real[:, None, None, :], -1e4)
        if self.distance is not None:
            bias = bias + distance_bias(self.distance, states.shape[1])
        with torch.autocast("cpu", torch.bfloat16, enabled=self.layers[0].maps["query"].weight.dtype == torch.bfloat16):
            for layer in self.layers:
                states = layer(states, bias)
        states = states.float()
        logits = self.severity(states)
        costs = logits.softmax(-1) @ torch.tensor(WEIGHTS) * real
        seen = torch.stack([costs.amax(1), costs.sum(1)], dim=1).log1p()
        amount = softplus(self.amount(torch.cat([states[:, 0], seen], dim=1)))[:, 0]
        return Read(logits, self.kind(states), amount, states[:, 0])
