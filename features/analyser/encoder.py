"""The encoder of a model set: one pass of its trunk over a text, whose states everything shares.

Word vectors, tags and trees, acceptability and word probabilities all start from these states (see `SentenceStates`). The trunk is
rounded once to int8 and never trained further; its layers run without padding (features/analyser/trunk.py), so the states of a text
are the same to the last bit whatever other texts are read beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from .config import BATCH_SIZE, set_folder
from .pieces import Encoded, WordPieces, encode, merge_windows
from .trunk import (
    RoundedTable,
    Trunk,
    TrunkConfig,
    at_least,
    bert_layers,
    blocks,
    embedded,
    in_precision,
    layer_states,
)
from .weights import SCALE, load_weights

TRUNK_FILE, COMMON_FILE, PIECES_FILE = "trunk.safetensors", "common.safetensors", "tokenizer.json"
VECTORS_FILE = "vectors.safetensors"
WORDS = "embeddings.word_embeddings.weight"
"""The name of the table of the pieces' vectors."""
TEXTS = 64
"""In one of `parts_of`."""


def load_trunk(folder: Path, *, rounded: bool = False) -> Trunk:
    """Load a set's trunk from the folder of its encoder; evaluation mode, no gradients.

    Raises ModelMissingError when the folder does not hold it, ValueError when the file does not fit its own configuration.

    Parameters
    ----------
    rounded
        Whether the vectors of the pieces stay int8, as the file has them: for those who only look them up.
    """
    tensors, description = load_weights(Path(folder) / TRUNK_FILE, rounded=(WORDS,) if rounded else ())
    model = Trunk(_config(description))
    if WORDS + SCALE in tensors:
        model.embeddings.word_embeddings = RoundedTable(model.config.vocab_size, model.config.hidden_size)
        tensors[WORDS.replace(".weight", SCALE)] = tensors.pop(WORDS + SCALE)
    return _filled(model, tensors, folder)


def load_last_layers(folder: Path, number: int) -> Trunk:
    """The trunk with so many of its last layers alone, and without embeddings, of which no number is read. Raises as `load_trunk`."""
    path = Path(folder) / TRUNK_FILE
    config = _config(load_weights(path, ())[1])
    first = config.num_hidden_layers - number
    names = {f"encoder.layer.{first + n}.": f"encoder.layer.{n}." for n in range(number)}
    tensors, _ = load_weights(path, [*names, "encoder.relative_attention_bias."])
    for old, new in names.items():
        tensors |= {new + name.removeprefix(old): tensors.pop(name) for name in [*tensors] if name.startswith(old)}
    model = Trunk(replace(config, num_hidden_layers=number))
    model.embeddings = nn.Identity()
    return _filled(model, tensors, folder)


def _config(description: Mapping[str, Any]) -> TrunkConfig:
    return TrunkConfig.of(description["config"])


def _filled(model: Trunk, tensors: Mapping[str, torch.Tensor], folder: Path) -> Trunk:
    """The trunk with its numbers."""
    try:
        model.load_state_dict(tensors, assign=True)
    except RuntimeError as error:
        raise ValueError(f"{folder}/{TRUNK_FILE} does not fit its own configuration: {error}") from error
    return model.eval().requires_grad_(False)


def load_tokenizer(folder: Path) -> WordPieces:
    """Load the encoder's word pieces (uncased) from local files. Raises ModelMissingError when they are not there or damaged."""
    return WordPieces(Path(folder) / PIECES_FILE)


