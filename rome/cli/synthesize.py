"""Synthesize training pairs: texts with known mistakes, by the recipes of SEScore, SEScore2, BLEURT and RoMe."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rome.cli.options import MakeMetric, add_options, positive
from rome.cli.pairs import ended_by_signal, progress_bar, report_line
from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, named, read_lines


def _sescore(options: argparse.Namespace) -> Any:
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.sescore import SEScorePipeline, SEScoreSettings

    fillers = [load_filler(spec, options.device) for spec in options.fill]
    return SEScorePipeline(fillers, _severity(options, "embedded"), SEScoreSettings(**_given(most_edits=options.most)))


def _sescore2(options: argparse.Namespace) -> Any:
    from rome.train.synthesis.sescore2 import SentenceIndex, SentenceVectors, SEScore2Pipeline, SEScore2Settings

    severities = _severity(options, "likelihood")
    settings = SEScore2Settings(**_given(most=options.most, margin=options.margin))
    return SEScore2Pipeline(SentenceIndex(options.corpus, SentenceVectors()), severities, settings)


def _bleurt(options: argparse.Namespace) -> Any:
    from rome.train.synthesis.bleurt import BleurtPipeline
    from rome.train.synthesis.fillers import RoundTrip, load_filler

    trips = [RoundTrip(language, there, back) for language, there, back in options.translate]
    return BleurtPipeline(load_filler(options.fill[0], options.device), trips, **_given(masks=options.most))


def _rome(options: argparse.Namespace) -> Any:
    from rome.train.common.textattack import Perturber, trunk_vocabulary
    from rome.train.synthesis.perturbed_pairs import TextAttackPipeline

    perturber = Perturber(trunk_vocabulary(), python=options.textattack)
    return TextAttackPipeline(perturber, _severity(options, "embedded"), **_given(most=options.most))


def _perturbations(options: argparse.Namespace) -> Any:
    from rome.combining.signature import digest
    from rome.features.analyser.model_set import models_identity
    from rome.metric import RoMe
    from rome.train.synthesis.perturbed_pairs import PerturbationPipeline

    metric = RoMe(progress=False, threads=options.threads)
    return PerturbationPipeline(metric.analyse, digest(models_identity(metric.models)), **_given(each=options.most))


def _severity(options: argparse.Namespace, default: str) -> Any:
    """Return what judges severity; the default is that of a pipeline."""
    from rome.train.synthesis.severities import load_severity

    thresholds = _given(gamma=options.gamma, weight=options.weight)
    return load_severity(options.severity or default, options.fill[0], options.device, options.threads, **thresholds)


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that were given, as keywords; for the others a recipe has its own numbers."""
    return {name: value for name, value in options.items() if value is not None}


