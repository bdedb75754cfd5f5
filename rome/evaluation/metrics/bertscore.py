"""BERTScore (Zhang et al. 2020) on any encoder, the embedded one by default: greedy F1 over the word pieces' states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.metrics.score_store import TextPair
from rome.exceptions import ModelMissingError

if TYPE_CHECKING:
    from rome.features.analyser.piece_states import PieceStates

__all__ = ["BertScore"]


class BertScore:
    """F1 of a pair from cosines of piece states: recall is the mean over the reference's pieces of the best match in the hypothesis,
    precision the other way round (their equation 1-3); no IDF, no rescaling.

    encoder : "" for the embedded one, else a local folder or hub name that transformers loads. layer : hidden layer, -1 the last.
    """

    def __init__(self, encoder: str = "", layer: int | None = None) -> None:
        self.encoder, self.layer = encoder, layer
        self._states: PieceStates | None = None

    @property
    def signature(self) -> str:
        """The encoder by its files, and the layer."""
        from rome.features.analyser.identity import encoder_identity

        layer = "last" if self.layer is None else self.layer
        return f"bertscore:f1|encoder:{encoder_identity(self.encoder)}|layer:{layer}|idf:no|rescaled:no"

    def __call__(self, pairs: Sequence[TextPair]) -> list[float]:
        """One F1 a pair, in [-1, 1]; 0 when one side has no pieces and the other has, 1 when both have none."""
        return [f1 for _, _, f1 in self.parts(pairs)]

    def parts(self, pairs: Sequence[TextPair]) -> list[tuple[float, float, float]]:
        """Precision, recall and F1 of each pair, with the same conventions for empty sides."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = dict(zip(texts, map(_unit, self._loaded().of(texts)), strict=True))
        return [_matched(vectors[reference], vectors[hypothesis]) for reference, hypothesis in pairs]

    def _loaded(self) -> PieceStates:
        if self._states is None:
            try:
                from rome.features.analyser.piece_states import PieceStates
            except ImportError as error:
                raise ModelMissingError(
                    f'BERTScore needs the package {error.name}: run `pip install "rome-metric[models]"`'
                ) from error
            self._states = PieceStates(self.encoder, -1 if self.layer is None else self.layer)
        return self._states


def _unit(states: NDArray[np.float32]) -> NDArray[np.float32]:
    return states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)


def _matched(reference: NDArray[np.float32], hypothesis: NDArray[np.float32]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two texts' unit states."""
    if not len(reference) or not len(hypothesis):
        both = float(len(reference) == len(hypothesis))
        return both, both, both
    cosines = reference @ hypothesis.T
    recall, precision = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    f1 = 2 * recall * precision / (recall + precision) if recall + precision > 0 else 0.0
    return precision, recall, f1
