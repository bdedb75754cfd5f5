"""Where the time goes: milliseconds of every stage of RoMe, a text or a pair, cold, on one thread.

    python benchmarks/stages.py [--models small] [--precision int8] --output benchmarks/results/stages.tsv

The stages are methods of this repository and of Stanza, wrapped while the benchmark runs; what one calls is taken from its own time, so
the stages add up to the whole. A stage whose methods are no longer there, or no longer called, is named, and its time then stands with the
stage around it.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from result_rows import conditions, write_rows
from speed_texts import Pair, mean_words, pairs, source

from rome.config import MetricConfig
from rome.metric import RoMe

COLUMNS = ("stage", "a", "ms", "share_percent")
LOADED = 150
"""Pairs before those that count: models are loaded, and loops that are only compiled for many texts are compiled."""


@dataclass(frozen=True)
class Stage:
    """A name, what it is counted by (text or pair), and the methods ``module:name`` that do it."""

    name: str
    unit: str
    methods: tuple[str, ...]


def _either(*names: str) -> tuple[str, ...]:
    """Methods of the analyser, ``module:name``; a word alone is a processor of Stanza, which other than the embedded models go through."""
    stanza = {"tokenize": "Tokenize", "mwt": "MWT", "pos": "POS", "lemma": "Lemma", "depparse": "Depparse"}
    return tuple(
        f"stanza.pipeline.{name}_processor:{stanza[name]}Processor.process"
        if name in stanza
        else f"rome.features.analyser.{name}"
        for name in names
    )


STAGES = (
    Stage("check the input", "pair", ("rome.metric:check_pairs",)),
    Stage("sentences and words", "text", _either("parser:Parser.parse", "tokenize", "mwt")),
    Stage("word pieces", "text", _either("encoder:EmbeddedEncoder.encode")),
    Stage("encoder's trunk", "text", _either("encoder:EmbeddedEncoder.read")),
    Stage("tags and trees", "text", _either("trees:TreeReader.read", "trees:TreeHead.parse", "pos", "depparse")),
    Stage("lemmas", "text", _either("lemma")),
    Stage(
        "acceptability",
        "text",
        _either("acceptability:AcceptabilityClassifier.probabilities", "acceptability:Acceptability.probabilities"),
    ),
    Stage("putting analyses together", "text", ("rome.storage.analyses:Analyses.of",)),
    Stage("semantic", "pair", ("rome.features.semantic:Semantic.prepare", "rome.features.semantic:Semantic.compare")),
    Stage("syntax", "pair", ("rome.features.syntax:Syntax.prepare", "rome.features.syntax:Syntax.compare")),
    Stage("grammar", "pair", ("rome.features.grammar:Grammar.prepare", "rome.features.grammar:Grammar.compare")),
    Stage("errors: the reader", "pair", ("rome.features.analyser.pair_reader:PairReader.__call__",)),
    Stage(
        "errors: all else",
        "pair",
        ("rome.features.errors.errors:Errors.prepare", "rome.features.errors.errors:Errors.compare_all"),
    ),
    Stage(
        "combining and contributions",
        "pair",
        ("rome.combining.combiner:Combiner.score_rows", "rome.combining.combiner:Combiner.contributions"),
    ),
    Stage("results and all else", "pair", ("rome.metric:RoMe.score",)),
)


class Clock:
    """Seconds of each stage without those of the stages that it calls; every thread counts its own, and all are added up.

    Parameters
    ----------
    now
        What tells the time; `time.perf_counter` by default.
    """

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        self._now = now or time.perf_counter
        self.seconds: Counter[str] = Counter()
        self.missing: list[str] = []
        self._here, self._lock = threading.local(), threading.Lock()

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Count for this stage until the end of the block, but for what other stages take within."""
        open_stages = self._here.__dict__.setdefault("open", [])
        self._turn(open_stages)
        open_stages.append(name)
        try:
            yield
        finally:
            self._turn(open_stages)
            open_stages.pop()

    def _turn(self, open_stages: list[str]) -> None:
        """Give the time since the last turn to the stage that was running."""
        now = self._now()
        if open_stages:
            with self._lock:
                self.seconds[open_stages[-1]] += now - self._here.since
        self._here.since = now

    def wrapped(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, counted."""

        @wraps(method)
        def counted(*given: Any, **named: Any) -> Any:
            with self.running(name):
                return method(*given, **named)

        return counted


@contextmanager
def clock(stages: Sequence[Stage] = STAGES, now: Callable[[], float] | None = None) -> Iterator[Clock]:
    """Wrap the methods of all stages until the end of the block; `Clock.missing` names the stages of which none is there."""
    counting = Clock(now)
    with ExitStack() as undone:
        for stage in stages:
            found = [place for method in stage.methods for place in _places(method)]
            for owner, name, method in found:
                setattr(owner, name, counting.wrapped(stage.name, method))
                undone.callback(setattr, owner, name, method)
            if not found:
                counting.missing.append(stage.name)
        yield counting


def _places(method: str) -> Iterator[tuple[Any, str, Any]]:
    """Where a method stands by its path: its owner, its name, itself; nothing when it is not there or inherited."""
    module, _, path = method.partition(":")
    *owners, name = path.split(".")
    try:
        owner = import_module(module)
        for each in owners:
            owner = getattr(owner, each)
    except (ImportError, AttributeError):
        return
    if callable(vars(owner).get(name)):
        yield owner, name, vars(owner)[name]


def profile(metric: Any, given: Sequence[Pair], stages: Sequence[Stage] = STAGES) -> tuple[Clock, float]:
    """The clock of one call of ``score`` with these pairs, and its seconds."""
    with clock(stages) as counting:
        begin = time.perf_counter()
        metric.score(references=[reference for reference, _ in given], hypotheses=[hypothesis for _, hypothesis in given])
        return counting, time.perf_counter() - begin


def table(counting: Clock, given: Sequence[Pair], stages: Sequence[Stage] = STAGES) -> list[list[object]]:
    """One row a stage that was called, and the whole a pair; a text that stands in several pairs counts once."""
    texts = len({text for pair in given for text in pair})
    whole = sum(counting.seconds.values()) or 1.0
    rows: list[list[object]] = []
    for stage in stages:
        seconds = counting.seconds[stage.name]
        if seconds:
            number = texts if stage.unit == "text" else len(given)
            rows.append([stage.name, stage.unit, 1000 * seconds / number, 100 * seconds / whole])
    return [*rows, ["all of it", "pair", 1000 * whole / len(given), 100.0]]


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row a stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--before", type=int, default=LOADED, help="pairs before those that count")
    parser.add_argument("--models", default=MetricConfig.models, help="the model set (default: %(default)s)")
    parser.add_argument("--precision", default=MetricConfig.precision, help="of the models' products (default: %(default)s)")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    told = conditions(1)
    metric = RoMe(models=options.models, precision=options.precision, threads=1, progress=False)
    known = pairs(options.before + options.pairs)
    profile(metric, known[: options.before])
    chosen = known[options.before :]
    counting, seconds = profile(metric, chosen)
    read = f"{len(chosen)} pairs, {source()}, {mean_words(chosen):.1f} words a text"
    notes = [f"{options.models} in {options.precision}; {read}; {told}; {seconds:.1f} s in all"]
    gone = [stage.name for stage in STAGES if not counting.seconds[stage.name]]
    notes += [f"not found, so counted with what is around them: {', '.join(gone)}"] if gone else []
    write_rows(options.output, notes, COLUMNS, table(counting, chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
