"""The pair reader in torch, with gradients: the trunk's upper layers over the words of both texts, changed by low-rank adapters.

What `features/analyser/pair_reader.py` computes; here batched with padding. Source of the adapters: Hu et al. 2022 (LoRA), equation 3.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention, softplus

from rome.data.perturbations.changes import Made, Spans, plain
from rome.data.readers.meaning import MEANING_SETS, MeaningGroup, read_meaning
from rome.exceptions import InputError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import EmbeddedEncoder, load_tokenizer, load_trunk
from rome.features.analyser.model_set import multiplies_bf16
from rome.features.analyser.pair_reader import ADAPTED, COMPANY, joined
from rome.features.analyser.pieces import pooled, touched
from rome.features.analyser.trunk import Trunk, distance_bias
from rome.features.analyser.weights import load_weights
from rome.features.errors.evidence import MARKS, READER_FILE, SEVERITIES, TYPES, WEIGHTS

CHUNK = 16
"""Pairs of like length that pass the net together."""


def fast_numbers() -> torch.dtype:
    """bfloat16 where the processor multiplies it itself; elsewhere float32, which is several times as fast there."""
    return torch.bfloat16 if multiplies_bf16() else torch.float32


class Adapted(nn.Module):
    """A frozen linear map plus a product of two narrow ones, the second of them zero at first."""

    def __init__(self, base: nn.Linear, rank: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("weight", base.weight.detach().to(dtype), persistent=False)
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
        """(b, N, d) states to states.

        Parameters
        ----------
        bias
            (b, heads or 1, N, N) added to the scores of attention.
        """
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

    Attributes
    ----------
    logits
        (b, N, severities).
    types
        (b, N, types).
    amount
        (b,) >= 0, log(1 + what the pair's errors weigh together).
    start
        (b, d) states of the first mark, from which the amount is told.
    real
        (b, N) which places are no padding.
    """

    logits: Tensor
    types: Tensor
    amount: Tensor
    start: Tensor
    real: Tensor


class PairNet(nn.Module):
    """The reader of both texts.

    Parameters
    ----------
    trunk
        Whose last layers it starts from, so many as ``above``.
    below
        Layers that read each text alone.
    dtype
        Of the trunk's own matrices: `fast_numbers`, unless it is given.
    """

    def __init__(
        self,
        trunk: Trunk,
        below: int,
        rank: int = 32,
        above: int = 3,
        dropout: float = 0.1,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        config, dtype = trunk.config, dtype or fast_numbers()
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
        return Read(logits, self.kind(states), amount, states[:, 0], real)


class Sides:
    """Reads texts with the lower layers of a trunk.

    Parameters
    ----------
    folder
        Of the encoder.
    below
        How many layers read each text alone.
    dtype
        `fast_numbers`, unless it is given.
    """

    def __init__(self, folder: Path, below: int, dtype: torch.dtype | None = None) -> None:
        trunk = load_trunk(folder)
        trunk.encoder.layer = trunk.encoder.layer[:below]
        self.width, self.below = trunk.config.hidden_size, below
        self.encoder = EmbeddedEncoder(trunk.to(dtype or fast_numbers()), load_tokenizer(folder), torch.zeros(1))

    def marks(self) -> torch.Tensor:
        """(3, width) states of the marks that the trunk itself puts before and after a text, for the reader to begin with."""
        row = self.encoder.states_of_rows([self.encoder.tokenizer("The company said so.")["input_ids"]])[0][-1]
        return torch.stack([row[0], row[-1], row[-1]])

    def of(self, texts: Sequence[Made]) -> list[Side]:
        """One side a text, each different one read once."""
        different = {(text.text, text.words): text for text in texts}
        surfaces = [text.text[a:b] for text in different.values() for a, b in text.sentences]
        read = iter(self.encoder.read(surfaces))
        found: dict[tuple[str, Spans], Side] = {}
        for name, text in different.items():
            words = _by_sentence(text)
            parts = [_pooled(start, own, next(read), self.below) for (start, _), own in zip(text.sentences, words, strict=True)]
            forms = tuple(text.text[a:b].lower() for own in words for a, b in own)
            found[name] = Side(np.concatenate(parts) if parts else np.zeros((0, self.width), np.float32), forms)
        return [found[text.text, text.words] for text in texts]

    def pairs(self, pairs: Sequence[tuple[Made, Made]]) -> list[tuple[Side, Side]]:
        """Both sides of pairs of reference and hypothesis."""
        read = self.of([text for pair in pairs for text in pair])
        return list(zip(read[::2], read[1::2], strict=True))


def load_reader(models: str) -> tuple[PairNet, Sides]:
    """The reader of a model set as it was trained, and what reads the texts for it. Raises ModelMissingError for a set without one."""
    folder = set_folder(models)
    tensors, about = load_weights(folder / "errors" / READER_FILE)
    below, rank = int(str(about["below"])), len(tensors["layers.0.maps.query.down"])
    above = len({name.split(".")[1] for name in tensors if name.startswith("layers.")})
    net = PairNet(load_trunk(folder / "encoder"), below, rank, above)
    net.load_state_dict(tensors)
    return net, Sides(folder / "encoder", below)


def by_length(pairs: Sequence[tuple[Side, Side]]) -> Iterator[list[int]]:
    """The numbers of pairs, those of like length together, as many as pass the net at once."""
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0].forms) + len(pairs[n][1].forms))
    yield from (order[start : start + CHUNK] for start in range(0, len(order), CHUNK))


