"""BLEURT's pre-training signals (§4.2, table 1) that need no further model: each a few numbers of a pair, with a signature and a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.metrics.peers import LEXICAL, BertScore, library
from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.pairs import SyntheticPair, batches

__all__ = ["BACK_TRANSLATION", "FLAG", "SIGNALS", "Signal", "SignalTable", "available_signals", "make_signal", "signal_table"]

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


def available_signals() -> tuple[list[Signal], dict[str, str]]:
    """Every signal that can be made here, and for each of the others the reason why not."""
    made: list[Signal] = []
    missing = {}
    for name in SIGNALS:
        try:
            made.append(make_signal(name))
        except ModelMissingError as error:
            missing[name] = str(error)
    return made, missing


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


@dataclass(frozen=True, eq=False)
class SignalTable:
    """The signals of some pairs.

    Attributes
    ----------
    ids
        Of the pairs.
    columns
        Name -> (n,) float64.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Rows]
    signals: Sequence[Signal]

    def targets(self) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
        """A target and a loss for each task of multi-task training (section 4.3): (n, k), or (n,) int64 of a class flag."""
        targets: dict[str, NDArray[Any]] = {}
        for signal in self.signals:
            target = np.stack([self.columns[column] for column in signal.columns], axis=1)
            targets[signal.name] = target[:, 0].astype(np.int64) if signal.loss == CLASSES else target
        return targets, {signal.name: signal.loss for signal in self.signals}


def signal_table(pairs: Iterable[SyntheticPair], signals: Sequence[Signal], *, batch: int = 256) -> SignalTable:
    """All signals of all pairs, in memory. Raises InputError for two pairs of one id or no signal."""
    if not signals or batch < 1:
        raise InputError("no table without a signal and a batch of at least one pair: name one or more signals")
    columns = [column for signal in signals for column in signal.columns]
    rows, seen = [np.zeros((0, len(columns)))], dict[str, None]()
    for block in batches(pairs, batch):
        for pair in block:
            if pair.id in seen:
                raise InputError(f"two pairs have the id {pair.id}: give each run's pairs ids of their own")
            seen[pair.id] = None
        rows.append(np.concatenate([signal.rows(block) for signal in signals], axis=1))
    return SignalTable(tuple(seen), dict(zip(columns, np.concatenate(rows).T, strict=True)), signals)
