"""The encoder of a model set: one pass of its trunk over a text, whose states everything shares.

The trunk is transformers' MPNetModel or BertModel, filled from the set's own file. Word vectors, tags and trees, acceptability and word
probabilities all start from its states (see `SentenceStates`). Rows are padded in batches of similar length; the states of a text differ by less
than 1e-5 between batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

from .config import BATCH_SIZE, set_folder
from .pieces import Encoded, WordPieces, batches_of, encode, merge_windows, padded
from .weights import load_weights

TRUNK_FILE, COMMON_FILE, PIECES_FILE = "trunk.safetensors", "common.safetensors", "tokenizer.json"
VECTORS_FILE = "vectors.safetensors"
TEXTS = 64
"""In one of `parts_of`."""
WORDS = "embeddings.word_embeddings.weight"
"""The name of the table of the pieces' vectors."""
SIZES = (
    "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size max_position_embeddings type_vocab_size layer_norm_eps"
    " hidden_act first_position relative_attention_num_buckets dropout"
).split()
"""Settings of a trunk in our files; ``first_position`` is the number of a row's first piece in the table of positions."""
MPNET_NAMES = {
    "attention.self.query": "attention.attn.q",
    "attention.self.key": "attention.attn.k",
    "attention.self.value": "attention.attn.v",
    "attention.output.dense": "attention.attn.o",
    "attention.output.LayerNorm": "attention.LayerNorm",
}
"""The parts of a layer by BERT's names, which our files use, and by MPNet's."""
SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], object], Any], ...] = (
    (torch.get_num_threads, torch.set_num_threads, None),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
    (torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, 0),
    (torch.get_rng_state, torch.set_rng_state, None),  # Stanza draws seeds that it does not use
)
"""torch's settings of the whole process that `as_guest` puts back, and their values while RoMe computes; None leaves them."""
_ALONE = RLock()


class GivenStates(torch.nn.Module):
    """Stand for the embeddings of a network whose input are states."""

    def forward(self, inputs_embeds: torch.Tensor, **_: Any) -> torch.Tensor:
        """Return the states."""
        return inputs_embeds


def network(config: Mapping[str, Any], tensors: Mapping[str, torch.Tensor], where: str) -> Any:
    """Return transformers' MPNetModel or BertModel with these tensors, in evaluation mode and without gradients.

    Parameters
    ----------
    config
        A model of `relative_attention_num_buckets` is MPNet's.
    tensors
        By BERT's names. Without embeddings the network gets states as ``inputs_embeds``.
    where
        The file that they come from, for messages.

    Raises
    ------
    ValueError
        The tensors do not fit the configuration, or its activation is not GELU.
    """
    if config.get("hidden_act", "gelu") != "gelu":
        raise ValueError(f"the activation of {where} must be gelu, got {config['hidden_act']!r}")
    kind, own = (MPNetModel, MPNetConfig) if config.get("relative_attention_num_buckets") else (BertModel, BertConfig)
    named = {renamed(name, MPNET_NAMES): tensor for name, tensor in tensors.items()} if kind is MPNetModel else dict(tensors)
    sizes = {name: config[name] for name in SIZES if name in config}
    settings = own(**sizes, hidden_dropout_prob=config.get("dropout", 0.0), attention_probs_dropout_prob=0.0)
    with torch.device("meta"):  # no random numbers that would only be replaced
        model = kind(settings, add_pooling_layer=False)
    if not any(name.startswith("embeddings.") for name in named):
        model.embeddings = GivenStates()
    try:
        model.load_state_dict(named, assign=True)
    except RuntimeError as error:
        raise ValueError(f"{where} does not fit its own configuration: {error}") from error
    for name, ids in model.embeddings.named_buffers():  # which no file stores
        places = torch.arange(ids.shape[1])[None]
        setattr(model.embeddings, name, places if name == "position_ids" else torch.zeros_like(places))
    return model.eval().requires_grad_(False)


def renamed(name: str, names: Mapping[str, str]) -> str:
    """Return the name of a tensor with its parts replaced."""
    for old, new in names.items():
        name = name.replace(old, new)
    return name


def stored_name(name: str) -> str:
    """Return BERT's name of a tensor by MPNet's or BERT's."""
    return renamed(name, {new: old for old, new in MPNET_NAMES.items()})


def stored_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the tensors of a trunk, or of a layer of one, by BERT's names."""
    return {stored_name(name): tensor for name, tensor in model.state_dict().items()}


