"""BLEURT's pre-training signals (§4.2, table 1): each a few numbers of a pair, with a signature and the loss that suits it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.metrics.peers import LEXICAL, BertScore, library
from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.pairs import GeneratedPair

if TYPE_CHECKING:
    from rome.train.synthesis.severities import Entailment
    from rome.train.synthesis.translation import RoundTrip

__all__ = [
    "BACK_TRANSLATION",
    "FLAG",
    "SIGNALS",
    "Signal",
    "SignalSources",
    "SignalTable",
    "available_signals",
    "make_signals",
    "signal_table",
]

SIGNALS = ("bleu", "rouge", "bertscore", "likelihood", "entailment", "backtranslation")
"""The six types of table 1, in its order."""
FLAG = "backtranslation_flag"
"""Column, and key in a pair's own signals: 1 for a pair made by back-translation, 0 otherwise."""
BACK_TRANSLATION = "back-translation"
"""Type of the operations that back-translation made."""
REGRESSION, CLASSES = "regression", "classes"
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Signal:
    """One pre-training task.

    Attributes
    ----------
    columns
        Names of its numbers.
    loss
        Regression or classes (table 1).
    signature
        What made them.
    joint
        Whether the columns are one task (the loss is their mean) or a task each, as the likelihoods are.
    rows
        Pairs -> (n, columns) float64, NaN where a text is too long for a model. A pair's row depends on the pair only.
    """

    name: str
    columns: tuple[str, ...]
    loss: str
    signature: str
    rows: Callable[[Sequence[GeneratedPair]], Rows]
    joint: bool = True


@dataclass(frozen=True, slots=True)
class SignalSources:
    """The models that signals are made with.

    Attributes
    ----------
    round_trips
        One a language, for the likelihoods.
    entailment
        Probabilities of pairs of texts (`rome.train.synthesis.severities`).
    encoder, layer
        Of BERTScore, "" for the embedded one.
    rouge
        Rouge1, rouge2 or rougeL (the paper says ROUGE-N).
    """

    round_trips: Sequence[RoundTrip] = ()
    entailment: Entailment | None = None
    encoder: str = ""
    layer: int | None = None
    rouge: str = "rouge1"


def make_signals(names: Sequence[str] = SIGNALS, sources: SignalSources | None = None) -> list[Signal]:
    """The named signals, in the order named. Raises ModelMissingError for one whose model or package is absent, InputError for no such name."""
    unknown = [name for name in names if name not in _MAKERS]
    if unknown or len(set(names)) < len(names):
        raise InputError(f"{', '.join(unknown or names)}: choose signals, each once, among {', '.join(SIGNALS)}")
    return [signal for name in names for signal in _MAKERS[name](sources or SignalSources())]


def available_signals(sources: SignalSources | None = None) -> tuple[list[Signal], dict[str, str]]:
    """Every signal that can be made here, and for each of the others the reason why not."""
    made: list[Signal] = []
    missing = {}
    for name in SIGNALS:
        try:
            made += make_signals([name], sources)
        except ModelMissingError as error:
            missing[name] = str(error)
    return made, missing


def _texts(pairs: Sequence[GeneratedPair]) -> list[tuple[str, str]]:
    return [(pair.reference, pair.hypothesis) for pair in pairs]


def _bleu(_: SignalSources) -> list[Signal]:
    signature, function = LEXICAL["bleu"][1]()

    def rows(pairs: Sequence[GeneratedPair]) -> Rows:
        """In [0, 1]; two blank texts are equal."""
        blank = [not any(map(str.split, pair)) for pair in _texts(pairs)]
        scores = np.array(function(_texts(pairs)), dtype=np.float64)
        return np.where(blank, 1.0, np.clip(scores / 100.0, 0.0, 1.0)).reshape(-1, 1)

    return [Signal("bleu", ("bleu",), REGRESSION, f"{signature}|scale:1", rows)]


def _rouge(sources: SignalSources) -> list[Signal]:
    kind = sources.rouge
    module = library("rouge_score.rouge_scorer", "rouge-score")
    tokenizer = library("rouge_score.tokenizers", "rouge-score").DefaultTokenizer(use_stemmer=True)
    if kind not in ("rougeL", *(f"rouge{n}" for n in range(1, 10))):
        raise InputError(f"there is no ROUGE {kind!r}: choose rouge1, rouge2 or rougeL")
    scorer = module.RougeScorer([kind], tokenizer=tokenizer)
    order = int(kind[5:]) if kind[5:].isdigit() else 1

    def one(reference: str, hypothesis: str) -> tuple[float, float, float]:
        """0 / 0 is decided: texts that both have no n-gram are equal."""
        if all(len(tokenizer.tokenize(text)) < order for text in (reference, hypothesis)):
            return 1.0, 1.0, 1.0
        score = scorer.score(reference, hypothesis)[kind]
        return float(score.precision), float(score.recall), float(score.fmeasure)

    def rows(pairs: Sequence[GeneratedPair]) -> Rows:
        return np.array([one(*pair) for pair in _texts(pairs)], dtype=np.float64).reshape(-1, 3)

    signature = f"{kind}:rouge-score|stem:porter|version:{version('rouge-score')}"
    return [Signal("rouge", ("rouge_precision", "rouge_recall", "rouge_f1"), REGRESSION, signature, rows)]


def _bertscore(sources: SignalSources) -> list[Signal]:
    score = BertScore(sources.encoder, sources.layer)
    score.parts([("a", "a")])  # what is missing is said now, not after the first batch

    def rows(pairs: Sequence[GeneratedPair]) -> Rows:
        return np.array(score.parts(_texts(pairs)), dtype=np.float64).reshape(-1, 3)

    columns = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
    return [Signal("bertscore", columns, REGRESSION, score.signature.replace(":f1|", ":p,r,f1|", 1), rows)]


