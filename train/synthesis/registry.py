"""Every synthesis pipeline by its name, made from one set of options; models are loaded only when a pipeline is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rome.exceptions import InputError
from rome.train.synthesis.pairs import Pipeline


@dataclass(frozen=True, slots=True)
class SynthesisOptions:
    """Options of the pipelines; each takes what it needs.

    Attributes
    ----------
    fill
        Fillers: ``embedded``, local folders or hub names.
    entailment
        Likewise, one, or a model set (sescore).
    severity
        A model set, ``embedded`` being the default one, or ``likelihood``, which asks the first filler (sescore2).
    corpus, index
        Texts to retrieve from, and the folder of their index (sescore2).
    translate
        Language, folder of the model there, folder of the model back, for each round trip (bleurt).
    textattack
        Interpreter that has TextAttack (rome).
    each
        Pairs per text (perturbations).
    most
        Most edits per text, None for the number of the recipe.
    threads
        Of the analyser and the reader.
    """

    fill: Sequence[str] = ("embedded",)
    entailment: str = "embedded"
    severity: str = "embedded"
    corpus: Sequence[str] = ()
    index: str | None = None
    translate: Sequence[tuple[str, str, str]] = ()
    textattack: str | None = None
    each: int = 4
    most: int | None = None
    device: str = "cpu"
    threads: int | None = None

    def most_as(self, name: str) -> dict[str, int]:
        """Return the most edits as a keyword of a pipeline, or nothing for the number of the recipe."""
        return {} if self.most is None else {name: self.most}


def _sescore(options: SynthesisOptions) -> Pipeline:
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.sescore import SEScorePipeline, SEScoreSettings
    from rome.train.synthesis.severities import load_severity

    fillers = [load_filler(spec, options.device) for spec in options.fill]
    severities = load_severity(options.entailment, options.device, options.threads)
    return SEScorePipeline(fillers, severities, SEScoreSettings(**options.most_as("most_edits")))


def _sescore2(options: SynthesisOptions) -> Pipeline:
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.retrieval import SentenceVectors, sentence_index
    from rome.train.synthesis.sescore2 import SEScore2Pipeline, SEScore2Settings
    from rome.train.synthesis.severities import LikelihoodSeverity, SeverityModel, load_reader

    severities: SeverityModel
    if options.severity == "likelihood":
        severities = LikelihoodSeverity(load_filler(options.fill[0], options.device))
    else:
        severities = load_reader(options.severity, options.threads)
    folder = None if options.index is None else Path(options.index)
    index = sentence_index(options.corpus, SentenceVectors(), folder=folder)
    return SEScore2Pipeline(index, severities, SEScore2Settings(**options.most_as("most")))


def _bleurt(options: SynthesisOptions) -> Pipeline:
    from rome.train.synthesis.bleurt import BleurtPipeline
    from rome.train.synthesis.fillers import RoundTrip, Translator, load_filler

    trips = [RoundTrip(language, Translator(there), Translator(back)) for language, there, back in options.translate]
    return BleurtPipeline(load_filler(options.fill[0], options.device), trips, **options.most_as("masks"))


def _rome(options: SynthesisOptions) -> Pipeline:
    from rome.train.common.textattack import Perturber, trunk_vocabulary
    from rome.train.synthesis.perturbed_pairs import TextAttackPipeline

    Perturber(python=options.textattack).close()  # reports a missing TextAttack before vectors are compared
    return TextAttackPipeline(Perturber(trunk_vocabulary(), python=options.textattack), **options.most_as("most"))


def _perturbations(options: SynthesisOptions) -> Pipeline:
    from rome.combining.signature import digest
    from rome.features.analyser.model_set import models_identity
    from rome.metric import RoMe
    from rome.train.synthesis.perturbed_pairs import PerturbationPipeline

    metric = RoMe(progress=False, threads=options.threads)
    return PerturbationPipeline(metric.analyse, digest(models_identity(metric.models)), each=options.each)


PIPELINES: Mapping[str, Callable[[SynthesisOptions], Pipeline]] = {
    "sescore": _sescore,
    "sescore2": _sescore2,
    "bleurt": _bleurt,
    "rome": _rome,
    "perturbations": _perturbations,
}


def make_pipeline(name: str, options: SynthesisOptions) -> Pipeline:
    """Make the pipeline of that name. Raises InputError for an unknown name, and the errors of its models."""
    if name not in PIPELINES:
        raise InputError(f"there is no pipeline {name!r}: choose from {', '.join(PIPELINES)}")
    return PIPELINES[name](options)
