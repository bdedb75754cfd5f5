"""Judge metrics: how far do they agree with people, and is the difference real?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rome.cli.evaluation import Run, add_judging_arguments
from rome.cli.metric import MakeMetric

if TYPE_CHECKING:
    from rome.evaluation.leaderboard.plan import EvaluationPlan, RatedScores
    from rome.reports.model import Figure, Table

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome evaluate`."""
    parser.add_argument(
        "sets",
        nargs="+",
        metavar="SET",
        help="a file of your own (TSV or JSON lines with ratings), FORMAT:PATH[,PATH...] for a released layout, or a development set: "
        "bagel, webnlg17, wmt15, wmt23, bagel-mr, sfhotel, sfrest",
    )
    parser.add_argument("--dimension", nargs="+", default=[], metavar="NAME", help="human dimensions (default: all of the set)")
    parser.add_argument(
        "--figure",
        nargs="+",
        metavar="FIGURE",
        help="STATISTIC or STATISTIC/AVERAGE, such as kendall_b, kendall_b/item, pearson/language_pair; `all` for every one; the "
        "first orders the tables and is tested (default: six)",
    )
    parser.add_argument(
        "--permutations", type=int, default=200, metavar="N", help="of the permutation test (default: 200, 0: none)"
    )
    parser.add_argument(
        "--no-baselines", action="store_true", help="without length and random, which every table has otherwise"
    )
    parser.add_argument("--no-published", action="store_true", help="without the scores that were published with a set")
    add_judging_arguments(parser)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Read the sets, score them, print the leaderboards, write the report."""
    from rome.evaluation.leaderboard.plan import read_sets
    from rome.evaluation.leaderboard.tables import overview

    plan = _plan(options)
    this = Run(options, metric)
    sets = read_sets(options.sets)
    parts: list[Table | Figure] = []
    everything: list[RatedScores] = []
    made = this.metrics(*_metrics(options))
    for rated in sets:
        this.data[rated.name] = rated.digest
        with this.step(f"{rated.name}, {len(rated.segments)} outputs, {len(made)} metrics"):
            judged, found = _evaluated(rated, made, plan, options)
        this.signatures |= {name: f"published with {rated.name}" for name in judged[0].scores if name not in this.signatures}
        everything += judged
        parts += found
    if len(everything) > 1:
        parts.insert(0, overview(everything))
    shown = [part.name for part in parts if part.name.endswith(("overview", "_leaderboard", "_spans"))]
    this.write("Agreement with people", "How far metrics agree with people, and how sure that is.", parts, shown)
    return 0


def _metrics(options: argparse.Namespace) -> tuple[Sequence[str], Sequence[str]]:
    """The default metrics, and the baselines that stand beside those that were named."""
    from rome.evaluation.metrics.registry import BASELINES, DEFAULT_METRICS

    if options.no_baselines:
        return [name for name in DEFAULT_METRICS if name not in BASELINES], ()
    return DEFAULT_METRICS, BASELINES


def _plan(options: argparse.Namespace) -> EvaluationPlan:
    from rome.evaluation.leaderboard.plan import ALL_FIGURES, FIGURES, EvaluationPlan, Measure

    figures: tuple[Measure, ...] = FIGURES
    if options.figure:
        figures = ALL_FIGURES if options.figure == ["all"] else tuple(Measure.of(text) for text in options.figure)
    return EvaluationPlan(figures, options.samples, max(0, options.permutations), seed=options.seed)


def _evaluated(
    rated: Any, made: list[Any], plan: EvaluationPlan, options: argparse.Namespace
) -> tuple[list[RatedScores], list[Table | Figure]]:
    """Every part of one set."""
    from rome.evaluation.leaderboard.plan import evaluate
    from rome.evaluation.leaderboard.tables import parts_of
    from rome.evaluation.metrics.score_files import PublishedScores

    published = [] if options.no_published else [PublishedScores(name) for name in rated.published]
    judged = evaluate(rated, [*made, *published], plan, options.dimension)
    return judged, parts_of(judged, made)
