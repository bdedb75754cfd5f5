"""What bf16 or int8 gives and takes: processor time of every stage in float32 and in it, differences between both scores, agreement with people.

    python benchmarks/precision.py [--precision int8] --output benchmarks/results/precision.tsv

Both metrics read the same pairs cold, some pairs the one and then the other, on one thread; time is the processor's, so that other work on
the machine counts little. Pairs are those of benchmarks/stages.py; agreement and differences are measured on the development sets that are there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from people import JUDGED, Judged
from result_rows import conditions, write_rows
from scipy.stats import kendalltau
from speed_texts import Pair, mean_words, pairs, source
from stages import LOADED, STAGES, clock

from rome.exceptions import RomeError
from rome.features.analyser.model_set import multiplies_bf16
from rome.metric import RoMe

REFERENCE = "float32"
Row = list[object]


def stage_times(metrics: Sequence[RoMe], chosen: Sequence[Pair], at_once: int) -> Iterator[Row]:
    """Milliseconds of each stage, and pairs a second in all, of both metrics."""
    seconds: list[Counter[str]] = [Counter(), Counter()]
    for start in range(0, len(chosen), at_once):
        for own, metric in zip(seconds, metrics, strict=True):
            with clock(STAGES, time.process_time) as counting:
                scores_of(metric, chosen[start : start + at_once])
            own.update(counting.seconds)
    texts = len({text for pair in chosen for text in pair})
    for stage in STAGES:
        number = texts if stage.unit == "text" else len(chosen)
        one, other = (1000 * own[stage.name] / number for own in seconds)
        if one and other:
            yield [f"{stage.name}, ms a {stage.unit}", one, other, f"{one / other:.2f} times"]
    one, other = (len(chosen) / own.total() for own in seconds)
    yield ["all of it, pairs a second", one, other, f"{other / one:.2f} times"]


def scores_of(metric: RoMe, chosen: Sequence[Pair]) -> list[float]:
    """The score of each pair."""
    result = metric.score(references=[r for r, _ in chosen], hypotheses=[h for _, h in chosen])
    return [segment.score for segment in result]


def differences(metrics: Sequence[RoMe], judged: Judged, limit: int | None) -> Iterator[Row]:
    """How far the scores of a development set are apart, how alike both rank it, and how well each follows people."""
    segments = judged.segments(limit)
    one, other = (
        np.array(scores_of(metric, [(segment.references[0], segment.hypothesis) for segment in segments])) for metric in metrics
    )
    apart = np.abs(one - other)
    yield [f"{judged.name}: largest difference of {len(segments)} scores", None, None, float(apart.max())]
    yield [f"{judged.name}: mean difference", None, None, float(apart.mean())]
    yield [f"{judged.name}: Kendall tau-b between both", None, None, float(kendalltau(one, other).statistic)]
    first, second = judged.follows(segments, one), judged.follows(segments, other)
    yield [judged.title, first, second, second - first]


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row a stage, and some a development set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["base", "small"], help="names or folders of model sets")
    parser.add_argument("--precision", default="bf16", choices=("bf16", "int8"), help="beside float32 (default: bf16)")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--before", type=int, default=LOADED, help="pairs before those that count")
    parser.add_argument("--at-once", type=int, default=50, help="pairs that one metric reads before the other has its turn")
    parser.add_argument("--sets", nargs="*", default=["wmt15", "wmt23"], choices=[judged.name for judged in JUDGED])
    parser.add_argument("--limit", type=int, help="segments of each development set")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    told = conditions(1)
    known = pairs(options.before + options.pairs)
    chosen = known[options.before :]
    rows: list[Row] = []
    for models in options.models:
        metrics = [RoMe(models=models, precision=kind, threads=1, progress=False) for kind in (REFERENCE, options.precision)]
        for metric in metrics:
            scores_of(metric, known[: options.before])
        rows += [[Path(models).name, *row] for row in stage_times(metrics, chosen, options.at_once)]
        for judged in (judged for judged in JUDGED if judged.name in options.sets):
            try:
                rows += [[Path(models).name, *row] for row in differences(metrics, judged, options.limit)]
            except RomeError as error:
                print(f"{judged.name} is left out: {error}", file=sys.stderr)
    own = "multiplies bfloat16 itself" if multiplies_bf16() else "does not multiply bfloat16 itself"
    notes = [
        f"{len(chosen)} pairs, {source()}, {mean_words(chosen):.1f} words a text, processor time; the processor {own}; {told}",
        *(f"{judged.title} and differences: development set {judged.name}" for judged in JUDGED if judged.name in options.sets),
    ]
    columns = "models", "what", REFERENCE, options.precision, f"{options.precision} against {REFERENCE}"
    write_rows(options.output, notes, columns, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
