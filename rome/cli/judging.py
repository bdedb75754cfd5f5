"""Judge metrics: by how far they agree with people, and by what they notice."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rome.cli.options import MakeMetric, add_metric_arguments, add_output_arguments, positive
from rome.cli.pairs import add_column_arguments, named_columns, report_line
from rome.evaluation import EXPERIMENTS, ON_SETS, ON_TEXTS, sets_text
from rome.exceptions import InputError
from rome.storage.files import open_output
from rome.text_table import terminal_width

if TYPE_CHECKING:
    from rome.evaluation.findings import Findings
    from rome.evaluation.metrics.registry import MetricMaker

DEFAULT = {"ablation": ("rome",), "drift": ("rome", "chrf", "bleu", "bertscore")}
"""Metrics of an experiment that the options do not name."""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome evaluate`."""
    sets = "a file of your own (TSV, CSV or JSON lines with ratings), mqm:TABLE,REFERENCES for WMT's MQM, or a name of the list below"
    parser.add_argument("sets", nargs="+", metavar="SET", help=sets)
    _describe_sets(parser, "bagel", "bagel-mr", "sfhotel", "sfrest", "webnlg17", "wmt15", "wmt23")
    parser.add_argument("--dimension", nargs="+", default=[], metavar="NAME", help="human dimensions (default: all of the set)")
    figure = "STATISTIC or STATISTIC/AVERAGE, such as kendall_b/item; `all` for every one; the first is tested (default: six)"
    parser.add_argument("--figure", nargs="+", metavar="FIGURE", help=figure)
    permutations = "of the permutation test (default: 200, 0: none)"
    parser.add_argument("--permutations", type=int, default=200, metavar="N", help=permutations)
    _add_judging_arguments(parser)