def _by_sentence(text: Made) -> list[Spans]:
    """The words of each sentence; a word belongs to the last sentence that begins before it."""
    rows: list[list[tuple[int, int]]] = [[] for _ in text.sentences]
    n = 0
    for a, b in text.words if rows else ():
        while n + 1 < len(text.sentences) and text.sentences[n + 1][0] <= a:
            n += 1
        rows[n].append((a, b))
    return [tuple(row) for row in rows]


def _pooled(start: int, words: Spans, states: Any, layer: int) -> NDArray[np.float32]:
    """(n, d) states of a sentence's words."""
    return pooled(states.merged(layer), touched(states.pieces.spans, [(a - start, b - start) for a, b in words]))


BATCH = 32


@torch.no_grad()
def counts(net: PairNet, sides: Sides, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
    """(n,) what the errors of each pair of reference and hypothesis weigh together, with words and sentences by simple rules."""
    net.eval()
    found = np.zeros(len(pairs))
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0]) + len(pairs[n][1]))
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        found[chosen] = (
            net(sides.pairs([(plain(pairs[n][0]), plain(pairs[n][1])) for n in chosen])).amount.expm1().double().numpy()
        )
    return found


def meaning_figures(net: PairNet, sides: Sides, limit: int | None = None) -> dict[str, float]:
    """Of each set that is there the share of comparisons in order, and of groups that are in order as a whole.

    Parameters
    ----------
    limit
        At most so many groups of each kind.
    """
    figures: dict[str, float] = {}
    for name in MEANING_SETS:
        try:
            groups = read_meaning(name, limit)
        except InputError:
            continue
        results = [_in_order(net, sides, group) for group in groups]
        figures[f"{name}_in_order"] = round(float(np.mean(np.concatenate([one.ravel() for one in results]))), 4)
        figures[f"{name}_whole_groups"] = round(float(np.mean([one.all() for one in results])), 4)
    return figures


def _in_order(net: PairNet, sides: Sides, group: MeaningGroup) -> NDArray[np.bool_]:
    """(acceptable, critical) whether the first has the lower count, the lowest over the references."""
    texts = [one.text for one in (*group.acceptable, *group.critical)]
    found = np.min([counts(net, sides, [(reference, text) for text in texts]) for reference in group.references], axis=0)
    acceptable, critical = np.split(found, [len(group.acceptable)])
    return np.asarray(acceptable[:, None] < critical[None, :])
