"""The pair reader with gradients: frozen lower layers read each text, adapted layers read the words of both.

It computes what `features/analyser/pair_reader.py` does, in padded batches on any device. Source of the adapters: Hu et al. 2022 (LoRA),
equation 3.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import linear, scaled_dot_product_attention, softplus
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from rome.features.analyser.encoder import load_trunk, stored_tensors
from rome.features.analyser.model_set import multiplies_bf16
from rome.features.analyser.pair_reader import ADAPTED, COMPANY, FURTHER, NORMS, further_layers
from rome.features.analyser.weights import load_weights, quantise
from rome.features.errors.evidence import MARKS, READER_FILE, SEVERITIES, TYPES, WEIGHTS
from rome.train.errors.batches import Batch

DROPOUT = 0.1
HIDDEN = -1e4
"""Added to the attention scores of padding."""


class Adapted(nn.Module):
    """A frozen linear map plus a product of two narrow ones, the second of them zero at first.

    Attributes
    ----------
    bits
        Of the numbers of the narrow maps where they are read as they will be stored; 0 where they are read as they are.
    """

    bits = 0

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight.detach(), persistent=False)
        self.bias = nn.Parameter(bias.detach().clone())
        self.down = nn.Parameter(torch.randn(rank, weight.shape[1]) / weight.shape[1] ** 0.5)
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, states: Tensor) -> Tensor:
        """Map (..., in) to (..., out)."""
        down, up = (stored(matrix, self.bits) if self.bits else matrix for matrix in (self.down, self.up))
        return linear(states, self.weight, self.bias) + linear(linear(states, down), up)


class Layer(nn.Module):
    """A layer of the trunk with its linear maps adapted.

    Parameters
    ----------
    tensors
        Of the layer, by BERT's names.
    config
        Of the trunk.
    """

    def __init__(self, tensors: Mapping[str, Tensor], config: Any, rank: int) -> None:
        super().__init__()
        own = {name: (tensors[f"{name}.weight"], tensors[f"{name}.bias"]) for name in (*ADAPTED.values(), *NORMS.values())}
        self.maps = nn.ModuleDict({name.removeprefix("maps."): Adapted(*own[of], rank) for name, of in ADAPTED.items()})
        self.norms = nn.ModuleList(nn.LayerNorm(config.hidden_size, config.layer_norm_eps) for _ in NORMS)
        for norm, name in zip(self.norms, NORMS.values(), strict=True):
            norm.load_state_dict(dict(zip(("weight", "bias"), own[name], strict=True)))
        self.heads, self.drop = config.num_attention_heads, nn.Dropout(DROPOUT)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        """Return (b, N, d) states of states; bias (b, heads or 1, N, N) is added to the scores of attention."""
        shape = (*states.shape[:2], self.heads, -1)
        query, key, value = (self.maps[name](states).view(shape).transpose(1, 2) for name in ("query", "key", "value"))
        seen = scaled_dot_product_attention(query, key, value, attn_mask=bias.to(query.dtype))
        seen = seen.transpose(1, 2).reshape(states.shape)
        states = self.norms[0](states + self.drop(self.maps["attention"](seen)))
        found: Tensor = self.norms[1](states + self.drop(self.maps["outer"](nn.functional.gelu(self.maps["inner"](states)))))
        return found


@dataclass(frozen=True, slots=True)
class Read:
    """Hold the predictions for b pairs of up to N places.

    Attributes
    ----------
    logits
        (b, N, severities).
    types
        (b, N, types).
    amount
        (b,) >= 0, log(1 + expected cost of the pair's errors).
    start
        (b, d) states of the first mark.
    real
        (b, N) which places are not padding.
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
        Whose layers after ``below`` are adapted; those up to it read each text alone, and stay as they are.
    further
        The tensors of layers of the published model that follow the trunk's, adapted likewise.
    """

    def __init__(self, trunk: Any, below: int, rank: int = 64, further: Sequence[Mapping[str, Tensor]] = ()) -> None:
        super().__init__()
        self.below, self.rank, self.config, width = below, rank, trunk.config, trunk.config.hidden_size
        self.layers = nn.ModuleList(Layer(stored_tensors(old), self.config, rank) for old in trunk.encoder.layer[below:])
        self.further: dict[str, Tensor] = {}
        self.grow(further)
        own = getattr(trunk.encoder, "relative_attention_bias", None)
        self.distance = None if own is None else copy.deepcopy(own).requires_grad_(True)
        self.lower = copy.deepcopy(trunk)
        self.lower.encoder.layer = self.lower.encoder.layer[:below]
        self.lower.config.num_hidden_layers = below
        self.lower.requires_grad_(False)
        self.marks = nn.Parameter(torch.randn(len(MARKS), width) * 0.02)
        self.sides, self.shared = nn.Parameter(torch.zeros(2, width)), nn.Parameter(torch.zeros(COMPANY, width))
        self.severity, self.kind = nn.Linear(width, len(SEVERITIES)), nn.Linear(width, len(TYPES))
        self.amount = nn.Linear(width + 2, 1)
        self.register_buffer("weights", torch.tensor(WEIGHTS), persistent=False)
        with torch.no_grad():
            self.severity.weight *= 0.1
            self.severity.bias.copy_(torch.tensor([4.0, 0.0, 0.0, 0.0]))
            self.amount.weight *= 0.1
            self.amount.weight[0, -2:] = 0.5
            self.amount.bias.fill_(-2.0)

    def grow(self, layers: Sequence[Mapping[str, Tensor]]) -> None:
        """Append adapted copies of layers of the published model to the joint layers."""
        first = len({name.split(".")[1] for name in self.further})
        for n, layer in enumerate(layers, first):
            self.further |= {f"{FURTHER}{n}.{name}": tensor for name, tensor in layer.items()}
            self.layers.append(Layer(layer, self.config, self.rank))

    def own(self) -> dict[str, Tensor]:
        """Return by name what is trained, which is what a reader's file holds beside further layers."""
        return {name: parameter for name, parameter in self.named_parameters() if parameter.requires_grad}

    def read_as_stored(self, bits: int) -> None:
        """Read the adapters with so many bits from now on; with 0 as they are."""
        for adapted in (module for module in self.modules() if isinstance(module, Adapted)):
            adapted.bits = bits

    @torch.no_grad()
    def start_marks(self, ids: tuple[int, int]) -> None:
        """Begin the marks as the trunk's own states of the marks of a text without pieces."""
        states = self._read_alone(torch.tensor([ids], device=self.marks.device), torch.tensor([2], device=self.marks.device))
        self.marks.copy_(states[0, [0, 1, 1]])

    @torch.no_grad()
    def _read_alone(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (S, L, d) states of sentences after the lower layers."""
        real = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        states: Tensor = self.lower(ids, real.long()).last_hidden_state
        return states

    def rows(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return (b, N, d) what the adapted layers get and (b, N) which places are real."""
        states = self._read_alone(batch.ids, batch.lengths).flatten(0, 1).float()
        count = int(batch.word.max()) + 1 if len(batch.word) else 0
        words = states.new_zeros(count, states.shape[1]).index_add_(0, batch.word, states[batch.pooled])
        size = states.new_zeros(count).index_add_(0, batch.word, torch.ones_like(batch.word, dtype=states.dtype))
        words = words / size.clamp_min(1.0)[:, None]
        real, is_word = batch.row >= 0, (batch.row >= len(MARKS))[..., None]
        marks = picked(self.marks, torch.where(is_word[..., 0] | ~real, len(MARKS), batch.row))
        known = picked(self.sides, batch.side) + picked(self.shared, batch.company)
        rows = torch.cat([words.new_zeros(len(MARKS), words.shape[1]), words])[batch.row.clamp_min(0)]
        return rows + known * is_word + marks, real

    def forward(self, batch: Batch) -> Read:
        """Read the pairs of a batch."""
        states, real = self.rows(batch)
        bias = torch.zeros_like(real, dtype=states.dtype).masked_fill(~real, HIDDEN)[:, None, None, :]
        if self.distance is not None:
            steps = torch.arange(states.shape[1], device=states.device)
            buckets = MPNetEncoder.relative_position_bucket(steps[None] - steps[:, None], self.distance.num_embeddings)
            bias = bias + picked(self.distance.weight, buckets).permute(2, 0, 1)[None]
        bias = bias.expand(-1, -1, states.shape[1], -1)
        for layer in self.layers:
            states = layer(states, bias)
        states = states.float()
        logits = self.severity(states).float()
        costs = logits.softmax(-1) @ self.weights * real
        seen = torch.stack([costs.amax(1), costs.sum(1)], dim=1).log1p()
        amount = softplus(self.amount(torch.cat([states[:, 0], seen], dim=1)).float())[:, 0]
        return Read(logits, self.kind(states).float(), amount, states[:, 0], real)


def stored(matrix: Tensor, bits: int) -> Tensor:
    """Return a matrix as it will be stored, with the gradient as if it were not rounded (Bengio et al. 2013: straight-through)."""
    values, scale = quantise(matrix.detach(), bits)
    return matrix + (values * scale[:, None] - matrix).detach()


@contextmanager
def fast_on(device: str) -> Iterator[None]:
    """Compute products in bfloat16 where the device multiplies it itself, and on a processor attention as plain products.

    There, in bfloat16, the gradient of torch's fused attention takes ten times as long as theirs.
    """
    kernels = [SDPBackend.MATH] if device == "cpu" else [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda" or multiplies_bf16()), sdpa_kernel(kernels):
        yield


def picked(table: Tensor, rows: Tensor) -> Tensor:
    """Return (..., d) rows of a small table, zeros for the number of its rows; a product, whose gradient is fast on graphics cards."""
    chosen: Tensor = nn.functional.one_hot(rows, len(table) + 1)[..., :-1].to(table.dtype) @ table
    return chosen


def load_reader(folder: Path) -> PairNet:
    """Return the reader of a model set's folder as it was trained; one of other types of errors gets a new map to them.

    Raises ModelMissingError for a set without one.
    """
    tensors, about = load_weights(folder / "errors" / READER_FILE)
    below, rank = int(str(about["below"])), len(tensors["layers.0.maps.query.down"])
    trunk = load_trunk(folder / "encoder")
    net = PairNet(trunk, below, rank, further_layers(tensors))
    known = {name: tensor for name, tensor in tensors.items() if not name.startswith(FURTHER)}
    if about["types"] != list(TYPES):
        known = {name: tensor for name, tensor in known.items() if not name.startswith("kind.")}
    net.load_state_dict(known, strict=False)
    return net.eval()