def load_trunk(folder: Path) -> Any:
    """Load a set's trunk from the folder of its encoder.

    Raises ModelMissingError when the folder does not hold it, ValueError as `network`.
    """
    path = Path(folder) / TRUNK_FILE
    tensors, about = load_weights(path)
    return network(about["config"], tensors, str(path))


def load_tokenizer(folder: Path) -> WordPieces:
    """Load the encoder's word pieces (uncased) from local files. Raises ModelMissingError when they are not there or damaged."""
    return WordPieces(Path(folder) / PIECES_FILE)


@contextmanager
def as_guest(threads: int | None = None, device: str = "cpu") -> Iterator[None]:
    """Compute with torch's own settings, whatever the program around RoMe has set, and put those of the program back.

    Most of them belong to the process, so one thread computes at a time.

    Parameters
    ----------
    threads
        That torch uses inside an operation; None takes the number that is set.
    device
        Where models compute, besides the CPU.
    """
    with _ALONE, torch.inference_mode(False), torch.no_grad(), ExitStack() as stack:
        if torch.get_default_device().type != "cpu":  # the mode that sets it takes time in every call
            stack.enter_context(torch.device("cpu"))
        for kind in {"cpu", torch.device(device).type}:
            if torch.amp.is_autocast_available(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        for get, put, own in SETTINGS:
            stack.callback(put, get())
            if own is not None:
                put(own)
        if threads is not None:
            torch.set_num_threads(threads)
        yield


def in_precision(precision: str, device: str) -> AbstractContextManager[Any]:
    """Return a context in which torch multiplies in bfloat16 for the precision ``bf16``."""
    return torch.autocast(torch.device(device).type, torch.bfloat16) if precision == "bf16" else nullcontext()


@dataclass(frozen=True, slots=True)
class SentenceStates:
    """Hold what one pass of the trunk gives for a text.

    Attributes
    ----------
    pieces
        Its n word pieces and the rows that they were read in.
    rows
        For each row (layers, length, width) float32, the states after every layer, the first one's first, marks at both ends included; on
        the trunk's device.
    """

    pieces: Encoded
    rows: tuple[torch.Tensor, ...]

    def after(self, layer: int) -> list[torch.Tensor]:
        """Return (length, width) of each row after one layer, counted from 1, or from the end with -1 for the last."""
        return [row[layer - 1 if layer > 0 else layer] for row in self.rows]

    def merged(self, layer: int = -1) -> NDArray[np.float32]:
        """Return (n, width) states of the pieces after one layer, counted as in `after`; where rows overlap, their mean."""
        return merge_windows(self.pieces, [row.cpu().numpy() for row in self.after(layer)])

    def whole(self, layers: int) -> torch.Tensor:
        """Return (layers, 1 + n + 1, width) states after the first layers as one row with both marks; where rows overlap, their mean."""
        if len(self.rows) == 1:
            return self.rows[0][:layers]
        first, last = self.rows[0], self.rows[-1]
        middle = torch.from_numpy(np.stack([self.merged(layer) for layer in range(1, layers + 1)])).to(first.device)
        return torch.cat([first[:layers, :1], middle, last[:layers, -1:]], dim=1)


class EmbeddedEncoder:
    """Hold a trunk, its word pieces, and the maps from its states to vectors of words.

    Parameters
    ----------
    trunk
        Frozen.
    common
        (d,) the mean vector over a sample of text. It is subtracted from every vector, because all share it and cosines mean more without it.
    projections, bias
        Matrices (d, width) by the number of a layer, and (d,): a vector is the sum of the mapped states after these layers. Without any it is the
        state after the last layer.
    batch_size
        Word pieces that are computed at once.
    precision
        Of the trunk's products, see `in_precision`.
    """

    def __init__(
        self,
        trunk: Any,
        tokenizer: WordPieces,
        common: torch.Tensor,
        projections: Mapping[int, torch.Tensor] = MappingProxyType({}),
        bias: torch.Tensor | None = None,
        batch_size: int = BATCH_SIZE,
        precision: str = "float32",
    ) -> None:
        self.trunk, self.tokenizer, self.common = trunk, tokenizer, common
        self.batch_size, self.precision, self.device = batch_size, precision, trunk.device
        self.projections = {layer: matrix.to(self.device) for layer, matrix in projections.items()}
        self.bias = (torch.zeros_like(common) if bias is None else bias).to(self.device)
        self.first_position: int = getattr(trunk.config, "first_position", 0)
        self.window = trunk.config.max_position_embeddings - self.first_position

    def read(self, texts: Sequence[str]) -> list[SentenceStates]:
        """Return the states of each text, from one pass over each different text."""
        different = list(dict.fromkeys(texts))
        encoded = dict(zip(different, encode(self.tokenizer, different, self.window), strict=True))
        rows = list(dict.fromkeys(row for each in encoded.values() for row in each.rows))
        found = dict(zip(rows, self.states_of_rows(rows), strict=True))
        return [SentenceStates(encoded[text], tuple(found[row] for row in encoded[text].rows)) for text in texts]

    @torch.no_grad()
    def states_of_rows(self, rows: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """Return (layers, length, width) states of each row of piece ids, marks included."""
        found = [torch.zeros(0)] * len(rows)
        for chosen in batches_of([len(row) for row in rows], self.batch_size):
            ids, mask = padded([torch.tensor(rows[n]) for n in chosen])
            places = torch.arange(self.first_position, self.first_position + ids.shape[1])[None]
            inputs = {"input_ids": ids, "attention_mask": mask.long(), "position_ids": places}
            with in_precision(self.precision, str(self.device)):
                read = self.trunk(**{name: one.to(self.device) for name, one in inputs.items()}, output_hidden_states=True)
            states = torch.stack(read.hidden_states[1:]).float()
            for k, n in enumerate(chosen):
                found[n] = states[:, k, : len(rows[n])]
        return found

    @torch.no_grad()
    def vectors(self, texts: Sequence[SentenceStates]) -> list[NDArray[np.float32]]:
        """Return for each text (n, d) vectors of its pieces, without the part common to all."""
        rows, common = iter(self._row_vectors(texts)), self.common.numpy()
        return [merge_windows(text.pieces, [next(rows).cpu().numpy() for _ in text.rows]) - common for text in texts]

    def _row_vectors(self, texts: Sequence[SentenceStates]) -> Sequence[torch.Tensor]:
        """Return (length, d) vectors of the pieces of every row of every text, marks included."""
        if not self.projections or not texts:
            return [row for text in texts for row in text.after(-1)]
        lengths, total = [row.shape[1] for text in texts for row in text.rows], self.bias
        for layer, matrix in self.projections.items():
            total = total + functional.linear(torch.cat([row for text in texts for row in text.after(layer)]), matrix)
        return total.split(lengths)


def parts_of(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield some of the texts at a time, in order, so that callers hold all layers of few texts at once."""
    return (texts[start : start + TEXTS] for start in range(0, len(texts), TEXTS))


def load_encoder(
    folder: Path, device: str = "cpu", batch_size: int = BATCH_SIZE, precision: str = "float32"
) -> EmbeddedEncoder:
    """Load a set's encoder from its folder; see `EmbeddedEncoder` for the parameters.

    Raises ModelMissingError when the folder does not hold it, ValueError as `network`.
    """
    folder, projections, bias = Path(folder), {}, None
    trunk, tokenizer = load_trunk(folder).to(device), load_tokenizer(folder)
    if (folder / VECTORS_FILE).is_file():
        tensors, about = load_weights(folder / VECTORS_FILE)
        projections = {layer: tensors[f"projection.{layer}"].T.contiguous() for layer in about["layers"]}
        bias = tensors.get("bias")
    common = load_weights(folder / COMMON_FILE)[0]["common"]
    return EmbeddedEncoder(trunk, tokenizer, common, projections, bias, batch_size, precision)


def static_vectors(limit: int = 12_000) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Return the encoder's first ``limit`` whole-word pieces (alphabetic, two letters or more), and (n, d) unit vectors without their mean.

    Raises ModelMissingError when the embedded encoder is not installed.
    """
    folder = set_folder("small") / "encoder"
    matrix = load_trunk(folder).embeddings.word_embeddings.weight.numpy()
    pieces = load_tokenizer(folder).convert_ids_to_tokens(range(len(matrix)))
    kept = [row for row, piece in enumerate(pieces) if len(piece) > 1 and piece.isascii() and piece.isalpha()][:limit]
    vectors = matrix[kept] - matrix[kept].mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    return tuple(pieces[row] for row in kept), vectors.astype(np.float32)
