"""Print how good each model set, and each component alone, is on every development set: one line a figure and model set.

    python benchmarks/development.py --models base small --store runs/development --output benchmarks/results/development.tsv
    python benchmarks/development.py --models MY_SET --only groups free rated --store runs/development

- ``meaning``: shares of comparisons (or groups) in order in percent, as `rome diagnose meaning` has them.
- ``people``: Pearson's r, or Kendall's tau-b pooled or per item, as `rome evaluate` has them.
- ``demetr``: accuracy in percent, mean and lowest over kinds, and how much more a critical mistake costs than a major one, and that than a
  minor one, as `rome diagnose demetr` has them.
- ``groups``: the annotated groups of `groups/dev`, see development_groups.py. Figures of the listed errors are in the column ``rome``.
- ``free``: AUC in percent, within a summary of SummEdits (the held-out domain, and the others), and over the held-out half of PAWS.
- ``rated``: agreement with assessments and marks of translations that judge only.

None of these data trained anything, except the other domains of SummEdits where a model's card says so. PAWS and the rated sets are sampled
with a fixed seed; ``--whole`` takes all of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from development_free import Judged, read_judged, read_labelled
from development_groups import explanation_figures, order_figures, texts_of
from result_rows import conditions, write_rows

from rome.data.readers.demetr import KINDS, read_demetr
from rome.data.readers.groups import read_groups
from rome.data.readers.meaning import MEANING_SETS, read_meaning
from rome.data.readers.rated import RatedSet
from rome.data.readers.registry import read_rated
from rome.data.sources import data_file
from rome.evaluation.diagnosis.demetr import REFERENCE, won
from rome.evaluation.diagnosis.meaning import meaning
from rome.evaluation.diagnosis.minimal_pairs import contrast
from rome.evaluation.findings import table_rows
from rome.evaluation.metrics.registry import COMPONENTS, MetricMaker, scores_on
from rome.metric import RoMe

METRICS = ("rome", *COMPONENTS)
Row = tuple[str, list[float | None]]
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


@dataclass(frozen=True)
class Asked:
    """Combine a model set, its score and components as metrics, and how much of each development set is used.

    Attributes
    ----------
    limit
        Groups, segments or pairs of each set; None for the default of each set.
    whole
        Whether sets that are sampled are taken whole.
    """

    rome: RoMe
    metrics: Sequence[Any]
    limit: int | None = None
    whole: bool = False


def of_meaning(asked: Asked) -> list[Row]:
    """Return the shares of each set of groups."""
    rows: list[Row] = []
    for name in MEANING_SETS:
        table, *_ = meaning(asked.metrics, read_meaning(name, asked.limit), samples=10)
        found = table_rows(table)
        shares = [(share, [row[share] for row in found]) for share in SHARES[name]]
        rows += [(f"{name}, {share}", [np.nan if one is None else float(one) for one in values]) for share, values in shares]
    return rows


def of_people(asked: Asked) -> list[Row]:
    """Return the agreement with each rating."""
    rows: list[Row] = []
    for judged in PEOPLE:
        rows.append(_agreement(asked, judged, replace(read_rated(judged.name), segments=judged.segments(asked.limit))))
    return rows


def _agreement(asked: Asked, judged: Judged, rated: RatedSet) -> Row:
    """Return the agreement of each metric with one rating of a set."""
    return judged.title, [judged.follows(rated.segments, scores_on(metric, rated)) for metric in asked.metrics]


def of_demetr(asked: Asked) -> list[Row]:
    """Return accuracies over kinds, and the steps of sensitivity between severities."""
    pairs = read_demetr()[:: max(1, 20000 // asked.limit) if asked.limit else 1]
    kinds = np.array([pair.kind for pair in pairs])
    columns = []
    for metric in asked.metrics:
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
        with np.errstate(divide="ignore", invalid="ignore"):  # a few pairs may have no drop, or no kind of a severity
            steps = np.divide([drops["critical"], drops["major"]], [drops["major"], drops["minor"]]).tolist()
        columns.append([float(np.mean(list(accuracy.values()))), min(accuracy.values()), *steps])
    names = ("mean over kinds", "weakest kind", "critical to major", "major to minor")
    return [(f"DEMETR, {name}", list(row)) for name, row in zip(names, zip(*columns, strict=True), strict=True)]


def of_groups(asked: Asked) -> list[Row]:
    """Return the order of scores within annotated groups, per component, and the accuracy of the listed errors."""
    groups = list(read_groups(data_file("groups/dev.jsonl")))[: asked.limit]
    texts = texts_of(groups)
    segments = asked.rome.score(
        references=[text.reference for text in texts], hypotheses=[text.hypothesis for text in texts]
    ).segments
    columns = np.array([[segment.score, *(component.value for component in segment.components)] for segment in segments]).T
    figures = [list(order_figures(texts, column)) for column in columns]
    rows: list[Row] = [(cells[0][0], [value for _, value in cells]) for cells in zip(*figures, strict=True)]
    listed = explanation_figures(texts, [segment.evidence.errors.errors for segment in segments])
    rows += [(name, [value, *([None] * len(COMPONENTS))]) for name, value in listed]
    return [(f"groups/dev, {name}", values) for name, values in rows]


def of_free(asked: Asked) -> list[Row]:
    """Return how often consistent summaries score above inconsistent ones, and paraphrases above other pairs."""
    return [
        (one.title, [one.auc(metric.score([[text] for text in one.references], one.hypotheses)) for metric in asked.metrics])
        for one in read_labelled(asked.limit, asked.whole)
    ]


def of_rated(asked: Asked) -> list[Row]:
    """Return the agreement with assessments and marks that judge only."""
    return [
        _agreement(asked, judged, RatedSet(judged.name, tuple(segments)))
        for judged, segments in read_judged(asked.limit, asked.whole)
    ]


PARTS: Mapping[str, Callable[[Asked], list[Row]]] = {
    "groups": of_groups,
    "free": of_free,
    "rated": of_rated,
    "meaning": of_meaning,
    "people": of_people,
    "demetr": of_demetr,
}


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one line per row and model set, with a column for the whole score and one for each component."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["base", "small"], help="names or folders of model sets")
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=list(PARTS), help="parts of the table")
    parser.add_argument("--store", type=Path, required=True, help="analyses are kept in this folder between runs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, help="groups, segments and pairs of each set, to try the script")
    parser.add_argument("--whole", action="store_true", help="take all of PAWS and of the rated sets, not a sample")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    machine = conditions(options.threads)
    options.store.mkdir(parents=True, exist_ok=True)
    lines: list[list[object]] = []
    for models in options.models:
        metric = RoMe(models=models, store=options.store / "analyses.sqlite", threads=options.threads)
        maker = MetricMaker(metric)
        asked = Asked(metric, [maker.make(name) for name in METRICS], options.limit, options.whole)
        for part in options.only:
            lines += [[Path(models).name, name, *values] for name, values in PARTS[part](asked)]
        write_rows(options.output, [machine], ("models", "row", *METRICS), lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
