"""The options that make a metric, and the one place where the command line makes one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rome.results import CorpusScore
    from rome.table import FeatureTable

__all__ = ["MakeMetric", "Metric", "add_metric_arguments", "make_metric"]


class Metric(Protocol):
    """What the commands need of RoMe."""

    def score(self, *, references: list[list[str]], hypotheses: list[str]) -> CorpusScore:
        """Score every segment."""

    def features(self, *, references: list[list[str]], hypotheses: list[str]) -> FeatureTable:
        """Measure every candidate."""


MakeMetric = Callable[[argparse.Namespace], Metric]


STORE = "keep the analyses in this FILE, so that known texts skip the models"


def add_metric_arguments(parser: argparse.ArgumentParser, *, store: str = STORE) -> None:
    """Models, transport, word weights, net, empty references, store, threads and progress. store : what --store means here."""
    group = parser.add_argument_group("metric")
    group.add_argument("--models", choices=("embedded", "paper"), default="embedded", help="default: embedded (offline)")
    group.add_argument("--emd", choices=("soft", "aligned", "standard"), default="soft", help="variant of the transport cost")
    group.add_argument("--idf", choices=("embedded", "references"), default="embedded", help="where word weights come from")
    group.add_argument("--net", metavar="FILE", help="a net trained by `rome train scorer` (default: the embedded one)")
    group.add_argument(
        "--empty-reference", choices=("error", "score"), default="error", help="an empty reference (default: error)"
    )
    group.add_argument("--store", metavar="PATH", help=store)
    group.add_argument("--threads", type=_positive, metavar="N", help="processor threads (default: what torch takes)")
    group.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None, help="progress bar (default: only on a terminal)"
    )


def make_metric(options: argparse.Namespace) -> Metric:
    """The metric that the parsed options describe. Raises ModelMissingError when its models or packages are not installed."""
    from rome.combiner import Combiner
    from rome.metric import RoMe

    return RoMe(
        models=options.models,
        emd=options.emd,
        idf=options.idf,
        store=options.store,
        progress=options.progress,
        threads=options.threads,
        empty_reference=options.empty_reference,
        combiner=None if options.net is None else Combiner.load(options.net),
    )


def _positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
