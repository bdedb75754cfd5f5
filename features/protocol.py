"""What a feature is: it prepares each text once, and compares prepared texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .analyser.config import BATCH_SIZE
from .matching import unit_vectors
from .values import CLASSES, Analysis, Component

if TYPE_CHECKING:
    from .idf import IdfTable

Prepared = TypeVar("Prepared")
TOGETHER = 64
"""Pairs that are worked on at once."""


@dataclass(frozen=True, slots=True, eq=False)
class AnalysedText:
    """One text as every feature gets it.

    Attributes
    ----------
    analysis
        What is known of it.
    units
        (n, d) the vectors of its words brought to length 1.
    """

    analysis: Analysis
    units: NDArray[np.float64]

    @classmethod
    def of(cls, analysis: Analysis) -> AnalysedText:
        """The text of an analysis."""
        return cls(analysis, unit_vectors(analysis.vectors))


@dataclass(frozen=True, slots=True)
class Resources:
    """What a feature may be made of besides its settings.

    Attributes
    ----------
    idf
        How telling words are.
    folder
        Of the model set.
    threads
        That models use; None for torch's own number.
    device, batch_size, precision
        Where models compute, pieces or words that they take at once, and how precisely they compute.
    """

    idf: IdfTable
    folder: Path
    threads: int | None = None
    device: str = "cpu"
    batch_size: int = BATCH_SIZE
    precision: str = "float32"


class Feature(ABC, Generic[Prepared]):
    """One feature of a pair. It remembers nothing between calls, so several threads can share it.

    Attributes
    ----------
    name
        How tables and results call it.
    about
        What it asks of a pair and how it measures that, in a sentence or two for readers of a report.
    config
        Its settings, a frozen dataclass of the type ``config_class``, whose defaults a model set may change.
    """

    name: ClassVar[str]
    about: ClassVar[str] = ""
    config_class: ClassVar[type]
    config: Any

    @classmethod
    @abstractmethod
    def make(cls, config: Any, resources: Resources) -> Feature[Any]:
        """The feature with these settings."""

    @abstractmethod
    def prepare(self, text: AnalysedText) -> Prepared:
        """What the feature needs to know of one text, worked out once for all pairs that the text stands in."""

    @abstractmethod
    def compare(self, reference: Prepared, hypothesis: Prepared) -> Component:
        """What the feature says of one pair."""

    def compare_all(self, pairs: Sequence[tuple[Prepared, Prepared]]) -> list[Component]:
        """What it says of each pair; a feature that works faster on several at once does it here."""
        return [self.compare(*pair) for pair in pairs]

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> Any:
        """The evidence that ``to_dict()`` wrote as plain values.

        Raises KeyError, TypeError, IndexError or ValueError for what the feature cannot have written.
        """
        return row

    @staticmethod
    def describe(evidence: Any) -> Sequence[tuple[Any, ...]]:
        """The evidence as a small table for reports: the names of its columns, then rows of texts and numbers; empty for no table."""
        return ()

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """`prepare` and `compare` of a single pair."""
        return self.compare_all([(self.prepare(AnalysedText.of(reference)), self.prepare(AnalysedText.of(hypothesis)))])[0]


def feature_class(name: str) -> type[Feature[Any]]:
    """The class that the table of features names."""
    module, _, found = CLASSES[name].partition(":")
    return cast(type[Feature[Any]], getattr(import_module(module), found))


def number(value: Any) -> float:
    """A float of evidence; null is what JSON has for a number that is not finite. Raises TypeError for a text or a truth value."""
    if isinstance(value, (str, bool)):
        raise TypeError(f"{value!r} is no number")
    return float("nan") if value is None else float(value)


def string(value: Any) -> str:
    """A text of evidence. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def index(value: Any, size: int) -> int:
    """A place in a list of this size. Raises ValueError for anything else."""
    if not isinstance(value, int) or not 0 <= value < size:
        raise ValueError(f"{value!r} is no place among {size}")
    return value


def compare_pairs(
    features: Sequence[Feature[Any]], pairs: Sequence[tuple[Analysis, Analysis]]
) -> Iterator[tuple[Component, ...]]:
    """For each pair of reference and hypothesis what every feature says of it.

    Some pairs are worked on at once, so that texts that several of them hold are prepared once, and memory stays bounded.
    """
    for start in range(0, len(pairs), TOGETHER):
        part = pairs[start : start + TOGETHER]
        with _libraries().limit(limits=1, user_api="blas"):  # NumPy's sums have other last digits on two threads
            texts = {text: AnalysedText.of(analysis) for text, analysis in {a.text: a for pair in part for a in pair}.items()}
            columns = []
            for feature in features:
                prepared = {name: feature.prepare(text) for name, text in texts.items()}
                columns.append(feature.compare_all([(prepared[one.text], prepared[other.text]) for one, other in part]))
        yield from zip(*columns, strict=True)


@cache
def _libraries() -> Any:
    """Return threadpoolctl's handle of the libraries that are loaded when this is first called, NumPy's among them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
