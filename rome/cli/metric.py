"""The options that make a metric, and the one place where the command line makes one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rome.exceptions import InputError

if TYPE_CHECKING:
    from rome.combiner import Combiner
    from rome.results import CorpusScore
    from rome.table import FeatureTable

__all__ = ["MakeMetric", "Metric", "add_metric_arguments", "add_net_arguments", "make_metric", "named_net", "positive"]


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
    group.add_argument(
        "--errors",
        choices=("learned", "edit-script"),
        default=None,
        help="how mistakes are estimated: the trained head, or rules alone (default: learned with the embedded models)",
    )
    add_net_arguments(group)
    group.add_argument(
        "--empty-reference", choices=("error", "score"), default="error", help="an empty reference (default: error)"
    )
    group.add_argument("--store", metavar="PATH", help=store)
    group.add_argument("--threads", type=positive, metavar="N", help="processor threads (default: what torch takes)")
    group.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None, help="progress bar (default: only on a terminal)"
    )


def add_net_arguments(group: argparse._ActionsContainer) -> None:
    """The net that makes the score: one of the embedded ones, or a file."""
    group.add_argument("--net", metavar="FILE", help="a net trained by `rome train scorer` (default: the embedded one)")
    group.add_argument(
        "--scorer",
        choices=("unsupervised", "supervised"),
        default="unsupervised",
        help="supervised: the embedded net that was fitted on human ratings, and says so (default: unsupervised)",
    )


def named_net(options: argparse.Namespace) -> Combiner | None:
    """The net that the options name; None for the embedded unsupervised one. Raises InputError for two nets."""
    from rome.combiner import Combiner

    if options.net is not None and options.scorer != "unsupervised":
        raise InputError(f"--net {options.net} and --scorer {options.scorer} name two nets: give one of them")
    if options.net is None and options.scorer == "unsupervised":
        return None
    return Combiner.load(options.net, scorer=options.scorer)


def make_metric(options: argparse.Namespace) -> Metric:
    """The metric that the parsed options describe. Raises ModelMissingError when its models or packages are not installed.

    lean, an option that no user gives : the process is RoMe's own and runs nothing but its models. So torch is imported without what
    only others need, if it is needed in any case.
    """
    from rome.features.analyser.config import ModelConfig
    from rome.features.analyser.identity import hashed_meanwhile

    net = named_net(options)
    with hashed_meanwhile(ModelConfig.of(options.models)):
        from rome.metric import RoMe

        if getattr(options, "lean", False) and options.models == "embedded" and options.store is None:
            from rome.features.analyser.lean_torch import import_torch

            import_torch()
    return RoMe(
        models=options.models,
        emd=options.emd,
        errors=options.errors,
        idf=options.idf,
        store=options.store,
        progress=options.progress,
        threads=options.threads,
        empty_reference=options.empty_reference,
        combiner=net,
    )


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
