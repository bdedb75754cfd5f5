"""Other metrics: lexical ones from libraries, BERTScore, and learned ones (BLEURT, COMET, PRISM) with a local checkpoint.

Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.rated import RatedSet
from rome.evaluation.metrics.functions import BestReferenceMetric, Scores, TextPair
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.model_set import file_digest
from rome.features.packages import needed

if TYPE_CHECKING:
    from rome.features.analyser.transformer import PieceStates


PairFunction = Callable[[Sequence[TextPair]], list[float]]


def library(name: str, distribution: str = "") -> Any:
    """Return the imported module. Raises ModelMissingError, with the install line, if its package is not installed."""
    package = distribution or name.partition(".")[0]
    with needed("this metric", f'"rome-metric[evaluate]" {package}'):
        module = import_module(name)
    return module


def _each(function: Callable[[str, str], float]) -> PairFunction:
    return lambda pairs: [function(reference, hypothesis) for reference, hypothesis in pairs]


def _sacrebleu(kind: str, sign: float = 1.0, **options: Any) -> tuple[str, PairFunction]:
    metric = getattr(library("sacrebleu.metrics", "sacrebleu"), kind)(**options)
    function = _each(lambda reference, hypothesis: sign * metric.sentence_score(hypothesis, [reference]).score)
    function([("a b c d", "a b c d")])  # sacrebleu knows its signature after the first score only
    return f"{kind.lower()}:sentence|{metric.get_signature()}", function


class _NoSynonyms:
    """Replace WordNet, which NLTK would have to download: no word has a synonym."""

    def synsets(self, _: str) -> Iterable[Any]:
        """Return no synonym."""
        return ()


def _meteor() -> tuple[str, PairFunction]:
    meteor = library("nltk.translate.meteor_score", "nltk")
    tokenizer = library("nltk.tokenize", "nltk").NLTKWordTokenizer()

    def score(reference: str, hypothesis: str) -> float:
        words = [tokenizer.tokenize(text) for text in (reference, hypothesis)]
        return float(meteor.single_meteor_score(*words, wordnet=_NoSynonyms()))

    return f"meteor:nltk|stem:porter|synonyms:none|version:{version('nltk')}", _each(score)


def _rouge(kind: str) -> tuple[str, PairFunction]:
    scorer = library("rouge_score.rouge_scorer", "rouge-score").RougeScorer([kind], use_stemmer=True)
    signature = f"{kind}:rouge-score|stem:porter|measure:f1|version:{version('rouge-score')}"
    return signature, _each(lambda reference, hypothesis: float(scorer.score(reference, hypothesis)[kind].fmeasure))


def _character_errors() -> tuple[str, PairFunction]:
    distance = library("rapidfuzz.distance", "rapidfuzz").Levenshtein.distance
    return "cer:negated|case:mixed", _each(lambda r, h: -float(distance(r, h)) / max(1, len(r)))


LEXICAL: dict[str, tuple[str, Callable[[], tuple[str, PairFunction]]]] = {
    "bleu": ("BLEU", partial(_sacrebleu, "BLEU", effective_order=True)),
    "chrf": ("chrF2", partial(_sacrebleu, "CHRF")),
    "chrf++": ("chrF2++", partial(_sacrebleu, "CHRF", word_order=2)),
    "ter": ("TER", partial(_sacrebleu, "TER", -1.0)),
    "meteor": ("METEOR", _meteor),
    "rouge-l": ("ROUGE-L", partial(_rouge, "rougeL")),
    "rouge-2": ("ROUGE-2", partial(_rouge, "rouge2")),
    "cer": ("CER", _character_errors),
}
"""Specification -> (name in tables, maker of signature and function)."""


def lexical(kind: str, *, progress: bool | None = None) -> BestReferenceMetric:
    """Return the metric of this key of LEXICAL. Raises InputError for another, ModelMissingError without its package."""
    if kind not in LEXICAL:
        raise InputError(f"a classical metric must be one of {', '.join(LEXICAL)}, got {kind}")
    name, make = LEXICAL[kind]
    return BestReferenceMetric(name, *make(), progress=progress)


class BertScore:
    """Compute BERTScore's F1 of pairs (Zhang et al. 2020, equations 1 to 3), without IDF and rescaling.

    Parameters
    ----------
    encoder
        "" for the embedded one, otherwise a local folder or hub name for transformers.
    layer
        Hidden layer; -1 is the last.
    """

    def __init__(self, encoder: str = "", layer: int | None = None) -> None:
        self.encoder, self.layer = encoder, layer

    @property
    def signature(self) -> str:
        """Return a digest of the encoder's files, and the layer."""
        from rome.features.analyser.model_set import encoder_identity

        layer = "last" if self.layer is None else self.layer
        return f"bertscore:f1|encoder:{encoder_identity(self.encoder)}|layer:{layer}|idf:no|rescaled:no"

    def __call__(self, pairs: Sequence[TextPair]) -> list[float]:
        """Return one F1 per pair, in [-1, 1]; 0 if only one side has pieces, 1 if neither has."""
        return [f1 for _, _, f1 in self.parts(pairs)]

    def parts(self, pairs: Sequence[TextPair]) -> list[tuple[float, float, float]]:
        """Return precision, recall and F1 of each pair, with the same conventions for empty sides."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = dict(zip(texts, map(_unit, self._states.of(texts)), strict=True))
        return [_matched(vectors[reference], vectors[hypothesis]) for reference, hypothesis in pairs]

    @cached_property
    def _states(self) -> PieceStates:
        with needed("BERTScore", '"rome-metric[models]"'):
            from rome.features.analyser.transformer import PieceStates
        return PieceStates(self.encoder, -1 if self.layer is None else self.layer)


def _unit(states: NDArray[np.float32]) -> NDArray[np.float32]:
    return states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)


def _matched(reference: NDArray[np.float32], hypothesis: NDArray[np.float32]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the unit states of two texts."""
    if not len(reference) or not len(hypothesis):
        both = float(len(reference) == len(hypothesis))
        return both, both, both
    cosines = reference @ hypothesis.T
    recall, precision = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    f1 = 2 * recall * precision / (recall + precision) if recall + precision > 0 else 0.0
    return precision, recall, f1


