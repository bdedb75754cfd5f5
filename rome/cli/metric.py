"""The options that make a metric, and the one place where the command line makes one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rome.config import CHOICES, MetricConfig
from rome.exceptions import InputError
from rome.features.analyser.config import DEFAULT_SET, SETS

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner
    from rome.metric import RoMe

__all__ = [
    "MakeMetric",
    "add_metric_arguments",
    "add_models_argument",
    "add_net_arguments",
    "make_metric",
    "named_net",
    "positive",
]


MakeMetric = Callable[[argparse.Namespace], Any]
"""Makes a RoMe, or what stands in for one, of the parsed options."""

STORE = "keep the analyses in this FILE, so that known texts skip the models"


def add_metric_arguments(parser: argparse.ArgumentParser, *, store: str = STORE) -> None:
    """Models, transport, word weights, net, empty references, store, threads and progress.

    Parameters
    ----------
    store
        What --store means here.
    """
    group = parser.add_argument_group("metric")
    add_models_argument(group)
    group.add_argument("--emd", choices=CHOICES["emd"], default=MetricConfig.emd, help="variant of the transport cost")
    group.add_argument(
        "--rho",
        type=float,
        metavar="SHARE",
        help="credit of words outside the alignment, 0 to 1 (0: the paper; default: the models' own)",
    )
    group.add_argument("--idf", choices=CHOICES["idf"], default=MetricConfig.idf, help="where word weights come from")
    group.add_argument(
        "--errors",
        choices=CHOICES["errors"],
        help="how mistakes are estimated: the trained head, or rules alone (default: learned where the model set has one)",
    )
    add_net_arguments(group)
    group.add_argument(
        "--empty-reference",
        choices=CHOICES["empty_reference"],
        default=MetricConfig.empty_reference,
        help="an empty reference (default: error)",
    )
    group.add_argument("--store", metavar="PATH", help=store)
    group.add_argument("--threads", type=positive, metavar="N", help="processor threads (default: what torch takes)")
    group.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None, help="progress bar (default: only on a terminal)"
    )


def add_models_argument(group: argparse._ActionsContainer) -> None:
    """The models, as RoMe takes them."""
    words = (*SETS, "paper", "FOLDER")
    group.add_argument(
        "--models",
        default=DEFAULT_SET,
        metavar=f"{{{','.join(words)}}}",
        help=f"a model set, by name or folder, or the paper's models (default: {DEFAULT_SET}; the sets are offline)",
    )


def add_net_arguments(group: argparse._ActionsContainer) -> None:
    """The net that makes the score: one of the model set's, or a file."""
    group.add_argument("--net", metavar="FILE", help="a net trained by `rome train scorer` (default: the model set's own)")
    group.add_argument(
        "--scorer",
        choices=CHOICES["scorer"],
        default=MetricConfig.scorer,
        help="supervised: the set's net that was fitted on human ratings, and says so (default: unsupervised)",
    )


def named_net(options: argparse.Namespace) -> Combiner | None:
    """The net in the file that the options name; None for one of the model set's. Raises InputError for two nets."""
    from rome.combining.combiner import Combiner

    if options.net is not None and options.scorer != "unsupervised":
        raise InputError(f"--net {options.net} and --scorer {options.scorer} name two nets: give one of them")
    return None if options.net is None else Combiner.load(options.net)


def make_metric(options: argparse.Namespace) -> RoMe:
    """The metric that the parsed options describe; a command need not offer every option."""
    from rome.metric import RoMe

    net = named_net(options) if hasattr(options, "net") else None
    return RoMe(combiner=net, **{f.name: getattr(options, f.name) for f in fields(MetricConfig) if hasattr(options, f.name)})


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
