"""The trunk's network in plain torch: BERT's encoder (Devlin et al. 2019), or MPNet's (Song et al. 2020).

The two differ in values of one configuration: MPNet has no token types, counts positions from two, and adds to every attention
score a bias that depends on how far apart two pieces stand, the same in all layers. Parameters have the names of BERT's
checkpoints (train/base/recipe.py renames MPNet's); the numbers are those of transformers' BertModel and MPNetModel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

__all__ = ["Trunk", "TrunkConfig", "distance_bias", "distance_buckets"]


@dataclass(slots=True)
class TrunkConfig:
    """Sizes, under the names of BERT's own configuration.

    type_vocab_size : token types; 0 for an architecture without them. first_position : the number of a row's first piece in the
        table of positions. relative_attention_num_buckets : distances that the attention bias tells apart; 0 for no bias.
    """

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    first_position: int = 0
    relative_attention_num_buckets: int = 0
    dropout: float = 0.0

    @property
    def window(self) -> int:
        """Pieces of the longest row, special ones included."""
        return self.max_position_embeddings - self.first_position

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> TrunkConfig:
        """Read BERT's configuration; what only concerns training is left out. Raises ValueError for another activation than GELU."""
        known = {field.name for field in fields(cls)}
        config = cls(**{name: value for name, value in description.items() if name in known})
        if config.hidden_act != "gelu":
            raise ValueError(f"the trunk's activation {config.hidden_act!r} is not GELU")
        return config


class _Table(nn.Embedding):
    """A table of vectors without the random numbers that would only be written over."""

    def reset_parameters(self) -> None:
        """Leave the memory as it is."""


class _Linear(nn.Linear):
    """A linear map without the random numbers that would only be written over."""

    def reset_parameters(self) -> None:
        """Leave the memory as it is."""


class Embeddings(nn.Module):
    """What a row of pieces looks like before the first layer."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.word_embeddings = _Table(config.vocab_size, config.hidden_size)
        self.position_embeddings = _Table(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = _Table(config.type_vocab_size, config.hidden_size) if config.type_vocab_size else None
        self.first_position = config.first_position
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, ids: torch.Tensor, places: torch.Tensor | None = None) -> torch.Tensor:
        """(..., d) from (..., L) piece ids of single texts. places : (L,) or as ids, each piece's place in its row, from 0."""
        places = torch.arange(ids.shape[-1]) if places is None else places
        states = self.word_embeddings(ids)
        if self.token_type_embeddings is not None:
            states = states + self.token_type_embeddings.weight[0]
        normed: torch.Tensor = self.LayerNorm(states + self.position_embeddings.weight[places + self.first_position])
        return normed


def distance_buckets(length: int, buckets: int, furthest: int = 128) -> torch.Tensor:
    """(length, length) which bucket the distance from each piece to each other one falls into (Raffel et al. 2020, section 2.1).

    Half of the buckets are for pieces on the right; of each half the first half is for single distances, the rest for
    ranges that grow with the logarithm, up to ``furthest``, beyond which all distances are one.
    """
    steps = torch.arange(length)
    apart = steps[None, :] - steps[:, None]
    half, single = buckets // 2, buckets // 4
    away = apart.abs()
    ranged = single + (torch.log(away.clamp_min(1).float() / single) / math.log(furthest / single) * (half - single)).long()
    return (apart > 0).long() * half + torch.where(away < single, away, ranged.clamp_max(half - 1))


def distance_bias(table: nn.Embedding | None, length: int) -> torch.Tensor | None:
    """(1, heads, length, length) the biases of a (buckets, heads) table for a row of pieces; None without a table."""
    return None if table is None else table.weight[distance_buckets(length, table.num_embeddings)].permute(2, 0, 1)[None]


class Layer(nn.Module):
    """Attention and a feed-forward net, each added to its input and normalised."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.heads, width = config.num_attention_heads, config.hidden_size
        self.dropout = nn.Dropout(config.dropout)

        def closing(inner: int) -> nn.ModuleDict:
            return nn.ModuleDict({"dense": _Linear(inner, width), "LayerNorm": nn.LayerNorm(width, config.layer_norm_eps)})

        asked = nn.ModuleDict({name: _Linear(width, width) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": asked, "output": closing(width)})
        self.intermediate = nn.ModuleDict({"dense": _Linear(width, config.intermediate_size)})
        self.output = closing(config.intermediate_size)

    def forward(self, states: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """(b, L, d) states to states. bias : added to the attention's logits, (b, 1, 1 or L, L); None where every piece is real."""
        asked, after = self.attention["self"], self.attention["output"]
        shape = (*states.shape[:2], self.heads, -1)
        query, key, value = (asked[name](states).view(shape).transpose(1, 2) for name in ("query", "key", "value"))
        seen = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias).transpose(1, 2)
        states = self._closed(after, seen.reshape(states.shape), states)
        return self._closed(self.output, nn.functional.gelu(self.intermediate["dense"](states)), states)

    def _closed(self, module: Any, inner: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Back to the width of the states, added to them and normalised."""
        closed: torch.Tensor = module["LayerNorm"](self.dropout(module["dense"](inner)) + states)
        return closed


class Encoder(nn.Module):
    """The layers, first to last."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        buckets = config.relative_attention_num_buckets
        self.relative_attention_bias = _Table(buckets, config.num_attention_heads) if buckets else None

    def position_bias(self, length: int) -> torch.Tensor | None:
        """(1, heads, length, length) what is added to the attention scores of a row, the same in every layer; None for nothing."""
        return distance_bias(self.relative_attention_bias, length)


class Trunk(nn.Module):
    """Embeddings and layers, without a pooler and without dropout.

    A new one holds no numbers yet: load a state dict of all its parameters.
    """

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.encoder = Encoder(config)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_: Any) -> SimpleNamespace:
        """All states of (b, L) rows of pieces.

        attention_mask : (b, L), 0 at padding, which nothing then looks at. Returns hidden_states, the embeddings' and each layer's
        (b, L, d), and last_hidden_state, the last of them.
        """
        states = [self.embeddings(input_ids)]
        bias = self.encoder.position_bias(input_ids.shape[1])
        if attention_mask is not None and not bool(attention_mask.all()):
            hidden = torch.zeros(attention_mask.shape, dtype=states[0].dtype)
            hidden = hidden.masked_fill(attention_mask == 0, torch.finfo(hidden.dtype).min)[:, None, None, :]
            bias = hidden.expand(-1, 1, input_ids.shape[1], -1) if bias is None else bias + hidden
        for layer in self.encoder.layer:
            states.append(layer(states[-1], bias))
        return SimpleNamespace(hidden_states=tuple(states), last_hidden_state=states[-1])
