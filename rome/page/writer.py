"""Writes the page: one HTML file with everything inside, its segments packed, allowed scripts and styles named by their hashes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from os import PathLike, fspath
from string import Template
from typing import TextIO

from rome.display.comparison import verdict
from rome.display.markup import Html, element, escaped, joined
from rome.display.segment import segment_fragment
from rome.display.style import STYLE
from rome.exceptions import InputError
from rome.page.blocks import FragmentBlocks, clean, packed_json
from rome.page.board import RESAMPLES, Standing, differences, leaderboard, standings
from rome.page.distributions import distributions
from rome.page.gathering import Gathered
from rome.page.words import ABOUT_DISTRIBUTIONS, about, about_differences, about_leaderboard
from rome.results import CorpusScore, SegmentScore
from rome.storage.files import open_output

__all__ = ["TITLE", "write_page", "write_report"]

TITLE = "RoMe report"
_BLOCKS = "<!--blocks-->"
SCRIPTS = ("unpack.js", "data.js", "state.js", "table.js", "detail.js", "page.js")


def write_report(
    results: Mapping[str, CorpusScore],
    path: str | PathLike[str],
    *,
    ids: Sequence[str] | None = None,
    title: str = TITLE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> None:
    """Write one HTML page that shows these systems, all or nothing.

    results : system -> its scores, all of the same segments in the same order. ids : what the segments are called (default: their
    numbers from 0). resamples, seed : of the intervals and tests. The same input gives the same bytes.

    Raises InputError without a system, for a name that is blank or there twice (outer blanks aside), for an empty result, and for
    unequal numbers of segments; what `compare` raises for scores that do not belong together; InputError when the file cannot be written.
    """
    names = [name.strip() for name in results]
    if not names or not all(names) or len(set(names)) < len(names):
        raise InputError(f"the systems are called {', '.join(map(repr, results)) or 'nothing'}: give each a name of its own")
    counts = {name: len(result) for name, result in results.items()}
    if len(set(counts.values())) > 1 or 0 in counts.values() or (ids is not None and len(ids) != max(counts.values())):
        told = ", ".join(f"{name} has {count}" for name, count in counts.items())
        told += f", ids has {len(ids)}" if ids is not None else ""
        raise InputError(f"the numbers of segments do not fit ({told}): give every system the same segments, at least one")
    rows = zip(*results.values(), strict=True)
    named = ((ids[n] if ids is not None else str(n), row) for n, row in enumerate(rows))
    with open_output(fspath(path)) as stream:
        write_page(stream, names, named, title=title, resamples=resamples, seed=seed)


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

    names : the systems. segments : (what it is called, the score of each system in the same order).
    """
    gathered = Gathered(names)
    with FragmentBlocks() as blocks:
        for name, scores in segments:
            gathered.add(name, scores)
            for score in scores:
                blocks.add(segment_fragment(replace(score, segment=len(gathered) - 1), matrices=False))
        if not len(gathered):
            raise InputError("there is no segment to report: give at least one")
        before, after = _frame(gathered, standings(gathered, resamples=resamples, seed=seed), clean(title), seed).split(_BLOCKS)
        stream.write(before)
        for number, block in enumerate(blocks):
            stream.write(f'<script type="text/plain" id="block-{number}">{block}</script>\n')
        stream.write(after)


def _frame(gathered: Gathered, rows: list[Standing], title: str, seed: int) -> str:
    """The page around the blocks of explanations; _BLOCKS stands where they belong."""
    room = files("rome.page")
    style = (room / "page.css").read_text(encoding="utf-8") + STYLE
    script = '"use strict";\n' + "\n".join((room / name).read_text(encoding="utf-8") for name in SCRIPTS)
    parts = [
        ("leaderboard", "Leaderboard", about_leaderboard(rows, len(gathered), seed), leaderboard(rows, len(gathered))),
        ("distributions", "Distributions", ABOUT_DISTRIBUTIONS, distributions(gathered, [row.name for row in rows])),
    ]
    if len(rows) > 1:
        parts.insert(1, ("differences", "Differences by component", about_differences(rows[0].name), differences(rows)))
    links = [(name, heading) for name, heading, *_ in parts] + [("segments", "Segments"), ("about", "How to read this")]
    return Template((room / "page.html").read_text(encoding="utf-8")).substitute(
        title=escaped(title),
        summary=_summary(gathered, rows),
        contents=joined(element("li", element("a", escaped(heading), href=f"#{name}")) for name, heading in links),
        parts=joined((_section(*part) for part in parts), "\n"),
        about=_section("about", "How to read this", "", about(gathered.signature or "")),
        table=packed_json(gathered.columns()),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        blocks=_BLOCKS,
    )


def _summary(gathered: Gathered, rows: list[Standing]) -> Html:
    """How much is compared, and who is ahead."""
    systems, segments = len(rows), len(gathered)
    count = f"{segments:,} segment{'s' * (segments > 1)}, {systems} system{'s' * (systems > 1)}."
    told = [verdict(rows[1].against)] if systems > 1 and rows[1].against is not None else []
    return element("p", escaped(" ".join([count, *told])), class_="lead")


def _section(name: str, heading: str, note: str, content: Html) -> Html:
    """A part of the page under its heading."""
    told = element("p", escaped(note), class_="note") if note else Html("")
    return element(
        "section", element("h2", escaped(heading), id=f"{name}-title"), told, content, id=name, aria_labelledby=f"{name}-title"
    )


def _hash(content: str) -> str:
    """How a content security policy names an allowed style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
