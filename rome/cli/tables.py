"""Score pairs, or keep their features in a table and combine them into scores without any model but the net."""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from importlib.metadata import version
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any

from rome.batch.blocks import Block, Checked, cut
from rome.batch.checkpoint import Checkpoint
from rome.cli.formats import FORMATS, Line, LineScorer, Means, add_mean_arguments, columns, is_file, tsv_line, write_lines
from rome.cli.options import MakeMetric, add_options, add_output_arguments, completes_files, load_at_once, named_net
from rome.cli.pairs import add_block_arguments, block_metric, checked_blocks, ended_by_signal, report_line, run_blocks
from rome.combining.signature import labels
from rome.evaluation.metrics.peers import LEXICAL, lexical
from rome.features.values import FEATURES
from rome.reports.tables import corpus_header
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


def add_score_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome score`."""
    add_block_arguments(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--format", "-f", choices=FORMATS, default="table", help="default: table, as wide as the terminal")
    group.add_argument("--evidence", action="store_true", help="with json and jsonl: the evidence behind every number too")
    output = "write a whole file or none (default: standard output), and report the mean; finished work is kept in FILE.partial"
    completes_files(group.add_argument("--output", "-o", metavar="FILE", help=f"{output}, where the same command continues"))
    metrics = f"scores of other metrics too, of the best reference: {', '.join(LEXICAL)} (ter and cer negated)"
    group.add_argument("--metrics", nargs="+", metavar="METRIC", default=[], help=metrics)
    shown = "with table and tsv: the text of the reference too"
    group.add_argument("--show", nargs="+", choices=("reference",), default=[], help=shown)
    add_mean_arguments(group)


def run_score(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Score pairs: one line per segment with score, components and worst errors, then the means.

    Pairs are read, checked, scored and written block by block, so memory does not grow with their number. With --output, finished blocks are
    kept in the folder FILE.partial until all are done. The same command continues there after an interruption and writes the same bytes.
    """
    means = Means({name: lexical(name).signature for name in options.metrics})
    with ended_by_signal(), ExitStack() as stack:
        kept = None
        if is_file(options.output):
            kept = Checkpoint(f"{os.path.realpath(options.output)}.partial", "jsonl")
            stack.enter_context(kept.alone())
        found, blocks = stack.enter_context(checked_blocks(options))
        make = block_metric(options, metric, found)
        made = make()
        load_at_once(made, options)
        work = partial(LineScorer, make if options.workers > 1 else lambda: made, options, tuple(means.metrics), found)
        if kept is None:
            blockwise: Iterator[list[Line]] = stack.enter_context(closing(run_blocks(options, work, blocks, found.count)))
        else:
            parts = range(_keep(options, work, blocks, found, kept, made.signature))
            blockwise = (json.loads(kept.read(kept.name(number))) for number in parts)
        header = corpus_header(found.notes, metrics=tuple(means.metrics), texts=(*options.show, "hypothesis"))
        names = columns(made.signature, ids=found.ids, metrics=means.metrics, show=options.show)
        write_lines(options, chain.from_iterable(blockwise), means, made.signature, header, names)
        if kept is not None:
            shutil.rmtree(kept.path, ignore_errors=True)
    return 0


def _keep(
    options: argparse.Namespace,
    work: Callable[[], LineScorer],
    blocks: Iterator[Block],
    found: Checked,
    kept: Checkpoint,
    signature: str,
) -> int:
    """Score and keep every block that is not kept yet, and return the number of blocks."""
    run_of = {"version": version("rome-metric"), "pairs": found.digest, "signature": signature}
    finished = kept.begin(run_of | {name: getattr(options, name) for name in ("format", "evidence", "metrics", "show")})
    parts = next(number for number in count() if number not in finished)
    ready = sum(len(block.pairs) for block in islice(blocks, parts))
    if parts:
        report_line(f"{ready} of {found.count} segments are in {kept.path} already: continuing after them")
    with closing(run_blocks(options, work, blocks, found.count, ready)) as done:
        for lines in done:
            kept.write(kept.name(parts), json.dumps(lines, ensure_ascii=False).encode("utf-8"))
            parts += 1
    return parts


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
