"""The pair reader: the trunk's last layers, changed by low-rank adapters, over the words of both texts in one row.

Each text alone has passed the trunk's first layers, or all, when it was analysed (`Analysis.states`), so a pair costs the last ones. Words are marked
by whether the other text has them too, and in the same company. `train/errors/net.py` is the same with gradients. Source of the adapters:
Hu et al. 2022 (LoRA), equation 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import linear, softplus

from rome.exceptions import ModelMissingError

from ..errors.evidence import MARKS, MAXIMUM, READER_FILE, SEVERITIES, TYPES, WEIGHTS, EqualWords, PairPrediction
from ..values import Analysis, form_of
from .config import BATCH_SIZE
from .encoder import load_last_layers
from .trunk import (
    LayerWeights,
    Trunk,
    TrunkConfig,
    TrunkLayer,
    at_least,
    bert_layers,
    blocks,
    distance_bias,
    in_precision,
    layer_states,
    torch_threads,
)
from .weights import load_weights

LONGEST = 1000
"""Words of both texts in one row; longer pairs are read in parts that correspond by their places."""
COMPANY = 5
"""How many values `company` has."""
CLOSING = frozenset(".!?")
"""Marks that end a text."""
ADAPTED = ("query", "key", "value", "attention", "inner", "outer")
"""The linear maps of a layer, in the order in which they are applied."""
FURTHER = "further."
"""Before the names of layers that follow the trunk's and that only the reader has."""


class PairReader:
    """Loaded at the first pair.

    Raises ModelMissingError, when it reads, for files that are not there or do not fit.

    Parameters
    ----------
    folder
        Of the model set.
    below
        After how many layers it begins, as the set says.
    threads
        CPU threads that torch uses; None leaves its own number.
    device, batch_size, precision
        Where it computes, words that are read at once, and the precision of its layers' products, see `in_precision`.
    """

    def __init__(
        self,
        folder: Path,
        below: int,
        threads: int | None = None,
        device: str = "cpu",
        batch_size: int = BATCH_SIZE,
        precision: str = "float32",
    ) -> None:
        self.folder, self.below, self.threads = Path(folder), below, threads
        self.device, self.batch_size, self.precision = device, batch_size, precision
        self._loading = Lock()

    @cached_property
    def _parts(self) -> tuple[tuple[LayerWeights, ...], torch.nn.Embedding | None, Mapping[str, torch.Tensor]]:
        """The adapted layers, the table of distances, and what else the reader has."""
        tensors, about = load_weights(self.folder / "errors" / READER_FILE)
        if about.get("severities") != list(SEVERITIES) or about.get("types") != list(TYPES):
            raise ModelMissingError(
                f"{self.folder / 'errors' / READER_FILE} tells other errors: train it again, `rome train errors`"
            )
        if about.get("below") != self.below:
            raise ModelMissingError(
                f"{self.folder} says that its reader begins after {self.below} layers, the reader itself after {about.get('below')}: "
                "write the reader's number into set.json (settings, errors, below)"
            )
        own = {name.split(".")[1] for name in tensors if name.startswith("layers.")}
        further = {name.split(".")[1] for name in tensors if name.startswith(FURTHER)}
        trunk = load_last_layers(self.folder / "encoder", len(own) - len(further))
        trunk.encoder.layer.extend(further_layers(tensors, trunk.config))
        adapt(trunk, tensors)
        trunk.to(self.device)
        tensors = {name: tensor.to(self.device) for name, tensor in tensors.items()}
        return in_precision(bert_layers(trunk), self.precision), trunk.encoder.relative_attention_bias, tensors

    def __call__(self, pairs: Sequence[tuple[Analysis, Analysis]], equal: Sequence[EqualWords] = ()) -> list[PairPrediction]:
        """Return one prediction per pair, in order; equal texts have no error and are not read.

        Parameters
        ----------
        equal
            For each pair the words that state equal quantities: the hypothesis is read with the words of the reference in their place, and none of
            them is an error.
        """
        equal = equal or [()] * len(pairs)
        parts = [_rows_of(*pair, same) for pair, same in zip(pairs, equal, strict=True)]
        rows = [part for each in parts for part in each]
        order = sorted(range(len(rows)), key=lambda n: rows[n].length)
        found: list[PairPrediction | None] = [None] * len(rows)
        for start, stop in blocks([rows[n].length for n in order], self.batch_size):
            with torch_threads(self.threads or torch.get_num_threads()):
                readings = list(self._read([rows[n] for n in order[start:stop]]))
            for n, reading in zip(order[start:stop], readings, strict=True):
                found[n] = reading
        each_row = iter(found)
        return [
            _whole(pair, [(row, next(each_row)) for row in each], same)
            for pair, each, same in zip(pairs, parts, equal, strict=True)
        ]

    @torch.no_grad()
    def _read(self, rows: Sequence[_Row]) -> Iterator[PairPrediction]:
        """Readings of rows sorted by length."""
        with self._loading:
            layers, distances, tensors = self._parts
        lengths = [row.length for row in rows]
        states = torch.cat([row.states(tensors) for row in rows])
        for after in layer_states(layers, states, lengths, lambda length: distance_bias(distances, length)):
            states = after
        states = at_least(states)
        logits = linear(states, tensors["severity.weight"], tensors["severity.bias"])
        probabilities, calibrated = logits.softmax(-1), (logits - tensors["prior"]).softmax(-1)
        types = linear(states, tensors["kind.weight"], tensors["kind.bias"]).softmax(-1)
        for start, row in zip(accumulate([0, *lengths[:-1]]), rows, strict=True):
            own = probabilities[start : start + row.length]
            costs = own @ torch.tensor(WEIGHTS, device=own.device)
            seen = torch.stack([costs.amax(), costs.sum()]).log1p()
            amount = softplus(linear(torch.cat([states[start], seen]), tensors["amount.weight"], tensors["amount.bias"]))
            words = row.words.to(own.device)
            yield PairPrediction(
                calibrated[start : start + row.length][words].cpu().numpy(),
                types[start : start + row.length][words].cpu().numpy(),
                _limited(float(amount.expm1())),
            )


