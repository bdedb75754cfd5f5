"""Diagnose metrics: what are they blind to, what does each component add, how do they bear drift?"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from rome.cli.evaluate import Run, add_judging_arguments, describe_sets
from rome.cli.metric import MakeMetric, positive
from rome.evaluation import EXPERIMENTS, ON_SETS, ON_TEXTS
from rome.exceptions import InputError

DEFAULT = {
    "ablation": ("rome",),
    "drift": ("rome", "chrf", "bleu", "bertscore"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome diagnose`."""
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


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Make or read minimal pairs or rated outputs, score them and write the main tables."""
    from rome.evaluation.diagnosis.experiments import DiagnosisSettings, Texts, find, read_groups
    from rome.evaluation.metrics.registry import DEFAULT_METRICS
    from rome.evaluation.rated_scores import read_sets

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
