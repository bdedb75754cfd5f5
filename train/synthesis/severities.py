"""How bad a single edit of a text is: the papers' own rules, and the reader of both texts or a checkpoint of entailment as judges.

SEScore2's (§4.2): an edit is minor when what it brings is likely there, or when what it takes weighs little; else major. Three things are
done otherwise than printed:

- The likelihood of several words is the geometric mean of their probabilities, all masked at once, not the arithmetic one: one
  likely word ("of") does not excuse an unlikely one beside it.
- The paper's model sees the source sentence t besides the rest of y. There is no source here.
- The weight of a deleted word is its inverse document frequency: each occurrence counts for itself, as everywhere in RoMe.
"""

from __future__ import annotations

import re
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
from rome.features.analyser.pieces import batches_of
from rome.features.errors.evidence import READER_FILE, WEIGHTS, PairErrorModel
from rome.features.idf import IdfTable
from rome.features.model_files import MANIFEST
from rome.features.values import Analysis
from rome.metric import RoMe
from rome.train.synthesis.edits import words_of
from rome.train.synthesis.fillers import FillRequest, Likelihood
from rome.train.synthesis.language_models import Use, load_checkpoint, window_of
from rome.train.synthesis.pairs import Operation, applied

Edits = Sequence[tuple[str, Operation]]
"""Texts, each with an edit of it; each is carried out alone."""
Verdict = tuple[bool, dict[str, float]]
"""Whether an edit is minor, and the number behind it by its name."""


class SeverityModel(Protocol):
    """Tells minor edits from major ones.

    Attributes
    ----------
    signature
        Every choice that changes a verdict: models and thresholds in one line.
    """

    signature: str

    def of(self, edits: Edits) -> list[Verdict]:
        """One verdict an edit, in order; it depends on the edit and its text alone."""


def with_severity(operation: Operation, verdict: Verdict, minor: float, major: float) -> Operation:
    """The operation with the severity, label and numbers of a verdict."""
    severity, label = ("minor", minor) if verdict[0] else ("major", major)
    return replace(operation, severity=severity, label=label, details={**operation.details, **verdict[1]})


class Entailment(Protocol):
    """Says how probable it is that one text entails another.

    Attributes
    ----------
    signature
        The model in one line.
    """

    signature: str

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n,) probability in [0, 1] that the first text of each pair entails the second; (0,) for no pairs."""


class EntailmentSeverity:
    """SEScore's rule (§3.3, eq. 2): minor where the texts before and after entail each other, both with at least gamma, to three decimals."""

    def __init__(self, entailment: Entailment, gamma: float = 0.9) -> None:
        self.entailment, self.gamma = entailment, gamma
        self.signature = f"entailment:{entailment.signature}|gamma:{gamma:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """By both probabilities, all asked for at once."""
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
        A likelihood of at least this makes an insertion or replacement minor (0.1).
    weight
        Lambda, deleted words all below this make a deletion minor (1).
    """

    def __init__(self, likelihood: Likelihood, idf: IdfTable | None = None, *, gamma: float = 0.1, weight: float = 1.0) -> None:
        self.likelihood, self.gamma, self.weight = likelihood, gamma, weight
        self.idf = idf or IdfTable.load(set_folder("small") / "idf" / "idf.tsv")
        table = f"{self.idf.name}/{self.idf.documents}"
        self.signature = f"likelihood:{likelihood.signature}|idf:{table}|gamma:{gamma:g}|weight:{weight:g}|context:hypothesis"

    def of(self, edits: Edits) -> list[Verdict]:
        """By likelihood or weight, all likelihoods asked for at once."""
        requests = [self._request(text, edit) for text, edit in edits if edit.kind != "deletion"]
        found = iter(zip(requests, self.likelihood.of(requests), strict=True)) if requests else iter(())
        verdicts: list[Verdict] = []
        for _, edit in edits:
            if edit.kind == "deletion":
                weights = [self.idf.floor if w.is_sign else self.idf.idf(w.text) for w in words_of(edit.original)]
                weight = max(weights, default=0.0)
                verdicts.append((weight < self.weight, {"tfidf": round(weight, 6)}))
            else:
                request, probability = next(found)
                likelihood = probability ** (1 / max(1, len(words_of(request.original))))
                verdicts.append((likelihood >= self.gamma, {"likelihood": float(f"{likelihood:.6g}")}))
        return verdicts

    def _request(self, text: str, edit: Operation) -> FillRequest:
        """The place of what an edit brings."""
        blanks = len(edit.new) - len(edit.new.lstrip())
        return FillRequest(applied(text, edit), edit.start + blanks, edit.start + len(edit.new.rstrip()))


