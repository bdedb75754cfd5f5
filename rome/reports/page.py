"""The page of `rome report`: one HTML file that holds a leaderboard, distributions and every segment with its explanation.

The explanations are packed, so that an HTML parser sees no text of them and the page unpacks only what is opened.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from rome.combining.combiner import MEASURES
from rome.combining.signature import supervision_note
from rome.features.protocol import feature_class
from rome.features.values import FEATURES
from rome.reports.html import STYLE, asset, fragment, page, page_style
from rome.reports.model import Document, Strip, Table
from rome.reports.resampling import LEVEL
from rome.reports.segment import segment_document
from rome.reports.summaries import CHANGES, changes_text, differences, histogram, p_text, verdict
from rome.text_table import clean

if TYPE_CHECKING:
    from rome.results.segment import SegmentScore
    from rome.results.systems import Standing, Systems

    Rows = Iterable[tuple[str, Sequence[SegmentScore]]]

BLOCK = 64
"""Explanations of one packed block. They share their words, so a block is smaller than its parts."""
LINKED = 16
"""Segments of one kind of mistake that are linked at most."""
DIGITS = 6
"""Decimals that the page keeps of every number, as many as `rome score --format tsv` writes."""
INTERVALS = tuple((measure, f"{measure} low", f"{measure} high") for measure in MEASURES)
_BETWEEN = "\x1e"
"""The character between the explanations of a block."""


def write_page(
    stream: TextIO, systems: Systems, segments: Rows, *, resamples: int, seed: int = 0, title: str = "RoMe report"
) -> None:
    """Write the page to an open stream; only one segment needs to hold its evidence at a time.

    Parameters
    ----------
    systems
        The systems, as yet without segments.
    segments
        (name of the segment, the score of each system in the same order).
    """
    blocks = list(_blocks(systems, segments))
    rows = systems.standings(resamples=resamples, seed=seed)
    tables = [_leaderboard(rows, len(systems)), _distributions(systems, [row.name for row in rows])]
    if len(rows) > 1:
        others = ((f"differences-{number}", row.against) for number, row in enumerate(rows) if row.against)
        tables[1:1] = [replace(differences(one), name=name, title=one.sign) for name, one in others]
    signature = systems.signature or ""
    content = page(
        "page.html",
        title=title,
        style=page_style("page.css") + STYLE,
        script=asset("page.js"),
        names=[row.name for row in rows],
        segments=len(systems),
        verdict=verdict(rows[1].against) if len(rows) > 1 and rows[1].against is not None else "",
        level=f"{LEVEL:.0%}",
        seed=seed,
        tables=tables,
        mistakes=_mistakes(rows, systems.segment_names),
        features={name: feature_class(name).about for name in FEATURES},
        signature=signature or "none",
        blocks=blocks,
        supervised=supervision_note(signature),
        rows=packed(json.dumps(_columns(systems), ensure_ascii=False, separators=(",", ":"), allow_nan=False)),
    )
    stream.write(content)


def _blocks(systems: Systems, segments: Rows) -> Iterator[str]:
    """Add the segments to the systems, and yield their explanations in packed blocks."""
    explanations = (text for name, scores in segments for text in _explained(systems, name, scores))
    while block := list(islice(explanations, BLOCK)):
        yield packed(_BETWEEN.join(block))


def _explained(systems: Systems, name: str, scores: Sequence[SegmentScore]) -> Iterator[str]:
    """Add one segment to the systems, and yield the explanation of each score."""
    for score in scores:
        yield fragment(segment_document(replace(score, segment=len(systems)), every=False))
    systems.add(name, scores)


def leaderboard_document(systems: Systems, segments: Rows, *, resamples: int, seed: int = 0) -> Document:
    """Return the page's leaderboard alone, with all its numbers and no drawing; the arguments are those of `write_page`."""
    for name, scores in segments:
        systems.add(name, scores)
    table = _leaderboard(systems.standings(resamples=resamples, seed=seed), len(systems))
    kept = [place for place, cell in enumerate(table.rows[0]) if not isinstance(cell, Strip)]
    columns, *rows = (tuple(row[place] for place in kept) for row in (table.columns, *table.rows))
    note = f"Brackets: {LEVEL:.0%} of the means of {resamples} bootstrap resamples, seed {seed}; differences and p-values are paired"
    table = replace(table, columns=columns, rows=tuple(rows), scale=(), note=note)
    return Document(f"leaderboard of {len(systems.names)} systems", (table,), systems.signature or "")


