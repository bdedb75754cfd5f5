"""How bad a single edit of a text is: the papers' own rules, and the reader of both texts or a checkpoint of entailment as judges.

SEScore2's (§4.2): an edit is minor when what it brings is likely there, or when what it takes weighs little; else major. Three things are
done otherwise than printed:

- The likelihood of several words is the geometric mean of their probabilities, all masked at once, not the arithmetic one: one
  likely word ("of") does not excuse an unlikely one beside it.
- The paper's model sees the source sentence t besides the rest of y. There is no source here; the reference, which says the
  same, may stand in its place (``context``).
- The weight of a deleted word is its inverse document frequency: each occurrence counts for itself, as everywhere in RoMe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import exp
from pathlib import Path
from typing import Any, Protocol

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
from rome.features.errors.evidence import CRITICAL, MAJOR, READER_FILE, WEIGHTS, PairErrorModel, PairPrediction
from rome.features.idf import IdfTable
from rome.features.model_files import MANIFEST
from rome.features.values import Analysis
from rome.metric import RoMe
from rome.train.synthesis.edits import words_of
from rome.train.synthesis.fillers import FillRequest, Likelihood
from rome.train.synthesis.language_models import checkpoint_name, config_and_tokenizer, window_of
from rome.train.synthesis.pairs import Operation

__all__ = [
    "Classes",
    "Edits",
    "Entailment",
    "EntailmentRule",
    "HARMLESS",
    "LikelihoodRule",
    "ReaderJudge",
    "ReaderRule",
    "Severities",
    "TransformerEntailment",
    "load_entailment",
    "load_reader_judge",
]

CONTEXTS = ("hypothesis", "reference")
Edits = Sequence[tuple[str, Operation]]
"""Texts, each with an edit of it; each is carried out alone."""
Verdict = tuple[bool, dict[str, float]]
"""Whether an edit is minor, and the number behind it by its name."""


class Severities(Protocol):
    """Tells minor edits from major ones.

    Attributes
    ----------
    signature
        Every choice that changes a verdict.
    """

    @property
    def signature(self) -> str:
        """Models and thresholds in one line."""

    def of(self, edits: Edits) -> list[Verdict]:
        """One verdict an edit, in order; it depends on the edit and its text alone."""


class EntailmentRule:
    """SEScore's rule (§3.3, eq. 2): minor where the texts before and after entail each other, both with at least gamma, to three decimals."""

    def __init__(self, entailment: Entailment, gamma: float = 0.9) -> None:
        self.entailment, self.gamma = entailment, gamma
        self.signature = f"entailment:{entailment.signature}|gamma:{gamma:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """By both probabilities, all asked for at once."""
        steps = [(text, text[: edit.start] + edit.new + text[edit.end :]) for text, edit in edits]
        both = [*steps, *((after, before) for before, after in steps)]
        found = [round(float(p), 3) for p in self.entailment.probabilities(both)] if both else []
        judged = zip(found[: len(steps)], found[len(steps) :], strict=True)
        return [(min(there, back) >= self.gamma, {"entailment": there, "entailment_back": back}) for there, back in judged]


class LikelihoodRule:
    """SEScore2's rule.

    Raises InputError for another context.

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
    context
        What the likelihood sees: the changed text alone ("hypothesis"), or the reference before it ("reference").
    """

    def __init__(
        self,
        likelihood: Likelihood,
        idf: IdfTable | None = None,
        *,
        gamma: float = 0.1,
        weight: float = 1.0,
        context: str = "hypothesis",
    ) -> None:
        if context not in CONTEXTS:
            raise InputError(f"context={context!r}: choose one of {CONTEXTS}")
        self.likelihood, self.gamma, self.weight, self.context = likelihood, gamma, weight, context
        self.idf = idf or IdfTable.load(set_folder("small") / "idf" / "idf.parquet")
        table = f"{self.idf.name}/{self.idf.documents}"
        self.signature = (
            f"likelihood:{likelihood.signature}|idf:{table}|gamma:{gamma:.6g}|weight:{weight:.6g}|context:{context}"
        )

    def of(self, edits: Edits) -> list[Verdict]:
        """By likelihood or weight, all likelihoods asked for at once."""
        requests = [self._request(text, edit) for text, edit in edits if edit.kind != "deletion"]
        found = iter(zip(requests, self.likelihood.of(requests), strict=True)) if requests else iter(())
        verdicts: list[Verdict] = []
        for _, edit in edits:
            if edit.kind == "deletion":
                weight = max((self._weight(word.text) for word in words_of(edit.original)), default=0.0)
                verdicts.append((weight < self.weight, {"tfidf": round(weight, 6)}))
            else:
                request, probability = next(found)
                likelihood = probability ** (1 / max(1, len(words_of(request.original))))
                verdicts.append((likelihood >= self.gamma, {"likelihood": float(f"{likelihood:.6g}")}))
        return verdicts

    def _request(self, text: str, edit: Operation) -> FillRequest:
        """The place of what an edit brings."""
        start = edit.start + len(edit.new) - len(edit.new.lstrip())
        end = edit.start + len(edit.new.rstrip())
        before = f"{text.strip()} " if self.context == "reference" else ""
        changed = text[: edit.start] + edit.new + text[edit.end :]
        return FillRequest(before + changed, len(before) + start, len(before) + end)

    def _weight(self, word: str) -> float:
        """How much a deleted word weighs; a sign weighs the least there is."""
        return self.idf.idf(word) if any(map(str.isalnum, word)) else self.idf.floor


HARMLESS = 3.0
"""An edit that weighs less is minor: half way between a minor error (1) and a major one (5)."""


class ReaderJudge:
    """Both judgements that synthesis asks for, from one reading of a pair; what a pair gets does not depend on its neighbours.

    Parameters
    ----------
    analyse
        Such as ``RoMe().analyse``.
    identity
        Of its models and the reader, for the signature.
    """

    def __init__(self, analyse: Analyse, reader: PairErrorModel, identity: str = "") -> None:
        self.analyse, self.reader = analyse, reader
        self.signature = f"reader{identity and '@' + identity}"

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n,) probability that the second text has no major error beside the first: exp(-amount / 5).

        What the errors weigh is taken for the expected number of major ones, times the weight of one (Poisson).
        """
        return self.classes(pairs)[:, 0]

    def classes(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n, 3): entailed, as in `probabilities`; contradicted, of the rest the share that critical errors have in the weight; neither."""
        readings = [reading for *_, reading in self._read(pairs)]
        entailed = np.array([exp(-reading.amount / MAJOR) for reading in readings])
        weights = [(reading.probabilities * WEIGHTS).sum(axis=0) for reading in readings]
        turned = np.array([weight[WEIGHTS.index(CRITICAL)] / (weight.sum() or 1.0) for weight in weights])
        contradicted = (1.0 - entailed) * turned
        return np.round(np.stack([entailed, contradicted, 1.0 - entailed - contradicted], axis=1), 6).reshape(-1, 3)

    def weights(self, edits: Edits) -> list[float]:
        """What each edit of a text weighs, carried out alone: the expected weight, in [0, 10], of the worst word that it takes or brings.

        An edit that touches no word of either text weighs 0.
        """
        pairs = [(text, text[: edit.start] + edit.new + text[edit.end :]) for text, edit in edits]
        found = []
        for (_, edit), (before, after, reading) in zip(edits, self._read(pairs), strict=True):
            touched = [*_within(before, edit.start, edit.end), *_within(after, edit.start, edit.start + len(edit.new))]
            costs = reading.probabilities @ np.array(WEIGHTS)
            found.append(round(float(max(costs[touched], default=0.0)), 3))
        return found

    def _read(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[Analysis, Analysis, PairPrediction]]:
        """Both analyses and the reading of each pair."""
        analyses = self.analyse([text for pair in pairs for text in pair]) if pairs else {}
        known = [(analyses[one], analyses[other]) for one, other in pairs]
        for (one, other), reading in zip(known, self.reader(known), strict=True):
            yield one, other, reading


class ReaderRule:
    """Minor where the worst word of the edit weighs less than ``harmless``."""

    def __init__(self, judge: ReaderJudge, harmless: float = HARMLESS) -> None:
        self.judge, self.harmless = judge, harmless
        self.signature = f"severity:{judge.signature}|harmless:{harmless:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """By the weight of each edit."""
        return [(weight < self.harmless, {"weight": weight}) for weight in self.judge.weights(edits)]


def _within(analysis: Analysis, start: int, end: int) -> list[bool]:
    """For every word whether it shares a character with a place."""
    return [word.start < end and word.end > start for word in analysis.words]


def load_reader_judge(models: str = EMBEDDED, threads: int | None = None) -> ReaderJudge:
    """The judge of a model set: its name or folder, ``embedded`` for the default one.

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
    return ReaderJudge(metric.analyse, PairReader(own.folder, layers_below(own.folder), threads), identity)


