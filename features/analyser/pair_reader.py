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
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import linear, softplus

from rome.exceptions import ModelMissingError

from ..errors.evidence import MARKS, MAXIMUM, READER_FILE, SEVERITIES, TYPES, WEIGHTS, EqualWords, PairPrediction
from ..errors.typos import EMOJI
from ..values import Analysis, form_of
from .config import BATCH_SIZE, most_threads
from .encoder import TRUNK_FILE, as_guest, in_precision, network
from .pieces import batches_of, padded
from .weights import load_weights

LONGEST = 1000
"""Words of both texts in one row; longer pairs are read in parts that correspond by their places."""
COMPANY = 5
"""Number of values of `company`."""
CLOSING = frozenset(".!?")
"""Marks that end a text."""
ADAPTED = {
    "maps.query": "attention.self.query",
    "maps.key": "attention.self.key",
    "maps.value": "attention.self.value",
    "maps.attention": "attention.output.dense",
    "maps.inner": "intermediate.dense",
    "maps.outer": "output.dense",
}
"""The adapted maps of a layer by their names in a reader's file and in a trunk's."""
NORMS = {"norms.0": "attention.output.LayerNorm", "norms.1": "output.LayerNorm"}
DISTANCES = "encoder.relative_attention_bias.weight"
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
        self.folder, self.below, self.threads = Path(folder), below, most_threads(threads)
        self.device, self.batch_size, self.precision = device, batch_size, precision

    @cached_property
    def _parts(self) -> tuple[Any, Mapping[str, torch.Tensor]]:
        """Return the adapted layers, and what else the reader has."""
        path = self.folder / "errors" / READER_FILE
        tensors, about = load_weights(path)
        if about.get("severities") != list(SEVERITIES) or about.get("types") != list(TYPES):
            raise ModelMissingError(f"{path} must have the severities and types of this version: train it again, `rome train errors`")
        if about.get("below") != self.below:
            raise ModelMissingError(
                f"{self.folder} must begin its reader after {about.get('below')} layers, as the reader says, got {self.below}: "
                "write the reader's number into set.json (settings, errors, below)"
            )
        layers = joint_layers(self.folder / "encoder", tensors).to(self.device)
        return layers, {name: tensor.to(self.device) for name, tensor in tensors.items()}

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
        found = dict[int, PairPrediction]()
        with as_guest(self.threads, self.device):
            for chosen in batches_of([row.length for row in rows], self.batch_size):
                found |= zip(chosen, self._read([rows[n] for n in chosen]), strict=True)
        each_row = (found[n] for n in range(len(rows)))
        return [
            _whole(pair, [(row, next(each_row)) for row in each], same)
            for pair, each, same in zip(pairs, parts, equal, strict=True)
        ]

    def _read(self, rows: Sequence[_Row]) -> Iterator[PairPrediction]:
        """Yield the readings of the rows of one batch."""
        layers, tensors = self._parts
        states, real = padded([row.states(tensors) for row in rows])
        with in_precision(self.precision, self.device):
            states = layers(inputs_embeds=states, attention_mask=real.long()).last_hidden_state.float()
        logits = linear(states, tensors["severity.weight"], tensors["severity.bias"])
        calibrated = (logits - tensors["prior"]).softmax(-1).cpu().numpy()
        types = linear(states, tensors["kind.weight"], tensors["kind.bias"]).softmax(-1).cpu().numpy()
        costs = logits.softmax(-1) @ torch.tensor(WEIGHTS, device=states.device) * real
        seen = torch.stack([costs.amax(1), costs.sum(1)], dim=1).log1p()
        amounts = softplus(linear(torch.cat([states[:, 0], seen], dim=1), tensors["amount.weight"], tensors["amount.bias"]))
        for k, (row, amount) in enumerate(zip(rows, amounts[:, 0].expm1().tolist(), strict=True)):
            # up to MAXIMUM: nearly the same where it is small, and increasing everywhere, so that bad texts still differ
            limited = -MAXIMUM * math.expm1(-amount / MAXIMUM)
            yield PairPrediction(calibrated[k, row.words], types[k, row.words], limited)


