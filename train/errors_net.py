"""The errors' head in torch: what `features/errors/head.py` computes, batched and with gradients, and the losses that teach it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax, relu, smooth_l1_loss, softplus

from rome.features.errors.head import LINKS, NEAR, TYPES, VECTOR_SCALE
from rome.features.errors.pair_inputs import SCALARS
from rome.features.errors.values import MAJOR, MINOR

from .errors_families import Example, Families, Family

__all__ = ["Batch", "Losses", "PairNet", "Weights", "collate", "losses_of"]

WIDTH = 384
HEADS = 4
FAR = -1e4
GAINS = {"probes": (1.5, 9.0), "chain": (1.0, 3.0), "rated": (1.0, 1.0)}
"""What the order of two members counts in a family, and that of the first, the real pair, and another."""


@dataclass(frozen=True, slots=True)
class Batch:
    """b examples padded to N words.

    vectors, others : (b, N, 384) of the words and of their counterparts. links : (b, len(LINKS), N, N). mask : (b, N), True for words.
    labels, sure, types : (b, N) as in Example. surface : (b,).
    """

    vectors: Tensor
    others: Tensor
    scalars: Tensor
    links: Tensor
    mask: Tensor
    prior: Tensor
    share: Tensor
    surface: Tensor
    labels: Tensor
    sure: Tensor
    types: Tensor


class PairNet(nn.Module):
    """The head; its class logits are what is added to the edit script's log-probabilities, nothing at first."""

    def __init__(self, width: int = 128, layers: int = 2, dropout: float = 0.1, *, vectors: int = WIDTH) -> None:
        super().__init__()
        self.own, self.other = (nn.Linear(vectors, width, bias=False) for _ in range(2))
        self.scal, self.n0 = nn.Linear(len(SCALARS), width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "qkv": nn.Linear(width, 3 * width),
                    "out": nn.Linear(width, width),
                    "n1": nn.LayerNorm(width),
                    "up": nn.Linear(width, 2 * width),
                    "down": nn.Linear(2 * width, width),
                    "n2": nn.LayerNorm(width),
                }
            )
            for _ in range(layers)
        )
        self.bias = nn.Parameter(torch.zeros(layers, HEADS, len(LINKS)))
        self.cls, self.about = nn.Linear(width, 3), nn.Linear(width, len(TYPES))
        nn.init.zeros_(self.cls.weight)
        nn.init.zeros_(self.cls.bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """(b, N, 3) log-probabilities, what was added to the prior, (b, N, types) logits, and (b, N) costs."""
        states = self.drop(self.n0(self.own(batch.vectors) + self.other(batch.others) + self.scal(batch.scalars)))
        closed = (~batch.mask)[:, None, None, :] * FAR
        for number, layer in enumerate(self.layers):
            bias = torch.einsum("bfij,hf->bhij", batch.links, self.bias[number]) + closed
            states = self._layer(layer, states, bias)
        added = self.cls(states)
        logs = log_softmax(batch.prior + added, dim=-1)
        costs = batch.share * (MINOR * logs[..., 1].exp() + MAJOR * logs[..., 2].exp())
        return logs, added, self.about(states), costs

    def _layer(self, layer: nn.ModuleDict, states: Tensor, bias: Tensor) -> Tensor:
        b, n, width = states.shape
        queries, keys, values = layer["qkv"](states).view(b, n, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        weights = self.drop((queries @ keys.transpose(-1, -2) / math.sqrt(width // HEADS) + bias).softmax(-1))
        joined = (weights @ values).permute(0, 2, 1, 3).reshape(b, n, width)
        states = layer["n1"](states + self.drop(layer["out"](joined)))
        found: Tensor = layer["n2"](states + self.drop(layer["down"](relu(layer["up"](states)))))
        return found


def collate(examples: Sequence[Example], data: Families) -> Batch:
    """Pad examples to one batch."""
    b, n = len(examples), max(len(e.inputs) for e in examples)
    width = data.width or WIDTH
    arrays = {
        "vectors": np.zeros((b, n, width), np.float32),
        "others": np.zeros((b, n, width), np.float32),
        "scalars": np.zeros((b, n, len(SCALARS)), np.float32),
        "links": np.zeros((b, len(LINKS), n, n), np.float32),
        "mask": np.zeros((b, n), bool),
        "prior": np.zeros((b, n, 3), np.float32),
        "share": np.zeros((b, n), np.float32),
        "labels": np.full((b, n), -1, np.int64),
        "sure": np.zeros((b, n), np.float32),
        "types": np.full((b, n), -1, np.int64),
    }
    for row, example in enumerate(examples):
        _fill({name: array[row] for name, array in arrays.items()}, example, data)
    surface = torch.tensor([e.surface for e in examples], dtype=torch.float32)
    return Batch(surface=surface, **{name: torch.from_numpy(array) for name, array in arrays.items()})


def _fill(row: dict[str, np.ndarray], example: Example, data: Families) -> None:
    """Write one example into its row of every array."""
    x = example.inputs
    m, there = len(x), x.counterpart >= 0
    sides = [side for side in (data.vectors[example.reference], data.vectors[example.hypothesis]) if len(side)]
    row["vectors"][:m] = np.concatenate(sides).astype(np.float32) * VECTOR_SCALE
    row["others"][:m][there] = row["vectors"][:m][x.counterpart[there]]
    row["scalars"][:m], row["mask"][:m] = x.scalars, True
    row["prior"][:m], row["share"][:m] = example.prior, example.share
    row["labels"][:m], row["sure"][:m], row["types"][:m] = example.labels, example.sure, example.types
    same = x.side[:, None] == x.side[None, :]
    ahead = x.position[:, None].astype(int) - x.position[None, :]
    links = row["links"][:, :m, :m]
    links[0, np.flatnonzero(there), x.counterpart[there]] = 1.0
    links[1], links[2] = x.forms[:, None] == x.forms[None, :], same
    links[3], links[4], links[5] = same & (ahead == 1), same & (ahead == -1), same & (np.abs(ahead) <= NEAR)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each loss counts. error : how much more a labelled mistake weighs than a word without one.

    margin : how far apart two totals should be for each unit of severity; temperature : how soon that is far enough.
    """

    words: float = 1.0
    types: float = 0.1
    ranks: float = 1.0
    amounts: float = 0.15
    added: float = 0.02
    error: float = 1.0
    margin: float = 0.15
    temperature: float = 0.5


@dataclass(frozen=True, slots=True)
class Losses:
    """words : of the classes of the labelled words. types : of the types of the mistakes. ranks : of families' orders. amounts : of how
    much a probe adds to the count. added : how far the head leaves the edit script. ranked : for every probe its name and whether its
    real pair has the lower count. named : for every word that a mistake with a type put in or took away, whether it is the likeliest.
    """

    words: Tensor
    types: Tensor
    ranks: Tensor
    amounts: Tensor
    added: Tensor
    ranked: list[tuple[str, bool]]
    named: list[bool]

    def total(self, weights: Weights) -> Tensor:
        """The weighted sum."""
        return (
            weights.words * self.words
            + weights.types * self.types
            + weights.ranks * self.ranks
            + weights.amounts * self.amounts
            + weights.added * self.added
        )


def losses_of(net: PairNet, data: Families, families: Sequence[Family], weights: Weights) -> Losses:
    """The losses of some families."""
    members = [(member, family.kind == "probes") for family in families for member in family.members]
    batch = collate([data.examples[member.example] for member, _ in members], data)
    logs, added, about, costs = net(batch)
    severity = torch.tensor([member.severity if probes else MAJOR for member, probes in members])
    wrong = batch.labels > 0
    spread = (batch.share * wrong).sum(1).clamp(min=1.0).sqrt()
    known = (batch.labels >= 0) & (batch.share > 0)
    weight = batch.sure * known * (1.0 + weights.error * wrong)
    words = -(_targets(wrong, severity / spread) * logs).sum(-1) * weight
    typed = batch.types.reshape(-1)
    types = (
        cross_entropy(about.reshape(-1, about.shape[-1]), typed, ignore_index=-1)
        if bool((typed >= 0).any())
        else logs.sum() * 0.0
    )
    ranks, amounts, ranked = _orders(costs.sum(1) + batch.surface, spread, families, weights)
    return Losses(
        words.sum() / (batch.sure * known).sum().clamp(min=1.0),
        types,
        ranks,
        amounts,
        ((added**2).mean(-1) * batch.mask).sum() / batch.mask.sum(),
        ranked,
        (about.argmax(-1) == batch.types)[batch.types >= 0].tolist(),
    )


def _targets(wrong: Tensor, cost: Tensor) -> Tensor:
    """(b, N, 3) probabilities whose expected severity is a wrong word's part of its mistake's cost; that of k words grows as sqrt(k)."""
    major = ((cost.clamp(MINOR, MAJOR) - MINOR) / (MAJOR - MINOR))[:, None].expand_as(wrong)
    return torch.stack([(~wrong).float(), wrong * (1.0 - major), wrong * major], dim=-1)


def _orders(
    totals: Tensor, spread: Tensor, families: Sequence[Family], weights: Weights
) -> tuple[Tensor, Tensor, list[tuple[str, bool]]]:
    """The losses of the families' orders and of the amounts of their probes."""
    ranks, amounts, ranked, at = [], [], [], 0
    for family in families:
        upto = at + len(family.members)
        counts, root = totals[at:upto], spread[at:upto]
        severity = torch.tensor([member.severity for member in family.members])
        at = upto
        more, apart = counts[None, :] - counts[:, None], severity[None, :] - severity[:, None]
        pairs = apart > 0.6
        if pairs.any():
            others, first = GAINS[family.kind]
            gain = torch.full_like(more, others)
            gain[0] = first
            wanted = weights.margin * apart.clamp(max=6.0)
            ranks.append((gain * softplus(-(more - wanted) / weights.temperature))[pairs].mean())
        if family.kind == "probes":
            amounts.append(smooth_l1_loss(more[0], severity * root))
            ranked += [(m.name, bool(more[0, n] > 0)) for n, m in enumerate(family.members) if m.severity > 0]
    zero = totals.sum() * 0.0
    return torch.stack(ranks).mean() if ranks else zero, torch.stack(amounts).mean() if amounts else zero, ranked
