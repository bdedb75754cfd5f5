"""Figures as files, drawn with matplotlib: parts of a report, and one function for each kind of result.

Importing this module loads no matplotlib; drawing does, without pyplot, so that no window, no global figure and no backend is touched.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rome.combining.signature import fitted_on
from rome.exceptions import InputError, ModelMissingError
from rome.reports.model import Bars, Heatmap, Lines, Note, Strip, Trees
from rome.reports.model import Figure as Part
from rome.reports.palette import COLOURS, SERIES
from rome.reports.segment import SIGNS, WORDS, components, losses, matrices, trees_of
from rome.reports.summaries import FEWEST, correlations, differences, distributions, undefined_note
from rome.reports.tables import describe, shown, shown_columns
from rome.results.comparison import MEASURES, measures
from rome.results.resampling import LEVEL
from rome.storage.files import atomic_path
from rome.text_table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rome.results import CorpusScore, SegmentScore
    from rome.results.comparison import Comparison

DOTS_PER_INCH = 200
FORMATS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
NO_DATES: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}}
INKS = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), COLOURS["ink"])
MARKERS, STROKES = "osD^vPX", ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))
LABEL = 44
TREE_ROWS, TREE_HEIGHT, INDENT, DEEPEST, POINTS = 60, 0.2, 0.16, 12, 2000
"""Rows of trees that are drawn, inches of one, of a level, levels that are told apart; points that a curve is drawn through at most."""
TREE_LEGEND = "= the same   ≠ changed   + inserted: only in the reference   − deleted: only in the hypothesis"
NO_EVIDENCE = "no evidence: the number comes from a stored table"
LOGARITHMIC_FROM = 30.0
"""An x axis whose last value is so many times its first is logarithmic (data sizes), unless the values stand at even steps (ranks)."""


def plots_available() -> bool:
    """Whether matplotlib is installed; it is not imported."""
    return find_spec("matplotlib") is not None


@contextmanager
def _settings() -> Iterator[None]:
    """Our settings over matplotlib's defaults, the user's own put back afterwards; letters without a glyph warn nobody."""
    if not plots_available():
        raise ModelMissingError('figures need matplotlib: run `pip install "rome-metric[evaluate]"`')
    from matplotlib import style

    with (
        style.context(["default", "rome.reports.figures", {**INKS, "axes.edgecolor": COLOURS["soft"]}]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the name; the same figure gives the same bytes.

    The file appears whole or not at all. Raises InputError for another ending and for a name that cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"{os.fspath(path)} ends in {ending or 'nothing'}: figures are written as .png, .svg or .pdf")
    with atomic_path(path) as temporary:
        temporary.write_bytes(_bytes(figure, FORMATS[ending]))


def _bytes(figure: Figure, kind: str, **metadata: Any) -> bytes:
    """The figure as a file of this kind."""
    stream = io.BytesIO()
    sizes: dict[str, Any] = {"dpi": DOTS_PER_INCH, "facecolor": "white", "bbox_inches": "tight", "pad_inches": 0.1}
    with _settings():
        figure.savefig(stream, format=kind, metadata={**NO_DATES[kind], **metadata}, **sizes)
    return stream.getvalue()


def is_empty(figure: Part) -> bool:
    """Whether there is nothing to draw: not one number that is finite."""
    numbers = [*figure.series.values()] if isinstance(figure, Lines) else figure.values
    return not np.isfinite(np.asarray(numbers, np.float64)).any()


def render(figure: Part) -> tuple[bytes, str]:
    """A part that is not empty as PNG and as SVG: same part, same bytes, whatever matplotlib's own settings on this machine are.

    Raises ModelMissingError without matplotlib.
    """
    drawn = draw(figure)
    told = {"Title": shorten(figure.title, 200), "Description": shorten(describe(figure), 2000)}
    return _bytes(drawn, "png"), _bytes(drawn, "svg", **told).decode("utf-8")


@_settings()
def draw(figure: Part) -> Figure:
    """A part of a report as a figure of matplotlib."""
    if isinstance(figure, Heatmap):
        longest = max(len(shown(float(value), figure.digits)) for value in figure.values.flat)
        rows = len(figure.rows) + len(set(figure.groups))
        canvas = _canvas(2.6 + max(0.5, 0.085 * longest + 0.16) * len(figure.columns), 1.4 + 0.25 * rows)
        image = heat(canvas.subplots(), figure)
        if figure.axis:
            canvas.colorbar(image, label=shorten(figure.axis, 30), shrink=0.6, fraction=0.05)
        return canvas
    if isinstance(figure, Bars):
        canvas = _canvas(7.5, 0.29 * len(figure.labels) + 0.7)
        _bars(canvas.subplots(), figure)
    else:
        canvas = _canvas(8.0, max(3.6, 0.2 * len(figure.series) + 0.4))
        _lines(canvas.subplots(), figure)
    return canvas


def _canvas(width: float, height: float) -> Figure:
    """An empty figure of this size in inches; it belongs to no window and to no list of open figures."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def heat(axes: Any, figure: Heatmap, *, numbers: bool = True) -> Any:
    """A heat map: one cell a value, its number in it, each group of rows below its name; what is missing is blank, or a dash."""
    values, names = _grouped(figure)
    finite = values[np.isfinite(values)]
    low, high = figure.ends or ((float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0))
    if low == high:
        low, high = low - 1.0, high + 1.0
    colours = _shades("both" if figure.signed else "heat5")
    image = axes.pcolormesh(values, cmap=colours, vmin=low, vmax=high, edgecolors="white", linewidth=1.2)
    if numbers:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value) or figure.signed:
                share = abs(value) / high if figure.signed else (value - low) / (high - low)
                ink = "white" if share > 0.62 else COLOURS["ink"]
                text = shown(float(value), figure.digits).replace("-", "−")
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=ink)
    axes.invert_yaxis()
    axes.set_yticks(np.arange(len(names)) + 0.5, [shorten(name, LABEL) for name, _ in names])
    for tick, (_, bold) in zip(axes.get_yticklabels(), names, strict=True):
        tick.set_fontweight("bold" if bold else "normal")
    axes.xaxis.tick_top()
    turned = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"}
    axes.set_xticks(np.arange(values.shape[1]) + 0.5, [shorten(name, LABEL) for name in figure.columns], **turned)
    _bare(axes)
    return image


