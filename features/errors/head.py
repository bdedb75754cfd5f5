"""The pair head: two attention layers over the words of both texts, in NumPy; for every word whether it is wrong, how badly and how.

It starts from what the edit script says of each word and learned what to make of it; `train/errors_net.py` is the same in torch.
Its vectors are those that the analysis keeps, so no model runs when a pair is measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import ModelMissingError

from ..model_files import checked
from .pair_inputs import COLUMN, SCALARS, PairInputs
from .values import MAJOR, MINOR

__all__ = ["HEAD_FILE", "LINKS", "SEVERITIES", "TYPES", "VECTOR_SCALE", "HeadOutput", "PairHead", "links", "prior", "shares"]

Matrix = NDArray[np.floating[Any]]
HEAD_FILE = "errors.safetensors"
SEVERITIES = ("none", "minor", "major")
TYPES = (
    *(
        "addition",
        "omission",
        "substitution",
        "antonym",
        "negation",
        "name",
        "number",
        "gender",
        "grammar",
        "order",
        "spelling",
    ),
    "other",
)
"""What an error can be about, in the order of the last axis of HeadOutput.types."""
VECTOR_SCALE = np.float32(0.15)
"""What brings the encoder's word vectors to about unit variance."""
LINKS = ("counterpart", "same_form", "same_side", "next", "previous", "near")
"""How two words can be related; each gives every attention head a learned bias."""
NEAR = 4
BLOCK = 512
FLOOR = np.array([0.02, 0.002, 0.0005])
"""The least prior probability of none, minor and major."""


@dataclass(frozen=True, eq=False)
class HeadOutput:
    """For N words, the reference's first. probabilities : (N, 3) of SEVERITIES. types : (N, 12) of TYPES, given that it is an error.

    costs : (N,) expected severity in [0, 5]; a word and its counterpart carry half of it each.
    """

    probabilities: Matrix
    types: Matrix
    costs: Matrix


def shares(inputs: PairInputs) -> Matrix:
    """(N,) how much of an error a word carries: half with a counterpart, all without, nothing where characters decide."""
    return np.where(inputs.judged, np.where(inputs.counterpart >= 0, 0.5, 1.0), 0.0).astype(np.float32)


def prior(inputs: PairInputs) -> Matrix:
    """(N, 3) log-probabilities of none, minor and major as the edit script has them."""
    expected = np.minimum(inputs.weights / np.where(inputs.counterpart >= 0, 0.5, 1.0), MAJOR)
    mistake = np.minimum(inputs.scalars[:, COLUMN["edit_probability"]], expected)
    major = np.clip((expected - mistake) / (MAJOR - MINOR), 0.0, 1.0)
    mistake = np.maximum(mistake, major)
    found = np.maximum(np.stack([1.0 - mistake, mistake - major, major], axis=1), FLOOR)
    return np.log(found / found.sum(axis=1, keepdims=True)).astype(np.float32)


def links(inputs: PairInputs, rows: slice) -> NDArray[np.bool_]:
    """(len(LINKS), rows, N) which words are related to the words of some rows."""
    side, place, there = inputs.side, inputs.position, inputs.counterpart
    same = side[rows, None] == side[None, :]
    ahead = place[rows, None] - place[None, :]
    return np.stack(
        [
            there[rows, None] == np.arange(len(side))[None, :],
            inputs.forms[rows, None] == inputs.forms[None, :],
            same,
            same & (ahead == 1),
            same & (ahead == -1),
            same & (np.abs(ahead) <= NEAR),
        ]
    )