BATCH_PIECES = 2048
Classes = Callable[[Sequence[tuple[str, str]]], NDArray[np.float64]]


class Entailment(Protocol):
    """Says how probable it is that one text entails another."""

    @property
    def signature(self) -> str:
        """The model in one line."""

    @property
    def classes(self) -> Classes | None:
        """For pairs (n, 3) probabilities: entailed, contradicted, neither; None where the model does not tell the last two apart."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n,) probability in [0, 1] that the first text of each pair entails the second; (0,) for no pairs."""


class TransformerEntailment:
    """A sequence classifier fine-tuned on entailment (MNLI, SNLI, RTE ...); which class is which is read from its label names.

    Raises ModelMissingError when it is not there, with the command that gets it; InputError, naming it, when it is of another kind.

    Parameters
    ----------
    spec
        A local folder, or the hub name of a model that is on this machine; nothing is downloaded.
    """

    def __init__(self, spec: str | Path, device: str = "cpu") -> None:
        self.model, self.tokenizer, name = _load_classifier(str(spec), device)
        self.columns = _columns(str(spec), self.model.config.id2label)
        self.signature = f"classifier:{name}"
        self.classes: Classes | None = self._classes if len(self.columns) == 3 else None

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n,) probability that the first text entails the second."""
        return self._all(pairs)[:, self.columns[0]]

    def _classes(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n, 3): entailed, contradicted, neither."""
        return self._all(pairs)[:, self.columns]

    @torch.no_grad()
    def _all(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n, labels) probabilities in the checkpoint's own order; a pair too long for its window loses the end of the longer text."""
        out = np.zeros((len(pairs), int(self.model.config.num_labels)))
        if not pairs:
            return out
        window = window_of(self.model, self.tokenizer)
        first, second = (list(side) for side in zip(*pairs, strict=True))
        rows = self.tokenizer(first, second, truncation="longest_first", max_length=window)
        for chosen in batches_of([len(row) for row in rows["input_ids"]], BATCH_PIECES):
            batch = self.tokenizer.pad([{key: rows[key][n] for key in rows} for n in chosen], return_tensors="pt")
            logits = self.model(**{key: value.to(self.model.device) for key, value in batch.items()}).logits
            out[chosen] = torch.softmax(logits.double(), dim=1).cpu().numpy()
        return np.round(out, 6)


