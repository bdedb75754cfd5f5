"""The trunk's network: BERT's encoder (Devlin et al. 2019) in plain torch, so that analysing loads no model library.

Its parameters have the names that BERT checkpoints have, and it gives the numbers that transformers' BertModel gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

__all__ = ["Trunk", "TrunkConfig"]


@dataclass(slots=True)
class TrunkConfig:
    """Sizes, under the names of BERT's own configuration."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"

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
        self.token_type_embeddings = _Table(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """(b, L, d) from (b, L) piece ids of single texts."""
        states = (
            self.word_embeddings(ids) + self.token_type_embeddings.weight[0] + self.position_embeddings.weight[: ids.shape[1]]
        )
        normed: torch.Tensor = self.LayerNorm(states)
        return normed


class Layer(nn.Module):
    """Attention and a feed-forward net, each added to its input and normalised."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.heads, width = config.num_attention_heads, config.hidden_size

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
        states = _closed(after, seen.reshape(states.shape), states)
        return _closed(self.output, nn.functional.gelu(self.intermediate["dense"](states)), states)


def _closed(module: Any, inner: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Back to the width of the states, added to them and normalised."""
    closed: torch.Tensor = module["LayerNorm"](module["dense"](inner) + states)
    return closed


class Encoder(nn.Module):
    """The layers, first to last."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))


class Trunk(nn.Module):
    """BERT's embeddings and layers, without a pooler and without dropout: the trunk is never trained.

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
        bias = None
        if attention_mask is not None and not bool(attention_mask.all()):
            bias = torch.zeros(attention_mask.shape, dtype=states[0].dtype)
            bias = bias.masked_fill(attention_mask == 0, torch.finfo(bias.dtype).min)[:, None, None, :]
            bias = bias.expand(-1, 1, input_ids.shape[1], -1)
        for layer in self.encoder.layer:
            states.append(layer(states[-1], bias))
        return SimpleNamespace(hidden_states=tuple(states), last_hidden_state=states[-1])
