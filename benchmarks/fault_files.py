"""Faults of outputs, tables and whole runs. `faults.py` defines trials."""

from __future__ import annotations

import gzip
import os
import random
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fault_tools import Child

import rome.batch.blocks
from rome.checks import CheckedPair
from rome.cli import main
from rome.combining.table import FeatureTable
from rome.exceptions import InputError, RomeError
from rome.features.values import FEATURES, Component
from rome.results import Components, Contributions, CorpusScore, SegmentScore
from rome.storage.files import open_output

Trial = Callable[[random.Random, Path], dict[str, int]]
PAIRS, BLOCK, SECONDS = 240, 20, 0.004


def lines(number: int) -> str:
    """Return the text of an output."""
    return f"line {number}\n" * (2000 + number)


def text_in(path: Path) -> str:
    """Return the text in an output."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as stream:
        return stream.read()


def output(limited: bool) -> Trial:
    """Kill a process that writes an output again and again, or limit its size: the file is whole, the last or the next one."""

    def trial(chance: random.Random, folder: Path) -> dict[str, int]:
        path, limit = folder / chance.choice(["out.tsv", "out.tsv.gz"]), chance.randrange(1, 16_000)

        def work(tell: Callable[[int], None]) -> None:
            for number in range(1, 10_000):
                if limited and number == 3:
                    resource.setrlimit(
                        resource.RLIMIT_FSIZE, (limit if path.suffix == ".tsv" else limit // 300, resource.RLIM_INFINITY)
                    )
                try:
                    with open_output(str(path)) as stream:
                        stream.write(lines(number))
                except InputError:
                    return
                tell(number)

        code, finished = Child(work).end(
            None if limited else chance.uniform(0.0, 0.1), writing=not limited and chance.random() < 0.8
        )
        last = max(finished, default=0)
        text = text_in(path) if path.exists() else ""
        allowed = {lines(last) if last else "", *(() if limited else (lines(last + 1),))}
        left = [name for name in os.listdir(folder) if name.endswith(".part")]
        healed = code < 1 and len(left) <= (0 if limited else 1)
        return {"times": 1, "finished": len(finished), "wrong": int(text not in allowed), "healed": int(healed)}

    return trial


@cache
def table() -> FeatureTable:
    """Return a table of features."""
    chance, count = np.random.default_rng(0), 300
    numbers = chance.random((count, 4)), chance.normal(size=(count, 4))
    return FeatureTable(
        np.arange(count), np.zeros(count, int), *numbers, ("a", "b", "", "d"), "x:1", np.ones(count, np.uint32), ("e",)
    )


def table_damaged(change: Callable[[bytes, random.Random], bytes]) -> Trial:
    """Return a trial that changes a table: it is refused by name, or still the same."""

    def trial(chance: random.Random, folder: Path) -> dict[str, int]:
        path = folder / "f.parquet"
        table().save(path)
        path.write_bytes(change(path.read_bytes(), chance))
        try:
            read, said = FeatureTable.load(path), 0
        except RomeError as error:
            read, said = None, int(str(path) in str(error))
        right = said if read is None else int(read == table())
        return {"times": 1, "finished": 1, "missing": int(read is None), "wrong": 1 - right, "said": said, "healed": 1}

    return trial


class Small:
    """Score slowly, without models, and report each block."""

    signature = "rome:small"

    def __init__(self, tell: Callable[[int], None]) -> None:
        self.tell = tell

    def score_pairs(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        """Return scores that depend on the texts."""
        time.sleep(SECONDS)
        self.tell(int(pairs[0].hypothesis.split()[1]) // BLOCK)
        rows = []
        for pair in pairs:
            given, hypothesis = pair.references[0], pair.hypothesis
            value = len(set(given) & set(hypothesis)) / 30
            parts = Components(*(Component(name, value, value, "units") for name in FEATURES))
            rows.append(
                SegmentScore(
                    pair.segment, given, hypothesis, 0, value, parts, Contributions(0, 0, 0, value - 1.0), (), self.signature
                )
            )
        return CorpusScore(tuple(rows), self.signature)


def run(folder: Path, words: list[str]) -> Callable[[Callable[[int], None]], None]:
    """Run `rome score` over all pairs in a child, in small blocks."""

    def work(tell: Callable[[int], None]) -> None:
        rome.batch.blocks.MOST_PAIRS = BLOCK
        made: Any = lambda _: Small(tell)  # noqa: E731
        main(["score", str(folder / "pairs.tsv"), *words], metric=made)

    return work


@cache
def calm(name: str) -> bytes:
    """Return the output of an undisturbed run in a format."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_pairs(folder)
        Child(run(folder, ["--format", name, "--output", str(folder / "out")])).end(None)
        return (folder / "out").read_bytes()


def write_pairs(folder: Path) -> None:
    """Write numbered pairs."""
    lines = "".join(f"the cat sat {n}\thypothesis {n} of a dog\n" for n in range(PAIRS))
    (folder / "pairs.tsv").write_text(f"reference\thypothesis\n{lines}", encoding="utf-8")


def interrupted(chance: random.Random, folder: Path) -> dict[str, int]:
    """End `rome score` up to four times (kill, Ctrl-C, SIGTERM) and resume it: the output is that of an undisturbed run."""
    name, kept, again = chance.choice(["table", "tsv", "json", "jsonl"]), 0, 0
    command = ["--format", name, "--output", str(folder / "out")]
    write_pairs(folder)
    for attempt in range(chance.randint(2, 5)):
        last = attempt == 4 or chance.random() < 0.3
        how = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
        _, begun = Child(run(folder, command)).end(None if last else chance.uniform(0.0, 0.1), how)
        again += len([block for block in begun if block < kept])
        kept = blocks_in(folder / "out.partial")
        if last:
            break
    Child(run(folder, command)).end(None)
    names = set(os.listdir(folder))
    right = (folder / "out").read_bytes() == calm(name)
    return {
        "times": 1,
        "finished": PAIRS // BLOCK,
        "missing": again,
        "wrong": int(not right),
        "healed": int(names == {"out", "pairs.tsv"}),
    }


def blocks_in(path: Path) -> int:
    """Return how many blocks a run has finished so far."""
    return len(list(path.glob("part-*")))
