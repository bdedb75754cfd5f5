"""What a report is made of: tables, figures as data, and the manifest that says where they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bars", "Cell", "Figure", "Heatmap", "Lines", "Report", "Scatter", "Table"]

Cell = str | int | float | None
"""A table's cell; None and nan are shown as a dash."""


@dataclass(frozen=True)
class Table:
    """A table by rows. name : file name without ending. note : one or two sentences below the title (what, definitions, ties).

    digits : decimals that people see, one number for all columns or by column name; files keep every digit.
    highest, lowest : columns whose highest (lowest) value is marked as the best one. intervals : (value, low, high) columns that
    people see as one, ``0.182 [0.150, 0.214]``; files keep the three.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    digits: int | Mapping[str, int] = 3
    highest: tuple[str, ...] = ()
    lowest: tuple[str, ...] = ()
    intervals: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Heatmap:
    """A matrix in colours with its numbers written in; the darker, the higher. nan is left blank.

    values : (rows, columns). groups : the group of each row (DEMETR's figure 2: severities), or empty; rows of one group stand
    together. axis : what the numbers are.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    groups: tuple[str, ...] = ()
    note: str = ""
    digits: int = 2
    axis: str = ""


@dataclass(frozen=True)
class Bars:
    """A value with an interval for each label (a leaderboard). low, high : ends of the intervals, or empty."""

    name: str
    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    axis: str = ""
    note: str = ""


@dataclass(frozen=True)
class Lines:
    """One line a series over a common x (quality drift, data sizes).

    series : name -> y for each x (nan: no point). low, high : for the series that have one, the ends of the interval of each y.
    """

    name: str
    title: str
    x: tuple[float, ...]
    series: Mapping[str, Sequence[float]]
    x_label: str = ""
    y_label: str = ""
    note: str = ""
    low: Mapping[str, Sequence[float]] = field(default_factory=dict)
    high: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scatter:
    """One point a label, such as two metrics against each other."""

    name: str
    title: str
    labels: tuple[str, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    x_label: str = ""
    y_label: str = ""
    note: str = ""


Figure = Heatmap | Bars | Lines | Scatter


@dataclass(frozen=True)
class Report:
    """Everything of one run, in the order of reading.

    parts : tables and figures. manifest : what made it: command, data digests, metric signatures, versions, seed, machine, seconds.
    """

    title: str
    parts: tuple[Table | Figure, ...]
    manifest: Mapping[str, object] = field(default_factory=dict)
    introduction: str = ""
