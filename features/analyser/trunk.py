"""The trunk's network: BERT's encoder (Devlin et al. 2019), or MPNet's (Song et al. 2020), in plain torch, and its layers run without padding.

The two differ in values of one configuration: MPNet has no token types, counts positions from two, and adds to every attention
score a bias that depends on how far apart two pieces stand, the same in all layers. Parameters have the names of BERT's
checkpoints (train/base/recipe.py renames MPNet's); the numbers are those of transformers' BertModel and MPNetModel.

`Trunk` reads padded batches, for training. `layer_states` runs layers over rows of any length without padding: the pieces of all rows
lie in one matrix, so the layers' products see no padding; attention takes the rows of equal length together. A product's row does not
depend on how many rows it is computed with, once there are a few (`LEAST`): so states are equal to the last bit in every batch, which a
padded batch cannot promise.

Measured and left alone: the products run at 65 to 105 GFLOP/s in torch, oneDNN, MKL with packed weights and OpenBLAS alike, which is
nearly what one core has. bfloat16 and whole numbers of eight bits are choices (see `in_precision`): with AVX512-BF16 (Zen 4) bfloat16 comes
to 170 GFLOP/s where float32 has 55 to 100; eight bits multiply 1.7 times as fast as float32 with AVX2 alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from itertools import groupby
from threading import Lock
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from .config import processors
from .eight_bits import LOWEST_GELU, EightBits, large_columns
from .model_set import multiplies_bf16

LEAST, LEAST_A_THREAD = 16, 5
"""Rows of a matrix; products of fewer use other kernels, with other last digits."""


@dataclass(slots=True)
class TrunkConfig:
    """Sizes, under the names of BERT's own configuration.

    Attributes
    ----------
    type_vocab_size
        Token types; 0 for an architecture without them.
    first_position
        The number of a row's first piece in the table of positions.
    relative_attention_num_buckets
        Distances that the attention bias tells apart; 0 for no bias.
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


class RoundedTable(nn.Module):
    """A `_Table` as int8 with one scale a row, in a quarter of the memory; what is looked up is float32, as `load_weights` gives it."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width, dtype=torch.int8), requires_grad=False)
        self.scale = nn.Parameter(torch.empty(rows), requires_grad=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """(..., d) the vectors of (...) rows."""
        return self.weight[ids].float() * self.scale[ids, None]


class _Linear(nn.Linear):
    """A linear map without the random numbers that would only be written over."""

    def reset_parameters(self) -> None:
        """Leave the memory as it is."""


class Embeddings(nn.Module):
    """What a row of pieces looks like before the first layer."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.word_embeddings: nn.Module = _Table(config.vocab_size, config.hidden_size)
        self.position_embeddings = _Table(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = _Table(config.type_vocab_size, config.hidden_size) if config.type_vocab_size else None
        self.first_position = config.first_position
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, ids: torch.Tensor, places: torch.Tensor | None = None) -> torch.Tensor:
        """(..., d) from (..., L) piece ids of single texts.

        Parameters
        ----------
        places
            (L,) or as ids, each piece's place in its row, from 0.
        """
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
    return (
        None
        if table is None
        else table.weight[distance_buckets(length, table.num_embeddings).to(table.weight.device)].permute(2, 0, 1)[None]
    )


class TrunkLayer(nn.Module):
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
        """(b, L, d) states to states.

        Parameters
        ----------
        bias
            Added to the attention's logits, (b, 1, 1 or L, L); None where every piece is real.
        """
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
        self.layer = nn.ModuleList(TrunkLayer(config) for _ in range(config.num_hidden_layers))
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

        Parameters
        ----------
        attention_mask
            (b, L), 0 at padding, which nothing then looks at. Returns hidden_states, the embeddings' and each layer's (b, L, d), and
            last_hidden_state, the last of them.
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


