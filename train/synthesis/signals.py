"""BLEURT's pre-training signals (§4.2, table 1) that need no further model: each a few numbers of a pair, with a signature and a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.metrics.peers import LEXICAL, BertScore, library
from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.pairs import SyntheticPair, batches

FLAG = "backtranslation_flag"
"""Column, and key in a pair's own signals: 1 for a pair made by back-translation, 0 otherwise."""
BACK_TRANSLATION = "back-translation"
"""Type of the operations that back-translation made."""
REGRESSION, CLASSES = "regression", "classes"
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Signal:
    """One pre-training task; its columns are learnt together.

    Attributes
    ----------
    columns
        Names of its numbers.
    loss
        Regression or classes (table 1).
    signature
        What made them.
    rows
        Pairs -> (n, columns) float64. A pair's row depends on the pair only.
    """

    name: str
    columns: tuple[str, ...]
    loss: str
    signature: str
    rows: Callable[[Sequence[SyntheticPair]], Rows]


def make_signal(name: str) -> Signal:
    """The signal of that name. Raises ModelMissingError for one whose package is absent, InputError for no such name."""
    if name not in SIGNALS:
        raise InputError(f"{name}: choose a signal among {', '.join(SIGNALS)}")
    return SIGNALS[name]()


def available_signals() -> list[Signal]:
    """Every signal that can be made here."""
    made = []
    for name in SIGNALS:
        with suppress(ModelMissingError):
            made.append(make_signal(name))
    return made


def _texts(pairs: Sequence[SyntheticPair]) -> list[tuple[str, str]]:
    return [(pair.reference, pair.hypothesis) for pair in pairs]


def _bleu() -> Signal:
    signature, function = LEXICAL["bleu"][1]()

    def rows(pairs: Sequence[SyntheticPair]) -> Rows:
        """In [0, 1]; two blank texts are equal."""
        blank = [not any(map(str.split, pair)) for pair in _texts(pairs)]
        scores = np.array(function(_texts(pairs)), dtype=np.float64)
        return np.where(blank, 1.0, np.clip(scores / 100.0, 0.0, 1.0)).reshape(-1, 1)

    return Signal("bleu", ("bleu",), REGRESSION, f"{signature}|scale:1", rows)


def _rouge() -> Signal:
    module = library("rouge_score.rouge_scorer", "rouge-score")
    tokenizer = library("rouge_score.tokenizers", "rouge-score").DefaultTokenizer(use_stemmer=True)
    scorer = module.RougeScorer(["rouge1"], tokenizer=tokenizer)

    def one(reference: str, hypothesis: str) -> tuple[float, float, float]:
        """0 / 0 is decided: texts that both have no word are equal."""
        if not any(map(tokenizer.tokenize, (reference, hypothesis))):
            return 1.0, 1.0, 1.0
        score = scorer.score(reference, hypothesis)["rouge1"]
        return float(score.precision), float(score.recall), float(score.fmeasure)

    def rows(pairs: Sequence[SyntheticPair]) -> Rows:
        return np.array([one(*pair) for pair in _texts(pairs)], dtype=np.float64).reshape(-1, 3)

    signature = f"rouge1:rouge-score|stem:porter|version:{version('rouge-score')}"
    return Signal("rouge", ("rouge_precision", "rouge_recall", "rouge_f1"), REGRESSION, signature, rows)


def _bertscore() -> Signal:
    score = BertScore()
    score.parts([("a", "a")])  # what is missing is said now, not after the first batch

    def rows(pairs: Sequence[SyntheticPair]) -> Rows:
        return np.array(score.parts(_texts(pairs)), dtype=np.float64).reshape(-1, 3)

    columns = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
    return Signal("bertscore", columns, REGRESSION, score.signature.replace(":f1|", ":p,r,f1|", 1), rows)


def _backtranslation() -> Signal:
    def flag(pair: SyntheticPair) -> float:
        """What the pair itself says, else whether one of its operations is a back-translation."""
        return float(pair.signals.get(FLAG, any(step.type == BACK_TRANSLATION for step in pair.operations)))

    def rows(pairs: Sequence[SyntheticPair]) -> Rows:
        return np.array([[flag(pair)] for pair in pairs], dtype=np.float64).reshape(-1, 1)

    return Signal("backtranslation", (FLAG,), CLASSES, "backtranslation:flag", rows)


SIGNALS: dict[str, Callable[[], Signal]] = {
    "bleu": _bleu,
    "rouge": _rouge,
    "bertscore": _bertscore,
    "backtranslation": _backtranslation,
}
"""In the order of table 1."""


def signal_targets(pairs: Sequence[SyntheticPair], signals: Sequence[Signal], *, batch: int = 256) -> dict[str, NDArray[Any]]:
    """A target for each task of multi-task training (section 4.3), by the signal's name: (n, k) float64, or (n,) int64 of a class flag.

    Raises InputError for two pairs of one id.
    """
    ids = {pair.id for pair in pairs}
    if len(ids) < len(pairs):
        raise InputError("two pairs have one id: give each run's pairs ids of their own")
    blocks = list(batches(pairs, batch))
    found = {signal.name: np.concatenate([signal.rows(block) for block in blocks]) for signal in signals}
    flags = {signal.name: found[signal.name][:, 0].astype(np.int64) for signal in signals if signal.loss == CLASSES}
    return {**found, **flags}
