"""Judge metrics: how far do they agree with people, and is the difference real?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rome.cli.metric import MakeMetric, add_metric_arguments, add_output_arguments
from rome.evaluation import sets_text
from rome.exceptions import InputError
from rome.storage.files import open_output
from rome.text_table import terminal_width

if TYPE_CHECKING:
    from rome.evaluation.findings import Findings
    from rome.evaluation.metrics.registry import MetricMaker


def _written(findings: Findings, form: str, width: int | None) -> str:
    """What was found in the form that was asked for, text folded to the columns of a terminal."""
    if form == "tsv":
        from rome.reports.tables import table_tsv

        return table_tsv(findings.main)
    if form == "json":
        return json.dumps(findings.to_dict(), ensure_ascii=False, indent=1) + "\n"
    return findings.to_html() if form == "html" else f"{findings.to_text(width)}\n\n"


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
    add_metric_arguments(parser, store="keep analyses in this FOLDER, so that the next run is faster")


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
                raise InputError(f"--store {folder} is a file: name a folder, analyses are kept in it")
            folder.mkdir(parents=True, exist_ok=True)
            options.store = str(folder / "analyses.sqlite")

    @cached_property
    def maker(self) -> MetricMaker:
        """Return the maker of metrics."""
        from rome.evaluation.metrics.registry import MetricMaker

        rome: Any = self.metric(self.options)
        return MetricMaker(rome, self.options.progress, self.options.seed)

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


def describe_sets(parser: argparse.ArgumentParser, *names: str) -> None:
    """Let the help end with what the sets are, where they come from and where they belong."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = sets_text(*names)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome evaluate`."""
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


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Read the sets, score them and write the leaderboards."""
    from rome.evaluation.leaderboard import judge
    from rome.evaluation.rated_scores import EvaluationSettings, read_sets

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
