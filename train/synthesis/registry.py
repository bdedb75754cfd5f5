"""Every synthesis pipeline by its name, made from one set of options; nothing is loaded before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rome.exceptions import InputError
from rome.train.synthesis.pairs import Pipeline

if TYPE_CHECKING:
    from rome.train.synthesis.severities import Severities

__all__ = ["PIPELINES", "SynthesisOptions", "make_pipeline"]


@dataclass(frozen=True, slots=True)
class SynthesisOptions:
    """What pipelines are made from; each takes what it needs.

    Attributes
    ----------
    fill
        Fillers, ``embedded``, local folders or hub names.
    entailment
        Likewise, one, or a model set (sescore).
    severity
        A model set, ``embedded`` being the default one, or ``likelihood``, for which the first filler is asked (sescore2).
    corpus, index
        The texts to retrieve from, and the folder where their index is kept (sescore2).
    translate
        Language, folder of the model there, folder of the model back, for each round trip (bleurt).
    python
        The interpreter that has TextAttack (rome).
    each
        Pairs a text (perturbations).
    most
        The most edits a text, None for the pipeline's own number.
    threads
        Of the analyser and the reader.
    """

    fill: tuple[str, ...] = ("embedded",)
    entailment: str = "embedded"
    severity: str = "embedded"
    corpus: Sequence[str] = ()
    index: str | None = None
    translate: tuple[tuple[str, str, str], ...] = ()
    python: str | None = None
    each: int = 4
    most: int | None = None
    device: str = "cpu"
    threads: int | None = None


def _sescore(options: SynthesisOptions) -> Pipeline:
    """Insertions, deletions, replacements and swaps; severity by the reader, or by entailment (SEScore)."""
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.sescore import SEScore, SEScoreSettings
    from rome.train.synthesis.severities import EntailmentRule, ReaderJudge, ReaderRule, load_entailment

    settings = SEScoreSettings() if options.most is None else SEScoreSettings(most_edits=options.most)
    fillers = [load_filler(spec, options.device) for spec in options.fill]
    judge = load_entailment(options.entailment, options.device, options.threads)
    return SEScore(fillers, ReaderRule(judge) if isinstance(judge, ReaderJudge) else EntailmentRule(judge), settings)


def _sescore2(options: SynthesisOptions) -> Pipeline:
    """Differences from similar sentences, and dropped words; severity by the reader, or by likelihood and word weights (SEScore2)."""
    from rome.train.synthesis.retrieval import SentenceIndex, SentenceVectors, kept_index
    from rome.train.synthesis.sescore2 import SEScore2, SEScore2Settings

    settings = SEScore2Settings() if options.most is None else SEScore2Settings(most=options.most)
    severities, vectors = _severities(options), SentenceVectors()
    if options.index is None:
        return SEScore2(SentenceIndex.build(options.corpus, vectors), severities, settings)
    folder = Path(options.index)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder, the index is kept in it")
    return SEScore2(kept_index(folder, options.corpus, vectors), severities, settings)


def _severities(options: SynthesisOptions) -> Severities:
    """What tells minor steps from major ones."""
    from rome.train.synthesis.fillers import load_likelihood
    from rome.train.synthesis.severities import LikelihoodRule, ReaderRule, load_reader_judge

    if options.severity == "likelihood":
        return LikelihoodRule(load_likelihood(options.fill[0], options.device))
    return ReaderRule(load_reader_judge(options.severity, options.threads))


def _bleurt(options: SynthesisOptions) -> Pipeline:
    """Mask filling, back-translation where models are given, dropped words; no severities (BLEURT)."""
    from rome.train.synthesis.bleurt import BleurtPipeline
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.translation import RoundTrip

    trips = [RoundTrip.load(*trip) for trip in options.translate]
    filler = load_filler(options.fill[0], options.device) if options.fill else None
    return BleurtPipeline(filler, trips) if options.most is None else BleurtPipeline(filler, trips, masks=options.most)


def _rome(options: SynthesisOptions) -> Pipeline:
    """TextAttack's perturbations, one word at a time, and a TextFooler-like attack (RoMe)."""
    from rome.train.common.textattack import Perturber, trunk_vocabulary
    from rome.train.synthesis.perturbed_pairs import TextAttackPairs

    Perturber(python=options.python).close()  # so that its absence is said before vectors are compared
    perturber = Perturber(trunk_vocabulary(), python=options.python)
    return TextAttackPairs(perturber) if options.most is None else TextAttackPairs(perturber, most=options.most)


def _perturbations(options: SynthesisOptions) -> Pipeline:
    """Minimal pairs with one mistake each, with the severities of DEMETR's table 1."""
    from rome.combining.signature import digest
    from rome.features.analyser.model_set import models_identity
    from rome.metric import RoMe
    from rome.train.synthesis.perturbed_pairs import PerturbationPairs

    metric = RoMe(progress=False, threads=options.threads)
    return PerturbationPairs(metric.analyse, digest(models_identity(metric.models)), each=options.each)


PIPELINES: Mapping[str, Callable[[SynthesisOptions], Pipeline]] = {
    "sescore": _sescore,
    "sescore2": _sescore2,
    "bleurt": _bleurt,
    "rome": _rome,
    "perturbations": _perturbations,
}


def make_pipeline(name: str, options: SynthesisOptions) -> Pipeline:
    """The pipeline of that name. Raises InputError for an unknown name, and whatever its models raise when they are missing."""
    if name not in PIPELINES:
        raise InputError(f"there is no pipeline {name!r}: choose from {', '.join(PIPELINES)}")
    return PIPELINES[name](options)
