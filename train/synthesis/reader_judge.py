"""The reader of both texts as judge of synthetic mistakes: does a change leave the meaning as it was, and how bad is an edit?

It reads both texts in one row, in the order of their words, so who did what to whom counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp

import numpy as np
from numpy.typing import NDArray

from rome.combining.signature import digest
from rome.evaluation.perturbing import Analyse
from rome.exceptions import ModelMissingError
from rome.features.analyser.config import DEFAULT_SET, EMBEDDED
from rome.features.analyser.identity import file_digest, models_identity
from rome.features.analyser.model_set import layers_below
from rome.features.analyser.pair_reader import PairReader
from rome.features.errors.reader import READER_FILE, WEIGHTS, PairReading, Reader
from rome.features.errors.values import CRITICAL, MAJOR
from rome.features.values import Analysis
from rome.metric import RoMe
from rome.train.synthesis.severities import Edits, Verdict

__all__ = ["HARMLESS", "ReaderJudge", "ReaderRule", "load_reader_judge"]

HARMLESS = 3.0
"""An edit that weighs less is minor: half way between a minor error (1) and a major one (5)."""


class ReaderJudge:
    """Both judgements that synthesis asks for, from one reading of a pair; what a pair gets does not depend on its neighbours.

    analyse : such as ``RoMe().analyse``. identity : of its models and the reader, for the signature.
    """

    def __init__(self, analyse: Analyse, reader: Reader, identity: str = "") -> None:
        self.analyse, self.reader = analyse, reader
        self.signature = f"reader{identity and '@' + identity}"

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n,) probability that the second text has no major error beside the first: exp(-amount / 5).

        What the errors weigh is taken for the expected number of major ones, times the weight of one (Poisson).
        """
        return self.classes(pairs)[:, 0]

    def classes(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n, 3): entailed, as in `probabilities`; contradicted, of the rest the share that critical errors have in the weight; neither."""
        readings = [reading for *_, reading in self._read(pairs)]
        entailed = np.array([exp(-reading.amount / MAJOR) for reading in readings])
        weights = [(reading.probabilities * WEIGHTS).sum(axis=0) for reading in readings]
        turned = np.array([weight[WEIGHTS.index(CRITICAL)] / (weight.sum() or 1.0) for weight in weights])
        contradicted = (1.0 - entailed) * turned
        return np.round(np.stack([entailed, contradicted, 1.0 - entailed - contradicted], axis=1), 6).reshape(-1, 3)

    def weights(self, edits: Edits) -> list[float]:
        """What each edit of a text weighs, carried out alone: the expected weight, in [0, 10], of the worst word that it takes or brings.

        An edit that touches no word of either text weighs 0.
        """
        pairs = [(text, text[: edit.start] + edit.new + text[edit.end :]) for text, edit in edits]
        found = []
        for (_, edit), (before, after, reading) in zip(edits, self._read(pairs), strict=True):
            touched = [*_within(before, edit.start, edit.end), *_within(after, edit.start, edit.start + len(edit.new))]
            costs = reading.probabilities @ np.array(WEIGHTS)
            found.append(round(float(max(costs[touched], default=0.0)), 3))
        return found

    def _read(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[Analysis, Analysis, PairReading]]:
        """Both analyses and the reading of each pair."""
        analyses = self.analyse([text for pair in pairs for text in pair]) if pairs else {}
        known = [(analyses[one], analyses[other]) for one, other in pairs]
        for (one, other), reading in zip(known, self.reader(known), strict=True):
            yield one, other, reading


class ReaderRule:
    """Minor where the worst word of the edit weighs less than ``harmless``."""

    def __init__(self, judge: ReaderJudge, harmless: float = HARMLESS) -> None:
        self.judge, self.harmless = judge, harmless
        self.signature = f"severity:{judge.signature}|harmless:{harmless:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """By the weight of each edit."""
        return [(weight < self.harmless, {"weight": weight}) for weight in self.judge.weights(edits)]


def _within(analysis: Analysis, start: int, end: int) -> list[bool]:
    """For every word whether it shares a character with a place."""
    return [word.start < end and word.end > start for word in analysis.words]


def load_reader_judge(models: str = EMBEDDED, threads: int | None = None) -> ReaderJudge:
    """The judge of a model set: its name or folder, ``embedded`` for the default one.

    Raises ModelMissingError for a set without a reader of both texts.
    """
    metric = RoMe(models=DEFAULT_SET if models == EMBEDDED else models, progress=False, threads=threads)
    own = metric.model_set
    if f"errors/{READER_FILE}" not in own.files:
        raise ModelMissingError(
            f"the model set {own.name} has no reader of both texts: give --entailment FOLDER, a set that has one or a checkpoint that "
            "transformers loads (sescore), or --severity likelihood (sescore2)"
        )
    identity = digest(f"{models_identity(metric.models)},{file_digest(own.folder / 'errors')}")
    return ReaderJudge(metric.analyse, PairReader(own.folder, layers_below(own.folder), threads), identity)
