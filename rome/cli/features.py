"""Measure pairs and keep the features in a Parquet file, for `rome rescore`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from rome.cli.blocks import add_worker_argument, block_metric, ended_by_signal, progress_bar, report_line
from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.cli.pairs import add_pair_arguments, open_named_pairs
from rome.files import atomic_path
from rome.streaming import BlockFeatures, check_rows, cut_blocks
from rome.workers import run_in_order

if TYPE_CHECKING:
    from rome.combining.table import FeatureTable

__all__ = ["add_arguments", "run"]

ROWS = 1 << 16
"""Rows that are written together: one group of the Parquet file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome features`."""
    add_pair_arguments(parser)
    add_metric_arguments(parser)
    add_worker_argument(parser)
    parser.add_argument("--output", metavar="FILE.parquet", required=True, help="the table of features to write")


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Look at all pairs, then measure and write block by block; the output is opened before anything is computed."""
    from rome.combining.table import FeatureTable

    with ended_by_signal(), open_named_pairs(options) as rows, atomic_path(options.output) as path:
        found = check_rows(rows(), empty_reference=options.empty_reference)
        work = partial(BlockFeatures, block_metric(options, metric), found.shared)
        blocks = cut_blocks(rows(), whole=options.idf == "references")
        with (
            progress_bar(options, found.count) as bar,
            closing(run_in_order(work, blocks, workers=options.workers, report=report_line)) as tables,
        ):
            FeatureTable.save_batches(path, _groups(tables, bar))
    return 0


def _groups(tables: Iterable[FeatureTable], bar: Any) -> Iterator[FeatureTable]:
    """The same rows in larger tables."""
    from rome.combining.table import FeatureTable

    held: list[FeatureTable] = []
    for table in tables:
        held.append(table)
        bar.update(int(table.segment[-1] - table.segment[0]) + 1 if len(table) else 0)
        if sum(map(len, held)) >= ROWS:
            yield FeatureTable.concat(held)
            held = []
    if held:
        yield FeatureTable.concat(held)
