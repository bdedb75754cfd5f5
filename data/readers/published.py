"""Figures that papers published, to stand beside live ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["PublishedAccuracy", "PublishedMeans", "demetr_accuracies", "demetr_means"]


@dataclass(frozen=True, slots=True)
class PublishedAccuracy:
    """One row of DEMETR's table A3: Welch's t, its p (as printed, such as ``<0.001``), degrees of freedom, accuracy in %."""

    identifier: int
    metric: str
    t: float
    p: str
    df: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class PublishedMeans:
    """One row of DEMETR's table 4, accuracies in %; parameters as in its table 3, "" for string-based metrics."""

    metric: str
    parameters: str
    base: float
    critical: float
    major: float
    minor: float
    all: float


def _rows(name: str) -> Iterator[list[str]]:
    """The cells of every line below comment and header."""
    lines = (files("rome.data") / "published" / name).read_text(encoding="utf-8").splitlines()
    yield from (line.split("\t") for line in lines[2:])


def demetr_accuracies() -> list[PublishedAccuracy]:
    """Table A3 of DEMETR (Karpinska et al. 2022): 14 metrics on 35 perturbations, whole data."""
    return [PublishedAccuracy(int(i), m, float(t), p, float(df), float(a)) for i, m, t, p, df, a in _rows("demetr_a3.tsv")]


def demetr_means() -> list[PublishedMeans]:
    """Table 4 of DEMETR: unweighted means over kinds by the severities of the released files."""
    return [PublishedMeans(metric, size, *map(float, means)) for metric, size, *means in _rows("demetr_table4.tsv")]
