"""How good is each model set, and each component alone, on every development row at once: meaning, people's ratings, DEMETR?

    python benchmarks/development.py --models base small --store runs/development --output benchmarks/results/development.tsv

Meaning: shares of comparisons (or groups) in order in percent, as `rome diagnose meaning` has them. People: Pearson's r, or Kendall's tau-b
pooled or per item, as `rome evaluate` has them. DEMETR: accuracy in percent, mean and lowest over kinds, and how much more a critical mistake
costs than a major one, and that than a minor one, as `rome diagnose demetr` has them. None of these data trained anything.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from people import Judged
from result_rows import conditions, write_rows

from rome.data.readers.demetr import KINDS, read_demetr
from rome.data.readers.meaning import MEANING_SETS, read_meaning
from rome.data.readers.registry import read_rated
from rome.evaluation.diagnosis.demetr import REFERENCE, won
from rome.evaluation.diagnosis.meaning import meaning
from rome.evaluation.diagnosis.minimal_pairs import contrast
from rome.evaluation.metrics.cached_scores import ScoreStore
from rome.evaluation.metrics.registry import COMPONENTS, MetricMaker, scores_on
from rome.metric import RoMe

METRICS = ("rome", *COMPONENTS)
Row = tuple[str, list[float]]
SHARES = {"handmade": ("all",), "webnlg_dev": ("far>near", "near>near", "whole")}
PEOPLE = (
    Judged("wmt15", "z", "pearson", "language_pair", "WMT15 z, mean r"),
    Judged("wmt23", "mqm", "kendall_b", "item", "WMT23 MQM, tau per item"),
    *(
        Judged("webnlg17", rating, "kendall_b", "none", f"WebNLG {rating}, tau")
        for rating in ("fluency", "grammar", "semantics")
    ),
    Judged("webnlg17", "semantics", "kendall_b", "item", "WebNLG semantics, tau per item"),
    *(
        Judged("bagel", rating, "kendall_b", "none", f"BAGEL {rating}, tau")
        for rating in ("informativeness", "naturalness", "quality")
    ),
)


def of_meaning(metrics: Sequence[Any], limit: int | None) -> list[Row]:
    """The shares of each set of groups."""
    rows: list[Row] = []
    for name in MEANING_SETS:
        found = meaning(metrics, read_meaning(name, limit), samples=10).rows
        rows += [(f"{name}, {share}", [float(row[share] or np.nan) for row in found]) for share in SHARES[name]]
    return rows


def of_people(metrics: Sequence[Any], limit: int | None) -> list[Row]:
    """The agreement with each rating."""
    rows: list[Row] = []
    for judged in PEOPLE:
        rated = replace(read_rated(judged.name), segments=judged.segments(limit))
        rows.append((judged.title, [judged.follows(rated.segments, scores_on(metric, rated)) for metric in metrics]))
    return rows


def of_demetr(metrics: Sequence[Any], limit: int | None) -> list[Row]:
    """Accuracies over kinds, and the steps of sensitivity between severities."""
    pairs = read_demetr()[:: max(1, 20000 // limit) if limit else 1]
    kinds = np.array([pair.kind for pair in pairs])
    columns = []
    for metric in metrics:
        scored = contrast(
            metric,
            [[pair.reference] for pair in pairs],
            [pair.translation for pair in pairs],
            [pair.perturbed for pair in pairs],
        )
        right, z = won(scored, pairs), scored.sensitivity
        accuracy = {kind: float(right[kinds == kind].mean()) * 100.0 for kind in np.unique(kinds) if kind != REFERENCE}
        drops = {
            severity: float(np.mean([np.nanmean(z[kinds == kind]) for kind in accuracy if KINDS[kind].severity == severity]))
            for severity in ("critical", "major", "minor")
        }
        steps = drops["critical"] / drops["major"], drops["major"] / drops["minor"]
        columns.append([float(np.mean(list(accuracy.values()))), min(accuracy.values()), *steps])
    names = ("mean over kinds", "weakest kind", "critical to major", "major to minor")
    return [(f"DEMETR, {name}", list(row)) for name, row in zip(names, zip(*columns, strict=True), strict=True)]


PARTS: Mapping[str, Callable[[Sequence[Any], int | None], list[Row]]] = {
    "meaning": of_meaning,
    "people": of_people,
    "demetr": of_demetr,
}


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one line a row and model set; a column the whole score and each component."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["base", "small"], help="names or folders of model sets")
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--store", type=Path, required=True, help="analyses and scores are kept in this folder between runs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, help="groups, segments and pairs of each set, to try the script")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    told = conditions(options.threads)
    options.store.mkdir(parents=True, exist_ok=True)
    lines: list[list[object]] = []
    for models in options.models:
        metric = RoMe(models=models, store=options.store / "analyses.sqlite", threads=options.threads)
        maker = MetricMaker(metric, ScoreStore(options.store / "scores.sqlite"))
        made = [maker.make(name) for name in METRICS]
        for part in options.only:
            lines += [[Path(models).name, name, *values] for name, values in PARTS[part](made, options.limit)]
        write_rows(options.output, [told], ("models", "row", *METRICS), lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
