"""A trained reader of another set that teaches: what it says of every word and of each pair (Hinton et al. 2015, section 2, temperature 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rome.data.perturbations.changes import Made
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_trunk
from rome.features.analyser.weights import load_weights
from rome.features.errors.evidence import READER_FILE
from rome.train.errors.net import PairNet, Sides, by_length


@dataclass(frozen=True, eq=False, slots=True)
class Lessons:
    """What a teacher says of n pairs.

    Attributes
    ----------
    severities
        For each pair (N, severities), the probabilities at its N places.
    amounts
        (n,) as `Read.amount`.
    """

    severities: tuple[Tensor, ...]
    amounts: Tensor


class Teacher:
    """The reader of a model set, as it was trained.

    Raises ModelMissingError for a set without one.

    Parameters
    ----------
    models
        The set's name.
    """

    def __init__(self, models: str) -> None:
        folder = set_folder(models)
        tensors, about = load_weights(folder / "errors" / READER_FILE)
        below, rank = int(str(about["below"])), len(tensors["layers.0.maps.query.down"])
        above = len({name.split(".")[1] for name in tensors if name.startswith("layers.")})
        self.net, self.sides = PairNet(load_trunk(folder / "encoder"), below, rank, above), Sides(folder / "encoder", below)
        self.net.load_state_dict(tensors)
        self.net.eval()

    @torch.no_grad()
    def read(self, pairs: Sequence[tuple[Made, Made]]) -> Lessons:
        """Its judgement of pairs of reference and hypothesis."""
        inputs = self.sides.pairs(pairs)
        severities, amounts = [torch.zeros(0)] * len(inputs), torch.zeros(len(inputs))
        for chosen in by_length(inputs):
            found = self.net([inputs[n] for n in chosen])
            amounts[chosen] = found.amount
            for n, row, places in zip(chosen, found.logits.softmax(-1), found.real.sum(1).tolist(), strict=True):
                severities[n] = row[:places]
        return Lessons(tuple(severities), amounts)