def _limited(amount: float) -> float:
    """The same where it is small, and never more than MAXIMUM, so that bad texts differ still."""
    return -MAXIMUM * math.expm1(-amount / MAXIMUM)


def further_layers(tensors: Mapping[str, torch.Tensor], config: TrunkConfig) -> list[TrunkLayer]:
    """Return the layers that a reader's file holds, to be adapted like the trunk's own."""
    names = [name for name in tensors if name.startswith(FURTHER)]
    layers = []
    for n in range(len({name.split(".")[1] for name in names})):
        stem = f"{FURTHER}{n}."
        layer = TrunkLayer(config)
        layer.load_state_dict({name.removeprefix(stem): tensors[name] for name in names if name.startswith(stem)}, assign=True)
        layers.append(layer.requires_grad_(False))
    return layers


def adapt(trunk: Trunk, tensors: Mapping[str, torch.Tensor]) -> None:
    """Put the adapters into the layers of a trunk, and norms and distances in the place of its own."""
    with torch.no_grad():
        for n, layer in enumerate(trunk.encoder.layer):
            own, out = layer.attention["self"], layer.attention["output"]
            maps = (own["query"], own["key"], own["value"], out["dense"], layer.intermediate["dense"], layer.output["dense"])
            for name, one in zip(ADAPTED, maps, strict=True):
                stem = f"layers.{n}.maps.{name}"
                one.weight = torch.nn.Parameter(
                    one.weight + tensors[f"{stem}.up"] @ tensors[f"{stem}.down"], requires_grad=False
                )
                one.bias.copy_(tensors[f"{stem}.bias"])
            for k, norm in enumerate((out["LayerNorm"], layer.output["LayerNorm"])):
                norm.weight.copy_(tensors[f"layers.{n}.norms.{k}.weight"])
                norm.bias.copy_(tensors[f"layers.{n}.norms.{k}.bias"])
        if trunk.encoder.relative_attention_bias is not None:
            trunk.encoder.relative_attention_bias.weight.copy_(tensors["distance.weight"])


