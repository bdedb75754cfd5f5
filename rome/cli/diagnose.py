"""Diagnose metrics: what are they blind to, what does each component add, how do they bear drift?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rome.cli.evaluate import Run, add_judging_arguments
from rome.cli.metric import MakeMetric, positive
from rome.exceptions import InputError
from rome.storage.files import read_lines
from rome.storage.pair_files import read_pairs

if TYPE_CHECKING:
    from rome.reports.model import Figure, Table

ON_TEXTS = ("texts", "robustness")
ON_SETS = ("ablation", "drift", "sizes", "domains")
TITLES = {
    "texts": (
        "Blind spots",
        "Minimal pairs made of your texts: which mistakes does a metric not notice, and which does it take for slight?",
    ),
    "robustness": ("Robustness", "RoMe's five robustness cases (§4.7), made of your texts."),
    "demetr": (
        "DEMETR",
        "Accuracy and sensitivity on the minimal pairs of Karpinska et al. (2022), beside the published rows.",
    ),
    "meaning": (
        "Meaning before surface",
        "Does every acceptable rewrite, however far in words, score above a text with one critical mistake, however near?",
    ),
    "ablation": ("Component ablation", "What every component adds, the net fitted anew each time (RoMe, table 5)."),
    "drift": ("Quality drift", "Fitted on bad outputs, judged on good ones (BLEURT, §5.2)."),
    "sizes": ("Data-size curves", "How many rated inputs a fitted scorer needs (BLEURT, figure 3)."),
    "domains": ("Domain shift", "Fitted on one kind of ratings, judged on another."),
}
SHOWN = (
    *("blind_spots_summary", "blind_spots", "blind_spot_examples", "robustness_order", "robustness"),
    *("demetr_table4", "demetr_by_table1", "demetr_severity_order", "demetr_accuracy"),
    *("meaning", "meaning_scores", "meaning_by_kind", "meaning_by_rewrite", "meaning_worst"),
)
DEFAULT = {
    "ablation": ("rome",),
    "drift": ("rome", "chrf", "bleu", "bertscore"),
    "sizes": ("rome", "chrf", "bleu", "bertscore"),
    "domains": ("rome", "chrf", "bertscore"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome diagnose`."""
    parser.add_argument(
        "experiment",
        nargs="?",
        choices=tuple(TITLES),
        metavar="EXPERIMENT",
        help="texts (your own, with --texts; the default), robustness (likewise), demetr, meaning (on FILEs, or --texts); and on rated SETs: "
        "ablation, drift, sizes, domains",
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
        help="one text a line, or pairs (TSV, JSON lines) whose hypotheses are perturbed; `-`: standard input",
    )
    parser.add_argument("--demetr", metavar="FOLDER", help="the released files of DEMETR (default: the development half)")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N minimal pairs (meaning: groups) of each perturbation")
    parser.add_argument(
        "--worst", type=positive, default=10, metavar="N", help="meaning: the N worst comparisons of each metric (default: 10)"
    )
    parser.add_argument(
        "--fit",
        default="net",
        metavar="FIT",
        help="how scorers are fitted to ratings: net (RoMe's own), linear, MODULE:FUNCTION",
    )
    add_judging_arguments(parser)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Make or read minimal pairs or rated outputs, score them, print the main tables, write the report."""
    experiment = _checked(options)
    this = Run(options, metric)
    parts = _parts(experiment, options, this)
    title, introduction = TITLES[experiment]
    shown = [part.name for part in parts if part.name.rpartition("-")[2] in SHOWN or experiment in ON_SETS]
    this.write(title, introduction, parts, shown)
    return 0


def _checked(options: argparse.Namespace) -> str:
    """The experiment, once sure that what it needs, and nothing else, was named."""
    experiment: str | None = options.experiment or ("texts" if options.texts else None)
    if experiment is None:
        raise InputError(f"name an experiment ({', '.join(TITLES)}), or your texts with --texts FILE")
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


def _parts(experiment: str, options: argparse.Namespace, this: Run) -> list[Table | Figure]:
    """Everything that the experiment finds."""
    from rome.evaluation.diagnosis.experiments import (
        DiagnosisSettings,
        on_demetr,
        on_meaning,
        on_meaning_texts,
        on_rated,
        on_texts,
    )
    from rome.evaluation.diagnosis.fitting import fit_named
    from rome.evaluation.metrics.registry import DEFAULT_METRICS

    fit = fit_named(options.fit)
    settings = DiagnosisSettings(options.samples, options.seed, options.limit, options.progress, fit, options.worst)
    made = this.metrics(DEFAULT.get(experiment, DEFAULT_METRICS))
    if experiment == "demetr":
        parts, this.data["DEMETR"] = on_demetr(made, settings, options.demetr)
    elif experiment == "meaning" and options.texts is None:
        parts, digests = on_meaning(made, settings, options.sets)
        this.data |= digests
    elif experiment == "meaning":
        parts, this.data[options.texts] = on_meaning_texts(*_texts(options.texts), this.maker, made, settings)
    elif experiment in ON_TEXTS:
        references, hypotheses = _texts(options.texts)
        parts, this.data[options.texts] = on_texts(experiment, references, hypotheses, this.maker, made, settings)
    else:
        from rome.evaluation.leaderboard.evaluate import read_sets

        sets = read_sets(options.sets)
        this.data |= {rated.name: rated.digest for rated in sets}
        parts = on_rated(experiment, sets, this.maker, made, settings)
    return parts


def _texts(path: str) -> tuple[list[list[str]], list[str]]:
    """References and texts to perturb: plain texts are their own references."""
    lines: list[Any] = [line for line in read_lines(path) if line.strip()]
    if not lines:
        raise InputError(f"{path} holds no text: give one a line, or pairs of reference and hypothesis")
    if lines[0].lstrip().startswith("{") or {"reference", "hypothesis"} <= set(lines[0].split("\t")):
        pairs = read_pairs(path)
        return [row.references for row in pairs], [row.hypothesis for row in pairs]
    return [[line] for line in lines], lines
