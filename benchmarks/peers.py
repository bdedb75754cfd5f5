"""RoMe beside learned metrics of their real sizes, cold and end to end, in one run with the same threads.

    python benchmarks/peers.py --output benchmarks/results/peers.tsv

BERTScore has the architecture of its default model (roberta-large, 17 of its 24 layers), COMET-22 that of XLM-R large with its estimator
over source, reference and hypothesis; their weights are random, which costs the same (see peer_models.py). Each round takes texts that no
metric has seen, the metrics one after the other; RoMe computes all four features, once with threads in this process and once shared out
to processes of one thread each, as `rome score --workers` does. Ratios are medians of the rounds' own ratios to the faster of the two.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from memory import peak_kib
from result_rows import conditions, write_rows
from speed_texts import Pair, mean_words, pairs, source
from stand_in import StandIn

from rome.evaluation.metrics.registry import MetricMaker
from rome.features.analyser.config import embedded_folder
from rome.features.analyser.identity import arithmetic
from rome.metric import RoMe

COLUMNS = ("metric", "pairs_a_round", "pairs_per_second", "lowest", "highest", "rome_times_as_fast", "aim")
LOADED = 64
ROME = "RoMe, cold, all four features"
SHARED = "RoMe in processes, cold, all four features"
PARTS = 4
"""Of a round, for each process."""
AIMS = {"BERTScore, roberta-large (17 layers)": 20, "COMET-22, XLM-R large (24 layers)": 10}
Work = Callable[[Sequence[Pair]], Any]


def metrics(threads: int, tiny: bool) -> dict[str, Work]:
    """Each metric as a function of pairs, its models loaded; torch is left with so many threads.

    tiny : peers of two narrow layers, and a stand-in for RoMe.
    """
    import torch
    from peer_models import LARGE_17, LARGE_24, TINY, BertScore, Comet, word_pieces

    tokenizer = word_pieces(embedded_folder() / "encoder")
    rome: Any = (StandIn if tiny else RoMe)(threads=threads, progress=False)
    chrf = MetricMaker().make("chrf")
    bert, comet = BertScore(tokenizer, TINY if tiny else LARGE_17), Comet(tokenizer, TINY if tiny else LARGE_24)
    torch.set_num_threads(threads)

    def sides(given: Sequence[Pair]) -> tuple[list[str], list[str]]:
        return [reference for reference, _ in given], [hypothesis for _, hypothesis in given]

    names = list(AIMS)
    return {
        ROME: lambda given: rome.score(references=sides(given)[0], hypotheses=sides(given)[1]),
        names[0]: lambda given: bert.score(*sides(given)),
        # no sources in other languages are read: another text of about that length stands for each, and costs the same
        names[1]: lambda given: comet.score(sides(given)[0][::-1], *sides(given)),
        "chrF2 (sacrebleu), one core": lambda given: chrf.score([[text] for text in sides(given)[0]], sides(given)[1]),
    }


class _InProcess:
    """The metric of a process of its own, made when the process starts."""

    metric: Any = None

    @classmethod
    def begin(cls, tiny: bool) -> None:
        cls.metric = (StandIn if tiny else RoMe)(threads=1, progress=False)

    @classmethod
    def score(cls, given: Sequence[Pair]) -> Any:
        return cls.metric.score(references=[r for r, _ in given], hypotheses=[h for _, h in given])


@contextmanager
def in_processes(number: int, tiny: bool) -> Iterator[Work]:
    """RoMe as a function of pairs that so many processes share; results come back whole, in their order."""
    context = get_context("spawn")
    with ProcessPoolExecutor(number, context, _InProcess.begin, (tiny,)) as pool:

        def work(given: Sequence[Pair]) -> Any:
            size = max(1, -(-len(given) // (PARTS * number)))
            return list(pool.map(_InProcess.score, [given[start : start + size] for start in range(0, len(given), size)]))

        yield work


def rounds(works: dict[str, Work], counts: dict[str, int], times: int) -> dict[str, list[float]]:
    """Pairs a second of each metric in each round, after some pairs to warm up."""
    most = max(counts.values())
    texts = pairs(LOADED + times * most)
    rates: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work(texts[:LOADED])
    for number in range(times):
        chosen = texts[LOADED + number * most :][:most]
        for name, work in works.items():
            begin = time.perf_counter()
            work(chosen[: counts[name]])
            rates[name].append(counts[name] / (time.perf_counter() - begin))
    return rates


def table(rates: dict[str, list[float]], counts: dict[str, int]) -> list[list[object]]:
    """One row a metric."""
    rows: list[list[object]] = []
    fastest = max((ROME, SHARED), key=lambda name: median(rates[name]))
    for name, found in rates.items():
        ratio = None if name in (ROME, SHARED) else median(a / b for a, b in zip(rates[fastest], found, strict=True))
        rows.append([name, counts[name], median(found), min(found), max(found), ratio, AIMS.get(name)])
    return rows


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row a metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300, help="a round, of RoMe and chrF2")
    parser.add_argument("--bertscore-pairs", type=int, default=96, help="a round")
    parser.add_argument("--comet-pairs", type=int, default=48, help="a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tiny", action="store_true", help="small peers and a stand-in for RoMe, to try the script")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    told = conditions(options.threads)
    sizes = (options.pairs, options.pairs, options.bertscore_pairs, options.comet_pairs, options.pairs)
    with in_processes(options.threads, options.tiny) as shared:
        works = {SHARED: shared, **metrics(options.threads, options.tiny)}
        counts = dict(zip(works, sizes, strict=True))
        rates = rounds(works, counts, options.rounds)
    words = mean_words(pairs(LOADED + options.rounds * max(counts.values())))
    peak = peak_kib() / 1024
    notes = [
        f"{source()}, {words:.1f} words a text; {options.rounds} rounds, medians; {told}",
        f"peers with random weights{' of tiny size' if options.tiny else ''} in float32, RoMe in {arithmetic()}; batches of 64 and 16 sorted by "
        "length; the peers' texts are cut by RoMe's tokenizer, whose vocabulary is smaller than theirs",
        f"{options.threads} threads, or {options.threads} processes; all else in one process, peak memory {peak:.0f} MiB",
    ]
    write_rows(options.output, notes, COLUMNS, table(rates, counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