@dataclass(frozen=True, slots=True)
class SentenceStates:
    """What one pass of the trunk gives for a text.

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
        """(length, width) of each row after one layer, counted from 1, or from the end with -1 for the last."""
        return [row[layer - 1 if layer > 0 else layer] for row in self.rows]

    def merged(self, layer: int = -1) -> NDArray[np.float32]:
        """(n, width) states of the pieces after one layer, counted as in `after`; where rows overlap, their mean."""
        return merge_windows(self.pieces, [row.cpu().numpy() for row in self.after(layer)])

    def whole(self, layers: int) -> torch.Tensor:
        """(layers, 1 + n + 1, width) states after the first layers as one row with both marks; where rows overlap, their mean."""
        if len(self.rows) == 1:
            return self.rows[0][:layers]
        first, last = self.rows[0], self.rows[-1]
        middle = torch.from_numpy(np.stack([self.merged(layer) for layer in range(1, layers + 1)])).to(first.device)
        return torch.cat([first[:layers, :1], middle, last[:layers, -1:]], dim=1)


class EmbeddedEncoder:
    """A trunk, its word pieces, and how vectors of words are made of its states.

    Parameters
    ----------
    trunk
        Frozen. In another precision than float32 its layers are taken from it.
    common
        (d,) the mean vector over a sample of text, which is taken off every vector, because all share it and cosines mean more without it.
    projections, bias
        Matrices (d, width) by the number of a layer, and (d,): a vector is the sum of what they make of the states after these layers. Without
        any it is the state after the last layer.
    batch_size
        Word pieces that are computed at once; the numbers do not depend on it.
    precision
        Of the layers' products, see `in_precision`.
    """

    def __init__(
        self,
        trunk: Trunk,
        tokenizer: WordPieces,
        common: torch.Tensor,
        projections: Mapping[int, torch.Tensor] = MappingProxyType({}),
        bias: torch.Tensor | None = None,
        batch_size: int = BATCH_SIZE,
        precision: str = "float32",
    ) -> None:
        self.trunk, self.tokenizer, self.common, self.batch_size = trunk, tokenizer, common, batch_size
        self.device = trunk.embeddings.word_embeddings.weight.device
        self.projections = {layer: matrix.to(self.device) for layer, matrix in projections.items()}
        self.bias = (torch.zeros_like(common) if bias is None else bias).to(self.device)
        self.window = trunk.config.window
        self._layers = in_precision(bert_layers(trunk), precision)
        if precision != "float32":
            trunk.encoder.layer = nn.ModuleList()  # the rounded ones compute, and nobody needs these

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The texts as rows of pieces, each with the marks at both ends; long texts as several rows that overlap."""
        return encode(self.tokenizer, texts, self.window)

    def read(self, texts: Sequence[str]) -> list[SentenceStates]:
        """One pass of the trunk over each different text; the states of a text do not depend on the others."""
        different = list(dict.fromkeys(texts))
        encoded = dict(zip(different, self.encode(different), strict=True))
        rows = sorted({row for each in encoded.values() for row in each.rows}, key=lambda row: (len(row), row))
        found = dict(zip(rows, self.states_of_rows(rows), strict=True))
        return [SentenceStates(encoded[text], tuple(found[row] for row in encoded[text].rows)) for text in texts]

    def states_of_rows(self, rows: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """(layers, length, width) states of rows of piece ids, marks included, sorted by length."""
        lengths = [len(row) for row in rows]
        return [states for start, stop in blocks(lengths, self.batch_size) for states in self._pass(rows[start:stop])]

    @torch.no_grad()
    def _pass(self, rows: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """(layers, length, width) states of rows sorted by length."""
        lengths = [len(row) for row in rows]
        layers = layer_states(self._layers, embedded(self.trunk, rows), lengths, self.trunk.encoder.position_bias)
        return list(torch.stack(list(layers)).float().split(lengths, dim=1))

    @torch.no_grad()
    def vectors(self, texts: Sequence[SentenceStates]) -> list[NDArray[np.float32]]:
        """For each text (n, d) vectors of its pieces, without the part common to all."""
        rows, common = iter(self._row_vectors(texts)), self.common.numpy()
        return [merge_windows(text.pieces, [next(rows).cpu().numpy() for _ in text.rows]) - common for text in texts]

    def _row_vectors(self, texts: Sequence[SentenceStates]) -> Sequence[torch.Tensor]:
        """(length, d) vectors of the pieces of every row of every text, marks included."""
        if not self.projections or not texts:
            return [row for text in texts for row in text.after(-1)]
        lengths, total = [row.shape[1] for text in texts for row in text.rows], self.bias
        for layer, matrix in self.projections.items():
            states = at_least(torch.cat([row for text in texts for row in text.after(layer)]))
            total = total + functional.linear(states, matrix)
        return total[: sum(lengths)].split(lengths)


def parts_of(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in order, some at a time: for callers that want little of many texts, so that all layers of few are held at once."""
    return (texts[start : start + TEXTS] for start in range(0, len(texts), TEXTS))


def load_encoder(
    folder: Path, device: str = "cpu", batch_size: int = BATCH_SIZE, precision: str = "float32"
) -> EmbeddedEncoder:
    """Load a set's encoder from its folder.

    Raises ModelMissingError when the folder does not hold it, ValueError as `load_trunk`.

    Parameters
    ----------
    device
        Where the trunk computes; see `EmbeddedEncoder` for the others.
    """
    folder, projections, bias = Path(folder), {}, None
    trunk, tokenizer = load_trunk(folder, rounded=True).to(device), load_tokenizer(folder)
    if (folder / VECTORS_FILE).is_file():
        tensors, about = load_weights(folder / VECTORS_FILE)
        layers: list[int] = list(about["layers"])  # type: ignore[call-overload]
        projections = {layer: tensors[f"projection.{layer}"].T.contiguous() for layer in layers}
        bias = tensors.get("bias")
    common = load_weights(folder / COMMON_FILE)[0]["common"]
    return EmbeddedEncoder(trunk, tokenizer, common, projections, bias, batch_size, precision)


def static_vectors(limit: int = 12_000) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """The encoder's first ``limit`` whole-word pieces (alphabetic, two letters or more), and (n, d) unit vectors without their mean.

    Raises ModelMissingError when the embedded encoder is not installed.
    """
    folder = set_folder("small") / "encoder"
    matrix = load_trunk(folder).embeddings.word_embeddings.weight.detach().numpy()
    pieces = load_tokenizer(folder).convert_ids_to_tokens(range(len(matrix)))
    kept = [row for row, piece in enumerate(pieces) if len(piece) > 1 and piece.isascii() and piece.isalpha()][:limit]
    vectors = matrix[kept] - matrix[kept].mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    return tuple(pieces[row] for row in kept), vectors.astype(np.float32)
