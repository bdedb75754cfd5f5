"""Keep the features of pairs in a table, and combine them into scores without any model but the net."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from rome.batch.blocks import Block, cut
from rome.cli.formats import FORMATS, Line, Means, add_mean_arguments, columns, report_mean, tsv_line, write_lines
from rome.cli.options import MakeMetric, add_options, add_output_arguments, completes_files, named_net
from rome.cli.pairs import add_block_arguments, block_metric, checked_blocks, ended_by_signal, report_line, run_blocks
from rome.combining.signature import labels
from rome.features.values import FEATURES
from rome.storage.files import atomic_path

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner
    from rome.combining.table import FeatureTable
    from rome.metric import RoMe

ROWS = 1 << 16
"""Rows that are written together, at most: one group of the Parquet file."""
BATCH = 1 << 17
"""Rows of a table that are in memory at a time."""
MEASURED = ("score", *FEATURES)
"""The numbers of a segment; a table has no errors, which completeness and faithfulness need."""
SHOWN = ["segment", *MEASURED, "flags"]
"""Columns of a table on a terminal."""


def add_features_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome features`."""
    add_block_arguments(parser)
    output = parser.add_argument("--output", "-o", metavar="FILE.parquet", required=True, help="the table of features to write")
    completes_files(output)


def run_features(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Measure pairs and keep the features in a Parquet file, for `rome rescore`."""
    from rome.combining.table import FeatureTable

    with ended_by_signal(), atomic_path(options.output) as path, checked_blocks(options) as (found, blocks):
        work = partial(_measurer, block_metric(options, metric, found))
        with closing(run_blocks(options, work, blocks, found.count)) as tables:
            FeatureTable.save_batches(path, map(FeatureTable.concat, cut(tables, len, ROWS)))
    report_line(f"{found.count} segments measured: {options.output}")
    return 0


def _measurer(make: Callable[[], RoMe]) -> Callable[[Block], FeatureTable]:
    """Return a function that measures the pairs of a block."""
    metric = make()
    return lambda block: metric.measure_pairs(block.pairs)


def add_rescore_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome rescore`."""
    parser.add_argument("features", metavar="FILE.parquet", help="a table of features, made by `rome features`")
    add_options(parser, "net", "scorer")
    add_output_arguments(parser, *FORMATS)
    add_mean_arguments(parser)


def run_rescore(options: argparse.Namespace, _: MakeMetric) -> int:
    """Combine stored features into scores, without any model but the net of the set that measured them."""
    from rome.combining.combiner import Combiner
    from rome.combining.table import FeatureTable

    combiner, means = named_net(options), Means(measures=MEASURED)
    if combiner is None:  # the net of the model set that measured the features, of the kind that the options name
        first = next(FeatureTable.iter_batches(options.features, 1), None)
        combiner = Combiner.matching("" if first is None else first.signature, scorer=options.scorer)
    lines = _lines(options, combiner)
    write_lines(options, lines, means, combiner.signature, SHOWN, columns(combiner.signature, measures=MEASURED))
    report_mean(options, means)
    return 0


def _lines(options: argparse.Namespace, combiner: Combiner) -> Iterator[Line]:
    """Yield the line of every segment of a stored table, with the best of its references."""
    from rome.combining.table import FeatureTable

    for table in FeatureTable.iter_batches(options.features, BATCH):
        best = combiner.combine(table)
        chosen = table[best.row]
        contributions = combiner.contributions(chosen)
        for row in range(len(best)):
            numbers = [float(best.score[row]), *chosen.values[row].tolist()]
            flags = ",".join(chosen.flags_of(row))
            cells = [int(best.segment[row]), *numbers, *contributions[row].tolist(), int(best.reference[row]), flags]
            yield numbers, _text(options.format, cells, combiner.signature)


def _text(name: str, cells: list[Any], signature: str) -> str:
    """Return the line of one segment; for a table, its cells as JSON."""
    if name == "table":
        return json.dumps([str(cells[0]), *(f"{value:.3f}" for value in cells[1 : len(SHOWN) - 1]), cells[-1]])
    if name == "tsv":
        return tsv_line(cells, signature)
    return json.dumps(dict(zip(columns("", measures=MEASURED), cells, strict=True)) | labels(signature))