def joint_layers(folder: Path, tensors: Mapping[str, torch.Tensor]) -> Any:
    """Return the layers that read both texts: the trunk's last ones and the reader's further ones, adapted.

    Parameters
    ----------
    folder
        Of the set's encoder.
    tensors
        Of a reader's file.
    """
    path, further = folder / TRUNK_FILE, further_layers(tensors)
    config = load_weights(path, ())[1]["config"]
    count, last = len({name.split(".")[1] for name in tensors if name.startswith("layers.")}), config["num_hidden_layers"]
    stems = [f"encoder.layer.{n}." for n in range(last - count + len(further), last)]
    trunk, _ = load_weights(path, stems)
    state = {DISTANCES: tensors["distance.weight"]} if "distance.weight" in tensors else {}
    for n, layer in enumerate([*(_below(trunk, stem) for stem in stems), *further]):
        adapted = _adapted(layer, _below(tensors, f"layers.{n}."))
        state |= {f"encoder.layer.{n}.{name}": tensor for name, tensor in adapted.items()}
    return network({**config, "num_hidden_layers": count}, state, str(path))


def _below(tensors: Mapping[str, torch.Tensor], stem: str) -> dict[str, torch.Tensor]:
    """Return the tensors whose names begin with a stem, by what follows it."""
    return {name.removeprefix(stem): tensor for name, tensor in tensors.items() if name.startswith(stem)}


def further_layers(tensors: Mapping[str, torch.Tensor]) -> list[dict[str, torch.Tensor]]:
    """Return the layers after the trunk's that a reader's file holds, before they are adapted."""
    count = len({name.split(".")[1] for name in tensors if name.startswith(FURTHER)})
    return [_below(tensors, f"{FURTHER}{n}.") for n in range(count)]


def _adapted(layer: Mapping[str, torch.Tensor], own: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return a layer with its adapters added to its maps, and with the reader's own biases and norms."""
    found = {f"{name}.{part}": own[f"{norm}.{part}"] for norm, name in NORMS.items() for part in ("weight", "bias")}
    for adapter, name in ADAPTED.items():
        found[f"{name}.weight"] = layer[f"{name}.weight"] + own[f"{adapter}.up"] @ own[f"{adapter}.down"]
        found[f"{name}.bias"] = own[f"{adapter}.bias"]
    return found


Side = tuple[NDArray[np.floating], list[str]]
"""The states and the forms (`form_of`) of some words of a text."""


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """One pair, or a part of a long one, as the layers get it: mark, reference, mark, hypothesis, mark."""

    reference: Side
    hypothesis: Side

    @property
    def length(self) -> int:
        """Return the number of words and marks."""
        return len(self.reference[1]) + len(self.hypothesis[1]) + len(MARKS)

    @property
    def words(self) -> NDArray[np.intp]:
        """Return the places of the words in the row."""
        p = len(self.reference[1])
        return np.r_[1 : p + 1, p + 2 : self.length - 1]

    def states(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return (length, width) what the first layer gets: marks, and words with what is known of their side and `company`."""
        marks, forms = tensors["marks"], (self.reference[1], self.hypothesis[1])
        row = [marks[:1]]
        for side, (states, words) in enumerate((self.reference, self.hypothesis)):
            known = torch.tensor(company(words, forms[1 - side]), dtype=torch.long, device=marks.device)
            own = torch.from_numpy(states.astype(np.float32)).to(marks.device).reshape(len(words), marks.shape[1])
            row += [own + tensors["sides"][side] + tensors["shared"][known], marks[side + 1 : side + 2]]
        return torch.cat(row)


def company(words: Sequence[str], others: Sequence[str]) -> list[int]:
    """Return for each word of a text its company in another text.

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
    """Return the states and forms of a text; all emoji are one form, because the trunk does not know them."""
    return analysis.states, [EMOJI.sub("*", form_of(word.text)) for word in analysis.words]


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
    """Return ``count`` even parts of a text."""
    states, forms = side
    ends = [len(forms) * part // count for part in range(count + 1)]
    return [(states[a:b], forms[a:b]) for a, b in pairwise(ends)]


def _whole(pair: tuple[Analysis, Analysis], parts: Sequence[tuple[_Row, PairPrediction]], equal: EqualWords) -> PairPrediction:
    """Return the prediction for a pair from those of its parts, without borrowed marks."""
    p, q = (len(analysis.words) for analysis in pair)
    sure, even = np.zeros((p + q, len(SEVERITIES)), np.float32), np.full((p + q, len(TYPES)), 1 / len(TYPES), np.float32)
    sure[:, 0] = 1.0
    if not parts:
        return PairPrediction(sure, even, 0.0)
    readings = [(len(row.reference[1]), reading) for row, reading in parts]
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
