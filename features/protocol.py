"""What a feature is: it prepares each text once, and compares prepared texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .matching import unit_vectors
from .one_thread import one_thread
from .values import Analysis, Component

__all__ = ["Feature", "Text", "compared"]

Prepared = TypeVar("Prepared")
TOGETHER = 64
"""Pairs that are worked on at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """One text as every feature gets it.

    analysis : what is known of it.
    units : (n, d) the vectors of its words brought to length 1.
    """

    analysis: Analysis
    units: NDArray[np.float64]

    @classmethod
    def of(cls, analysis: Analysis) -> Text:
        """The text of an analysis."""
        return cls(analysis, unit_vectors(analysis.vectors))


class Feature(ABC, Generic[Prepared]):
    """One feature of a pair. It remembers nothing between calls, so several threads can share it.

    name : how tables and results call it.
    config : a frozen dataclass with its settings.
    """

    name: ClassVar[str]
    config: Any

    @abstractmethod
    def prepare(self, text: Text) -> Prepared:
        """What the feature needs to know of one text, worked out once for all pairs that the text stands in."""

    @abstractmethod
    def compare(self, reference: Prepared, hypothesis: Prepared) -> Component:
        """What the feature says of one pair."""

    def compare_all(self, pairs: Sequence[tuple[Prepared, Prepared]]) -> list[Component]:
        """What it says of each pair; a feature that works faster on several at once does it here."""
        return [self.compare(*pair) for pair in pairs]

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """`prepare` and `compare` of a single pair."""
        return self.compare_all([(self.prepare(Text.of(reference)), self.prepare(Text.of(hypothesis)))])[0]


def compared(features: Sequence[Feature[Any]], pairs: Sequence[tuple[Analysis, Analysis]]) -> Iterator[tuple[Component, ...]]:
    """For each pair of reference and hypothesis what every feature says of it.

    Some pairs are worked on at once, so that texts that several of them hold are prepared once, and memory stays bounded.
    """
    for start in range(0, len(pairs), TOGETHER):
        part = pairs[start : start + TOGETHER]
        with one_thread():
            texts = {text: Text.of(analysis) for text, analysis in {a.text: a for pair in part for a in pair}.items()}
            columns = []
            for feature in features:
                prepared = {name: feature.prepare(text) for name, text in texts.items()}
                columns.append(feature.compare_all([(prepared[one.text], prepared[other.text]) for one, other in part]))
        yield from zip(*columns, strict=True)