Pair = tuple[torch.Tensor, torch.Tensor]
"""Weight and bias of a linear map or a norm."""
Map = Pair | EightBits


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """The weights of one post-norm layer; ``inputs`` stands for queries, keys and values in one matrix (3 * width, width)."""

    heads: int
    epsilon: float
    inputs: Map
    output: Map
    first_norm: Pair
    inner: Map
    outer: Map
    second_norm: Pair


def _pair(module: Any) -> Pair:
    return module.weight.detach(), module.bias.detach()


def bert_layers(model: Any) -> tuple[LayerWeights, ...]:
    """The layers of a trunk. Raises ValueError for another activation than GELU: its layers compute something else."""
    if model.config.hidden_act != "gelu":
        raise ValueError(f"packed layers compute GELU, not {model.config.hidden_act}")
    layers = []
    for layer in model.encoder.layer:
        own, out = layer.attention.self, layer.attention.output
        parts = own.query, own.key, own.value
        weights, biases = zip(*(_pair(part) for part in parts), strict=True)
        inputs = torch.cat(weights), torch.cat(biases)
        for part, weight in zip(parts, inputs[0].chunk(3), strict=True):
            part.weight = nn.Parameter(weight, requires_grad=False)  # so that these numbers are held once
        layers.append(
            LayerWeights(
                heads=int(model.config.num_attention_heads),
                epsilon=float(model.config.layer_norm_eps),
                inputs=inputs,
                output=_pair(out.dense),
                first_norm=_pair(out.LayerNorm),
                inner=_pair(layer.intermediate.dense),
                outer=_pair(layer.output.dense),
                second_norm=_pair(layer.output.LayerNorm),
            )
        )
    return tuple(layers)