def load_entailment(spec: str = EMBEDDED, device: str = "cpu", threads: int | None = None) -> Entailment:
    """The entailment that ``spec`` names: ``embedded`` or a model set (its reader of both texts), a local folder, or the hub name of a
    model that is on this machine.

    Raises what TransformerEntailment raises, and ModelMissingError for a set without a reader.

    Parameters
    ----------
    threads
        Of the reader.
    """
    if spec == EMBEDDED or spec in SETS or (Path(spec) / MANIFEST).is_file():
        return load_reader_judge(spec, threads)
    return TransformerEntailment(spec, device)


def _load_classifier(spec: str, device: str) -> tuple[Any, Any, str]:
    """Model in evaluation mode, fast tokenizer, and the model's name with a digest of its files."""
    config, tokenizer = config_and_tokenizer(spec, "the folder of an entailment classifier")
    kinds = list(getattr(config, "architectures", None) or ())
    if kinds and not any("SequenceClassification" in kind for kind in kinds):
        raise InputError(
            f"{spec} is a {kinds[0]}, which does not classify pairs of texts: give a classifier fine-tuned on entailment"
        )
    _columns(spec, config.id2label)
    try:
        model, report = AutoModelForSequenceClassification.from_pretrained(
            spec, local_files_only=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{spec} does not classify pairs of texts: give a classifier fine-tuned on entailment") from error
    if report["missing_keys"]:
        first = sorted(report["missing_keys"])[0]
        raise InputError(f"{spec} has no weights for {first}: give a classifier that was fine-tuned on entailment")
    return model.eval().requires_grad_(False).to(device), tokenizer, checkpoint_name(spec)


def _columns(spec: str, labels: dict[int, str]) -> list[int]:
    """The classes entailed, contradicted, neither of a checkpoint, or the class entailed alone where it knows no other.

    Raises InputError that lists the labels when none of them is entailment.
    """
    found: dict[str, int] = {}
    for number, label in labels.items():
        word = re.sub(r"[^a-z]", "", str(label).lower())
        kind = "entailed" if word in ("entailment", "entails", "entailed", "entail") else word[:9]
        found.setdefault(kind, int(number))
    if "entailed" not in found:
        names = ", ".join(str(label) for label in labels.values())
        raise InputError(
            f"{spec} knows the labels {names} and none of them is entailment: give a classifier fine-tuned on entailment"
        )
    rest = [found.get("contradic"), found.get("neutral")]
    return [found["entailed"], *(n for n in rest if n is not None)] if None not in rest else [found["entailed"]]
