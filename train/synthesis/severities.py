"""Severity of a single edit of a text: the reader of both texts, and the rules of the papers.

SEScore (§3.3, eq. 2): minor if the texts before and after entail each other. SEScore2 (§4.2): minor if the new words are likely in their
place, or if the deleted words weigh little. Two things differ from SEScore2's paper: its model sees the source sentence t besides the
rest of y, which does not exist here, so the least likelihood is lower (GAMMA); and the weight of a deleted word is its inverse document
frequency, where each occurrence counts for itself, as everywhere in RoMe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from transformers import AutoModelForSequenceClassification, TextClassificationPipeline

from rome.combining.signature import digest
from rome.evaluation.perturbing import Analyse
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import DEFAULT_SET, EMBEDDED, SETS, set_folder
from rome.features.analyser.model_set import file_digest, layers_below, models_identity
from rome.features.analyser.pair_reader import PairReader
from rome.features.errors.evidence import READER_FILE, WEIGHTS, PairErrorModel
from rome.features.idf import IdfTable
from rome.features.model_files import MANIFEST
from rome.features.values import Analysis
from rome.metric import RoMe
from rome.train.synthesis.edits import MAJOR, MINOR, Operation, applied, words_of
from rome.train.synthesis.fillers import FillRequest, load_checkpoint, load_filler, window_of
from rome.train.synthesis.pairs import Pipeline, SyntheticPair

Edits = Sequence[tuple[str, Operation]]
"""Texts, each with one edit of it."""
Verdict = tuple[bool, dict[str, float]]
"""True for a minor edit, and the number behind it by its name."""


class SeverityModel(Protocol):
    """Tells minor edits from major ones; ``signature`` is models and thresholds in one line."""

    signature: str

    def of(self, edits: Edits) -> list[Verdict]:
        """Return one verdict per edit, in order; it depends on the edit and its text alone."""


Work = tuple[str, str, Edits, Mapping[str, float]]
"""Source, text, its edits and the signals of their pair."""


def judged_pairs(pipeline: Pipeline, works: Sequence[Work], seed: int, order: Any = tuple) -> Iterator[SyntheticPair]:
    """Yield a pair for each work, with the severities of the pipeline and the numbers behind them; all edits are judged at once.

    Parameters
    ----------
    order
        Makes the operations of a pair of its edits, if these are not a chain: `chained`.
    """
    verdicts = iter(pipeline.severities.of([edit for *_, edits, _ in works for edit in edits]))
    for source, text, edits, signals in works:
        operations = []
        for (_, one), (is_minor, numbers) in zip(edits, verdicts, strict=False):
            severity, label = MINOR if is_minor else MAJOR
            operations.append(replace(one, severity=severity, label=label, details={**one.details, **numbers}))
        yield pipeline.pair(source, text, order(operations), seed, signals=signals)


GAMMA, LAMBDA = 0.01, 1.0
"""Least likelihood of minor new words (0.1 in the paper, see above), and least weight of a major deletion (§4.2)."""


class LikelihoodSeverity:
    """SEScore2's rule: the mean probability of the new words, each as a whole, or the greatest weight of the deleted ones.

    Parameters
    ----------
    likelihood
        A filler of single words.
    idf
        Weights of deleted words, the embedded table by default.
    weight
        Lambda.
    """

    def __init__(self, likelihood: Any, idf: IdfTable | None = None, *, gamma: float = GAMMA, weight: float = LAMBDA) -> None:
        self.likelihood, self.gamma, self.weight = likelihood, gamma, weight
        self.idf = idf or IdfTable.load(set_folder() / "idf" / "idf.tsv")
        table = f"{self.idf.name}/{self.idf.documents}"
        self.signature = f"likelihood:{likelihood.signature}|idf:{table}|gamma:{gamma:g}|lambda:{weight:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """Judge by likelihood or weight, with all likelihoods in one call."""
        found = iter(self.likelihood.of([_new_words(text, edit) for text, edit in edits if edit.kind != "deletion"]))
        verdicts: list[Verdict] = []
        for _, edit in edits:
            if edit.kind == "deletion":
                weights = [self.idf.floor if w.is_sign else self.idf.idf(w.text) for w in words_of(edit.original)]
                weight = max(weights, default=0.0)
                verdicts.append((weight < self.weight, {"tfidf": round(weight, 6)}))
            else:
                likelihood = float(np.mean(next(found) or [1.0]))
                verdicts.append((likelihood >= self.gamma, {"likelihood": float(f"{likelihood:.6g}")}))
        return verdicts


def _new_words(text: str, edit: Operation) -> FillRequest:
    """Return the place of the new words of an edit."""
    blanks = len(edit.new) - len(edit.new.lstrip())
    return FillRequest(applied(text, edit), edit.start + blanks, edit.start + len(edit.new.rstrip()))


HARMLESS = 3.0
"""Weight below which an edit is minor: halfway between a minor error (1) and a major one (5)."""


class ReaderSeverity:
    """Rule of the reader of both texts: minor if the worst word of the edit weighs less than ``harmless``.

    Parameters
    ----------
    analyse
        Analyser of texts, such as ``RoMe().analyse``.
    identity
        Name of its models and the reader for the signature.
    """

    def __init__(self, analyse: Analyse, reader: PairErrorModel, identity: str = "", harmless: float = HARMLESS) -> None:
        self.analyse, self.reader, self.harmless = analyse, reader, harmless
        self.signature = f"severity:reader{identity and '@' + identity}|harmless:{harmless:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """Judge by the weight of each edit, carried out alone: the expected weight, in [0, 10], of the worst word it removes or adds.

        An edit that touches no word of either text weighs 0.
        """
        texts = [(text, applied(text, edit)) for text, edit in edits]
        analyses = self.analyse([text for pair in texts for text in pair]) if texts else {}
        pairs = [(analyses[before], analyses[after]) for before, after in texts]
        verdicts: list[Verdict] = []
        for (_, edit), (before, after), reading in zip(edits, pairs, self.reader(pairs), strict=True):
            touched = [*_within(before, edit.start, edit.end), *_within(after, edit.start, edit.start + len(edit.new))]
            weight = round(float(max((reading.probabilities @ np.array(WEIGHTS))[touched], default=0.0)), 3)
            verdicts.append((weight < self.harmless, {"weight": weight}))
        return verdicts


def _within(analysis: Analysis, start: int, end: int) -> list[bool]:
    """Return for every word if it shares a character with a place."""
    return [word.start < end and word.end > start for word in analysis.words]


BATCH = 32
CLASSIFIER = "a classifier fine-tuned on entailment"


class EntailmentSeverity:
    """SEScore's rule (§3.3, eq. 2): minor if the texts before and after entail each other, both with at least gamma.

    Raises the errors of load_checkpoint, and InputError for a checkpoint without a label of entailment.

    Parameters
    ----------
    spec
        A local folder, or the hub name of a model that is on this machine, of a sequence classifier fine-tuned on MNLI, SNLI, RTE, ...
        Its label names tell the class of entailment.
    """

    def __init__(self, spec: str | Path, device: str = "cpu", gamma: float = 0.9) -> None:
        model, tokenizer, name = load_checkpoint(str(spec), CLASSIFIER, lambda _: AutoModelForSequenceClassification, device)
        labels: list[str] = list(model.config.id2label.values())
        if not any(map(_is_entailment, labels)):
            raise InputError(f"{spec} has the labels {', '.join(labels)} and none of them is entailment: give {CLASSIFIER}")
        limits = {"truncation": "longest_first", "max_length": window_of(model, tokenizer), "padding": True, "top_k": None}
        self.classify = TextClassificationPipeline(model=model, tokenizer=tokenizer, batch_size=BATCH, **limits)
        self.signature, self.gamma = f"entailment:{name}|gamma:{gamma:g}", gamma

    def of(self, edits: Edits) -> list[Verdict]:
        """Judge by both probabilities, to three decimals."""
        steps = [(text, applied(text, edit)) for text, edit in edits]
        there, back = self.probabilities(steps), self.probabilities([(after, before) for before, after in steps])
        found = [(round(one, 3), round(other, 3)) for one, other in zip(there, back, strict=True)]
        return [(min(pair) >= self.gamma, dict(zip(("entailment", "entailment_back"), pair, strict=True))) for pair in found]

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that the first text of each pair entails the second."""
        return [next(p for name, p in labels.items() if _is_entailment(name)) for labels in self.classes(pairs)]

    def classes(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """Return the probability of every label, by name, for each pair; beyond the window the longer text loses its end."""
        found = self.classify([{"text": one, "text_pair": other} for one, other in pairs]) if pairs else []
        return [dict(sorted((label["label"], float(label["score"])) for label in labels)) for labels in found]


def _is_entailment(label: str) -> bool:
    return label.lower().startswith("entail")


LIKELIHOOD = "likelihood"


def load_severity(
    spec: str = EMBEDDED, fill: str = EMBEDDED, device: str = "cpu", threads: int | None = None, **thresholds: Any
) -> SeverityModel:
    """Return the severities of ``spec``: ``embedded`` or a model set (its reader), ``likelihood`` (by ``fill``), or an entailment checkpoint.

    Raises the errors of load_checkpoint, ModelMissingError for a set without a reader, and InputError for thresholds that a rule lacks.

    Parameters
    ----------
    thresholds
        ``gamma`` of the papers' rules, and SEScore2's ``weight`` (lambda).
    """
    if spec == LIKELIHOOD:
        filler = load_filler(fill, device)
        if filler.spans:
            raise InputError(
                f"--severity {LIKELIHOOD} needs a masked language model as --fill, got {fill}: give one, or `embedded`"
            )
        return LikelihoodSeverity(filler, **thresholds)
    is_set = spec == EMBEDDED or spec in SETS or (Path(spec) / MANIFEST).is_file()
    if surplus := [name for name in ("gamma", "weight") if name in thresholds and (is_set or name == "weight")]:
        option = {"gamma": "--gamma", "weight": "--lambda"}[surplus[0]]
        raise InputError(
            f"{option} must be left out for --severity {spec}, which has no such threshold: give --severity {LIKELIHOOD}"
        )
    if not is_set:
        return EntailmentSeverity(spec, device, **thresholds)
    metric = RoMe(models=DEFAULT_SET if spec == EMBEDDED else spec, progress=False, threads=threads)
    own = metric.model_set
    if f"errors/{READER_FILE}" not in own.files:
        raise ModelMissingError(
            f"the model set {own.name} has no reader of both texts: give --severity a set that has one, the folder of a checkpoint "
            f"fine-tuned on entailment, or `{LIKELIHOOD}`"
        )
    identity = digest(f"{models_identity(metric.models)},{file_digest(own.folder / 'errors')}")
    return ReaderSeverity(metric.analyse, PairReader(own.folder, layers_below(own.folder), threads), identity)