def attention_layers(modules: Any) -> tuple[LayerWeights, ...]:
    """The layers of a list of torch's own TransformerEncoderLayer (post-norm, GELU)."""
    return tuple(
        LayerWeights(
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


def in_precision(layers: Sequence[LayerWeights], precision: str) -> tuple[LayerWeights, ...]:
    """The layers as they are for ``float32``; else with the weights of their products rounded once, and norms as they are.

    ``bf16`` rounds what is multiplied to bfloat16, ``int8`` to whole numbers (see `EightBits`).
    """
    if precision == "float32":
        return tuple(layers)
    if precision == "int8":
        before = [layers[0].first_norm, *(layer.second_norm for layer in layers[:-1])]  # nobody knows what the first layer gets
        return tuple(map(_in_eight_bits, layers, before))

    def rounded(weights: Any) -> Pair:
        return weights[0].bfloat16(), weights[1].bfloat16()

    return tuple(
        replace(
            layer,
            inputs=rounded(layer.inputs),
            output=rounded(layer.output),
            inner=rounded(layer.inner),
            outer=rounded(layer.outer),
        )
        for layer in layers
    )


def _in_eight_bits(layer: LayerWeights, before: Pair) -> LayerWeights:
    """One layer for whole numbers, which reads the output of the norm ``before``, or one with the same large columns."""

    def rounded(weights: Any, columns: torch.Tensor | None = None, lowest: float | None = None) -> EightBits:
        return EightBits(weights[0], weights[1], columns, lowest)

    return replace(
        layer,
        inputs=rounded(layer.inputs, large_columns(before)),
        output=rounded(layer.output),
        inner=rounded(layer.inner, large_columns(layer.first_norm)),
        outer=rounded(layer.outer, lowest=LOWEST_GELU),
    )


def _product(states: torch.Tensor, weights: Map) -> torch.Tensor:
    """States times weights, in the weights' type.

    A processor without instructions for bfloat16 multiplies the rounded numbers in float32, four times as fast as torch would else.
    """
    if isinstance(weights, EightBits):
        return weights(states)
    weight, bias = weights
    states = states.to(weight.dtype)
    if weight.dtype == torch.bfloat16 and weight.device.type == "cpu" and not multiplies_bf16():
        return functional.linear(states.float(), weight.float(), bias.float()).bfloat16()
    return functional.linear(states, weight, bias)


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
    """The matrix, with rows of zeros below when it has fewer than LEAST, or than LEAST_A_THREAD for each of this thread's."""
    missing = max(LEAST, LEAST_A_THREAD * torch.get_num_threads()) - len(matrix)
    return matrix if missing <= 0 else torch.cat([matrix, matrix.new_zeros(missing, *matrix.shape[1:])])


@torch.no_grad()
def embedded(model: Any, rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """A trunk's embeddings of rows of piece ids, one below the other: (pieces, width)."""
    ids = torch.tensor([piece for row in rows for piece in row])
    places = torch.cat([torch.arange(len(row)) for row in rows])
    device = model.embeddings.word_embeddings.weight.device
    found: torch.Tensor = model.embeddings(ids.to(device), places.to(device))
    return found


def _no_bias(length: int) -> None:
    """Attention that does not look at places."""


@torch.no_grad()
def layer_states(
    layers: Sequence[LayerWeights],
    states: torch.Tensor,
    lengths: Sequence[int],
    position_bias: Callable[[int], torch.Tensor | None] = _no_bias,
) -> Iterator[torch.Tensor]:
    """The states after each layer, (pieces, width) each.

    Parameters
    ----------
    states
        (pieces, width), what the first layer reads, the pieces of each row one below the other.
    lengths
        Pieces of each row, equal ones best side by side: they are attended to together.
    position_bias
        What is added to the attention scores of a row of so many pieces, (1, heads, length, length); None for nothing.
    """
    count = len(states)
    biases = {length: position_bias(length) for length in dict.fromkeys(lengths)}
    states = at_least(states)
    for layer in layers:
        mixed = _product(_attended(layer, _product(states, layer.inputs), lengths, biases), layer.output)
        states = _normed(states + mixed, layer.first_norm, layer.epsilon)
        inner = functional.gelu(_product(states, layer.inner))
        states = _normed(states + _product(inner, layer.outer), layer.second_norm, layer.epsilon)
        yield states[:count]


def _normed(states: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor], epsilon: float) -> torch.Tensor:
    """Layer norm of each piece."""
    return functional.layer_norm(states, norm[0].shape, *norm, epsilon)


def _attended(
    layer: LayerWeights, inputs: torch.Tensor, lengths: Sequence[int], biases: Mapping[int, torch.Tensor | None]
) -> torch.Tensor:
    """(pieces, width) what each piece takes from the pieces of its own row."""
    width = inputs.shape[1] // 3
    result = inputs.new_zeros(len(inputs), width)
    at = 0
    for length, same in groupby(lengths):
        rows = sum(1 for _ in same)
        upto = at + rows * length
        parts = inputs[at:upto].view(rows, length, 3, layer.heads, width // layer.heads).permute(2, 0, 3, 1, 4)
        bias = biases[length]
        if bias is not None and bias.is_cuda:  # whose kernels want one type
            bias = bias.to(inputs.dtype)
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], attn_mask=bias)
        result[at:upto] = mixed.transpose(1, 2).reshape(rows * length, width)
        at = upto
    return result


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` threads inside each operation, or as many as there are processors, multiply float32 as float32, and put its
    own settings back.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(min(count, processors()))
    try:
        with _WHOLE:
            yield
    finally:
        torch.set_num_threads(before)


class _WholeFloat32:
    """In such blocks torch multiplies float32 neither in bfloat16 nor in TF32, which a process may have set; the last that ends puts that back."""

    def __init__(self) -> None:
        self._lock, self._inside, self._undo = Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside > 1:
                return
            if not hasattr(torch.backends.mkldnn, "matmul"):  # torch before 2.9 has one setting
                self._undo.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
                torch.set_float32_matmul_precision("highest")
                return
            for kind in (torch.backends.mkldnn.matmul, torch.backends.mkldnn.rnn, torch.backends.cuda.matmul):
                if kind.fp32_precision not in ("none", "ieee"):
                    self._undo.callback(setattr, kind, "fp32_precision", kind.fp32_precision)
                    kind.fp32_precision = "ieee"

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._undo.close()


_WHOLE = _WholeFloat32()
"""Shared by all threads, as what it sets is."""
