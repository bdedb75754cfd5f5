"""The protocol of a feature: it prepares each text once, and compares prepared texts."""

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

from rome.exceptions import InputError

from .analyser.config import BATCH_SIZE
from .matching import unit_vectors
from .values import CLASSES, Analysis, Component

if TYPE_CHECKING:
    from .idf import IdfTable

Prepared = TypeVar("Prepared")
TOGETHER = 64
"""Pairs that are compared at once."""


@dataclass(frozen=True, slots=True, eq=False)
class AnalysedText:
    """Hold one text as every feature gets it.

    Attributes
    ----------
    analysis
        The analysis of the text.
    units
        (n, d) the vectors of its words, normalised to length 1.
    """

    analysis: Analysis
    units: NDArray[np.float64]

    @classmethod
    def of(cls, analysis: Analysis) -> AnalysedText:
        """Return the text of an analysis."""
        return cls(analysis, unit_vectors(analysis.vectors))


@dataclass(frozen=True, slots=True)
class Resources:
    """Hold what a feature may be made of besides its settings.

    Attributes
    ----------
    idf
        The inverse document frequencies of words.
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
    """Measure one feature of pairs; nothing is kept between calls, so several threads can share a feature.

    Attributes
    ----------
    name
        Its name in tables and results.
    about
        What it measures and how, in a sentence or two for readers of a report.
    config
        Its settings, a frozen dataclass of the type ``config_class``, whose defaults a model set may change.
    """

    name: ClassVar[str]
    about: ClassVar[str] = ""
    config_class: ClassVar[type]
    config: Any

    def __init__(self, config: Any = None) -> None:
        self.config = self.config_class() if config is None else config

    @classmethod
    def make(cls, config: Any, resources: Resources) -> Feature[Any]:
        """Return the feature with these settings; override it where the feature needs resources."""
        return cls(config)

    @abstractmethod
    def prepare(self, text: AnalysedText) -> Prepared:
        """Return what the feature needs of one text, computed once for all pairs of the text."""

    @abstractmethod
    def compare(self, reference: Prepared, hypothesis: Prepared) -> Component:
        """Compare one pair."""

    def compare_all(self, pairs: Sequence[tuple[Prepared, Prepared]]) -> list[Component]:
        """Compare several pairs; override it where several at once are faster."""
        return [self.compare(*pair) for pair in pairs]

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> Any:
        """Return the evidence that ``to_dict()`` wrote as plain values.

        Raises KeyError, TypeError, IndexError or ValueError for what the feature cannot have written.
        """
        return row

    @staticmethod
    def describe(evidence: Any) -> Sequence[tuple[Any, ...]]:
        """Return the evidence as a small table for reports: a row of column names, then rows of texts and numbers; empty for none."""
        return ()

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """Prepare and compare a single pair."""
        return self.compare_all([(self.prepare(AnalysedText.of(reference)), self.prepare(AnalysedText.of(hypothesis)))])[0]


def check_settings(config: Any, **allowed: tuple[Any, ...]) -> None:
    """Raise InputError for a setting that is not among its words, or not a number between the two that are given."""
    for name, bounds in allowed.items():
        value = getattr(config, name)
        if isinstance(bounds[0], str):
            fits, wanted = value in bounds, " or ".join(bounds)
        else:
            fits = isinstance(value, (int, float)) and not isinstance(value, bool) and bounds[0] <= value <= bounds[1]
            wanted = f"in [{bounds[0]:g}, {bounds[1]:g}]"
        if not fits:
            raise InputError(f"{name} must be {wanted}, got {value!r}")


def feature_class(name: str) -> type[Feature[Any]]:
    """Return the class of a feature by its name."""
    module, _, found = CLASSES[name].partition(":")
    return cast(type[Feature[Any]], getattr(import_module(module), found))


def number(value: Any) -> float:
    """Return a float of evidence, nan for null. Raises TypeError for a text or a boolean."""
    if isinstance(value, (str, bool)):
        raise TypeError(f"a number must be int, float or null, got {value!r}")
    return float("nan") if value is None else float(value)


def string(value: Any) -> str:
    """Return a text of evidence. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"a text must be str, got {value!r}")
    return value


def index(value: Any, size: int) -> int:
    """Return an index into a list of this size. Raises ValueError for anything else."""
    if not isinstance(value, int) or not 0 <= value < size:
        raise ValueError(f"an index must be in [0, {size}), got {value!r}")
    return value


def compare_pairs(
    features: Sequence[Feature[Any]], pairs: Sequence[tuple[Analysis, Analysis]]
) -> Iterator[tuple[Component, ...]]:
    """Yield the components of each pair of reference and hypothesis.

    TOGETHER pairs are compared at once, so that a text of several pairs is prepared once and memory stays bounded.
    """
    for start in range(0, len(pairs), TOGETHER):
        part = pairs[start : start + TOGETHER]
        with _libraries().limit(limits=1, user_api="blas"):  # NumPy's sums have other last digits on two threads
            texts = {name: AnalysedText.of(analysis) for name, analysis in {id(a): a for pair in part for a in pair}.items()}
            columns = []
            for feature in features:
                prepared = {name: feature.prepare(text) for name, text in texts.items()}
                columns.append(feature.compare_all([(prepared[id(one)], prepared[id(other)]) for one, other in part]))
        yield from zip(*columns, strict=True)


@cache
def _libraries() -> Any:
    """Return threadpoolctl's handle of the libraries that are loaded when this is first called, NumPy's among them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
