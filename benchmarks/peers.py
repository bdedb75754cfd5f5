"""RoMe's model sets beside learned metrics of their real sizes, end to end, in one run with the same threads.

    python benchmarks/peers.py --output benchmarks/results/peers.tsv [--models base small]

BERTScore has the architecture of its default model (roberta-large, 17 of its 24 layers), COMET-22 that of XLM-R large with its estimator
over source, reference and hypothesis; their weights are random, which costs the same (see peer_models.py). Each round takes texts that no
metric has seen, the metrics one after the other. RoMe computes all four features, cold and from analyses that were stored before the
clock starts, either with threads in this process and shared out to processes of one thread each, as `rome score --workers` does; once more
with `precision="bf16"`. Ratios are medians of the rounds' own ratios.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from memory import peak_kib
from result_rows import conditions, write_rows
from speed_texts import Pair, mean_words, pairs, source

from rome.evaluation.metrics.registry import MetricMaker
from rome.features.analyser.config import SETS, set_folder
from rome.metric import RoMe

COLUMNS = (
    *("metric", "models", "mode", "pairs_a_round", "pairs_per_second", "lowest", "highest"),
    *("times_bertscore", "times_comet"),
)
PRECISIONS = ("float32", "bf16")
LOADED = 64
BERTSCORE, COMET = "BERTScore, roberta-large (17 layers)", "COMET-22, XLM-R large (24 layers)"
PARTS = 4
"""Of a round, for each process."""
Work = Callable[[Sequence[Pair]], Any]


@dataclass(frozen=True)
class Contender:
    """Hold a metric whose models are loaded.

    Attributes
    ----------
    models, mode
        Of RoMe, empty for a peer.
    pairs
        Pairs per round.
    work, prepare
        Called with the pairs of a round; only work is timed.
    """

    metric: str
    models: str
    mode: str
    pairs: int
    work: Work
    prepare: Work = lambda given: None


def sides(given: Sequence[Pair]) -> tuple[list[str], list[str]]:
    """Return references and hypotheses."""
    return [reference for reference, _ in given], [hypothesis for _, hypothesis in given]


def scoring(rome: Any) -> Work:
    """Return RoMe as a function of pairs."""

    def work(given: Sequence[Pair]) -> Any:
        references, hypotheses = sides(given)
        return rome.score(references=references, hypotheses=hypotheses)

    return work


@contextmanager
def of_set(models: str, precision: str, count: int, threads: int) -> Iterator[list[Contender]]:
    """Yield RoMe with one model set in its four modes."""
    before = "" if precision == "float32" else f"{precision}, "
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "analyses.sqlite"
        options = {"models": models, "precision": precision, "progress": False}
        filler = made(options, threads, store)
        with in_processes(threads, (options, 1), store) as (cold_shared, stored_shared):
            modes = (
                ("cold", scoring(made(options, threads)), False),
                ("cold, in processes", cold_shared, False),
                ("stored analyses", scoring(made(options, threads, store)), True),
                ("stored analyses, in processes", stored_shared, True),
            )
            yield [
                Contender("RoMe", models, f"{before}{mode}", count, work, *([filling(filler)] if stored else []))
                for mode, work, stored in modes
            ]


def made(options: Mapping[str, Any], threads: int, store: Path | None = None) -> RoMe:
    """Return a metric, with a store or without."""
    return RoMe(**options, threads=threads, store=store)


def filling(rome: Any) -> Work:
    """Return a function that stores the analyses of pairs."""
    return lambda given: rome.analyse(sum(sides(given), []))


def peers(threads: int, counts: tuple[int, int, int]) -> list[Contender]:
    """Return BERTScore, COMET and chrF2 with their numbers of pairs per round; torch keeps this number of threads."""
    import torch
    from peer_models import LARGE_17, LARGE_24, BertScore, Comet, word_pieces

    tokenizer = word_pieces(set_folder("small") / "encoder")
    chrf = MetricMaker().make("chrf")
    bert, comet = BertScore(tokenizer, LARGE_17), Comet(tokenizer, LARGE_24)
    torch.set_num_threads(threads)
    works: tuple[tuple[str, Work], ...] = (
        (BERTSCORE, lambda given: bert.score(*sides(given))),
        # no sources in other languages are read: another text of about that length stands for each, and costs the same
        (COMET, lambda given: comet.score(sides(given)[0][::-1], *sides(given))),
        ("chrF2 (sacrebleu), one core", lambda given: chrf.score([[text] for text in sides(given)[0]], sides(given)[1])),
    )
    return [Contender(name, "", "", count, work) for (name, work), count in zip(works, counts, strict=True)]


class _InProcess:
    """Hold the metrics of a worker process, made when it starts: without a store, and with one."""

    works: ClassVar[list[Work]]

    @classmethod
    def begin(cls, metric: tuple[Any, ...], store: Path) -> None:
        cls.works = [scoring(made(*metric)), scoring(made(*metric, store))]

    @classmethod
    def score(cls, stored: bool, given: Sequence[Pair]) -> Any:
        return cls.works[stored](given)


@contextmanager
def in_processes(number: int, metric: tuple[Any, ...], store: Path) -> Iterator[list[Work]]:
    """Yield RoMe without the store and with it, as functions of pairs that several processes share."""
    with ProcessPoolExecutor(number, get_context("spawn"), _InProcess.begin, (metric, store)) as pool:

        def work(stored: bool, given: Sequence[Pair]) -> Any:
            size = max(1, -(-len(given) // (PARTS * number)))
            parts = [given[start : start + size] for start in range(0, len(given), size)]
            return list(pool.map(_InProcess.score, [stored] * len(parts), parts))

        yield [partial(work, False), partial(work, True)]


def rounds(contenders: Sequence[Contender], times: int) -> list[list[float]]:
    """Return pairs per second of each contender in each round, after some pairs to warm up."""
    most = max(each.pairs for each in contenders)
    texts = pairs(LOADED + times * most)
    rates: list[list[float]] = [[] for _ in contenders]
    for each in contenders:
        each.prepare(texts[:LOADED])
        each.work(texts[:LOADED])
    for number in range(times):
        for each, found in zip(contenders, rates, strict=True):
            chosen = texts[LOADED + number * most :][: each.pairs]
            each.prepare(chosen)
            begin = time.perf_counter()
            each.work(chosen)
            found.append(each.pairs / (time.perf_counter() - begin))
    return rates


def table(contenders: Sequence[Contender], rates: Sequence[Sequence[float]]) -> list[list[object]]:
    """Return one row per contender, with its speed relative to each learned peer."""
    of_peer = {each.metric: found for each, found in zip(contenders, rates, strict=True)}
    rows: list[list[object]] = []
    for each, found in zip(contenders, rates, strict=True):
        ratios = [median(a / b for a, b in zip(found, of_peer[peer], strict=True)) for peer in (BERTSCORE, COMET)]
        rows.append([each.metric, each.models, each.mode, each.pairs, median(found), min(found), max(found), *ratios])
    return rows


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row per contender."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(SETS), help="RoMe's model sets (default: all)")
    parser.add_argument("--precision", nargs="+", default=list(PRECISIONS), choices=PRECISIONS, help="of RoMe (default: all)")
    parser.add_argument("--pairs", type=int, default=300, help="a round, of RoMe and chrF2")
    parser.add_argument("--bertscore-pairs", type=int, default=96, help="a round")
    parser.add_argument("--comet-pairs", type=int, default=48, help="a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    machine = conditions(options.threads)
    with ExitStack() as stack:
        sizes = options.pairs, options.threads
        own = [stack.enter_context(of_set(name, kind, *sizes)) for name in options.models for kind in options.precision]
        others = peers(options.threads, (options.bertscore_pairs, options.comet_pairs, options.pairs))
        contenders = [*sum(own, []), *others]
        rates = rounds(contenders, options.rounds)
    words = mean_words(pairs(LOADED + options.rounds * max(each.pairs for each in contenders)))
    peak = peak_kib() / 1024
    notes = [
        f"{source()}, {words:.1f} words per text; {options.rounds} rounds, medians; {machine}",
        "peers with random weights in float32, RoMe too where no bf16 is named; "
        "batches of 64 and 16 sorted by length; the peers' texts are cut by RoMe's tokenizer, whose vocabulary is smaller than theirs",
        f"{options.threads} threads, or {options.threads} processes; all else in one process, peak memory {peak:.0f} MiB",
    ]
    write_rows(options.output, notes, COLUMNS, table(contenders, rates))
    return 0


if __name__ == "__main__":
    sys.exit(main())
