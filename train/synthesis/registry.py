"""Every synthesis pipeline by its name, made from one set of options; nothing is loaded before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rome.exceptions import InputError
from rome.train.synthesis.pairs import Pipeline

if TYPE_CHECKING:
    from rome.train.synthesis.severities import SeverityModel


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
    textattack
        The interpreter that has TextAttack (rome).
    each
        Pairs a text (perturbations).
    most
        The most edits a text, None for the pipeline's own number.
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
        """The most edits as a keyword of a pipeline; none for its own number."""
        return {} if self.most is None else {name: self.most}


def _sescore(options: SynthesisOptions) -> Pipeline:
    """Insertions, deletions, replacements and swaps; severity by the reader, or by entailment (SEScore)."""
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.sescore import SEScorePipeline, SEScoreSettings
    from rome.train.synthesis.severities import load_severity

    fillers = [load_filler(spec, options.device) for spec in options.fill]
    severities = load_severity(options.entailment, options.device, options.threads)
    return SEScorePipeline(fillers, severities, SEScoreSettings(**options.most_as("most_edits")))


def _sescore2(options: SynthesisOptions) -> Pipeline:
    """Differences from similar sentences, and dropped words; severity by the reader, or by likelihood and word weights (SEScore2)."""
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.retrieval import SentenceIndex, SentenceVectors, kept_index
    from rome.train.synthesis.sescore2 import SEScore2Pipeline, SEScore2Settings
    from rome.train.synthesis.severities import LikelihoodSeverity, load_reader

    severities: SeverityModel
    if options.severity == "likelihood":
        severities = LikelihoodSeverity(load_filler(options.fill[0], options.device))
    else:
        severities = load_reader(options.severity, options.threads)
    if options.index is None:
        index = SentenceIndex.build(options.corpus, SentenceVectors())
    elif Path(options.index).is_file():
        raise InputError(f"{options.index} is a file: name a folder, the index is kept in it")
    else:
        index = kept_index(Path(options.index), options.corpus, SentenceVectors())
    return SEScore2Pipeline(index, severities, SEScore2Settings(**options.most_as("most")))


def _bleurt(options: SynthesisOptions) -> Pipeline:
    """Mask filling, back-translation where models are given, dropped words; no severities (BLEURT)."""
    from rome.train.synthesis.bleurt import BleurtPipeline
    from rome.train.synthesis.fillers import load_filler
    from rome.train.synthesis.translation import RoundTrip

    trips = [RoundTrip.load(*trip) for trip in options.translate]
    return BleurtPipeline(load_filler(options.fill[0], options.device), trips, **options.most_as("masks"))


def _rome(options: SynthesisOptions) -> Pipeline:
    """TextAttack's perturbations, one word at a time, and a TextFooler-like attack (RoMe)."""
    from rome.train.common.textattack import Perturber, trunk_vocabulary
    from rome.train.synthesis.perturbed_pairs import TextAttackPipeline

    Perturber(python=options.textattack).close()  # so that its absence is said before vectors are compared
    return TextAttackPipeline(Perturber(trunk_vocabulary(), python=options.textattack), **options.most_as("most"))


def _perturbations(options: SynthesisOptions) -> Pipeline:
    """Minimal pairs with one mistake each, with the severities of DEMETR's table 1."""
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
    """The pipeline of that name. Raises InputError for an unknown name, and whatever its models raise when they are missing."""
    if name not in PIPELINES:
        raise InputError(f"there is no pipeline {name!r}: choose from {', '.join(PIPELINES)}")
    return PIPELINES[name](options)