def _likelihood(sources: SignalSources) -> list[Signal]:
    if not sources.round_trips:
        raise ModelMissingError(
            "the back-translation likelihood needs translation checkpoints there and back: give two local folders a language"
        )
    return [_likelihood_of(trip) for trip in sources.round_trips]


def _likelihood_of(trip: RoundTrip) -> Signal:
    """Both directions of one language: P(hypothesis | reference), then P(reference | hypothesis)."""

    def rows(pairs: Sequence[GeneratedPair]) -> Rows:
        references, hypotheses = [pair.reference for pair in pairs], [pair.hypothesis for pair in pairs]
        return np.stack([trip.likelihood(references, hypotheses), trip.likelihood(hypotheses, references)], axis=1)

    name = f"likelihood_{trip.language}"
    return Signal(
        name, (f"{name}_hypothesis", f"{name}_reference"), REGRESSION, f"{trip.signature}|per:token", rows, joint=False
    )


def _entailment(sources: SignalSources) -> list[Signal]:
    model = sources.entailment
    if model is None:
        raise ModelMissingError("the entailment signal needs a model of entailment: give SignalSources(entailment=...)")
    of, names = model.classes, ("entail", "contradict", "neutral")
    columns = tuple(f"entailment_{name}" for name in (names if of is not None else names[:1]))
    function = model.probabilities if of is None else of

    def rows(pairs: Sequence[GeneratedPair]) -> Rows:
        """Whether the reference entails the hypothesis."""
        return np.asarray(function(_texts(pairs)), dtype=np.float64).reshape(-1, len(columns))

    loss = REGRESSION if of is None else CLASSES
    return [Signal("entailment", columns, loss, f"entailment:{model.signature}|premise:reference", rows)]


def _backtranslation(_: SignalSources) -> list[Signal]:
    def flag(pair: GeneratedPair) -> float:
        """What the pair itself says, else whether one of its operations is a back-translation."""
        return float(pair.signals.get(FLAG, any(step.type == BACK_TRANSLATION for step in pair.operations)))

    def rows(pairs: Sequence[GeneratedPair]) -> Rows:
        return np.array([[flag(pair)] for pair in pairs], dtype=np.float64).reshape(-1, 1)

    return [Signal("backtranslation", (FLAG,), CLASSES, "backtranslation:flag", rows)]


_MAKERS: dict[str, Callable[[SignalSources], list[Signal]]] = {
    "bleu": _bleu,
    "rouge": _rouge,
    "bertscore": _bertscore,
    "likelihood": _likelihood,
    "entailment": _entailment,
    "backtranslation": _backtranslation,
}


@dataclass(frozen=True, eq=False)
class SignalTable:
    """

    Attributes
    ----------
    ids
        Of the pairs.
    columns
        Name -> (n,) float64.
    signals
        Signal name -> its columns, loss, joint and signature.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Rows]
    signals: Mapping[str, Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.ids)

    def targets(self) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
        """A target and a loss for each task of multi-task training (section 4.3).

        A joint signal is one task with a (n, k) target, any other a task a column; a class flag becomes (n,) int64.
        """
        targets: dict[str, NDArray[Any]] = {}
        losses: dict[str, str] = {}
        for name, about in self.signals.items():
            parts = {name: about["columns"]} if about["joint"] else {column: [column] for column in about["columns"]}
            for task, columns in parts.items():
                target = np.stack([self.columns[column] for column in columns], axis=1)
                flag = about["loss"] == CLASSES and len(columns) == 1
                targets[task], losses[task] = (target[:, 0].astype(np.int64) if flag else target), about["loss"]
        return targets, losses


def signal_table(pairs: Iterable[GeneratedPair], signals: Sequence[Signal], *, batch: int = 256) -> SignalTable:
    """All signals of all pairs, in memory. Raises InputError for two pairs of one id or no signal."""
    ids: list[str] = []
    blocks: list[Rows] = []
    for names, block in _batches(pairs, signals, batch):
        ids += names
        blocks.append(block)
    rows = np.concatenate(blocks) if blocks else np.zeros((0, len(_columns(signals))))
    return SignalTable(tuple(ids), dict(zip(_columns(signals), rows.T, strict=True)), _about(signals))


def _batches(pairs: Iterable[GeneratedPair], signals: Sequence[Signal], batch: int) -> Iterator[tuple[list[str], Rows]]:
    """Ids and (m, columns) rows, batch by batch."""
    if not signals or batch < 1:
        raise InputError("no table without a signal and a batch of at least one pair: name one or more signals")
    rest, seen = iter(pairs), set[str]()
    while block := list(islice(rest, batch)):
        ids = [pair.id for pair in block]
        repeated = next((name for n, name in enumerate(ids) if name in seen or name in ids[:n]), None)
        if repeated is not None:
            raise InputError(f"two pairs have the id {repeated}: give each run's pairs ids of their own")
        seen.update(ids)
        yield ids, np.concatenate([signal.rows(block) for signal in signals], axis=1)


def _columns(signals: Sequence[Signal]) -> list[str]:
    return [column for signal in signals for column in signal.columns]


def _about(signals: Sequence[Signal]) -> dict[str, dict[str, Any]]:
    return {
        signal.name: {
            "columns": list(signal.columns),
            "loss": signal.loss,
            "joint": signal.joint,
            "signature": signal.signature,
        }
        for signal in signals
    }
