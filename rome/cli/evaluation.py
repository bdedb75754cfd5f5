"""What `rome evaluate` and `rome diagnose` share: options for metrics, stores and reports, and writing what was found."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.exceptions import InputError

if TYPE_CHECKING:
    from rome.evaluation.metrics.registry import MetricMaker
    from rome.reports.model import Figure, Table

__all__ = ["Run", "add_judging_arguments"]


def add_judging_arguments(parser: argparse.ArgumentParser) -> None:
    """Metrics, resampling, report; and the options of RoMe itself, where --store now names a folder."""
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
    output.add_argument("--report", metavar="FOLDER", help="write page, tables, figures and signatures here")
    output.add_argument("--all-tables", action="store_true", help="print every table (default: the main ones)")
    add_metric_arguments(
        parser, store="keep analyses and scores in this FOLDER, so that a run resumes and the next takes seconds"
    )


class Run:
    """One run of the command: its metrics, its parts, its manifest.

    Raises InputError for options that no run can have.
    """

    def __init__(self, options: argparse.Namespace, metric: MakeMetric) -> None:
        self.options, self.metric = options, metric
        self.begin = time.monotonic()
        self.missing: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self.signatures: dict[str, str] = {}
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
        from rome.evaluation.metrics.pairs import ScoreStore
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
            made, self.missing = maker.available(default)
            for specification, reason in self.missing.items():
                print(f"rome: left out {specification}: {reason}", file=sys.stderr)
        self.signatures |= {metric.name: metric.signature for metric in made}
        return made

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Say on standard error what is being done, when that is a terminal or progress was asked for."""
        progress = self.options.progress
        shown = sys.stderr.isatty() if progress is None else progress
        if shown:
            print(f"rome: {name} ...", file=sys.stderr, flush=True)
        yield

    def write(self, title: str, introduction: str, parts: Sequence[Table | Figure], shown: Sequence[str]) -> None:
        """Print the tables whose names are shown (or all), and write the report where one is wanted."""
        from rome.reports.model import Table
        from rome.reports.text import table_text

        tables = [part for part in parts if isinstance(part, Table)]
        for table in tables:
            if self.options.all_tables or table.name in shown:
                print(table_text(table), end="\n\n", flush=True)
        if self.options.report:
            self._report(title, introduction, parts)

    def _report(self, title: str, introduction: str, parts: Sequence[Table | Figure]) -> None:
        from rome.reports.folder import write_report
        from rome.reports.manifest import machine_manifest
        from rome.reports.model import Report

        options: Mapping[str, object] = {
            name: value
            for name, value in vars(self.options).items()
            if name not in ("run", "command") and isinstance(value, (str, int, float, bool, list))
        }
        manifest = machine_manifest(
            seed=self.options.seed,
            data=self.data,
            metrics=self.signatures,
            seconds=time.monotonic() - self.begin,
            options={**options, "left out": self.missing},
        )
        page = write_report(Report(title, tuple(parts), manifest, introduction), self.options.report)
        print(f"report: {page}", file=sys.stderr)
