"""Metrics without models that other processes can make, for work in blocks, and the command line with one of them as a program."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import rome.batch.blocks
from rome.cli import main
from rome.combining.table import FeatureTable
from rome.exceptions import InputError
from rome.results import CorpusScore

from paced_metric import PacedMetric

SMALL = 100
"""Pairs of a block in tests; interrupting one then takes little time."""


class BlockMetric(PacedMetric):
    """A PacedMetric where "kill" ends the process, as often as the text says."""

    def __init__(self, marks: Path, seconds: float = 0.0) -> None:
        super().__init__(marks, seconds)
        self.marks = marks

    def score(self, *, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> CorpusScore:
        for text in hypotheses:
            if text.startswith("kill") and len(list(self.marks.glob("killed-*"))) < int(text[4:]):
                (self.marks / f"killed-{os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().score(references=references, hypotheses=hypotheses)

    def features(self, *, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> FeatureTable:
        result = self.score(references=references, hypotheses=hypotheses)
        values = np.array([[part.value for part in segment.components] for segment in result])
        return FeatureTable(np.arange(len(values)), np.zeros(len(values), np.int32), values, 3 * values)


def make(_: argparse.Namespace, *, marks: Path, seconds: float = 0.0) -> BlockMetric:
    """What the command line calls; ``marks`` is a folder."""
    return BlockMetric(marks, seconds)


def doubled(marks: Path) -> Callable[[int | str], int | str]:
    """A worker's work: numbers are doubled after leaving a mark, texts say what is to go wrong."""
    (marks / f"{os.getpid()}").touch()
    return partial(_double, marks)


def _double(marks: Path, task: int | str) -> int | str:
    if task == "wrong":
        raise InputError("this one is wrong")
    if isinstance(task, str) and len(list(marks.glob("killed-*"))) < int(task):
        (marks / f"killed-{os.getpid()}-{len(list(marks.iterdir()))}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task * 2


if __name__ == "__main__":  # block_metric.py MARKS SECONDS score ...
    rome.batch.blocks.MOST_PAIRS = SMALL
    sys.exit(main(sys.argv[3:], metric=partial(make, marks=Path(sys.argv[1]), seconds=float(sys.argv[2]))))
