"""BLEURT's pre-training signals (§4.2, table 1): each gives a few numbers per pair and has a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.metrics.peers import LEXICAL, BertScore, library
from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.fillers import RoundTrip
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.severities import EntailmentSeverity

FLAG = "backtranslation_flag"
"""Key in the signals of a pair: 1 for a pair made by back-translation, else 0."""
BACK_TRANSLATION = "back-translation"
"""Type of the operations that back-translation made."""
REGRESSION, CLASSES = "regression", "classes"
Texts = list[tuple[str, str]]
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Signal:
    """One pre-training task.

    Attributes
    ----------
    loss
        Regression or classes (table 1).
    rows
        (n, k) float64 of n pairs; the row of a pair depends on the pair only.
    """

    name: str
    loss: str
    rows: Callable[[Sequence[SyntheticPair]], Rows]


def _regression(name: str, function: Callable[[Texts], Any], width: int) -> Signal:
    """Return a signal of (reference, hypothesis) pairs."""

    def rows(pairs: Sequence[SyntheticPair]) -> Rows:
        texts = [(pair.reference, pair.hypothesis) for pair in pairs]
        return np.array(function(texts), dtype=np.float64).reshape(-1, width)

    return Signal(name, REGRESSION, rows)


def _bleu() -> Signal:
    """Return BLEU in [0, 1]; two blank texts are equal."""
    function = LEXICAL["bleu"][1]()[1]

    def score(texts: Texts) -> Rows:
        blank = [not any(map(str.split, pair)) for pair in texts]
        return np.where(blank, 1.0, np.clip(np.array(function(texts), dtype=np.float64) / 100.0, 0.0, 1.0))

    return _regression("bleu", score, 1)


def _rouge() -> Signal:
    """Return precision, recall and F1 of ROUGE-1; two texts without words are equal."""
    module = library("rouge_score.rouge_scorer", "rouge-score")
    tokenizer = library("rouge_score.tokenizers", "rouge-score").DefaultTokenizer(use_stemmer=True)
    scorer = module.RougeScorer(["rouge1"], tokenizer=tokenizer)

    def one(reference: str, hypothesis: str) -> tuple[float, float, float]:
        if not any(map(tokenizer.tokenize, (reference, hypothesis))):
            return 1.0, 1.0, 1.0
        score = scorer.score(reference, hypothesis)["rouge1"]
        return score.precision, score.recall, score.fmeasure

    return _regression("rouge", lambda texts: [one(*pair) for pair in texts], 3)


def _bertscore() -> Signal:
    """Return precision, recall and F1 of BERTScore."""
    score = BertScore()
    score.parts([("a", "a")])  # reports a missing model now, not after the first batch
    return _regression("bertscore", score.parts, 3)


def _backtranslation() -> Signal:
    """Return the flag of each pair, or if it has none, 1 if one of its operations is a back-translation."""

    def flag(pair: SyntheticPair) -> float:
        return float(pair.signals.get(FLAG, any(step.type == BACK_TRANSLATION for step in pair.operations)))

    return Signal("backtranslation", CLASSES, lambda pairs: np.array([[flag(pair)] for pair in pairs]))


def _entailment(model: str) -> Signal:
    """Return the probabilities of the classes of a classifier, the reference as premise. Raises the errors of load_checkpoint."""
    classes = EntailmentSeverity(model).classes

    def targets(pairs: Sequence[SyntheticPair]) -> NDArray[np.float64]:
        return np.array([[*each.values()] for each in classes([(pair.reference, pair.hypothesis) for pair in pairs])])

    return Signal("entailment", CLASSES, targets)


def _likelihoods(language: str, there: str, back: str) -> list[Signal]:
    """Return the likelihoods of back-translation, of the hypothesis and of the reference. Raises the errors of load_checkpoint."""
    trip = RoundTrip(language, there, back)
    ways: dict[str, Callable[[Texts], Any]] = {
        "hypothesis": lambda texts: [trip.likelihood(one, other) for one, other in texts],
        "reference": lambda texts: [trip.likelihood(other, one) for one, other in texts],
    }
    return [_regression(f"likelihood_{language}_{side}", function, 1) for side, function in ways.items()]


SIGNALS = {"bleu": _bleu, "rouge": _rouge, "bertscore": _bertscore, "backtranslation": _backtranslation}
"""Those that need no further model, in the order of table 1."""


def available_signals(entailment: str = "", translations: Iterable[Sequence[str]] = ()) -> tuple[list[Signal], dict[str, str]]:
    """Return every signal that can be made, and for each other one the reason.

    Raises the errors of load_checkpoint for a model that is named and cannot be used.

    Parameters
    ----------
    entailment
        A classifier: a local folder or the hub name of a model on this machine.
    translations
        (language, model from English, model into English) for the likelihoods of back-translation.
    """
    made, missing = [], {}
    for name, make in SIGNALS.items():
        try:
            made.append(make())
        except ModelMissingError as error:
            missing[name] = str(error)
    likelihoods = [signal for names in translations for signal in _likelihoods(*names)]
    if not likelihoods:
        missing["likelihood"] = "give translation models with --translate LANGUAGE THERE BACK"
    if not entailment:
        missing["entailment"] = "give a classifier with --entailment MODEL"
    return [*made, *likelihoods, *([_entailment(entailment)] if entailment else [])], missing


def signal_targets(pairs: Sequence[SyntheticPair], signals: Sequence[Signal]) -> dict[str, NDArray[Any]]:
    """Return a target for each task of multi-task training (section 4.3) by name: (n, k) float64, or (n,) int64 of a class.

    Raises InputError for two pairs of one id.
    """
    if len({pair.id for pair in pairs}) < len(pairs):
        raise InputError("two pairs have one id: give each run's pairs ids of their own")
    rows = {signal: signal.rows(pairs) for signal in signals}
    return {
        one.name: found[:, 0].astype(np.int64) if one.loss == CLASSES and found.shape[1] == 1 else found
        for one, found in rows.items()
    }
