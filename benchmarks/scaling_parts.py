"""The four questions of scaling.py, each answered by rows: number of pairs, length of texts, number of systems, threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from memory import peak_kib
from speed_texts import Pair, all_pairs, pairs, pairs_of_length, systems
from stages import LOADED, STAGES, profile

from rome.batch.blocks import BlockScorer, cut_blocks
from rome.batch.workers import run_in_order
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.features.values import FEATURES
from rome.storage.pair_files import PairRow

Row = list[object]
Make = Callable[..., Any]
PAIRS = ("from", "pairs", "ms_a_pair", "seconds", "how", "peak_mib")
WORDS = ("kind", "stage", "words", "pairs", "ms_a_pair")
GROWTH = ("kind", "stage", "exponent", "exponent_at_the_end", "ms_a_pair_at_the_end")
SYSTEMS = ("system", "texts_analysed", "ms_a_pair", "own_hypotheses_ms")
PROCESSORS = ("what", "number", "pairs", "pairs_per_second", "times_as_fast")
FITTED_FROM, A_BLOCK, DISTINCT, ROWS = 25, 50, 20_000, 500_000


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def by_number(series: str, sizes: Sequence[int], work: Callable[[int], object], budget: float) -> Iterator[Row]:
    """Milliseconds a pair for each size; sizes that would take longer than ``budget`` seconds are told from the last one measured."""
    a_pair = 0.0
    for size in sorted(sizes):
        measured = a_pair * size <= budget
        seconds = timed(lambda size=size: work(size)) if measured else a_pair * size  # type: ignore[misc]
        a_pair = seconds / size
        peak = peak_kib() / 1024 if measured else None
        yield [series, size, 1000 * a_pair, seconds, "measured" if measured else "extrapolated", peak]


def streamed(scorer: BlockScorer, known: Iterable[Pair], count: int) -> None:
    """Score so many pairs block by block, as `rome score` does: nothing is kept from block to block; pairs come round again."""
    rows = (PairRow([reference], hypothesis, "") for reference, hypothesis in islice(cycle(known), count))
    for block in cut_blocks(rows):
        scorer(block)


def numbers(make: Make, sizes: dict[str, Sequence[int]], folder: Path, budget: float, threads: int) -> Iterator[Row]:
    """Cold, from stored analyses, and from stored features: each in a process of its own, so that none inherits another's peak."""
    store = folder / "analyses.sqlite"
    yield from alone(_cold, partial(make, threads=threads, progress=False), sizes["cold"], budget)
    stored = partial(make, threads=threads, progress=False, store=store)
    alone(_stored, stored, sizes["stored"][:1], float("inf"), fill=True)  # the models are in a process that ends
    yield from alone(_stored, stored, sizes["stored"], budget)
    for count in sizes["features"]:
        FeatureTable.save_batches(str(folder / f"{count}.parquet"), _random_tables(count, Combiner.load().feature_signature))
    yield from alone(_features, folder, sizes["features"], budget)


