"""Measure pairs and keep the features in a Parquet file, for `rome rescore`."""

from __future__ import annotations

import argparse
from contextlib import closing
from functools import partial

from rome.batch.blocks import BlockScorer, cut
from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.cli.pairs import (
    add_pair_arguments,
    add_worker_argument,
    block_metric,
    checked_blocks,
    ended_by_signal,
    report_line,
    run_blocks,
)
from rome.cli.parser import completes_files
from rome.storage.files import atomic_path

ROWS = 1 << 16
"""Rows that are written together, at most: one group of the Parquet file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome features`."""
    add_pair_arguments(parser)
    add_metric_arguments(parser)
    add_worker_argument(parser)
    output = parser.add_argument("--output", "-o", metavar="FILE.parquet", required=True, help="the table of features to write")
    completes_files(output)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Look at all pairs, then measure and write block by block; the output is opened before anything is computed."""
    from rome.combining.table import FeatureTable

    with ended_by_signal(), atomic_path(options.output) as path, checked_blocks(options) as (found, blocks):
        work = partial(BlockScorer, block_metric(options, metric, found), found.shared, measure=True)
        with closing(run_blocks(options, work, blocks, found.count)) as tables:
            FeatureTable.save_batches(path, map(FeatureTable.concat, cut(tables, len, ROWS)))
    report_line(f"{found.count} segments measured: {options.output}")
    return 0
