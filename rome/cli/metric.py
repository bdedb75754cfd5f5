"""The options that make a metric, and the one place where the command line makes one."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rome.cli.parser import completes_files
from rome.config import CHOICES, MetricConfig
from rome.exceptions import InputError
from rome.features.analyser.config import SETS

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner
    from rome.metric import RoMe

MakeMetric = Callable[[argparse.Namespace], Any]
"""Makes a RoMe, or what stands in for one, of the parsed options."""


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


OPTIONS: dict[str, dict[str, Any]] = {
    "models": {
        "metavar": f"{{{','.join((*SETS, 'paper', 'FOLDER'))}}}",
        "help": f"a model set, by name or folder, or the paper's models (default: {MetricConfig.models}; the sets are offline)",
    },
    "emd": {"help": "variant of the transport cost"},
    "rho": {
        "type": float,
        "metavar": "SHARE",
        "help": "credit of words outside the alignment, 0 to 1 (0: the paper; default: the models' own)",
    },
    "idf": {"help": "where word weights come from"},
    "net": {"metavar": "FILE", "help": "a net trained by `rome train scorer` (default: the model set's own)"},
    "scorer": {"help": "supervised: the set's net that was fitted on human ratings, and says so (default: unsupervised)"},
    "empty_reference": {"help": "an empty reference (default: error)"},
    "store": {"metavar": "PATH", "help": "keep the analyses in this FILE, so that known texts skip the models"},
    "threads": {
        "type": positive,
        "metavar": "N",
        "help": "processor threads, at most as many as there are processors (default: what torch takes)",
    },
    "device": {
        "help": "where the models compute; auto: a card where there is one (default: cpu, whose numbers are the reference)"
    },
    "precision": {
        "help": "of the models' products; bf16 is faster where the processor has AVX512-BF16 or AMX, auto takes it there "
        "(default: float32, whose numbers are the reference)"
    },
    "batch_size": {
        "type": positive,
        "metavar": "N",
        "help": f"word pieces that pass through a model at once (default: {MetricConfig.batch_size})",
    },
    "progress": {"action": argparse.BooleanOptionalAction, "help": "progress bar (default: only on a terminal)"},
}
"""How the command line names each option of MetricConfig, and what it says of it."""


def add_metric_arguments(parser: argparse.ArgumentParser, **said: str) -> None:
    """Every option of a metric; ``said`` has other words for the help of some."""
    add_options(parser.add_argument_group("metric"), *OPTIONS, **said)


def add_options(group: argparse._ActionsContainer, *names: str, **said: str) -> None:
    """Some options of a metric, with their choices and defaults."""
    for name in names:
        settings = OPTIONS[name] | ({"choices": CHOICES[name]} if name in CHOICES else {})
        settings |= {"help": said.get(name, settings["help"]), "default": getattr(MetricConfig, name, None)}
        group.add_argument(f"--{name.replace('_', '-')}", **settings)


def add_output_arguments(group: argparse._ActionsContainer, *formats: str, said: str = "") -> None:
    """--format, the first of them by default, and --output; ``said`` is what else the help says of the formats."""
    group.add_argument("--format", "-f", choices=formats, default=formats[0], help=f"default: {formats[0]}{said}")
    whole = "write here, all or nothing (default: standard output)"
    completes_files(group.add_argument("--output", "-o", metavar="FILE", help=whole))


def named_net(options: argparse.Namespace) -> Combiner | None:
    """The net in the file that the options name; None for one of the model set's. Raises InputError for two nets."""
    from rome.combining.combiner import Combiner

    if options.net is not None and options.scorer != "unsupervised":
        raise InputError(f"--net {options.net} and --scorer {options.scorer} name two nets: give one of them")
    return None if options.net is None else Combiner.load(options.net)


def make_metric(options: argparse.Namespace) -> RoMe:
    """The metric that the parsed options describe; a command need not offer every option."""
    from rome.metric import RoMe

    # By default oneDNN keeps what it compiled for 1,024 shapes of text, a hundred megabytes.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    net = named_net(options) if hasattr(options, "net") else None
    return RoMe(combiner=net, **{f.name: getattr(options, f.name) for f in fields(MetricConfig) if hasattr(options, f.name)})


def load_at_once(metric: object, options: argparse.Namespace) -> None:
    """Load the models of a metric whose first text loads them anyhow: without a store, and where this process does the work.

    Python's garbage collector is off meanwhile and ignores these half a million objects afterwards: `rome score` of one pair takes 5.1 s
    with `base` instead of 7.7 s. Raises ModelMissingError.
    """
    from rome.metric import RoMe

    if not isinstance(metric, RoMe) or options.store is not None or getattr(options, "workers", 1) > 1:
        return
    gc.disable()
    try:
        metric.load()
        gc.freeze()
    finally:
        gc.enable()