def _checkpoint(name: str, path: str) -> Path:
    """Return the checkpoint as a path that exists."""
    if not path or not Path(path).exists():
        raise ModelMissingError(
            f"{name} needs a checkpoint on this machine, got {path or 'none'}: download one and give its path, {name}:PATH"
        )
    return Path(path)


def _signature(name: str, path: Path) -> str:
    """Return the name of a checkpoint and a digest of its files."""
    return f"{name}:{path.name}|files:{file_digest(path if path.is_dir() else path.parent)}"


def bleurt(path: str, *, progress: bool | None = None) -> BestReferenceMetric:
    """Return BLEURT (Sellam et al. 2020) from the package ``bleurt``. Raises ModelMissingError without package or checkpoint."""
    checkpoint = _checkpoint("bleurt", path)
    scorer = library("bleurt.score", "bleurt").BleurtScorer(str(checkpoint))

    def score(pairs: Sequence[TextPair]) -> Any:
        return scorer.score(references=[r for r, _ in pairs], candidates=[h for _, h in pairs])

    return BestReferenceMetric(f"BLEURT-{checkpoint.name}", _signature("bleurt", checkpoint), score, progress=progress)


def prism(path: str, *, progress: bool | None = None) -> BestReferenceMetric:
    """Return PRISM (Thompson and Post 2020) from the module ``prism``. Raises ModelMissingError without module or checkpoint."""
    checkpoint = _checkpoint("prism", path)
    scorer = library("prism", "prism").Prism(model_dir=str(checkpoint), lang="en")

    def score(pairs: Sequence[TextPair]) -> Any:
        return scorer.score(cand=[h for _, h in pairs], ref=[r for r, _ in pairs], segment_scores=True)

    return BestReferenceMetric(f"PRISM-{checkpoint.name}", _signature("prism", checkpoint), score, progress=progress)


class Comet:
    """Score rated sets with COMET (Rei et al. 2020) from the package ``unbabel-comet``; it needs the source texts.

    Parameters
    ----------
    path
        A local checkpoint file. With several references the best one counts.
    """

    name = "COMET"

    def __init__(self, path: str, *, progress: bool | None = None) -> None:
        self.checkpoint, self.progress = _checkpoint("comet", path), progress
        self.comet = library("comet", "unbabel-comet")

    @property
    def signature(self) -> str:
        """Return a digest of the checkpoint's files."""
        return f"{_signature('comet', self.checkpoint)}|references:best"

    @cached_property
    def model(self) -> Any:
        """Return the loaded checkpoint."""
        return self.comet.load_from_checkpoint(str(self.checkpoint))

    def score_set(self, rated: RatedSet) -> Scores:
        """Return (n,) one score per segment. Raises InputError if a segment has no source text."""
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