HARMLESS = 3.0
"""An edit that weighs less is minor: half way between a minor error (1) and a major one (5)."""


class ReaderSeverity:
    """Minor where the worst word of the edit weighs less than ``harmless``, by the reader of both texts.

    Parameters
    ----------
    analyse
        Such as ``RoMe().analyse``.
    identity
        Of its models and the reader, for the signature.
    """

    def __init__(self, analyse: Analyse, reader: PairErrorModel, identity: str = "", harmless: float = HARMLESS) -> None:
        self.analyse, self.reader, self.harmless = analyse, reader, harmless
        self.signature = f"severity:reader{identity and '@' + identity}|harmless:{harmless:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """By the weight of each edit."""
        return [(weight < self.harmless, {"weight": weight}) for weight in self.weights(edits)]

    def weights(self, edits: Edits) -> list[float]:
        """What each edit of a text weighs, carried out alone: the expected weight, in [0, 10], of the worst word that it takes or brings.

        An edit that touches no word of either text weighs 0; what one weighs does not depend on its neighbours.
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
    """For every word whether it shares a character with a place."""
    return [word.start < end and word.end > start for word in analysis.words]


def load_reader(models: str = EMBEDDED, threads: int | None = None) -> ReaderSeverity:
    """The severities of a model set: its name or folder, ``embedded`` for the default one.

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


BATCH_PIECES = 2048
CLASSIFIER = Use(
    "does not classify pairs of texts",
    "a classifier fine-tuned on entailment",
    lambda _, kind: not kind or "SequenceClassification" in kind,
    lambda _: AutoModelForSequenceClassification,
)


class TransformerEntailment:
    """A sequence classifier fine-tuned on entailment (MNLI, SNLI, RTE ...); which class is which is read from its label names.

    Raises ModelMissingError when it is not there, with the command that gets it; InputError, naming it, when it is of another kind.

    Parameters
    ----------
    spec
        A local folder, or the hub name of a model that is on this machine; nothing is downloaded.
    """

    def __init__(self, spec: str | Path, device: str = "cpu") -> None:
        self.model, self.tokenizer, name = load_checkpoint(str(spec), CLASSIFIER, device)
        self.column = _entailed(str(spec), self.model.config.id2label)
        self.signature = f"classifier:{name}"

    @torch.no_grad()
    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n,) probability that the first text entails the second; a pair too long for its window loses the end of the longer text."""
        out = np.zeros(len(pairs))
        if not pairs:
            return out
        first, second = (list(side) for side in zip(*pairs, strict=True))
        window = window_of(self.model, self.tokenizer)
        rows = self.tokenizer(first, second, truncation="longest_first", max_length=window)
        for chosen in batches_of([len(row) for row in rows["input_ids"]], BATCH_PIECES):
            batch = self.tokenizer.pad([{key: rows[key][n] for key in rows} for n in chosen], return_tensors="pt")
            logits = self.model(**batch.to(self.model.device)).logits
            out[chosen] = torch.softmax(logits.double(), dim=1)[:, self.column].cpu().numpy()
        return np.round(out, 6)


def load_severity(spec: str = EMBEDDED, device: str = "cpu", threads: int | None = None) -> SeverityModel:
    """The severities that ``spec`` names: ``embedded`` or a model set (its reader of both texts), else the entailment of a local folder,
    or of the hub name of a model that is on this machine.

    Raises what TransformerEntailment raises, and ModelMissingError for a set without a reader.
    """
    if spec == EMBEDDED or spec in SETS or (Path(spec) / MANIFEST).is_file():
        return load_reader(spec, threads)
    return EntailmentSeverity(TransformerEntailment(spec, device))


def _entailed(spec: str, labels: dict[int, str]) -> int:
    """Which class is entailment. Raises InputError that lists the labels when none of them is."""
    for number, label in labels.items():
        if re.sub(r"[^a-z]", "", str(label).lower()) in ("entailment", "entails", "entailed", "entail"):
            return int(number)
    names = ", ".join(map(str, labels.values()))
    raise InputError(
        f"{spec} knows the labels {names} and none of them is entailment: give a classifier fine-tuned on entailment"
    )
