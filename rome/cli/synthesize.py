"""Synthesize training pairs: texts with known mistakes, by the recipes of SEScore, SEScore2, BLEURT and RoMe."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from rome.cli.metric import MakeMetric, positive
from rome.cli.pairs import ended_by_signal, progress_bar, report_line
from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, named, read_lines

PIPELINES = ("sescore", "sescore2", "bleurt", "rome", "perturbations")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome synthesize`."""
    parser.add_argument("pipeline", choices=PIPELINES, metavar="PIPELINE", help=", ".join(PIPELINES))
    parser.add_argument("texts", metavar="TEXTS", help="text file, one text a line; `-`: standard input")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same bytes (default: 0)")
    parser.add_argument("--limit", type=positive, metavar="N", help="the first N texts only")
    models = parser.add_argument_group("models (embedded, a local folder, or the hub name of a model on this machine)")
    fill = "fills gaps: a masked or sequence-to-sequence language model; sescore draws from several (default: embedded)"
    models.add_argument("--fill", nargs="+", action="extend", metavar="MODEL", help=fill)
    entailment = "judges severity in sescore; a model set too (default: embedded)"
    models.add_argument("--entailment", default="embedded", metavar="MODEL", help=entailment)
    severity = "judges severity in sescore2: a model set, or `likelihood`, the paper's rule, by --fill (default: embedded)"
    models.add_argument("--severity", default="embedded", metavar="SET", help=severity)
    translate = "bleurt: back-translation through two local checkpoints; may be repeated"
    places = ("LANGUAGE", "THERE", "BACK")
    models.add_argument("--translate", nargs=3, action="append", default=[], metavar=places, help=translate)
    models.add_argument("--textattack", metavar="PYTHON", help="rome: the interpreter that has TextAttack (default: this one)")
    models.add_argument("--device", default="cpu", metavar="DEVICE", help="where given models compute (default: cpu)")
    models.add_argument("--threads", type=positive, metavar="N", help="processor threads of the analyser")
    recipe = parser.add_argument_group("recipe")
    recipe.add_argument("--corpus", metavar="FILE", help="sescore2: the texts to retrieve from (default: TEXTS)")
    recipe.add_argument("--index", metavar="FOLDER", help="sescore2: keep the index of the corpus here")
    recipe.add_argument("--each", type=positive, default=4, metavar="N", help="perturbations: pairs a text (default: 4)")
    recipe.add_argument("--most", type=positive, metavar="N", help="most edits a text (default: the recipe's own)")
    output = parser.add_argument_group("output")
    whole = "write JSON lines here, all or nothing (default: standard output)"
    again = "what is finished waits in FILE.partial, where the same command goes on"
    output.add_argument("--output", "-o", metavar="FILE", help=f"{whole}; {again}")
    output.add_argument("--statistics", action="store_true", help="print the distribution of edits, kinds and severities")
    rescale = "count also what a metric, named as in `rome evaluate`, gives the pairs of each label on SEScore2's scale"
    output.add_argument("--rescale", metavar="METRIC", help=rescale)
    help_text = "progress bar (default: only on a terminal)"
    output.add_argument("--progress", action=argparse.BooleanOptionalAction, default=None, help=help_text)


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Make the pairs one after the other, then count them."""
    if options.statistics and options.output is None:
        raise InputError("--statistics counts the pairs of a file: name it with --output FILE.jsonl")
    if options.rescale and not options.statistics:
        raise InputError("--rescale adds a table to --statistics: give both")
    texts, left_out = _texts(options)
    metric = _metric(options) if options.rescale else None
    pipeline = _pipeline(options, texts)
    made, seconds = _made(options, pipeline, texts)
    skipped = Counter(left_out) + Counter(pipeline.skipped)
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(skipped.items()) if number)
    if not (made if options.output is None else Path(options.output).stat().st_size):
        raise InputError(f"{named(options.texts)} gave no pair (skipped: {reasons or 'nothing'}): give longer or other texts")
    if reasons:
        report_line(f"skipped {reasons}")
    if options.statistics:
        _count(options, made, seconds, skipped, metric)
    return 0


def _metric(options: argparse.Namespace) -> Any:
    """The metric to rescale. Raises InputError for one that needs more than texts."""
    from rome.evaluation.metrics.registry import MetricMaker
    from rome.metric import RoMe

    made = MetricMaker(RoMe(progress=options.progress, threads=options.threads), options.progress, options.seed)
    metric = made.make(options.rescale)
    if not hasattr(metric, "score"):
        raise InputError(f"--rescale {options.rescale} has scores of one set alone: name a metric that scores any text")
    return metric


def _texts(options: argparse.Namespace) -> tuple[list[tuple[str, str]], Counter[str]]:
    """(source, text) of each line, the source being ``file:line``; and how many lines were blank or repeated."""
    name = named(options.texts) if options.texts == STANDARD_INPUT else Path(options.texts).name
    seen: set[str] = set()
    left_out: Counter[str] = Counter()
    texts: list[tuple[str, str]] = []
    for number, line in enumerate(read_lines(options.texts), 1):
        text = line.strip()
        if len(texts) == options.limit:
            break
        if not text or text in seen:
            left_out["repeated" if text else "blank"] += 1
        else:
            texts.append((f"{name}:{number}", text))
        seen.add(text)
    if not texts:
        raise InputError(f"{named(options.texts)} holds no text: give one text a line")
    return texts, left_out


def _pipeline(options: argparse.Namespace, texts: list[tuple[str, str]]) -> Any:
    """The pipeline that the options describe."""
    from rome.train.synthesis.registry import SynthesisOptions, make_pipeline

    corpus = [text for _, text in texts]
    if options.corpus is not None:
        corpus = [line.strip() for line in read_lines(options.corpus) if line.strip()]
        if not corpus:
            raise InputError(f"--corpus {options.corpus} holds no text: give one text a line")
    given = {field.name: getattr(options, field.name) for field in fields(SynthesisOptions)}
    given |= {"corpus": corpus, "fill": options.fill or ["embedded"]}
    return make_pipeline(options.pipeline, SynthesisOptions(**given))


def _made(options: argparse.Namespace, pipeline: Any, texts: list[tuple[str, str]]) -> tuple[int, float]:
    """Write the pairs to the output, or print them; how many were new, and the seconds that they took."""
    from rome.train.synthesis.pairs import batches, write_synthetic

    made, begin, kept = 0, time.monotonic(), f"{options.output}.partial"
    done: Iterator[list[Any]]
    if options.output is None:
        done = (list(pipeline.pairs(block, options.seed)) for block in batches(texts, pipeline.block))
    else:
        done = write_synthetic(options.output, pipeline, texts, options.seed)
    try:
        with ended_by_signal(), progress_bar(options.progress, len(texts), unit="text") as bar:
            for pairs in done:
                if options.output is None:
                    sys.stdout.writelines(f"{pair.to_json()}\n" for pair in pairs)
                    sys.stdout.flush()
                made += len(pairs)
                bar.update(min(pipeline.block, len(texts) - bar.n))
    except KeyboardInterrupt:
        if options.output is not None and Path(kept).is_dir():
            report_line(f"what is finished is in {kept}: the same command goes on there")
        raise
    return made, time.monotonic() - begin


def _count(options: argparse.Namespace, made: int, seconds: float, skipped: Counter[str], metric: Any) -> None:
    """Print tables of everything that the file holds."""
    from rome.reports.text import table_text
    from rome.train.synthesis.pairs import read_synthetic
    from rome.train.synthesis.rescaling import rescaled_table
    from rome.train.synthesis.summary import Summary, tables_of

    tables = tables_of(Summary.of(read_synthetic(options.output)), made, seconds, skipped)
    if metric is not None:
        tables.append(rescaled_table(read_synthetic(options.output), metric, options.seed))
    for table in tables:
        print(table_text(table), end="\n\n", flush=True)