def packed(content: str) -> str:
    """Deflate a text (zlib, RFC 1950) and encode it in base64, so that an HTML parser sees nothing of it."""
    return base64.b64encode(zlib.compress(content.encode("utf-8"), 9)).decode("ascii")


def _columns(systems: Systems) -> dict[str, Any]:
    """Return what the page knows of every row before it is opened: row = segment * systems + system.

    Numbers are whole, in 10 ** -DIGITS. Texts, flags and kinds of errors are numbers of lists of distinct values.
    """
    texts, flags, kinds = dict[str, int](), dict[str, int](), dict[str, int]()
    corpora, scale = systems.corpora, 10**DIGITS
    rows = [score for scores in zip(*corpora, strict=True) for score in scores]
    values = np.stack([corpus.measures for corpus in corpora], axis=1).reshape(-1, len(MEASURES)).T
    return {
        "systems": list(systems.names),
        "segments": systems.segment_names,
        "measures": list(MEASURES),
        "scale": scale,
        "numbers": [[None if math.isnan(value) else round(value * scale) for value in column] for column in values.tolist()],
        "references": [_place(texts, row.reference) for row in rows],
        "hypotheses": [_place(texts, row.hypothesis) for row in rows],
        "texts": list(texts),
        "flags": [[_place(flags, flag) for flag in row.flags] for row in rows],
        "flagNames": list(flags),
        "errors": [sorted(_place(kinds, kind) for kind in _error_kinds(row)) for row in rows],
        "kinds": [kind.split("\t", 1) for kind in kinds],
    }


def _error_kinds(score: SegmentScore) -> list[str]:
    """Return severity and type of each error that counts."""
    return [f"{error.severity}\t{error.type or error.kind}" for error in score.errors if error.severity != "none"]


def _place(known: dict[str, int], value: str) -> int:
    """Return the number of a distinct value, in the order of their first use."""
    return known.setdefault(clean(value), len(known))


def _leaderboard(rows: Sequence[Standing], segments: int) -> Table:
    """Return the systems with their means, the intervals of the scores drawn from 0 to 1, and the difference to the first."""
    lines, strong = [], []
    for number, row in enumerate(rows):
        start, end, middle = map(float, (*row.intervals[0], row.means[0]))
        strip = Strip(((start, end, "reach", 1.0),), ((middle, "mean"),)) if start == start else Strip()
        cells: list[Any] = [row.name, row.rank, *((strip,) if segments > 1 else ())]
        for mean, interval in zip(row.means, row.intervals, strict=True):
            cells += [float(mean), float(interval[0]), float(interval[1])]
        if row.against is not None:
            gap = row.against.score
            cells += [gap.difference, gap.low, gap.high, p_text(gap.p_value)]
            strong += [(number, "difference to the first")] if gap.decided else []
        elif len(rows) > 1:
            cells += [None, None, None, "–"]
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
        scale=("0", "1") if segments > 1 else (),
    )


def _mistakes(rows: Sequence[Standing], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the mistakes that only the first system or only another one makes, per other system; none without evidence."""
    tables = []
    for row in rows[1:]:
        changes = [change for change in row.against.error_changes if change.difference] if row.against else []
        lines = [
            (change.plural, change.difference, _linked(rows[0].name, change.gone, names), _linked(row.name, change.come, names))
            for change in changes[:CHANGES]
        ]
        if lines:
            tables.append({"name": row.name, "summary": changes_text(changes), "rows": lines})
    return tables


def _linked(system: str, segments: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """Return the number of mistakes and their first segments (place, name), and whether there are more."""
    places = list(dict.fromkeys(segments))
    linked = [(place, names[place]) for place in places[:LINKED]]
    return {"system": system, "count": len(segments), "segments": linked, "more": len(places) > LINKED}


def _distributions(systems: Systems, order: Sequence[str]) -> Table:
    """Return histograms with median and quartiles: one row per system, in this order, and one column per measure."""
    corpora = dict(zip(systems.names, systems.corpora, strict=True))
    rows = tuple((name, *map(histogram, corpora[name].measures.T)) for name in order)
    return Table("distributions", "Distributions", ("system", *MEASURES), rows, scale=("0", "0.5", "1"))
