"""The page of `rome report`: one HTML file that holds a leaderboard, distributions and every segment with its explanation.

The explanations are packed, so that no text can be seen by an HTML parser and the page unpacks only what is opened.
"""

from __future__ import annotations

import base64
import json
import math
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from rome.combining.signature import supervision_note
from rome.exceptions import InputError, SignatureMismatchError
from rome.features.protocol import feature_class
from rome.features.values import FEATURES
from rome.reports.html import STYLE, asset, clean, fragment, page, page_style
from rome.reports.model import Document, Strip, Table
from rome.reports.segment import segment_document
from rome.reports.summaries import CHANGES, histogram, p_text, told_changes, verdict
from rome.results import Components, CorpusScore, SegmentScore
from rome.results.comparison import MEASURES, Comparison, compare, differing_keys, measures
from rome.results.resampling import LEVEL, bootstrap_intervals

TITLE = "RoMe report"
RESAMPLES = 2000
BLOCK = 64
"""Explanations of one packed block. They share their words, so a block takes less than its parts."""
LINKED = 16
"""Segments of one kind of mistake that are linked at most."""
DIGITS = 6
"""Decimals that the page keeps of every number, as many as `rome score --format tsv` writes."""
INTERVALS = tuple((measure, f"{measure} low", f"{measure} high") for measure in MEASURES)
_BLOCKS, _BETWEEN = "<!--blocks-->", "\x1e"