Side = tuple[NDArray[np.floating], list[str]]
"""The states and the forms (`form_of`) of some words of a text."""


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """One pair, or a part of a long one, as the layers get it: mark, reference, mark, hypothesis, mark."""

    reference: Side
    hypothesis: Side

    @property
    def length(self) -> int:
        """Words and marks."""
        return len(self.reference[1]) + len(self.hypothesis[1]) + len(MARKS)

    @property
    def words(self) -> torch.Tensor:
        """The places of the words in the row."""
        p = len(self.reference[1])
        return torch.cat([torch.arange(1, p + 1), torch.arange(p + 2, self.length - 1)])

    def states(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """(length, width) of the row before the first layer."""
        (one, forms), (other, others) = self.reference, self.hypothesis
        return joined(one, other, forms, others, tensors["marks"], tensors["sides"], tensors["shared"])


def joined(
    one: NDArray[np.floating],
    other: NDArray[np.floating],
    forms: Sequence[str],
    others: Sequence[str],
    marks: torch.Tensor,
    sides: torch.Tensor,
    shared: torch.Tensor,
) -> torch.Tensor:
    """(p + q + 3, d) one row of both texts.

    Parameters
    ----------
    one, other
        (p, d) and (q, d) states.
    forms, others
        The words in small letters.
    marks
        (3, d) what stands before, between and after.
    sides
        (2, d) added by side.
    shared
        (5, d) added to each word by what `company` says of it.
    """
    row = [marks[:1]]
    for side, (states, words, elsewhere) in enumerate(((one, forms, others), (other, others, forms))):
        if len(words):
            known = torch.tensor(company(words, elsewhere), device=marks.device)
            row.append(torch.from_numpy(states.astype(np.float32)).to(marks.device) + sides[side] + shared[known])
        row.append(marks[side + 1 : side + 2])
    return torch.cat(row)


def company(words: Sequence[str], others: Sequence[str]) -> list[int]:
    """For each word of a text how it stands in another text.

    0 : not at all. 1 : between other neighbours. 2, 3 : somewhere with the same left, or right, neighbour. 4 : somewhere with both. The
    edges of the texts are neighbours too.
    """
    there: dict[str, list[int]] = {}
    for n, word in enumerate(others):
        there.setdefault(word, []).append(n)
    framed, beside = ["", *words, ""], ["", *others, ""]
    found = []
    for n, word in enumerate(words):
        kinds = {(beside[k] == framed[n]) + 2 * (beside[k + 2] == framed[n + 2]) for k in there.get(word, ())}
        found.append(1 + max(kinds) if kinds else 0)
    return found


def _side(analysis: Analysis) -> Side:
    """What is read of a text."""
    return analysis.states, [form_of(word.text) for word in analysis.words]


def _closed(sides: Sequence[Side]) -> list[Side]:
    """Both texts with a closing mark when one has it: the other borrows it, because the mark it lacks is counted on the characters."""
    marks = [bool(forms) and forms[-1] in CLOSING for _, forms in sides]
    if marks[0] == marks[1] or not all(forms for _, forms in sides):
        return list(sides)
    states, forms = sides[marks.index(True)]
    return [
        side if own else (np.concatenate([side[0], states[-1:]]), [*side[1], forms[-1]])
        for side, own in zip(sides, marks, strict=True)
    ]


def _read_as(reference: int, hypothesis: int, equal: EqualWords) -> NDArray[np.intp]:
    """Return which word is read at each place of the hypothesis, counted over the reference's words and then its own."""
    order, at = list[int](), 0
    for own, other in sorted(equal, key=lambda words: words[1].start):
        order += [*range(reference + at, reference + other.start), *own]
        at = other.stop
    return np.array([*order, *range(reference + at, reference + hypothesis)], np.intp)


def _rows_of(reference: Analysis, hypothesis: Analysis, equal: EqualWords) -> list[_Row]:
    """Return the rows of a pair: none for equal texts, one for most."""
    if reference.text == hypothesis.text:
        return []
    sides = [_side(reference), _side(hypothesis)]
    if equal:
        order = _read_as(len(reference.words), len(hypothesis.words), equal)
        forms = [*sides[0][1], *sides[1][1]]
        sides[1] = np.concatenate([states for states, _ in sides])[order], [forms[n] for n in order]
        if sides[0][1] == sides[1][1]:
            return []
    sides = _closed(sides)
    count = -(-sum(len(forms) for _, forms in sides) // LONGEST) or 1
    parts = [_even(side, count) for side in sides]
    return [_Row(*both) for both in zip(*parts, strict=True)]


def _even(side: Side, count: int) -> list[Side]:
    """``count`` even parts of a text."""
    states, forms = side
    ends = [len(forms) * part // count for part in range(count + 1)]
    return [(states[a:b], forms[a:b]) for a, b in pairwise(ends)]


def _whole(
    pair: tuple[Analysis, Analysis], parts: Sequence[tuple[_Row, PairPrediction | None]], equal: EqualWords
) -> PairPrediction:
    """Return the prediction for a pair from those of its parts, without borrowed marks."""
    p, q = (len(analysis.words) for analysis in pair)
    sure, even = np.zeros((p + q, len(SEVERITIES)), np.float32), np.full((p + q, len(TYPES)), 1 / len(TYPES), np.float32)
    sure[:, 0] = 1.0
    if not parts:
        return PairPrediction(sure, even, 0.0)
    readings = [(len(row.reference[1]), reading) for row, reading in parts if reading is not None]
    order = _read_as(p, q, equal)
    kept = np.concatenate([np.setdiff1d(np.arange(p), [n for own, _ in equal for n in own]), p + np.flatnonzero(order >= p)])
    places = np.concatenate([kept[kept < p], order[order >= p]])
    columns = []
    for name, none in (("probabilities", sure), ("types", even)):
        sides = [getattr(r, name)[:n] for n, r in readings], [getattr(r, name)[n:] for n, r in readings]
        read = np.concatenate([np.concatenate(side)[:words] for side, words in zip(sides, (p, len(order)), strict=True)])
        none[places] = read[kept]
        columns.append(none)
    return PairPrediction(columns[0], columns[1], sum(reading.amount for _, reading in readings))