PIPELINES: dict[str, Callable[[argparse.Namespace], Any]] = {
    "sescore": _sescore,
    "sescore2": _sescore2,
    "bleurt": _bleurt,
    "rome": _rome,
    "perturbations": _perturbations,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome synthesize`."""
    parser.add_argument("pipeline", choices=tuple(PIPELINES), metavar="PIPELINE", help=", ".join(PIPELINES))
    parser.add_argument("texts", metavar="TEXTS", help="text file, one text per line; `-`: standard input")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same bytes (default: 0)")
    parser.add_argument("--limit", type=positive, metavar="N", help="the first N texts only")
    models = parser.add_argument_group("models (embedded, a local folder, or the hub name of a model on this machine)")
    fill = "fills gaps: a masked or sequence-to-sequence language model; sescore draws from several (default: embedded)"
    models.add_argument("--fill", nargs="+", action="extend", metavar="MODEL", help=fill)
    severity = (
        "judges severity in sescore, sescore2 and rome: the reader of a model set (embedded: the default set), `likelihood` (SEScore2's "
        "rule, by --fill), or a checkpoint fine-tuned on entailment (SEScore's rule; default: embedded, in sescore2 likelihood)"
    )
    models.add_argument("--severity", metavar="MODEL", help=severity)
    translate = "bleurt: back-translation through two local checkpoints; may be repeated"
    places = ("LANGUAGE", "THERE", "BACK")
    models.add_argument("--translate", nargs=3, action="append", default=[], metavar=places, help=translate)
    models.add_argument("--textattack", metavar="PYTHON", help="rome: the interpreter that has TextAttack (default: this one)")
    models.add_argument("--device", default="cpu", metavar="DEVICE", help="where given models compute (default: cpu)")
    models.add_argument("--threads", type=positive, metavar="N", help="processor threads of the analyser")
    recipe = parser.add_argument_group("recipe")
    recipe.add_argument("--corpus", metavar="FILE", help="sescore2: the texts to retrieve from (default: TEXTS)")
    most = "most edits per text; perturbations: most pairs per text (default: the recipe's own)"
    recipe.add_argument("--most", type=positive, metavar="N", help=most)
    gamma = "least likelihood (default: 0.01) or probability of entailment (0.9) of a minor edit"
    recipe.add_argument("--gamma", type=float, metavar="P", help=gamma)
    weight = "inverse document frequency from which a deleted word is a major error, with --severity likelihood (default: 1)"
    recipe.add_argument("--lambda", type=float, dest="weight", metavar="W", help=weight)
    margin = "sescore2: least margin of a similar text, how much nearer it is than neighbours are on average (default: 1.06)"
    recipe.add_argument("--margin", type=float, metavar="M", help=margin)
    output = parser.add_argument_group("output")
    whole = "write JSON lines here, all or nothing (default: standard output)"
    again = "finished pairs are kept in FILE.partial, where the same command continues"
    output.add_argument("--output", "-o", metavar="FILE", help=f"{whole}; {again}")
    statistics = "print how often kinds and types occur, and histograms of the numbers behind severities"
    output.add_argument("--statistics", action="store_true", help=statistics)
    rescale = "add the scores of a metric, named as in `rome evaluate`, for the pairs of each label on SEScore2's scale"
    output.add_argument("--rescale", metavar="METRIC", help=rescale)
    add_options(output, "progress")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Make the pairs one after the other, then count them."""
    if options.statistics and options.output is None:
        raise InputError("--statistics counts the pairs of a file: name it with --output FILE.jsonl")
    if options.rescale and not options.statistics:
        raise InputError("--rescale adds a table to --statistics: give both")
    texts, left_out = _texts(options)
    metric = _metric(options) if options.rescale else None
    options.corpus, options.fill = _corpus(options, texts), options.fill or ["embedded"]
    pipeline = PIPELINES[options.pipeline](options)
    made = _made(options, pipeline, texts)
    skipped = Counter(left_out) + Counter(pipeline.skipped)
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(skipped.items()) if number)
    if not (made if options.output is None else Path(options.output).stat().st_size):
        raise InputError(f"{named(options.texts)} gave no pair (skipped: {reasons or 'nothing'}): give longer or other texts")
    if reasons:
        report_line(f"skipped {reasons}")
    if options.statistics:
        _count(options, skipped, metric)
    return 0


def _metric(options: argparse.Namespace) -> Any:
    """Return the metric to rescale. Raises InputError for one that needs more than texts."""
    from rome.evaluation.metrics.registry import MetricMaker
    from rome.metric import RoMe

    made = MetricMaker(RoMe(progress=options.progress, threads=options.threads), options.progress, options.seed)
    metric = made.make(options.rescale)
    if not hasattr(metric, "score"):
        raise InputError(f"--rescale {options.rescale} has scores of one set alone: name a metric that scores any text")
    return metric


def _texts(options: argparse.Namespace) -> tuple[list[tuple[str, str]], Counter[str]]:
    """Return (source, text) of each line, with ``file:line`` as source, and the numbers of blank and repeated lines."""
    name = named(options.texts) if options.texts == STANDARD_INPUT else Path(options.texts).name
    sources: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for number, line in enumerate(read_lines(options.texts), 1):
        text = line.strip()
        if len(sources) == options.limit:
            break
        if not text or text in sources:
            left_out["repeated" if text else "blank"] += 1
        else:
            sources[text] = f"{name}:{number}"
    if not sources:
        raise InputError(f"{named(options.texts)} holds no text: give one text per line")
    return [(source, text) for text, source in sources.items()], left_out


def _corpus(options: argparse.Namespace, texts: Sequence[tuple[str, str]]) -> list[str]:
    """Return the texts to retrieve from."""
    if options.corpus is None:
        return [text for _, text in texts]
    corpus = [line.strip() for line in read_lines(options.corpus) if line.strip()]
    if not corpus:
        raise InputError(f"--corpus {options.corpus} holds no text: give one text per line")
    return corpus


def _made(options: argparse.Namespace, pipeline: Any, texts: list[tuple[str, str]]) -> int:
    """Write the pairs to the output, or print them; return how many were new."""
    from rome.train.synthesis.pairs import batches, write_synthetic

    made, kept = 0, f"{options.output}.partial"
    done: Iterator[list[Any]] = (list(pipeline.pairs(block, options.seed)) for block in batches(texts, pipeline.block))
    if options.output is not None:
        done = write_synthetic(options.output, pipeline, texts, options.seed)
    try:
        with ended_by_signal(), progress_bar(options.progress, len(texts), unit="text") as bar:
            for pairs in done:
                if options.output is None:
                    print("".join(f"{pair.to_json()}\n" for pair in pairs), end="", flush=True)
                made += len(pairs)
                bar.update(min(pipeline.block, len(texts) - bar.n))
    except KeyboardInterrupt:
        if options.output is not None and Path(kept).is_dir():
            report_line(f"finished pairs are in {kept}: the same command continues there")
        raise
    return made


def _count(options: argparse.Namespace, skipped: Counter[str], metric: Any) -> None:
    """Print tables of all pairs of the file."""
    from rome.reports.text import table_text
    from rome.train.synthesis.pairs import read_synthetic
    from rome.train.synthesis.statistics import rescaled_table, tables_of

    pairs = list(read_synthetic(options.output))
    tables = tables_of(pairs, skipped)
    if metric is not None:
        tables.append(rescaled_table(pairs, metric, options.seed))
    for table in tables:
        print(table_text(table), end="\n\n", flush=True)
