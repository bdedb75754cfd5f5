"""The embedded encoder: a trunk of four transformer layers whose states everything shares.

The trunk is the first four layers of all-MiniLM-L6-v2, rounded once to int8 and never trained further: its last layer gives the
word vectors, its four layers feed the tagger and the parser, and the states after one of them enter the layers that judge
acceptability (features/analyser/acceptability.py). So one pass of the trunk over a sentence serves everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..model_files import checked
from .memo import MemoisedTrunk
from .pieces import Encoded, encode, merge_windows
from .trunk import Trunk, TrunkConfig
from .weights import load_weights
from .word_pieces import WordPieces

__all__ = ["EmbeddedEncoder", "load_tokenizer", "load_trunk"]

TRUNK_FILE, COMMON_FILE, PIECES_FILE = "trunk.safetensors", "common.safetensors", "tokenizer.json"


def load_trunk(folder: Path) -> Trunk:
    """Load the embedded trunk from a folder written by `rome train encoder`; evaluation mode, no gradients.

    Raises ModelMissingError when the folder does not hold it, ValueError when the file does not fit its own configuration.
    """
    tensors, description = load_weights(Path(folder) / TRUNK_FILE)
    config: dict[str, Any] = dict(description["config"])  # type: ignore[call-overload]
    model = Trunk(TrunkConfig.of(config))
    try:
        model.load_state_dict(tensors, assign=True)
    except RuntimeError as error:
        raise ValueError(f"{folder}/{TRUNK_FILE} does not fit its own configuration: {error}") from error
    return model.eval().requires_grad_(False)


def load_tokenizer(folder: Path) -> WordPieces:
    """Load the encoder's word pieces (uncased) from local files. Raises ModelMissingError when they are not there or damaged."""
    return WordPieces(checked(Path(folder) / PIECES_FILE))


class EmbeddedEncoder:
    """Piece states of the embedded trunk's last layer, from the one pass that the parser shares.

    ``common`` is the mean state over a sample of text: it is taken off every word vector, because all vectors share it and
    cosines mean more without it.
    """

    def __init__(self, folder: Path, trunk: MemoisedTrunk, tokenizer: Any) -> None:
        self.trunk, self.tokenizer = trunk, tokenizer
        self.window = int(trunk.config.max_position_embeddings)
        self.common = load_weights(Path(folder) / COMMON_FILE)[0]["common"].numpy()

    def encode(self, sentences: Sequence[str]) -> list[Encoded]:
        """The sentences as rows of pieces."""
        return encode(self.tokenizer, sentences, self.window)

    def rows(self, sentences: Sequence[Encoded], layer: int = 0) -> list[torch.Tensor]:
        """The trunk's states of every row of every sentence, (length, 384) each, special tokens included; layer 0 is the last."""
        return self.trunk.states((row for sentence in sentences for row in sentence.rows), layer)

    def states(self, sentences: Sequence[Encoded]) -> list[NDArray[np.float32]]:
        """For each sentence (n, 384) states of its pieces without the common part, windows merged."""
        rows, merged = iter(self.rows(sentences)), []
        for sentence in sentences:
            merged.append(merge_windows(sentence, [next(rows).numpy() for _ in sentence.rows]) - self.common)
        return merged
