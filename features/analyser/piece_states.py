"""Plain states of a text's word pieces, from the embedded encoder or any other, for metrics that compare pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .config import embedded_folder
from .encoder import EmbeddedEncoder, load_tokenizer, load_trunk
from .memo import MemoisedTrunk
from .transformer import TransformerEncoder

__all__ = ["PieceStates"]


class PieceStates:
    """States of one hidden layer of an encoder, special tokens left out, windows over long texts merged.

    encoder : "" for the embedded one, else a local folder or hub name. layer : index into the hidden states; for the embedded
    encoder -1 is its fourth and last layer. Raises ModelMissingError when the encoder is not on this machine.
    """

    def __init__(self, encoder: str = "", layer: int = -1) -> None:
        self.encoder: EmbeddedEncoder | TransformerEncoder
        if encoder:
            self.encoder = TransformerEncoder(encoder, layer)
        else:
            folder = embedded_folder() / "encoder"
            self.encoder = EmbeddedEncoder(folder, MemoisedTrunk(load_trunk(folder)), load_tokenizer(folder))

    def of(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text (pieces, d) float32; (0, d) or (0, 0) for a text without pieces."""
        encoded = self.encoder.encode(texts)
        states = self.encoder.states(encoded)
        if isinstance(self.encoder, EmbeddedEncoder):  # its states come without the part that all share
            return [rows + self.encoder.common for rows in states]
        return states
