"""Severity of a single edit of a text: the rules of the papers, and the reader of both texts.

SEScore2's rule (§4.2): an edit is minor if the new words are likely in their place, or if the deleted words weigh little, else major.
Three things differ from the paper:

- The likelihood of several words is the geometric mean of their probabilities, all masked at once, not the arithmetic one: one
  likely word ("of") does not excuse an unlikely one beside it.
- The paper's model sees the source sentence t besides the rest of y. There is no source here.
- The weight of a deleted word is its inverse document frequency: each occurrence counts for itself, as everywhere in RoMe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification

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
from rome.train.synthesis.fillers import Filler, FillRequest, load_checkpoint, window_of
from rome.train.synthesis.pairs import batches

Edits = Sequence[tuple[str, Operation]]
"""Texts, each with one edit of it."""
Verdict = tuple[bool, dict[str, float]]
"""True for a minor edit, and the number behind it by its name."""


class SeverityModel(Protocol):
    """Tells minor edits from major ones; ``signature`` is models and thresholds in one line."""

    signature: str

    def of(self, edits: Edits) -> list[Verdict]:
        """Return one verdict per edit, in order; it depends on the edit and its text alone."""


def with_severity(operation: Operation, verdict: Verdict) -> Operation:
    """Return the operation with the severity, label and numbers of a verdict."""
    severity, label = MINOR if verdict[0] else MAJOR
    return replace(operation, severity=severity, label=label, details={**operation.details, **verdict[1]})


class EntailmentSeverity:
    """SEScore's rule (§3.3, eq. 2): minor if the texts before and after entail each other, both with at least gamma."""

    def __init__(self, entailment: TransformerEntailment, gamma: float = 0.9) -> None:
        self.entailment, self.gamma = entailment, gamma
        self.signature = f"entailment:{entailment.signature}|gamma:{gamma:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """Judge by both probabilities, to three decimals, in one call."""
        steps = [(text, applied(text, edit)) for text, edit in edits]
        both = [*steps, *((after, before) for before, after in steps)]
        found = [round(float(p), 3) for p in self.entailment.probabilities(both)] if both else []
        judged = zip(found[: len(steps)], found[len(steps) :], strict=True)
        return [(min(there, back) >= self.gamma, {"entailment": there, "entailment_back": back}) for there, back in judged]


class LikelihoodSeverity:
    """SEScore2's rule.

    Parameters
    ----------
    likelihood
        Of words in their places.
    idf
        Weights of deleted words, the embedded table by default.
    gamma
        Least likelihood of a minor insertion or replacement (0.1).
    weight
        Lambda: a deletion is minor if all its words weigh less (1).
    """

    def __init__(self, likelihood: Filler, idf: IdfTable | None = None, *, gamma: float = 0.1, weight: float = 1.0) -> None:
        self.likelihood, self.gamma, self.weight = likelihood, gamma, weight
        self.idf = idf or IdfTable.load(set_folder("small") / "idf" / "idf.tsv")
        table = f"{self.idf.name}/{self.idf.documents}"
        self.signature = f"likelihood:{likelihood.signature}|idf:{table}|gamma:{gamma:g}|weight:{weight:g}|context:hypothesis"

    def of(self, edits: Edits) -> list[Verdict]:
        """Judge by likelihood or weight, with all likelihoods in one call."""
        found = iter(self.likelihood.of([self._request(text, edit) for text, edit in edits if edit.kind != "deletion"]))
        verdicts: list[Verdict] = []
        for _, edit in edits:
            if edit.kind == "deletion":
                weights = [self.idf.floor if w.is_sign else self.idf.idf(w.text) for w in words_of(edit.original)]
                weight = max(weights, default=0.0)
                verdicts.append((weight < self.weight, {"tfidf": round(weight, 6)}))
            else:
                likelihood = next(found) ** (1 / max(1, len(words_of(edit.new))))
                verdicts.append((likelihood >= self.gamma, {"likelihood": float(f"{likelihood:.6g}")}))
        return verdicts

    def _request(self, text: str, edit: Operation) -> FillRequest:
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
        """Judge by the weight of each edit."""
        return [(weight < self.harmless, {"weight": weight}) for weight in self.weights(edits)]

    def weights(self, edits: Edits) -> list[float]:
        """Return the weight of each edit, carried out alone: the expected weight, in [0, 10], of the worst word it removes or adds.

        An edit that touches no word of either text weighs 0.
        """
        texts = [(text, applied(text, edit)) for text, edit in edits]
        analyses = self.analyse([text for pair in texts for text in pair]) if texts else {}
        pairs = [(analyses[before], analyses[after]) for before, after in texts]
        found = []
        for (_, edit), (before, after), reading in zip(edits, pairs, self.reader(pairs), strict=True):
            touched = [*_within(before, edit.start, edit.end), *_within(after, edit.start, edit.start + len(edit.new))]
            costs = reading.probabilities @ np.array(WEIGHTS)
            found.append(round(float(max(costs[touched], default=0.0)), 3))
        return found


def _within(analysis: Analysis, start: int, end: int) -> list[bool]:
    """Return for every word if it shares a character with a place."""
    return [word.start < end and word.end > start for word in analysis.words]


def load_reader(models: str = EMBEDDED, threads: int | None = None) -> ReaderSeverity:
    """Return the severities of a model set: its name or folder, ``embedded`` for the default one.

    Raises ModelMissingError for a set without a reader of both texts.
    """
    metric = RoMe(models=DEFAULT_SET if models == EMBEDDED else models, progress=False, threads=threads)
    own = metric.model_set
    if f"errors/{READER_FILE}" not in own.files:
        raise ModelMissingError(
            f"the model set {own.name} has no reader of both texts: give --entailment FOLDER, a set that has one or a checkpoint that "
            "transformers loads (sescore), or --severity likelihood (sescore2)"
        )
    identity = digest(f"{models_identity(metric.models)},{file_digest(own.folder / 'errors')}")
    return ReaderSeverity(metric.analyse, PairReader(own.folder, layers_below(own.folder), threads), identity)


BATCH = 32
CLASSIFIER = "a classifier fine-tuned on entailment"


class TransformerEntailment:
    """A sequence classifier fine-tuned on entailment (MNLI, SNLI, RTE ...); its label names tell the class of entailment.

    Raises the errors of load_checkpoint.

    Parameters
    ----------
    spec
        A local folder, or the hub name of a model that is on this machine; nothing is downloaded.
    """

    def __init__(self, spec: str | Path, device: str = "cpu") -> None:
        self.model, self.tokenizer, name = load_checkpoint(
            str(spec), CLASSIFIER, lambda _: AutoModelForSequenceClassification, device
        )
        self.column = _entailed(str(spec), self.model.config.id2label)
        self.signature = f"classifier:{name}"

    @torch.no_grad()
    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (n,) probabilities that the first text entails the second; a pair beyond the window loses the end of the longer text."""
        window, found = window_of(self.model, self.tokenizer), np.zeros(0)
        for block in batches(pairs, BATCH):
            first, second = (list(side) for side in zip(*block, strict=True))
            limits = {"truncation": "longest_first", "max_length": window, "padding": True, "return_tensors": "pt"}
            logits = self.model(**self.tokenizer(first, second, **limits).to(self.model.device)).logits
            found = np.append(found, torch.softmax(logits.double(), dim=1)[:, self.column].cpu().numpy())
        return np.round(found, 6)


def load_severity(spec: str = EMBEDDED, device: str = "cpu", threads: int | None = None) -> SeverityModel:
    """Return the severities of ``spec``: ``embedded`` or a model set (its reader of both texts), else an entailment checkpoint.

    Raises the errors of load_checkpoint, and ModelMissingError for a set without a reader.
    """
    if spec == EMBEDDED or spec in SETS or (Path(spec) / MANIFEST).is_file():
        return load_reader(spec, threads)
    return EntailmentSeverity(TransformerEntailment(spec, device))


def _entailed(spec: str, labels: dict[int, str]) -> int:
    """Return the class of entailment. Raises InputError that lists the labels if none of them is."""
    for number, label in labels.items():
        if label.lower().startswith("entail"):
            return int(number)
    names = ", ".join(map(str, labels.values()))
    raise InputError(f"{spec} has the labels {names} and none of them is entailment: give {CLASSIFIER}")
