"""A corpus: the distribution of the score and of each component, and how they correlate (RoMe, figure 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rome.display.corpus import BINS, histogram
from rome.display.correlations import FEWEST, correlations, undefined_note
from rome.exceptions import InputError
from rome.figures.canvas import COLOURS, bare, blank, canvas, drawing, label, shades
from rome.results.comparison import MEASURES, measures
from rome.results.resampling import LEVEL, Rows, mean_intervals

if TYPE_CHECKING:
    from rome.figures.canvas import Figure
    from rome.results import CorpusScore

__all__ = ["corpus_figure", "correlations_figure"]

NAME = 18


@drawing
def corpus_figure(result: CorpusScore) -> Figure:
    """A histogram a measure with its mean and the interval of the mean at the left, the correlations at the right.

    Raises ModelMissingError without matplotlib.
    """
    figure, table = canvas(9.6, 4.6), measures(result)
    count = "1 segment" if len(table) == 1 else f"{len(table):,} segments"
    if not len(table):
        blank(figure.subplots(), "no segments")
        return figure
    figure.suptitle(f"score {result.score:.3f}, {count}", x=0.01, ha="left", fontsize=10)
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.1))
    left, right = halves
    intervals = mean_intervals(table)
    for axes, name, values, ends in zip(
        left.subplots(len(MEASURES), 1, sharex=True), MEASURES, table.T, intervals, strict=True
    ):
        _distribution(axes, name, values, ends)
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("0", "0.25", "0.5", "0.75", "1"))
    _map(right.subplots(), table, MEASURES)
    return figure


@drawing
def correlations_figure(result: CorpusScore, *, others: Mapping[str, ArrayLike] | None = None) -> Figure:
    """Spearman's correlations between the score, the components and other numbers for the same segments: the paper's figure 5.

    others : name -> one number a segment, such as another metric's scores or people's ratings.
    Raises InputError for others of another length, ModelMissingError without matplotlib.
    """
    table, names = measures(result), list(MEASURES)
    for name, given in (others or {}).items():
        column = np.asarray(given, dtype=np.float64)
        if column.shape != (len(table),) or not np.isfinite(column).all():
            raise InputError(f"others[{name!r}] has shape {column.shape} or a gap: give {len(table)} numbers, one a segment")
        table, names = np.column_stack([table, column]), [*names, name]
    figure = canvas(1.6 + 0.72 * len(names), 1.4 + 0.5 * len(names))
    _map(figure.subplots(), table, [label(name, NAME) for name in names])
    return figure


def _distribution(axes: Any, name: str, values: Rows, ends: Rows) -> None:
    """Bars over [0, 1], the mean as a line and its interval as a band; the numbers at the right."""
    counts, width = histogram(values), 1.0 / BINS
    axes.bar((np.arange(BINS) + 0.5) * width, counts, width=0.92 * width, color=COLOURS["bar"], alpha=0.75)
    mean, words = float(values.mean()), f"{values.mean():.3f}"
    if np.isfinite(ends).all():
        axes.axvspan(*ends, color=COLOURS["ink"], alpha=0.18, linewidth=0)
        words += f"\n{ends[0]:.3f} to {ends[1]:.3f}"
    axes.axvline(mean, color=COLOURS["ink"], linewidth=1.4)
    axes.set(xlim=(0, 1), ylim=(0, 1.08 * counts.max()), yticks=())
    axes.set_ylabel(name, rotation=0, ha="right", va="center")
    axes.text(1.02, 0.5, words, transform=axes.transAxes, va="center", fontsize=8)
    bare(axes)
    axes.spines["bottom"].set_visible(True)
    if name == MEASURES[0]:
        axes.set_title(f"distribution, mean and {LEVEL:.0%} interval of the mean")


def _map(axes: Any, table: Rows, names: Sequence[str]) -> None:
    """The labelled heat map; what is undefined is a dash, and a line says why."""
    note = undefined_note(table, names)
    if len(table) < FEWEST:
        blank(axes, note)
        return
    values = correlations(table)
    axes.imshow(0.62 * np.nan_to_num(values), cmap=shades("both"), vmin=-1.0, vmax=1.0, aspect="auto", interpolation="nearest")
    for (row, column), value in np.ndenumerate(values):
        text = f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−") if np.isfinite(value) else "–"
        axes.text(column, row, text, ha="center", va="center", fontsize=9)
    turned = {"rotation": 35, "ha": "left", "rotation_mode": "anchor"} if len(names) > len(MEASURES) else {}
    axes.set_xticks(range(len(names)), names, **turned)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(np.arange(1, len(names)) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, len(names)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)
    axes.set_xlabel("\n".join(["Spearman's correlation over the segments", *([note] if note else [])]), fontsize=8)
    bare(axes)