def alone(work: Callable[..., list[Row]], *given: Any, **named: Any) -> list[Row]:
    """What ``work`` returns in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given, **named).result()


def _cold(make: Make, sizes: Sequence[int], budget: float) -> list[Row]:
    scorer, known = BlockScorer(make), pairs(DISTINCT)
    streamed(scorer, known, LOADED)
    return list(by_number("texts, cold", sizes, partial(streamed, scorer, known), budget))


def _stored(make: Make, sizes: Sequence[int], budget: float, fill: bool = False) -> list[Row]:
    """Pairs whose analyses are stored, after so many that load what is needed. fill : store them, and measure nothing."""
    scorer, known = BlockScorer(make), pairs(sizes[0])
    streamed(scorer, known, len(known) if fill else min(len(known), LOADED))
    return [] if fill else list(by_number("stored analyses", sizes, partial(streamed, scorer, known), budget))


def _features(folder: Path, sizes: Sequence[int], budget: float) -> list[Row]:
    net = Combiner.load()

    def combine(count: int) -> None:
        for table in FeatureTable.iter_batches(str(folder / f"{count}.parquet")):
            net.combine(table)

    combine(min(sizes))
    return list(by_number("stored features", sizes, combine, budget))


def _random_tables(count: int, signature: str) -> Iterator[FeatureTable]:
    chance = np.random.default_rng(0)
    for start in range(0, count, ROWS):
        rows = np.arange(start, min(count, start + ROWS))
        values = chance.random((len(rows), len(FEATURES)))
        yield FeatureTable(rows, np.zeros(len(rows), np.int32), values, values, signature=signature)


def lengths(make: Make, sizes: Sequence[int], words: int) -> Iterator[Row]:
    """Each stage's milliseconds a pair for texts of each length: one long sentence, or sentences of about 25 words; one thread.

    words : of all references of one length together. No text is used twice; what RoMe knows of a word that it has met, it keeps.
    """
    metric = make(threads=1, progress=False)
    profile(metric, pairs(LOADED))
    rows = islice(all_pairs(), LOADED, None)
    for kind in ("one sentence", "several sentences"):
        for length in sizes:
            chosen = pairs_of_length(rows, length, max(3, words // length), one_sentence=kind == "one sentence")
            metric.begin_block()
            counting, seconds = profile(metric, chosen)
            for stage in STAGES:
                if counting.seconds[stage.name]:
                    yield [kind, stage.name, length, len(chosen), 1000 * counting.seconds[stage.name] / len(chosen)]
            yield [kind, "all of it", length, len(chosen), 1000 * seconds / len(chosen)]


def growth(rows: Sequence[Row]) -> Iterator[Row]:
    """How each stage grows with the number of words n: the exponent e of n^e fitted from 25 words on, and between the last two lengths."""
    for kind, stage in dict.fromkeys((row[0], row[1]) for row in rows):
        found = [(float(str(r[2])), float(str(r[4]))) for r in rows if (r[0], r[1]) == (kind, stage)]
        points = np.log([(n, ms) for n, ms in found if n >= FITTED_FROM and ms > 0])
        if len(points) < 2 or len(set(points[:, 0])) < 2:
            yield [kind, stage, None, None, found[-1][1]]
            continue
        (n, ms), (last_n, last_ms) = points[-2:]
        yield [kind, stage, float(np.polyfit(*points.T, 1)[0]), float((last_ms - ms) / (last_n - n)), found[-1][1]]


def shared_references(make: Make, segments: int, count: int, threads: int) -> Iterator[Row]:
    """Each system's cost when one after the other is scored against the same references, and that of hypotheses alone.

    The latter: other hypotheses of the same references are analysed without them and then compared with them, everything being known.
    Both are measured beside each other for every system, now this first and now that. Texts analysed are those that met the models.
    """
    metric = make(threads=threads, progress=False)
    _score(metric, pairs(LOADED))
    metric.begin_block()
    references, outputs = systems(segments, 2 * count)
    with _texts_analysed() as numbers:

        def with_references(texts: list[str]) -> tuple[float, int]:
            numbers.clear()
            return timed(partial(_score, metric, list(zip(references, texts, strict=True)))), sum(numbers)

        def analysed_alone(texts: list[str]) -> float:
            return timed(partial(metric.analyse, texts)) + timed(
                partial(_score, metric, list(zip(references, texts, strict=True)))
            )

        for number in range(1, count + 1):
            given, others = outputs[2 * number - 2 : 2 * number]
            own = analysed_alone(others) if number % 2 == 0 else None
            seconds, analysed = with_references(given)
            own = analysed_alone(others) if own is None else own
            yield [number, analysed, 1000 * seconds / segments, 1000 * own / segments]


@contextmanager
def _texts_analysed() -> Iterator[list[int]]:
    """How many texts each call of the analyser was given, until the end of the block."""
    from rome.features.analyser.analyser import Analyser

    analyse: Any = Analyser.analyse
    numbers: list[int] = []

    def counted(analyser: Any, texts: Sequence[str]) -> Any:
        numbers.append(len(texts))
        return analyse(analyser, texts)

    setattr(Analyser, "analyse", counted)  # noqa: B010
    try:
        yield numbers
    finally:
        setattr(Analyser, "analyse", analyse)  # noqa: B010


def processors(make: Make, threads: Sequence[int], workers: Sequence[int], count: int) -> Iterator[Row]:
    """Pairs a second with threads of one process, and with processes of one thread each; the models are loaded before."""
    known = pairs(LOADED + count)
    first = None
    for number in threads:
        metric = make(threads=number, progress=False)
        seconds = [timed(partial(_score, metric, part)) for part in (known[:LOADED], known[LOADED:])][1]
        first = first or seconds
        yield ["threads", number, count, count / seconds, first / seconds]
    first = None
    for number in workers:
        seconds = _by_workers(make, known, number)
        first = first or seconds
        yield ["processes", number, count, count / seconds, first / seconds]


def _score(metric: Any, given: Sequence[Pair]) -> object:
    return metric.score(references=[r for r, _ in given], hypotheses=[h for _, h in given])


def _by_workers(make: Make, known: Sequence[Pair], number: int) -> float:
    """Seconds that processes need for blocks of pairs, counted from when each has loaded its models and done as many as go before."""
    parts = [known[:LOADED]] * number
    parts += [known[start : start + A_BLOCK] for start in range(LOADED, len(known), A_BLOCK)]
    blocks = [block for part in parts for block in cut_blocks(PairRow([r], h, "") for r, h in part)]
    with closing(run_in_order(partial(BlockScorer, partial(make, threads=1, progress=False)), blocks, workers=number)) as done:
        for _ in range(number):
            next(done)
        return timed(lambda: list(done))