def write_page(
    stream: TextIO,
    names: Sequence[str],
    segments: Iterable[tuple[str, Sequence[SegmentScore]]],
    *,
    title: str = TITLE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> None:
    """Write the page to an open stream; the segments are taken one by one, so only one needs to hold its evidence at a time.

    Parameters
    ----------
    names
        The systems.
    segments
        (what it is called, the score of each system in the same order).
    """
    gathered, waiting, blocks = Gathered(names), list[str](), 0
    with tempfile.TemporaryFile("w+", encoding="ascii", newline="\n") as packs:
        for name, scores in segments:
            gathered.add(name, scores)
            for score in scores:
                waiting.append(fragment(segment_document(replace(score, segment=len(gathered) - 1), every=False)))
                if len(waiting) == BLOCK:
                    packs.write(packed(_BETWEEN.join(waiting)) + "\n")
                    waiting.clear()
        if not len(gathered):
            raise InputError("there is no segment to report: give at least one")
        if waiting:
            packs.write(packed(_BETWEEN.join(waiting)) + "\n")
        before, after = _frame(gathered, standings(gathered, resamples=resamples, seed=seed), title, seed).split(_BLOCKS)
        stream.write(before)
        packs.seek(0)
        for blocks, block in enumerate(packs):
            stream.write(f'<script type="text/plain" id="block-{blocks}">{block.rstrip()}</script>\n')
        stream.write(after)


def leaderboard_document(
    names: Sequence[str],
    segments: Iterable[tuple[str, Sequence[SegmentScore]]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Document:
    """The page's leaderboard for itself, every number of it and no drawing; arguments as in `write_page`."""
    gathered = Gathered(names)
    for name, scores in segments:
        gathered.add(name, scores)
    if not len(gathered):
        raise InputError("there is no segment to report: give at least one")
    table = _leaderboard(standings(gathered, resamples=resamples, seed=seed), len(gathered))
    kept = [place for place, cell in enumerate(table.rows[0]) if not isinstance(cell, Strip)]
    columns, *rows = (tuple(row[place] for place in kept) for row in (table.columns, *table.rows))
    note = f"Brackets: {LEVEL:.0%} of the means of {resamples} bootstrap resamples, seed {seed}; differences and p-values are paired"
    table = replace(table, columns=columns, rows=tuple(rows), scale=(), note=note)
    return Document(f"leaderboard of {len(names)} systems", (table,), gathered.signature or "")


def packed(content: str) -> str:
    """Deflated (zlib, RFC 1950) and in base64, so that nothing of a text can be seen by an HTML parser."""
    return base64.b64encode(zlib.compress(content.encode("utf-8"), 9)).decode("ascii")


class Gathered:
    """What the page knows of every segment before it is opened: numbers, texts, flags and kinds of errors.

    Parameters
    ----------
    names
        The systems.

    Attributes
    ----------
    corpora
        Their scores, for statistics; of the evidence only the errors.
    values
        (systems, segments, measures) MEASURES.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(map(clean, names))
        self.signature: str | None = None
        self.segment_names: list[str] = []
        self._segments: list[list[SegmentScore]] = [[] for _ in names]
        self._texts, self._flags, self._kinds = dict[str, int](), dict[str, int](), dict[str, int]()
        self._rows: list[tuple[int, int, list[int], list[int]]] = []

    def __len__(self) -> int:
        """The number of segments."""
        return len(self.segment_names)

    def add(self, name: str, scores: Sequence[SegmentScore]) -> None:
        """Take a segment. Raises SignatureMismatchError when its scores were not made in the same way as those before."""
        number = len(self)
        for system, score in enumerate(scores):
            if self.signature is None:
                self.signature = score.signature
            if score.signature != self.signature:
                where = (f"segment {name} of {self.names[system]}", "the segments before it")
                keys = "; ".join(differing_keys(score.signature, self.signature, where))
                raise SignatureMismatchError(f"scores that were made in two ways ({keys}): score every system with one metric")
            kept = (part if part.name == "errors" else replace(part, evidence=None) for part in score.components)
            parts = Components(*kept)
            self._segments[system].append(replace(score, segment=number, components=parts, signature=self.signature))
            self._rows.append(self._row(score))
        self.segment_names.append(clean(name))

    def _row(self, score: SegmentScore) -> tuple[int, int, list[int], list[int]]:
        """Places of the reference, the hypothesis, the flags and the errors that count (kind of error by kind, as often as it occurs)."""
        evidence = score.evidence.errors
        found = [error for error in evidence.errors if error.severity != "none"] if evidence is not None else []
        kinds = [_place(self._kinds, f"{error.severity}\t{error.type or error.kind}") for error in found]
        flags = [_place(self._flags, flag) for flag in score.flags]
        return _place(self._texts, score.reference), _place(self._texts, score.hypothesis), flags, sorted(kinds)

    @property
    def corpora(self) -> list[CorpusScore]:
        """One CorpusScore a system; of the evidence only the errors."""
        return [CorpusScore(tuple(segments), self.signature or "") for segments in self._segments]

    @property
    def values(self) -> NDArray[np.float64]:
        """(systems, segments, measures) the MEASURES of every row."""
        return np.stack([measures(corpus) for corpus in self.corpora])

    def columns(self) -> dict[str, Any]:
        """Everything as plain columns for the page; row = segment * systems + system. Numbers are whole, in 10 ** -DIGITS."""
        scale, rows = 10**DIGITS, self._rows
        values = self.values.transpose(2, 1, 0).reshape(len(MEASURES), -1)
        numbers = [[None if math.isnan(value) else round(value * scale) for value in column] for column in values.tolist()]
        return {
            "systems": list(self.names),
            "segments": self.segment_names,
            "measures": list(MEASURES),
            "scale": scale,
            "numbers": numbers,
            "texts": list(self._texts),
            "references": [row[0] for row in rows],
            "hypotheses": [row[1] for row in rows],
            "flagNames": list(self._flags),
            "flags": [row[2] for row in rows],
            "kinds": [kind.split("\t", 1) for kind in self._kinds],
            "errors": [row[3] for row in rows],
        }


def _place(known: dict[str, int], value: str) -> int:
    """Where a distinct value stands, in the order they came."""
    return known.setdefault(clean(value), len(known))


@dataclass(frozen=True)
class Standing:
    """A system's place among all: its means of the MEASURES, their intervals (5, 2), and how it compares with the first.

    Attributes
    ----------
    against
        The first system minus this one; None for the first itself.
    """

    name: str
    rank: int
    means: NDArray[np.float64]
    intervals: NDArray[np.float64]
    against: Comparison | None


def standings(gathered: Gathered, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Standing]:
    """The systems, highest mean score first; equal means share a rank and stand in the order given.

    Intervals are percentiles of the means over ``resamples`` resamples of the segments, nan with one segment. The same seed gives the
    same numbers.
    """
    values, corpora = gathered.values, gathered.corpora
    means = values.mean(axis=1)
    order = [int(n) for n in np.argsort(-np.nan_to_num(means[:, 0], nan=-np.inf), kind="stable")]
    first, found = order[0], []
    for system in order:
        names = gathered.names[first], gathered.names[system]
        against = None
        if system != first:
            against = compare(corpora[first], corpora[system], names=names, resamples=resamples, seed=seed)
        intervals = np.asarray(bootstrap_intervals(values[system], resamples, seed), np.float64)
        rank = 1 + int((means[:, 0] > means[system, 0]).sum())
        found.append(Standing(gathered.names[system], rank, means[system], intervals, against))
    return found


def _leaderboard(rows: Sequence[Standing], segments: int) -> Table:
    """The systems with their means, the scores' intervals drawn on one scale, and the difference to the first."""
    ends = [float(end) for row in rows for end in (*row.intervals[0], row.means[0]) if not math.isnan(end)] or [0.0, 1.0]
    air = max((max(ends) - min(ends)) * 0.08, (0.02 - (max(ends) - min(ends))) / 2)
    low, high = min(ends) - air, max(ends) + air
    lines, strong = [], []
    for number, row in enumerate(rows):
        start, end, middle = ((float(value) - low) / (high - low) for value in (*row.intervals[0], row.means[0]))
        strip = Strip(((start, end, "reach", 1.0),), ((middle, "mean"),)) if start == start else Strip()
        cells: list[Any] = [row.name, row.rank, *((strip,) if segments > 1 else ())]
        for mean, interval in zip(row.means, row.intervals, strict=True):
            cells += [float(mean), float(interval[0]), float(interval[1])]
        found = row.against.score if row.against is not None else None
        gap = (None,) * 3 if found is None else (-found.difference, -found.high, -found.low)
        cells += [*gap, "–" if found is None else p_text(found.p_value)] if len(rows) > 1 else []
        strong += [(number, "difference to the first")] if found is not None and found.decided else []
        lines.append(tuple(cells))
    columns = ["system", "rank", *([f"{LEVEL:.0%} interval"] if segments > 1 else [])]
    columns += chain(*INTERVALS)
    difference = ("difference to the first", "difference low", "difference high")
    columns += [*difference, "p"] if len(rows) > 1 else []
    return Table(
        "leaderboard",
        "Leaderboard",
        tuple(columns),
        tuple(lines),
        intervals=(*INTERVALS, *([difference] if len(rows) > 1 else [])),
        signed=difference,
        right=("p",),
        strong=tuple(strong),
        scale=(f"{low:.2f}", f"{high:.2f}") if segments > 1 else (),
    )


def _differences(rows: Sequence[Standing]) -> Table:
    """The first system against each other one, component by component."""
    lines, strong = [], []
    others = [(row.name, row.against) for row in rows if row.against is not None]
    for number, (name, against) in enumerate(others):
        cells: list[Any] = [name]
        for found in against:
            cells += [found.difference, found.low, found.high]
            strong += [(number, found.name)] if found.decided else []
        counts = against.score
        lines.append((*cells, f"{counts.wins:,}, {counts.losses:,}, {counts.ties:,}"))
    counted = "better, worse, tied"
    return Table(
        "differences",
        "Differences by component",
        ("compared with", *chain(*INTERVALS), counted),
        tuple(lines),
        intervals=INTERVALS,
        signed=MEASURES,
        right=(counted,),
        strong=tuple(strong),
    )


@dataclass(frozen=True)
class Mistakes:
    """The mistakes that the first system makes and another one does not, and the other way round.

    Attributes
    ----------
    told
        The largest changes in words, as the first system's.
    rows
        Mistake, how many more the first one makes, and the segments of both, each with its name; of many the first ones.
    """

    name: str
    told: str
    rows: tuple[tuple[str, int, tuple[Places, Places]], ...]


@dataclass(frozen=True)
class Places:
    """Where a mistake is: how often, the first segments (place, name), and whether there are more."""

    system: str
    count: int
    segments: tuple[tuple[int, str], ...]
    more: bool


def _mistakes(rows: Sequence[Standing], names: Sequence[str]) -> list[Mistakes]:
    """The first system against each other one; nothing without evidence."""
    found = []
    for row in rows[1:]:
        changes = [change for change in row.against.error_changes if change.difference] if row.against else []
        lines = []
        for change in changes[:CHANGES]:
            sides = []
            for system, segments in ((rows[0].name, change.come), (row.name, change.gone)):
                linked = [(place, names[place]) for place in dict.fromkeys(segments)]
                sides.append(Places(system, len(segments), tuple(linked[:LINKED]), len(linked) > LINKED))
            lines.append((change.plural, change.difference, (sides[0], sides[1])))
        found += [Mistakes(row.name, told_changes(changes), tuple(lines))] if lines else []
    return found


def _distributions(gathered: Gathered, order: Sequence[str]) -> Table:
    """Histograms: one row a system (in this order), one column a measure; each says its median and quartiles."""
    values, rows = gathered.values, []
    for name in order:
        cells = []
        for column in values[gathered.names.index(name)].T:
            known = column[~np.isnan(column)]
            strip = histogram(column)
            if len(known):
                low, middle, high = (float(value) for value in np.percentile(known, [25, 50, 75]))
                strip = replace(strip, label=f"median {middle:.3f}, half in {low:.3f}–{high:.3f}")
            cells.append(strip)
        rows.append((name, *cells))
    return Table("distributions", "Distributions", ("system", *MEASURES), tuple(rows), scale=("0", "0.5", "1"))


def _frame(gathered: Gathered, rows: list[Standing], title: str, seed: int) -> str:
    """The page around the blocks of explanations; _BLOCKS stands where they belong."""
    tables = [_leaderboard(rows, len(gathered)), _distributions(gathered, [row.name for row in rows])]
    if len(rows) > 1:
        tables.insert(1, _differences(rows))
    signature = gathered.signature or ""
    return page(
        "page.html",
        title=title,
        style=page_style("page.css") + STYLE,
        script=asset("page.js"),
        names=[row.name for row in rows],
        segments=len(gathered),
        verdict=verdict(rows[1].against) if len(rows) > 1 and rows[1].against is not None else "",
        level=f"{LEVEL:.0%}",
        seed=seed,
        tables=tables,
        mistakes=_mistakes(rows, gathered.segment_names),
        features={name: feature_class(name).about for name in FEATURES},
        signature=signature or "none",
        supervised=supervision_note(signature),
        rows=packed(json.dumps(gathered.columns(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)),
    )
