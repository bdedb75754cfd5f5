"""Measure pairs and keep the features in a Parquet file, for `rome rescore`."""

from __future__ import annotations

import argparse

from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.cli.pairs import add_pair_arguments, at_its_place, read_named_pairs
from rome.files import atomic_path

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome features`."""
    add_pair_arguments(parser)
    add_metric_arguments(parser)
    parser.add_argument("--output", metavar="FILE.parquet", required=True, help="the table of features to write")


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Read, measure, write; the output is opened before anything is computed."""
    texts = read_named_pairs(options)
    with atomic_path(options.output) as path:
        at_its_place(texts, metric(options).features).save(path)
    return 0
