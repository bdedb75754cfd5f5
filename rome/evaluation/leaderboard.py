"""Leaderboards of metrics on rated sets: agreement with intervals and tests, systems, and error spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import pearsonr

from rome.data.readers.rated import ErrorMark, RatedSet
from rome.evaluation.findings import Findings, Row, interval_table, table_rows
from rome.evaluation.metrics.functions import Scores
from rome.evaluation.metrics.score_files import PublishedScores
from rome.evaluation.rated_scores import EvaluationSettings, RatedScores, evaluate
from rome.evaluation.statistics.agreement import STATISTICS
from rome.evaluation.statistics.resampling import LEVEL, bootstrap_difference, permutation_test, system_agreement, williams_test
from rome.evaluation.statistics.spans import corpus_spans
from rome.reports.model import Bars, Cell, Figure, Heatmap, Table

FEWEST = 3
"""Fewest systems that are ranked."""
OF_SYSTEMS = ("pairwise_accuracy", "pearson", "kendall_b")


def systems(judged: RatedScores) -> Table | None:
    """Tabulate the agreement of every metric on systems; return None with fewer than three systems or without names."""
    keys = {"systems": [segment.system for segment in judged.rated.segments], **judged.keys}
    names = set(zip(keys["language_pairs"], keys["systems"], strict=True))
    if len(set(keys["systems"])) < FEWEST or not all(keys["systems"]):
        return None
    rows: list[Row] = []
    chosen: dict[str, Any] = {**judged.resampling, **keys}
    for metric, scores in judged.scores.items():
        found = (system_agreement(judged.people, scores, statistic=statistic, **chosen) for statistic in OF_SYSTEMS)
        rows.append((metric, *found))
    return interval_table(
        f"{judged.label}_systems",
        f"{judged.rated.name}, {judged.dimension}: ranking {len(names)} systems",
        ("metric", *(f"{name}*" for name in OF_SYSTEMS)),
        rows,
        "Systems' mean scores against their mean ratings. pairwise_accuracy: share of pairs of systems in the right order. Brackets: "
        "bootstrap over inputs, the systems held fixed.",
        highest=OF_SYSTEMS,
    )


def error_spans(rated: RatedSet, metrics: Sequence[Any]) -> Table | None:
    """Tabulate precision, recall and F1 by characters of metrics that mark errors, beside trivial markers and raters.

    A metric that marks errors has a method ``marks(references, hypotheses)``. Return None if the set has no marks or no metric marks
    errors.
    """
    segments = [segment for segment in rated.segments if segment.marks]
    marking = [metric for metric in metrics if hasattr(metric, "marks")]
    if not segments or not marking:
        return None
    references, texts = [segment.references for segment in segments], [segment.hypothesis for segment in segments]
    predictions = {metric.name: list(metric.marks(references, texts)) for metric in marking}
    predictions["everything, major"] = [(ErrorMark(0, len(text), "major"),) for text in texts]
    predictions["nothing"] = [() for _ in texts]
    judged = [(segment.marks, len(segment.hypothesis)) for segment in segments]
    rows = [
        _spans_row(name, [(marks, *one) for marks, one in zip(given, judged, strict=True)])
        for name, given in predictions.items()
    ]
    shared = [segment for segment in segments if len(segment.marks) > 1]
    others = [
        (marks, {other: theirs for other, theirs in segment.marks.items() if other != rater}, len(segment.hypothesis))
        for segment in shared
        for rater, marks in segment.marks.items()
    ]
    rows += [(*_spans_row("another rater", others)[:-1], len(shared))] if others else []
    return Table(
        f"{rated.name}_spans",
        f"{rated.name}: error spans",
        ("marked by", "precision", "recall", "f1", "segment_f1", "segments"),
        tuple(rows),
        "Characters marked on both sides count 1 with the right severity (major with critical), 1/2 with the wrong one (WMT's task on error "
        "spans). Against every rater of a segment, then the mean. Marks without a place in the text (omissions) "
        "are not targets. A rater is judged against the others of the same segment.",
    )


def _spans_row(name: str, judged: Sequence[tuple[Any, Any, int]]) -> tuple[Cell, ...]:
    """Return one row from predicted marks, marks of the raters, and the length of each text."""
    agreed = corpus_spans(*zip(*judged, strict=True))
    mean = agreed.mean
    return (name, mean.precision, mean.recall, mean.f1, agreed.segment_f1, agreed.segments)


def leaderboard(judged: RatedScores) -> tuple[Table, Bars]:
    """Tabulate every figure of every metric with its interval, best first, and draw the main figure as bars."""
    rows: list[Any] = [(metric, *(judged.interval(metric, one) for one in judged.figures)) for metric in judged.scores]
    rows.sort(key=lambda row: float("inf") if np.isnan(row[1][0]) else -row[1][0])
    labels = [measure.label for measure in judged.figures]
    title = f"{judged.rated.name}: agreement with people, {judged.dimension}"
    table = interval_table(
        f"{judged.label}_leaderboard",
        title,
        ("metric", *(f"{label}*" for label in labels)),
        rows,
        f"{len(judged.people)} rated outputs of {judged.inputs} inputs. Brackets: {LEVEL:.0%} bootstrap interval over inputs "
        "(all outputs of an input together). Without a slash: pooled over all outputs, which also rewards guessing how hard an input "
        "is: compare with length. Groups in which a figure is undefined are left out.",
        highest=tuple(labels),
    )
    values, low, high = zip(*(row[1] for row in rows), strict=True)
    return table, Bars(
        f"{judged.label}_bars", f"{title} ({labels[0]})", tuple(row[0] for row in rows), values, low, high, labels[0]
    )


def differences(judged: RatedScores) -> Table:
    """Compare the first metric with each other one by the main figure: bootstrap, permutation, Williams."""
    first, *others = judged.scores
    main, settings = judged.figures[0], judged.settings
    rows = []
    for other in others:
        common = (judged.people, judged.scores[first], judged.scores[other])
        chosen: dict[str, Any] = {"statistic": main.statistic, "average": main.average, "seed": settings.seed, **judged.keys}
        gap = bootstrap_difference(*common, samples=settings.samples, **chosen)
        test = permutation_test(*common, samples=settings.permutations, **chosen) if settings.permutations else None
        rows.append((other, gap.estimate, gap.ahead, test, _williams(judged, first, other)))
    return interval_table(
        f"{judged.label}_differences",
        f"{judged.rated.name}, {judged.dimension}: {first} minus each other metric ({main.label})",
        ("metric", "difference*", "wins", "permutation_p", "williams_p"),
        rows,
        f"wins: share of bootstrap resamples in which {first} is ahead. permutation_p: two-sided, {settings.permutations} swaps of the two "
        "metrics' standardised scores. williams_p: two-sided Williams' test of the pooled Pearson correlations.",
        {"permutation_p": 4, "williams_p": 4},
    )


def _williams(judged: RatedScores, first: str, other: str) -> float | None:
    """Return the two-sided p-value for pooled Pearson; None if a correlation is undefined."""
    sides = [judged.people, judged.scores[first], judged.scores[other]]
    if any(len(side) < 4 or side.std() == 0 for side in sides):
        return None
    pairs = ((0, 1), (0, 2), (1, 2))
    r12, r13, r23 = (float(np.clip(pearsonr(sides[a], sides[b]).statistic, -1, 1)) for a, b in pairs)
    return williams_test(r12, r13, r23, len(sides[0]))


def parts_of(judged: Sequence[RatedScores], metrics: Sequence[Any]) -> list[Table | Figure]:
    """Return for each dimension leaderboard, tests and systems; then error spans and correlations of the metrics.

    Every table of agreement ends with the notes of the set.
    """
    parts: list[Table | Figure] = []
    for one in judged:
        tables = [*leaderboard(one), *([differences(one)] if len(one.scores) > 1 else []), systems(one)]
        parts += [replace(part, note=" ".join(filter(None, (part.note, *one.notes)))) for part in tables if part is not None]
    spans = error_spans(judged[0].rated, metrics)
    parts += [spans] if spans is not None else []
    if len(judged[0].scores) > 1:
        people = {f"people: {one.dimension}": one.people for one in judged}
        alike = component_correlations({**people, **judged[0].scores})
        name = judged[0].rated.name
        parts.append(replace(alike, name=f"{name}_correlations", title=f"{name}: how alike the scores are"))
    return parts


def judge(
    sets: Sequence[RatedSet],
    metrics: Sequence[Any],
    settings: EvaluationSettings,
    dimensions: Sequence[str] = (),
    *,
    published: bool = True,
    say: Callable[[str], None] = lambda step: None,
) -> Findings:
    """Judge metrics on each set. Raises InputError as `evaluate` does.

    Parameters
    ----------
    published
        Whether the scores that were published with a set are judged too.
    say
        Called with the name of each step before it begins.
    """
    parts: list[Table | Figure] = []
    everything: list[RatedScores] = []
    signatures = {metric.name: metric.signature for metric in metrics}
    for rated in sets:
        say(f"{rated.name}, {len(rated.segments)} outputs, {len(metrics)} metrics")
        others = [PublishedScores(name) for name in rated.published] if published else []
        judged = evaluate(rated, [*metrics, *others], settings, dimensions)
        signatures |= {name: f"published with {rated.name}" for name in judged[0].scores if name not in signatures}
        everything += judged
        parts += parts_of(judged, metrics)
    return Findings(
        "Agreement with people",
        "How far metrics agree with people, with intervals and tests.",
        tuple(parts),
        tuple(part.name for part in parts if part.name.endswith(("_leaderboard", "_spans"))),
        all_leaderboards(everything, parts),
        signatures,
        {rated.name: rated.digest for rated in sets},
    )


def all_leaderboards(everything: Sequence[RatedScores], parts: Sequence[Table | Figure]) -> Table:
    """Join the leaderboards of all sets and dimensions in one table; a figure that a set does not offer is missing there."""
    named = {part.name: part for part in parts if isinstance(part, Table)}
    rows: list[dict[str, Cell]] = []
    for one in everything:
        where: dict[str, Cell] = {"set": one.rated.name, "dimension": one.dimension}
        rows += [where | row for row in table_rows(named[f"{one.label}_leaderboard"])]
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table(
        "leaderboards", "Agreement with people", columns, tuple(tuple(row.get(name) for name in columns) for row in rows)
    )


def component_correlations(scores: Mapping[str, Scores]) -> Heatmap:
    """Return the symmetric matrix of Spearman's correlation between every two of the given scores (RoMe, figure 5).

    Parameters
    ----------
    scores
        Name of a metric, a component or a human dimension -> (n,) numbers for the same outputs. A cell is nan if one side is constant, on
        the diagonal too.
    """
    names = tuple(scores)
    values = np.array([[STATISTICS["spearman"](scores[one], scores[other]) for other in names] for one in names])
    note = f"Spearman's correlation of every two, over the same {len(scores[names[0]])} outputs (RoMe, figure 5)."
    return Heatmap("correlations", "How alike the scores are", names, names, values, note=note)