def _grouped(figure: Heatmap) -> tuple[Any, list[tuple[str, bool]]]:
    """The values with an empty row before each group, and the names of the rows, those of groups marked."""
    if not figure.groups:
        return np.asarray(figure.values, dtype=np.float64), [(name, False) for name in figure.rows]
    rows, names, gap = [], list[tuple[str, bool]](), np.full(len(figure.columns), np.nan)
    for group, places in groupby(range(len(figure.rows)), key=lambda place: figure.groups[place]):
        rows.append(gap)
        names.append((group, True))
        for place in places:
            rows.append(np.asarray(figure.values[place], dtype=np.float64))
            names.append((figure.rows[place], False))
    return np.stack(rows), names


def _bars(axes: Any, figure: Bars) -> None:
    """Horizontal bars from zero in the order given, the interval as a line across the end, the number at the right."""
    values = np.nan_to_num(np.asarray(figure.values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    places = np.arange(len(values))
    axes.barh(places, values, height=0.62, color=COLOURS["bar"], alpha=0.62, linewidth=0)
    ends = [np.asarray(end or figure.values, dtype=np.float64) for end in (figure.low, figure.high)]
    if figure.low or figure.high:
        axes.hlines(places, *ends, color=COLOURS["ink"], linewidth=1.1)
        for end in ends:
            axes.plot(end, places, linestyle="none", marker="|", markersize=6, color=COLOURS["ink"])
    for place, (value, number) in enumerate(zip(figure.values, values, strict=True)):
        right = max(float(np.nan_to_num(ends[1][place], posinf=0.0, neginf=0.0)), float(number), 0.0)
        axes.annotate(shown(value, figure.digits), (right, place), (6, 0), textcoords="offset points", va="center", ha="left")
    axes.set_yticks(places, [shorten(name, LABEL) for name in figure.labels])
    axes.set(ylim=(len(values) - 0.4, -0.6), xlabel=shorten(figure.axis, 90))
    axes.margins(x=0.12)
    axes.axvline(0, color=COLOURS["ink"], linewidth=0.8)
    _bare(axes)
    axes.grid(axis="x", color=COLOURS["soft"], alpha=0.3, linewidth=0.6)


def _lines(axes: Any, figure: Lines) -> None:
    """A line a series with markers and strokes of its own, bands where there are intervals, names at the right; wide x logarithmic."""
    drawn = []
    for number, (name, ys) in enumerate(figure.series.items()):
        turn, rest = divmod(number, len(SERIES))
        style = {"marker": MARKERS[(number + turn) % len(MARKERS)], "linestyle": STROKES[(number + 2 * turn) % len(STROKES)]}
        if name in figure.low and name in figure.high:
            axes.fill_between(figure.x, figure.low[name], figure.high[name], color=SERIES[rest], alpha=0.15, linewidth=0)
        drawn += axes.plot(figure.x, ys, color=SERIES[rest], markersize=5, linewidth=1.6, **style)
    even = len(figure.x) > 2 and np.allclose(np.diff(figure.x), figure.x[1] - figure.x[0])
    if min(figure.x) > 0 and max(figure.x) >= LOGARITHMIC_FROM * min(figure.x) and not even:
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if len(figure.x) <= 10:
        axes.set_xticks(figure.x, [f"{x:g}" for x in figure.x])
    axes.set(xlabel=shorten(figure.x_label, 90), ylabel=shorten(figure.y_label, 60))
    names = [shorten(name, LABEL) for name in figure.series]
    axes.legend(drawn, names, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, handlelength=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=COLOURS["soft"], alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)


def _shades(name: str) -> Any:
    """Colours from white to one of the palette, or, for ``both``, from orange over white to blue."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [COLOURS["down"], "#ffffff", COLOURS["up"]] if name == "both" else ["#f4f8fc", COLOURS[name]]
    return LinearSegmentedColormap.from_list(f"rome-{name}", ends)


def _bare(axes: Any) -> None:
    """Axes without a frame and without ticks' lines."""
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


@_settings()
def segment_figure(segment: SegmentScore) -> Figure:
    """Both texts, the components in [0, 1] at the left, the points that were lost at the right; save it with `save`.

    Raises ModelMissingError without matplotlib.
    """
    figure = _canvas(8.6, 3.3)
    kind = "supervised score" if fitted_on(segment.signature) else "score"
    flags = f"  ({', '.join(segment.flags)})" if segment.flags else ""
    title = f"segment {segment.segment}: {kind} {segment.score:.3f}{shorten(flags, 60)}"
    texts = f"reference:  {shorten(segment.reference, 118)}\nhypothesis:  {shorten(segment.hypothesis, 118) or 'empty'}"
    figure.suptitle(f"{title}\n{texts}", x=0.01, ha="left", fontsize=9, linespacing=1.5)
    left, right = figure.subplots(1, 2)
    _strips(left, components(segment))
    _strips(right, losses(segment))
    return figure


@_settings()
def corpus_figure(result: CorpusScore) -> Figure:
    """A histogram a measure with its mean and the interval of the mean at the left, the correlations at the right.

    Raises ModelMissingError without matplotlib.
    """
    table = measures(result)
    if not len(table):
        return _sentence("no segments")
    figure = _canvas(9.6, 4.6)
    count = "1 segment" if len(table) == 1 else f"{len(table):,} segments"
    title = f"score {result.score:.3f}, {count}; mean and {LEVEL:.0%} interval of the mean"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
    spread, alike = distributions(table)
    _strips(left, spread)
    _heat_or_note(right, alike)
    return figure


@_settings()
def correlations_figure(result: CorpusScore, *, others: Mapping[str, ArrayLike] | None = None) -> Figure:
    """Spearman's correlations between the score, the components and other numbers for the same segments: the paper's figure 5.

    Raises InputError for others of another length, ModelMissingError without matplotlib.

    Parameters
    ----------
    others
        Name -> one number a segment, such as another metric's scores or people's ratings.
    """
    table, names = measures(result), list(MEASURES)
    for name, given in (others or {}).items():
        column = np.asarray(given, dtype=np.float64)
        if column.shape != (len(table),) or not np.isfinite(column).all():
            raise InputError(f"others[{name!r}] has shape {column.shape} or a gap: give {len(table)} numbers, one a segment")
        table, names = np.column_stack([table, column]), [*names, name]
    figure = _canvas(1.6 + 0.72 * len(names), 1.4 + 0.5 * len(names))
    note, labels = undefined_note(table, names), tuple(names)
    title = "Spearman's correlation over the segments"
    alike = Heatmap("correlations", title, labels, labels, correlations(table), note=note, ends=(-1.0, 1.0))
    _heat_or_note(figure.subplots(), Note(note) if len(table) < FEWEST else alike)
    return figure


@_settings()
def comparison_figure(comparison: Comparison) -> Figure:
    """The five differences with their intervals at the left; at the right every segment's difference of the score, sorted.

    Raises ModelMissingError without matplotlib.
    """
    a, b = (shorten(name, 28) for name in comparison.names)
    figure = _canvas(9.6, 3.4)
    figure.suptitle(f"{a} minus {b}, {len(comparison.a):,} segments", x=0.01, ha="left", fontsize=10)
    left, right = figure.subplots(1, 2, width_ratios=(1.35, 1.0))
    _strips(left, differences(comparison), ("difference", "p"))
    gaps = np.sort(measures(comparison.a)[:, 0] - measures(comparison.b)[:, 0])[::-1]
    shown = gaps[np.linspace(0, len(gaps) - 1, min(len(gaps), POINTS)).round().astype(int)]
    edges = np.linspace(0, 100, len(shown) + 1)
    for sign, colour, hatch in ((1, COLOURS["up"], None), (-1, COLOURS["down"], "////")):
        ink = None if hatch is None else "white"
        heights = np.maximum(sign * shown, 0.0) * sign
        right.stairs(heights, edges, fill=True, color=colour, hatch=hatch, edgecolor=ink, linewidth=0)
    right.axhline(0, color=COLOURS["soft"], linewidth=1)
    found, reach = comparison.score, max(float(np.abs(gaps).max()), 0.01)
    right.set(xlim=(0, 100), ylim=(-1.25 * reach, 1.25 * reach), xlabel="% of the segments")
    right.text(0.99, 0.97, f"{a} better: {found.wins:,}", transform=right.transAxes, ha="right", va="top", fontsize=8)
    right.text(0.01, 0.03, f"{b} better: {found.losses:,}", transform=right.transAxes, va="bottom", fontsize=8)
    right.set_title("difference of the score, segments sorted")
    _bare(right)
    right.spines["left"].set_visible(True)
    return figure


@_settings()
def matrices_figure(segment: SegmentScore) -> Figure:
    """How close each two words are (1 minus the transport cost) and how much mass flows between them, in %.

    What has no evidence, or no words on one side, is a sentence. Raises ModelMissingError without matplotlib.
    """
    evidence = segment.evidence.semantic
    if evidence is None or not evidence.reference_words or not evidence.hypothesis_words:
        return _sentence(NO_EVIDENCE if evidence is None else "a text without words")
    maps = matrices(evidence)
    rows, columns = maps[0].values.shape
    small = max(rows, columns) > 24
    cell = 0.16 if small else 0.27
    figure = _canvas(2 * (cell * columns + 1.6), cell * rows + 1.7)
    for axes, part in zip(figure.subplots(1, 2), maps, strict=True):
        heat(axes, part, numbers=not small)
        axes.set_title(part.title)
        axes.tick_params(labelsize=5 if small else 8)
    if max(len(evidence.reference_words), len(evidence.hypothesis_words)) > WORDS:
        figure.supxlabel(f"only the first {WORDS} words of a side are drawn", fontsize=8, color=COLOURS["soft"])
    return figure


@_settings()
def trees_figure(segment: SegmentScore) -> Figure:
    """Reference left, hypothesis right, a sign between them for each edit; what is too large or has no evidence is a sentence.

    Raises ModelMissingError without matplotlib.
    """
    evidence = segment.evidence.syntax
    if evidence is None:
        return _sentence(NO_EVIDENCE)
    if len(evidence.reference.labels) + len(evidence.hypothesis.labels) == 2:
        return _sentence("both texts are without words")
    trees = trees_of(evidence)
    if trees is None:
        sizes = len(evidence.reference.labels) - 1, len(evidence.hypothesis.labels) - 1
        return _sentence(f"the trees have {sizes[0]} and {sizes[1]} nodes: too many to draw beside each other")
    shown = trees.rows[:TREE_ROWS]
    figure = _canvas(8.0, TREE_HEIGHT * (len(shown) + 2) + 0.5)
    axes: Any = figure.subplots()
    axes.set(xlim=(0, 8.0), ylim=(len(shown) + 0.6, -1.6))
    axes.axis("off")
    axes.set_title(f"{evidence.distance:g} tree edits from hypothesis to reference")
    _tree(axes, Trees(shown, trees.label), "reference", 0.0)
    _tree(axes, Trees(shown, trees.label), "hypothesis", 4.4)
    for place, row in enumerate(shown):
        colour = COLOURS["soft" if row.kind == "match" else row.kind]
        if row.kind != "match":
            axes.axhspan(place - 0.5, place + 0.5, color=colour, alpha=0.1, linewidth=0)
        axes.text(4.1, place, SIGNS[row.kind], ha="center", va="center", color=colour)
    cut = f"   (the first {TREE_ROWS} of {len(trees.rows)} rows)" if len(trees.rows) > TREE_ROWS else ""
    axes.text(0, len(shown) + 0.2, TREE_LEGEND + cut, fontsize=8, color=COLOURS["soft"], va="center")
    return figure


def _strips(axes: Any, table: Any, numbers: Sequence[str] = ()) -> None:
    """The drawings of a table below each other, the names at the left, numbers at the right (default: the first column of numbers)."""
    columns = {column.name: column for column in shown_columns(table)}
    drawn = next(column for column in columns.values() if column.drawn)
    chosen = [columns[name] for name in numbers] or [next(column for column in columns.values() if column.numeric)]
    for place, strip in enumerate(cell for cell in drawn.cells if isinstance(cell, Strip)):
        for start, end, kind, share in strip.pieces:
            colour, height = COLOURS[{"track": "raised", "reach": "bar"}.get(kind, kind)], 0.8 if strip.tall else 0.5
            hatch = "////" if kind == "down" else None
            bottom, ink = place + height / 2 - height * share / 2, "white" if hatch else None
            axes.barh(bottom, end - start, height * share, start, color=colour, hatch=hatch, edgecolor=ink, linewidth=0)
        for mark, kind in strip.marks:
            colour = COLOURS["ink" if kind == "mean" else "soft"]
            axes.plot([mark, mark], [place - 0.42, place + 0.42], color=colour, linewidth=2 if kind == "mean" else 0.8)
        words = [" ".join([column.texts[place], column.details[place]]).strip() for column in chosen]
        named = [f"p {text}" if column.name == "p" else text for column, text in zip(chosen, words, strict=True)]
        axes.text(1.03, place, "   ".join(named).replace("-", "−"), va="center", fontsize=8)
    names = next(iter(columns.values())).texts
    axes.set(xlim=(0, 1), ylim=(len(names) - 0.4, -0.6), title=shorten(table.title.lower(), 60))
    axes.set_yticks(range(len(names)), [shorten(name, LABEL) for name in names])
    scale = table.scale or ("0", "0.5", "1")
    axes.set_xticks(np.linspace(0.0, 1.0, len(scale)), scale)
    _bare(axes)


def _heat_or_note(axes: Any, part: Any) -> None:
    """The heat map with its note below, or the note in its place."""
    if isinstance(part, Note):
        _blank(axes, part.text)
        return
    heat(axes, part)
    axes.set_xlabel("\n".join([part.title, *([part.note] if part.note else [])]), fontsize=8, wrap=True)


def _tree(axes: Any, trees: Trees, side: str, left: float) -> None:
    """One tree: each node below its parent and a step to the right, an angled line to the parent, the relation after the lemma."""
    axes.text(left, -1.1, side, fontsize=8, color=COLOURS["soft"], va="center")
    for place, row in enumerate(trees.rows):
        node = getattr(row, side)
        if node is None:
            continue
        x = left + INDENT * min(DEEPEST, node.depth)
        parent = None if node.parent is None or node.parent >= len(trees.rows) else getattr(trees.rows[node.parent], side)
        if parent is not None:
            corner = left + INDENT * min(DEEPEST, parent.depth) + 0.05
            axes.plot([corner, corner, x], [node.parent + 0.4, place, place], color=COLOURS["soft"], linewidth=0.6)
        text = axes.annotate(shorten(node.label, 20) or " ", (x + 0.03, place), va="center")
        if node.relation:
            style: Any = {"textcoords": "offset points", "va": "center", "fontsize": 7, "color": COLOURS["soft"]}
            axes.annotate(shorten(node.relation, 20), (1, 0.45), (4, 0), xycoords=text, **style)


def _sentence(text: str) -> Figure:
    """A figure that says why there is no drawing."""
    figure = _canvas(6.0, 1.0)
    _blank(figure.subplots(), text)
    return figure


def _blank(axes: Any, text: str) -> None:
    """A sentence in the place of a drawing."""
    axes.axis("off")
    axes.text(0.5, 0.5, text, ha="center", va="center", color=COLOURS["soft"], wrap=True)
