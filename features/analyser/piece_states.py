"""Plain states of a text's word pieces, from the embedded encoder or any other, for metrics that compare pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .config import set_folder
from .encoder import load_encoder, parts_of
from .transformer import TransformerEncoder

__all__ = ["PieceStates"]


class PieceStates:
    """States of one hidden layer of an encoder, special tokens left out, windows over long texts merged.

    encoder : "" for the embedded one, else a local folder or hub name. layer : index into the hidden states; -1 is the last, and the
    embedded encoder's are counted from 1. Raises ModelMissingError when the encoder is not on this machine.
    """

    def __init__(self, encoder: str = "", layer: int = -1) -> None:
        self.layer = layer
        self.encoder = TransformerEncoder(encoder, layer) if encoder else load_encoder(set_folder("small") / "encoder")

    def of(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text (pieces, d) float32; (0, d) or (0, 0) for a text without pieces."""
        if isinstance(self.encoder, TransformerEncoder):
            return self.encoder.states(self.encoder.encode(texts))
        return [states.merged(self.layer) for part in parts_of(texts) for states in self.encoder.read(part)]
