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
    found: Matrix = _parts(inputs) * inputs.judged
    return found


def prior(inputs: PairInputs) -> Matrix:
    """(N, 3) log-probabilities of none, minor and major as the edit script has them."""
    expected = np.minimum(inputs.weights.astype(np.float64) / _parts(inputs), MAJOR)
    mistake = np.minimum(inputs.scalars[:, COLUMN["edit_probability"]], expected)
    found = np.empty((len(inputs), len(SEVERITIES)))
    major = np.divide(expected - mistake, MAJOR - MINOR, out=found[:, 2])
    np.clip(major, 0.0, 1.0, out=major)
    np.maximum(mistake, major, out=mistake)
    np.subtract(1.0, mistake, out=found[:, 0])
    np.subtract(mistake, major, out=found[:, 1])
    np.maximum(found, FLOOR, out=found)
    found /= np.add.reduce(found, axis=1, keepdims=True)
    return np.log(found, out=found).astype(np.float32)


def _parts(inputs: PairInputs) -> Matrix:
    """(N,) half for a word with a counterpart, 1 for one without."""
    return np.where(inputs.counterpart >= 0, np.float32(0.5), np.float32(1.0))


def links(inputs: PairInputs, rows: slice) -> NDArray[np.uint8]:
    """(rows, N) how the words of some rows are related to all: bit k is set where ``LINKS[k]`` holds."""
    n, p = len(inputs), int(np.count_nonzero(inputs.side == 0))
    found = (inputs.forms[rows, None] == inputs.forms).view(np.uint8)
    found *= 1 << LINKS.index("same_form")
    first, last, _ = rows.indices(n)
    for start, end in ((0, p), (p, n)):  # in one text all depends on how far apart two words stand
        top, bottom = max(first, start), min(last, end)
        if top < bottom:
            near = NEARBY[: end - start, : end - start] if end - start <= len(NEARBY) else _near(end - start)
            found[top - first : bottom - first, start:end] |= near[top - start : bottom - start]
    there = np.flatnonzero(inputs.counterpart[rows] >= 0)
    found[there, inputs.counterpart[rows][there]] |= 1 << LINKS.index("counterpart")
    return found


def _near(words: int) -> NDArray[np.uint8]:
    """(words, words) how the words of one text are related by their places alone, a view that is not to be written to."""
    bit = {name: 1 << place for place, name in enumerate(LINKS)}
    line = np.full(2 * words - 1, bit["same_side"], np.uint8)
    for name, low, high in (("near", -NEAR, NEAR), ("next", 1, 1), ("previous", -1, -1)):
        line[max(0, words - 1 + low) : words + high] |= bit[name]
    return np.lib.stride_tricks.sliding_window_view(line, words)[:, ::-1]


NEARBY = _near(128).copy()
"""Those of an ordinary text, of which a shorter one's are a part."""


class PairHead:
    """The trained head; `PairHead.load(folder)`."""

    def __init__(self, tensors: dict[str, Matrix]) -> None:
        self.layers = sum(1 for name in tensors if name.endswith(".qkv.weight"))
        self.heads = int(tensors["bias"].shape[1])
        self.width = int(tensors["scal.weight"].shape[0])
        stems = sorted({name.rpartition(".")[0] for name in tensors} - {"", "own", "other"})
        self._weights = {stem: np.ascontiguousarray(tensors[f"{stem}.weight"].T) for stem in stems}
        self._biases = {stem: tensors[f"{stem}.bias"] for stem in stems}
        self._weights["seen"] = np.concatenate(
            [tensors[f"{stem}.weight"].T * VECTOR_SCALE for stem in ("own", "other")], axis=1
        )
        self._weights["said"] = np.concatenate([self._weights["cls"], self._weights["about"]], axis=1)
        self._biases["said"] = np.concatenate([self._biases["cls"], self._biases["about"]])
        for layer in range(self.layers):
            self._scale_queries(f"layers.{layer}.qkv")
        self._related = self._each_relation(tensors["bias"])

    def _scale_queries(self, name: str) -> None:
        """Put what scores are divided by, the root of a head's width, into the queries' weights."""
        by = np.ones(3 * self.width, np.float32)
        by[: self.width] /= np.float32(math.sqrt(self.width // self.heads))
        self._weights[name], self._biases[name] = self._weights[name] * by, self._biases[name] * by

    def _each_relation(self, biases: Matrix) -> Matrix:
        """(layers, heads, 2 ** len(LINKS)) what every combination of relations adds to the attention."""
        bits = np.arange(1 << len(LINKS))[None, :] >> np.arange(len(LINKS))[:, None] & 1
        found: Matrix = biases @ bits.astype(np.float32)
        return found

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
        seen = inputs.vectors @ self._weights["seen"]
        there = inputs.counterpart >= 0
        states = self._linear("scal", inputs.scalars)
        states += seen[:, : self.width]
        states[there] += seen[inputs.counterpart[there], self.width :]
        self._norm("n0", states)
        related = links(inputs, slice(0, BLOCK)).astype(np.intp)
        for layer in range(self.layers):
            self._layer(layer, states, inputs, related)
        found = self._linear("said", states)
        probabilities = _softmax(prior(inputs) + found[:, : len(SEVERITIES)])
        costs = shares(inputs) * (MINOR * probabilities[:, 1] + MAJOR * probabilities[:, 2])
        return HeadOutput(probabilities, _softmax(found[:, len(SEVERITIES) :]), costs)

    def _layer(self, layer: int, states: Matrix, inputs: PairInputs, related: NDArray[np.intp]) -> None:
        """One layer, into the states. related : the links of the first BLOCK words; the others' are found as they are needed."""
        name, n = f"layers.{layer}", len(states)
        mixed = self._linear(f"{name}.qkv", states).reshape(n, 3, self.heads, -1)
        queries, keys, values = mixed.transpose(1, 2, 0, 3)
        joined = np.empty_like(states)
        attended = joined.reshape(n, self.heads, -1).transpose(1, 0, 2)
        for start in range(0, n, BLOCK):  # so that memory stays bounded for very long texts
            rows = slice(start, min(n, start + BLOCK))
            scores = queries[:, rows] @ keys.transpose(0, 2, 1)
            scores += self._related[layer].take(related if start == 0 else links(inputs, rows).astype(np.intp), axis=1)
            np.matmul(_softmax(scores), values, out=attended[:, rows])
        states += self._linear(f"{name}.out", joined)
        self._norm(f"{name}.n1", states)
        hidden = self._linear(f"{name}.up", states)
        states += self._linear(f"{name}.down", np.maximum(hidden, 0, out=hidden))
        self._norm(f"{name}.n2", states)

    def _linear(self, name: str, values: Matrix) -> Matrix:
        found: Matrix = values @ self._weights[name]
        found += self._biases[name]
        return found

    def _norm(self, name: str, states: Matrix) -> None:
        """Bring every row to mean 0 and variance 1, then to the learned ones, in its place."""
        states -= np.add.reduce(states, axis=1, keepdims=True) / np.float32(self.width)
        variance = np.einsum("ij,ij->i", states, states)
        variance /= np.float32(self.width)
        variance += np.float32(1e-5)
        states /= np.sqrt(variance, out=variance)[:, None]
        states *= self._weights[name]
        states += self._biases[name]


def _softmax(scores: Matrix) -> Matrix:
    """The scores, written over by their softmax along the last axis."""
    scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores, axis=-1, keepdims=True)
    return scores