def run_evaluate(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Judge metrics: how far do they agree with people, and is the difference real?"""
    from rome.evaluation.leaderboard import judge
    from rome.evaluation.metrics.registry import BASELINES, DEFAULT_METRICS
    from rome.evaluation.rated_scores import EvaluationSettings, read_sets

    settings = EvaluationSettings.of(options.figure, options.samples, max(0, options.permutations), options.seed)
    maker = _maker(options, metric)
    sets = read_sets(options.sets)
    metrics = _metrics(options, maker, DEFAULT_METRICS, BASELINES)
    shown = sys.stderr.isatty() if options.progress is None else options.progress
    say = (lambda step: report_line(f"{step} ...")) if shown else lambda step: None
    _write(options, partial(judge, sets, metrics, settings, options.dimension, say=say))
    return 0


def add_diagnose_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome diagnose`."""
    experiment = (
        "texts (default) and robustness, with --texts; demetr; meaning, on FILEs or --texts; ablation and drift, on SETs"
    )
    parser.add_argument("experiment", nargs="?", choices=tuple(EXPERIMENTS), metavar="EXPERIMENT", help=experiment)
    sets = "as in `rome evaluate`; for meaning: JSON lines of reference, acceptable, critical (default: the development sets)"
    parser.add_argument("sets", nargs="*", metavar="SET", help=sets)
    texts = "one text per line, or a table of pairs as for `rome score`, whose hypotheses are perturbed; `-`: standard input"
    parser.add_argument("--texts", metavar="FILE", help=texts)
    add_column_arguments(parser)
    parser.add_argument("--demetr", metavar="FOLDER", help="the released files of DEMETR (default: the development half)")
    limit = "at most N minimal pairs (meaning: groups) of each perturbation"
    parser.add_argument("--limit", type=positive, metavar="N", help=limit)
    worst = "meaning: the N worst comparisons of each metric (default: 10)"
    parser.add_argument("--worst", type=positive, default=10, metavar="N", help=worst)
    _add_judging_arguments(parser)
    _describe_sets(parser, "demetr", "handmade", "webnlg_dev")


def run_diagnose(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Diagnose metrics: what are they blind to, what does each component add, how do they change under drift?"""
    from rome.evaluation.diagnosis.experiments import DiagnosisSettings, Texts, find, read_groups
    from rome.evaluation.metrics.registry import DEFAULT_METRICS
    from rome.evaluation.rated_scores import read_sets

    experiment = _experiment(options)
    settings = DiagnosisSettings(options.samples, options.seed, options.limit, options.progress, options.worst)
    maker = _maker(options, metric)
    metrics = _metrics(options, maker, DEFAULT.get(experiment, DEFAULT_METRICS))
    data: Any = options.demetr
    if options.texts is not None:
        data = Texts.of(options.texts, named_columns(options))
    elif experiment == "meaning":
        data = read_groups(options.sets, options.limit)
    elif experiment in ON_SETS:
        data = read_sets(options.sets)
    _write(options, partial(find, experiment, metrics, maker, settings, data))
    return 0


def _experiment(options: argparse.Namespace) -> str:
    """Return the experiment. Raises InputError where what it needs was not named, or something else was."""
    experiment: str | None = options.experiment or ("texts" if options.texts else None)
    if experiment is None:
        raise InputError(f"name an experiment ({', '.join(EXPERIMENTS)}), or your texts with --texts FILE")
    takes_both = experiment == "meaning" and not (options.texts and options.sets)
    if not takes_both and (bool(options.texts), bool(options.sets)) != (experiment in ON_TEXTS, experiment in ON_SETS):
        needed = "needs --texts FILE" if experiment in ON_TEXTS else "needs a rated SET, see `rome evaluate --help`"
        if experiment not in (*ON_TEXTS, *ON_SETS):
            needed = "does not take --texts or SETs"
        raise InputError(f"{experiment} {needed}, and nothing else")
    return experiment


def _add_judging_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for metrics, resampling and output, and those of RoMe, where --store names a folder."""
    group = parser.add_argument_group("metrics and figures")
    metrics = "rome, rome.semantic, chrf, bleu, bertscore[:PATH[:LAYER]], comet:PATH, MODULE:FUNCTION, NAME=FILE, ... (default: RoMe, its "
    metrics += "components, peers and baselines); the first is compared with the others"
    group.add_argument("--metric", nargs="+", action="extend", metavar="METRIC", help=metrics)
    group.add_argument("--samples", type=positive, default=1000, metavar="N", help="bootstrap resamples (default: 1000)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of everything random (default: 0)")
    output = parser.add_argument_group("output")
    output.add_argument("--all-tables", action="store_true", help="write every table (default: the main ones)")
    add_output_arguments(output, "text", "tsv", "json", "html", note="; tsv is the first table, html a page of its own")
    add_metric_arguments(parser, store="keep analyses in this FOLDER, so that the next run is faster")


def _describe_sets(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add the contents and the sources of the sets to the help."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = sets_text(*names)


def _maker(options: argparse.Namespace, metric: MakeMetric) -> MetricMaker:
    """Return the maker of metrics, with a store in the folder that the options name. Raises InputError for a file."""
    from rome.evaluation.metrics.registry import MetricMaker

    if options.store:
        folder = Path(options.store)
        if folder.is_file():
            raise InputError(f"--store {folder} is a file: name a folder")
        folder.mkdir(parents=True, exist_ok=True)
        options.store = str(folder / "analyses.sqlite")
    return MetricMaker(metric(options), options.progress, options.seed)


def _metrics(options: argparse.Namespace, maker: MetricMaker, default: Sequence[str], always: Sequence[str] = ()) -> list[Any]:
    """Return the metrics that the options name, and those of ``always``; without any, those of ``default`` that are installed."""
    if options.metric:
        return [maker.make(name) for name in (*options.metric, *(name for name in always if name not in options.metric))]
    metrics, missing = maker.available(default)
    for specification, reason in missing.items():
        report_line(f"left out {specification}: {reason}")
    return metrics


def _write(options: argparse.Namespace, find: Callable[[], Findings]) -> None:
    """Compute the findings and write the main tables, or all; the output is opened before anything is computed."""
    from rome.reports.model import Table
    from rome.reports.tables import table_tsv

    with open_output(options.output) as stream:
        findings = find()
        if options.all_tables:
            findings = replace(findings, shown=tuple(part.name for part in findings.parts if isinstance(part, Table)))
        if options.format == "tsv":
            text = table_tsv(findings.main)
        elif options.format == "json":
            text = json.dumps(findings.to_dict(), ensure_ascii=False, indent=1) + "\n"
        elif options.format == "html":
            text = findings.to_html()
        else:
            text = f"{findings.to_text(terminal_width(options.output))}\n\n"
        stream.write(text)
