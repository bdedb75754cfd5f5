"""Other metrics: from kept libraries (BLEU, chrF, TER, METEOR, ROUGE, character errors), BERTScore, and large learned ones where
their package and a local checkpoint are on this machine (BLEURT, COMET, PRISM). Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.rated import RatedSet
from rome.evaluation.metrics.cached_scores import BestReferenceMetric, CachedScores, ScoreStore, TextPair
from rome.evaluation.metrics.functions import Scores
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.model_set import file_digest
from rome.features.packages import import_failed

if TYPE_CHECKING:
    from rome.features.analyser.transformer import PieceStates


PairFunction = Callable[[Sequence[TextPair]], list[float]]


def library(name: str, distribution: str = "") -> Any:
    """The imported module. Raises ModelMissingError, with the install line, when its package is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        package = distribution or name.partition(".")[0]
        raise import_failed(error, "this metric", f'"rome-metric[evaluate]" {package}') from error


def _each(function: Callable[[str, str], float]) -> PairFunction:
    return lambda pairs: [function(reference, hypothesis) for reference, hypothesis in pairs]


def _sacrebleu(kind: str, sign: float = 1.0, **options: Any) -> Callable[[], tuple[str, PairFunction]]:
    def make() -> tuple[str, PairFunction]:
        metric = getattr(library("sacrebleu.metrics", "sacrebleu"), kind)(**options)
        function = _each(lambda reference, hypothesis: sign * metric.sentence_score(hypothesis, [reference]).score)
        function([("a b c d", "a b c d")])  # sacrebleu knows its signature after the first score only
        return f"{kind.lower()}:sentence|{metric.get_signature()}", function

    return make


class _NoSynonyms:
    """Stands in for WordNet, which NLTK would have to download: no word has a synonym."""

    def synsets(self, _: str) -> Iterable[Any]:
        """None."""
        return ()


def _meteor() -> tuple[str, PairFunction]:
    meteor = library("nltk.translate.meteor_score", "nltk")
    tokenizer = library("nltk.tokenize", "nltk").NLTKWordTokenizer()

    def score(reference: str, hypothesis: str) -> float:
        words = [tokenizer.tokenize(text) for text in (reference, hypothesis)]
        return float(meteor.single_meteor_score(*words, wordnet=_NoSynonyms()))

    return f"meteor:nltk|stem:porter|synonyms:none|version:{version('nltk')}", _each(score)


def _rouge(kind: str) -> Callable[[], tuple[str, PairFunction]]:
    def make() -> tuple[str, PairFunction]:
        scorer = library("rouge_score.rouge_scorer", "rouge-score").RougeScorer([kind], use_stemmer=True)
        signature = f"{kind}:rouge-score|stem:porter|measure:f1|version:{version('rouge-score')}"
        return signature, _each(lambda reference, hypothesis: float(scorer.score(reference, hypothesis)[kind].fmeasure))

    return make


def _character_errors() -> tuple[str, PairFunction]:
    distance = library("rapidfuzz.distance", "rapidfuzz").Levenshtein.distance
    return "cer:negated|case:mixed", _each(lambda r, h: -float(distance(r, h)) / max(1, len(r)))


LEXICAL: dict[str, tuple[str, Callable[[], tuple[str, PairFunction]]]] = {
    "bleu": ("BLEU", _sacrebleu("BLEU", effective_order=True)),
    "chrf": ("chrF2", _sacrebleu("CHRF")),
    "chrf++": ("chrF2++", _sacrebleu("CHRF", word_order=2)),
    "ter": ("TER", _sacrebleu("TER", -1.0)),
    "meteor": ("METEOR", _meteor),
    "rouge-l": ("ROUGE-L", _rouge("rougeL")),
    "rouge-2": ("ROUGE-2", _rouge("rouge2")),
    "cer": ("CER", _character_errors),
}
"""Specification -> (name in tables, what makes signature and function)."""


