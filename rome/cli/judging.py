"""Judge metrics: by how far they agree with people, and by what they notice."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rome.cli.options import MakeMetric, add_metric_arguments, add_output_arguments, positive
from rome.evaluation.catalogue import EXPERIMENTS, ON_SETS, ON_TEXTS, sets_text
from rome.exceptions import InputError
from rome.storage.files import open_output
from rome.text_table import terminal_width

if TYPE_CHECKING:
    from rome.evaluation.findings import Findings
    from rome.evaluation.metrics.registry import MetricMaker

DEFAULT = {
    "ablation": ("rome",),
    "drift": ("rome", "chrf", "bleu", "bertscore"),
}
"""Metrics of an experiment that the options do not name."""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome evaluate`."""
    parser.add_argument(
        "sets",
        nargs="+",
        metavar="SET",
        help="a file of your own (TSV, CSV or JSON lines with ratings), mqm:TABLE,REFERENCES for WMT's MQM, or a set by its name: "
        "bagel, webnlg17, wmt15, wmt23, bagel-mr, sfhotel, sfrest (see below)",
    )
    describe_sets(parser, "bagel", "bagel-mr", "sfhotel", "sfrest", "webnlg17", "wmt15", "wmt23")
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


def run_evaluate(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Judge metrics: how far do they agree with people, and is the difference real?"""
    from rome.evaluation.leaderboard.evaluate import EvaluationSettings, read_sets
    from rome.evaluation.leaderboard.tables import judge

    settings = EvaluationSettings.of(options.figure, options.samples, max(0, options.permutations), options.seed)
    this = Run(options, metric)
    sets, made = read_sets(options.sets), this.metrics(*_metrics(options))
    this.write(partial(judge, sets, made, settings, options.dimension, published=not options.no_published, say=this.say))
    return 0


def _metrics(options: argparse.Namespace) -> tuple[Sequence[str], Sequence[str]]:
    """The default metrics, and the baselines that stand beside those that were named."""
    from rome.evaluation.metrics.registry import BASELINES, DEFAULT_METRICS

    if options.no_baselines:
        return [name for name in DEFAULT_METRICS if name not in BASELINES], ()
    return DEFAULT_METRICS, BASELINES


def add_diagnose_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome diagnose`."""
    parser.add_argument(
        "experiment",
        nargs="?",
        choices=tuple(EXPERIMENTS),
        metavar="EXPERIMENT",
        help="texts (your own, with --texts; the default), robustness (likewise), demetr, meaning (on FILEs, or --texts); and on rated SETs: "
        "ablation, drift",
    )
    parser.add_argument(
        "sets",
        nargs="*",
        metavar="SET",
        help="rated sets, as in `rome evaluate`; for meaning: JSON lines of reference, acceptable, critical (default: the development sets)",
    )
    parser.add_argument(
        "--texts",
        metavar="FILE",
        help="one text a line, or pairs (TSV, CSV, JSON, JSON lines) whose hypotheses are perturbed; `-`: standard input",
    )
    parser.add_argument("--demetr", metavar="FOLDER", help="the released files of DEMETR (default: the development half)")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N minimal pairs (meaning: groups) of each perturbation")
    parser.add_argument(
        "--worst", type=positive, default=10, metavar="N", help="meaning: the N worst comparisons of each metric (default: 10)"
    )
    add_judging_arguments(parser)
    describe_sets(parser, "demetr", "handmade", "webnlg_dev")


def run_diagnose(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Diagnose metrics: what are they blind to, what does each component add, how do they bear drift?"""
    from rome.evaluation.diagnosis.experiments import DiagnosisSettings, Texts, find, read_groups
    from rome.evaluation.leaderboard.evaluate import read_sets
    from rome.evaluation.metrics.registry import DEFAULT_METRICS

    experiment = _checked(options)
    this = Run(options, metric)
    settings = DiagnosisSettings(options.samples, options.seed, options.limit, options.progress, options.worst)
    made = this.metrics(DEFAULT.get(experiment, DEFAULT_METRICS))
    data: Any = options.demetr
    if options.texts is not None:
        data = Texts.of(options.texts)
    elif experiment == "meaning":
        data = read_groups(options.sets, options.limit)
    elif experiment in ON_SETS:
        data = read_sets(options.sets)
    this.write(partial(find, experiment, made, this.maker, settings, data))
    return 0


def _checked(options: argparse.Namespace) -> str:
    """The experiment, once sure that what it needs, and nothing else, was named."""
    experiment: str | None = options.experiment or ("texts" if options.texts else None)
    if experiment is None:
        raise InputError(f"name an experiment ({', '.join(EXPERIMENTS)}), or your texts with --texts FILE")
    if experiment == "meaning":
        if options.texts is not None and options.sets:
            raise InputError("meaning takes FILEs or --texts, not both: leave one out")
    elif (experiment in ON_TEXTS) != (options.texts is not None):
        raise InputError(
            f"{experiment} " + ("needs --texts FILE" if experiment in ON_TEXTS else "takes no --texts: leave it out")
        )
    elif (experiment in ON_SETS) != bool(options.sets):
        raise InputError(
            f"{experiment} "
            + ("needs a rated SET, see `rome evaluate --help`" if experiment in ON_SETS else "takes no SET: leave it out")
        )
    if options.limit is not None and options.limit < 1:
        raise InputError(f"--limit {options.limit} leaves nothing: give 1 or more")
    return experiment


def add_judging_arguments(parser: argparse.ArgumentParser) -> None:
    """Metrics, resampling, output; and the options of RoMe itself, where --store now names a folder."""
    group = parser.add_argument_group("metrics and figures")
    group.add_argument(
        "--metric",
        nargs="+",
        action="extend",
        metavar="METRIC",
        help="rome, rome.semantic, chrf, bleu, bertscore[:PATH[:LAYER]], comet:PATH, MODULE:FUNCTION, NAME=FILE, ... "
        "(default: RoMe, its components, peers and baselines); the first is compared with the others",
    )
    group.add_argument("--samples", type=int, default=1000, metavar="N", help="bootstrap resamples (default: 1000)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of everything random (default: 0)")
    output = parser.add_argument_group("output")
    output.add_argument("--all-tables", action="store_true", help="write every table (default: the main ones)")
    add_output_arguments(output, "text", "tsv", "json", "html", said="; tsv is the first table, html a page for itself")
    add_metric_arguments(
        parser, store="keep analyses and scores in this FOLDER, so that a run resumes and the next takes seconds"
    )


def describe_sets(parser: argparse.ArgumentParser, *names: str) -> None:
    """Let the help end with what the sets are, where they come from and where they belong."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = sets_text(*names)


class Run:
    """Hold one run of the command: its options and its metrics.

    Raises InputError for options that no run can have.
    """

    def __init__(self, options: argparse.Namespace, metric: MakeMetric) -> None:
        self.options, self.metric = options, metric
        if options.samples < 1:
            raise InputError(f"--samples {options.samples} gives no interval: take 1 or more, 1000 is usual")
        folder = Path(options.store) if options.store else None
        if folder is not None:
            if folder.exists() and not folder.is_dir():
                raise InputError(f"--store {folder} is a file: name a folder, analyses and scores are kept in it")
            folder.mkdir(parents=True, exist_ok=True)
            options.store = str(folder / "analyses.sqlite")
        self.scores_file = folder / "scores.sqlite" if folder is not None else None

    @cached_property
    def maker(self) -> MetricMaker:
        """What makes metrics, with the stores that the options name."""
        from rome.evaluation.metrics.cached_scores import ScoreStore
        from rome.evaluation.metrics.registry import MetricMaker

        rome: Any = self.metric(self.options)
        store = ScoreStore(self.scores_file) if self.scores_file is not None else None
        return MetricMaker(rome, store, self.options.progress, self.options.seed)

    def metrics(self, default: Sequence[str], always: Sequence[str] = ()) -> list[Any]:
        """The metrics that the options name, all of which must be there, and those that always take part; or the default ones, without
        those that are not installed."""
        maker = self.maker
        if self.options.metric:
            named = self.options.metric
            made = [maker.make(name) for name in (*named, *(name for name in always if name not in named))]
        else:
            made, missing = maker.available(default)
            for specification, reason in missing.items():
                print(f"rome: left out {specification}: {reason}", file=sys.stderr)
        return made

    def say(self, step: str) -> None:
        """Say on standard error what is being done, when that is a terminal or progress was asked for."""
        if sys.stderr.isatty() if self.options.progress is None else self.options.progress:
            print(f"rome: {step} ...", file=sys.stderr, flush=True)

    def write(self, find: Callable[[], Findings]) -> None:
        """Compute the findings and write the main tables (or all); the output is opened before anything is computed."""
        from rome.reports.model import Table

        with open_output(self.options.output) as stream:
            findings = find()
            if self.options.all_tables:
                findings = replace(findings, shown=tuple(part.name for part in findings.parts if isinstance(part, Table)))
            stream.write(_written(findings, self.options.format, terminal_width(self.options.output)))


def _written(findings: Findings, form: str, width: int | None) -> str:
    """What was found in the form that was asked for, text folded to the columns of a terminal."""
    if form == "tsv":
        from rome.reports.tables import table_tsv

        return table_tsv(findings.main)
    if form == "json":
        return json.dumps(findings.to_dict(), ensure_ascii=False, indent=1) + "\n"
    return findings.to_html() if form == "html" else f"{findings.to_text(width)}\n\n"


