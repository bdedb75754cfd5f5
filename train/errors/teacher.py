"""A trained reader of another set that teaches: what it says of every word and of each pair (Hinton et al. 2015, section 2, temperature 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from rome.data.perturbations.changes import Made, Spans
from rome.train.errors.net import by_length, load_reader

Named: TypeAlias = tuple[str, Spans, str, Spans]
"""Both texts of a pair, and where their words are."""


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
    """The reader of a model set, which reads every pair once. Raises ModelMissingError for a set without one.

    Parameters
    ----------
    models
        The set's name.
    """

    def __init__(self, models: str) -> None:
        self.net, self.sides = load_reader(models)
        self.net.eval()
        self.known: dict[Named, tuple[Tensor, Tensor]] = {}

    def read(self, pairs: Sequence[tuple[Made, Made]]) -> Lessons:
        """Its judgement of pairs of reference and hypothesis."""
        names = [(one.text, one.words, other.text, other.words) for one, other in pairs]
        self._learn({name: pair for name, pair in zip(names, pairs, strict=True) if name not in self.known})
        severities, amounts = zip(*(self.known[name] for name in names), strict=True)
        return Lessons(severities, torch.stack(amounts))

    @torch.no_grad()
    def _learn(self, pairs: Mapping[Named, tuple[Made, Made]]) -> None:
        names, inputs = list(pairs), self.sides.pairs(list(pairs.values()))
        for chosen in by_length(inputs):
            found = self.net([inputs[n] for n in chosen])
            places = found.real.sum(1).tolist()
            for n, row, length, amount in zip(chosen, found.logits.softmax(-1), places, found.amount, strict=True):
                self.known[names[n]] = row[:length].clone(), amount