class BertScore:
    """F1 of a pair from cosines of piece states: recall is the mean over the reference's pieces of the best match in the hypothesis,
    precision the other way round (their equation 1-3); no IDF, no rescaling.

    Parameters
    ----------
    encoder
        "" for the embedded one, else a local folder or hub name that transformers loads.
    layer
        Hidden layer, -1 the last.
    """

    def __init__(self, encoder: str = "", layer: int | None = None) -> None:
        self.encoder, self.layer = encoder, layer
        self._states: PieceStates | None = None

    @property
    def signature(self) -> str:
        """The encoder by its files, and the layer."""
        from rome.features.analyser.model_set import encoder_identity

        layer = "last" if self.layer is None else self.layer
        return f"bertscore:f1|encoder:{encoder_identity(self.encoder)}|layer:{layer}|idf:no|rescaled:no"

    def __call__(self, pairs: Sequence[TextPair]) -> list[float]:
        """One F1 a pair, in [-1, 1]; 0 when one side has no pieces and the other has, 1 when both have none."""
        return [f1 for _, _, f1 in self.parts(pairs)]

    def parts(self, pairs: Sequence[TextPair]) -> list[tuple[float, float, float]]:
        """Precision, recall and F1 of each pair, with the same conventions for empty sides."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = dict(zip(texts, map(_unit, self._loaded().of(texts)), strict=True))
        return [_matched(vectors[reference], vectors[hypothesis]) for reference, hypothesis in pairs]

    def _loaded(self) -> PieceStates:
        if self._states is None:
            try:
                from rome.features.analyser.transformer import PieceStates
            except ImportError as error:
                raise import_failed(error, "BERTScore", '"rome-metric[models]"') from error
            self._states = PieceStates(self.encoder, -1 if self.layer is None else self.layer)
        return self._states


def _unit(states: NDArray[np.float32]) -> NDArray[np.float32]:
    return states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)


def _matched(reference: NDArray[np.float32], hypothesis: NDArray[np.float32]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two texts' unit states."""
    if not len(reference) or not len(hypothesis):
        both = float(len(reference) == len(hypothesis))
        return both, both, both
    cosines = reference @ hypothesis.T
    recall, precision = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    f1 = 2 * recall * precision / (recall + precision) if recall + precision > 0 else 0.0
    return precision, recall, f1


def _checkpoint(name: str, path: str) -> Path:
    """The checkpoint as a path that exists."""
    if not path or not Path(path).exists():
        raise ModelMissingError(
            f"{name} needs a checkpoint on this machine, {path or 'none'} was named: download one and give its path, {name}:PATH"
        )
    return Path(path)


def _identity(path: Path) -> str:
    """The checkpoint by its files."""
    return file_digest(path if path.is_dir() else path.parent)


def _pair_metric(name: str, path: str, load: Callable[[Path], Any], **stored: Any) -> BestReferenceMetric:
    """A metric of pairs whose model is loaded now, so that what is missing is said before anything is computed."""
    checkpoint = _checkpoint(name, path)
    function = load(checkpoint)
    values = CachedScores(f"{name}:{checkpoint.name}|files:{_identity(checkpoint)}", function, label=name, **stored)
    return BestReferenceMetric(f"{name.upper()}-{checkpoint.name}", values)


def bleurt(path: str, **stored: Any) -> BestReferenceMetric:
    """BLEURT (Sellam et al. 2020) through the package ``bleurt``. Raises ModelMissingError without package or checkpoint."""

    def load(checkpoint: Path) -> Callable[[Sequence[TextPair]], Any]:
        scorer = library("bleurt.score", "bleurt").BleurtScorer(str(checkpoint))
        return lambda pairs: scorer.score(references=[r for r, _ in pairs], candidates=[h for _, h in pairs])

    return _pair_metric("bleurt", path, load, **stored)


def prism(path: str, **stored: Any) -> BestReferenceMetric:
    """PRISM (Thompson and Post 2020) through the module ``prism``. Raises ModelMissingError without module or checkpoint."""

    def load(checkpoint: Path) -> Callable[[Sequence[TextPair]], Any]:
        scorer = library("prism", "prism").Prism(model_dir=str(checkpoint), lang="en")
        return lambda pairs: scorer.score(cand=[h for _, h in pairs], ref=[r for r, _ in pairs], segment_scores=True)

    return _pair_metric("prism", path, load, **stored)


class Comet:
    """COMET (Rei et al. 2020) through the package ``unbabel-comet``; it also reads the source, so it scores rated sets only.

    Parameters
    ----------
    path
        A local checkpoint file. With several references the best one counts.
    """

    name = "COMET"

    def __init__(self, path: str, *, store: ScoreStore | None = None, progress: bool | None = None) -> None:
        self.checkpoint = _checkpoint("comet", path)
        self.comet = library("comet", "unbabel-comet")
        self.store, self.progress = store, progress

    @property
    def signature(self) -> str:
        """The checkpoint by its files."""
        return f"comet:{self.checkpoint.name}|files:{_identity(self.checkpoint)}|references:best"

    @cached_property
    def model(self) -> Any:
        """The loaded checkpoint."""
        return self.comet.load_from_checkpoint(str(self.checkpoint))

    def score_set(self, rated: RatedSet) -> Scores:
        """(n,) one score a segment. Raises InputError when a segment has no source text."""
        for segment in rated.segments:
            if not segment.source:
                raise InputError(
                    f"{segment.place}: COMET needs the source text and there is none: leave COMET out for {rated.name}"
                )
        rows = [
            {"src": segment.source, "mt": segment.hypothesis, "ref": reference}
            for segment in rated.segments
            for reference in segment.references
        ]
        scores = np.asarray(self.model.predict(rows, batch_size=8, gpus=0, progress_bar=bool(self.progress)).scores)
        counts = [len(segment.references) for segment in rated.segments]
        return np.maximum.reduceat(scores.astype(np.float64), np.cumsum([0, *counts[:-1]]))