class PairHead:
    """The trained head; `PairHead.load(folder)`."""

    def __init__(self, tensors: dict[str, Matrix]) -> None:
        self.tensors = tensors
        self.layers = sum(1 for name in tensors if name.endswith(".qkv.weight"))
        self.heads = int(tensors["bias"].shape[1])
        self._first = np.concatenate([tensors[name].T for name in ("own.weight", "other.weight", "scal.weight")])

    @staticmethod
    def load(folder: Path) -> PairHead:
        """Read ``errors.safetensors``. Raises ModelMissingError when it is not there or reads other inputs than this version makes."""
        from safetensors.numpy import load_file

        path = Path(folder) / HEAD_FILE
        if not path.is_file():
            raise ModelMissingError(f'{path} is missing: reinstall rome-metric, or use RoMe(errors="edit-script")')
        tensors = {name: np.asarray(values, dtype=np.float32) for name, values in load_file(checked(path)).items()}
        if tensors["scal.weight"].shape[1] != len(SCALARS):
            raise ModelMissingError(f"{path} was trained on other inputs: train it again with `rome train errors`")
        return PairHead(tensors)

    def __call__(self, inputs: PairInputs) -> HeadOutput:
        """The output of one pair; empty arrays for two empty texts."""
        if not len(inputs):
            return HeadOutput(np.zeros((0, 3), np.float32), np.zeros((0, len(TYPES)), np.float32), np.zeros(0, np.float32))
        vectors = inputs.vectors * VECTOR_SCALE
        others = np.where(inputs.counterpart[:, None] >= 0, vectors[inputs.counterpart], np.float32(0))
        states: Matrix = np.concatenate([vectors, others, inputs.scalars], axis=1) @ self._first + self.tensors["scal.bias"]
        states = self._norm("n0", states)
        biases = self._biases(inputs, slice(0, BLOCK))
        for layer in range(self.layers):
            states = self._layer(layer, states, inputs, biases)
        probabilities = _softmax(prior(inputs) + self._linear("cls", states))
        costs = shares(inputs) * (MINOR * probabilities[:, 1] + MAJOR * probabilities[:, 2])
        return HeadOutput(probabilities, _softmax(self._linear("about", states)), costs)

    def _biases(self, inputs: PairInputs, rows: slice) -> Matrix:
        """(layers, heads, rows, N) what the words' relations add to the attention."""
        related = links(inputs, rows).astype(np.float32)
        found: Matrix = np.tensordot(self.tensors["bias"], related, axes=1)
        return found

    def _layer(self, layer: int, states: Matrix, inputs: PairInputs, biases: Matrix) -> Matrix:
        """One layer. biases : those of the first BLOCK words, for every layer; the rest are made as they are needed."""
        name = f"layers.{layer}"
        n, width = states.shape
        size = width // self.heads
        queries, keys, values = self._linear(f"{name}.qkv", states).reshape(n, 3, self.heads, size).transpose(1, 2, 0, 3)
        attended = np.empty((self.heads, n, size), dtype=np.float32)
        for start in range(0, n, BLOCK):  # so that memory stays bounded for very long texts
            rows = slice(start, min(n, start + BLOCK))
            bias = (biases if start == 0 else self._biases(inputs, rows))[layer]
            scores = queries[:, rows] @ keys.transpose(0, 2, 1) / np.float32(math.sqrt(size)) + bias
            attended[:, rows] = _softmax(scores) @ values
        joined = attended.transpose(1, 0, 2).reshape(n, width)
        states = self._norm(f"{name}.n1", states + self._linear(f"{name}.out", joined))
        hidden = np.maximum(self._linear(f"{name}.up", states), 0)
        return self._norm(f"{name}.n2", states + self._linear(f"{name}.down", hidden))

    def _linear(self, name: str, values: Matrix) -> Matrix:
        found: Matrix = values @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]
        return found

    def _norm(self, name: str, values: Matrix) -> Matrix:
        centred = values - values.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", centred, centred)[:, None] / np.float32(values.shape[1])
        found: Matrix = centred / np.sqrt(variance + np.float32(1e-5)) * self.tensors[f"{name}.weight"]
        found += self.tensors[f"{name}.bias"]
        return found


def _softmax(scores: Matrix) -> Matrix:
    odds: Matrix = np.exp(scores - scores.max(axis=-1, keepdims=True))
    odds /= odds.sum(axis=-1, keepdims=True)
    return odds
