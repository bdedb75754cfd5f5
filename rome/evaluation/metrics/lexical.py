"""Metrics that compare characters and words, from kept libraries: BLEU, chrF, TER, METEOR, ROUGE, character errors.

Each entry of LEXICAL makes (signature, function of pairs); higher is better, so error rates are negated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

from rome.evaluation.metrics.score_store import TextPair
from rome.exceptions import ModelMissingError

__all__ = ["LEXICAL", "library"]

PairFunction = Callable[[Sequence[TextPair]], list[float]]


def library(name: str, distribution: str = "") -> Any:
    """The imported module. Raises ModelMissingError, with the install line, when its package is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        package = distribution or name.partition(".")[0]
        raise ModelMissingError(
            f'this metric needs the package {package}: run `pip install "rome-metric[evaluate]"` or `pip install {package}`'
        ) from error


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
