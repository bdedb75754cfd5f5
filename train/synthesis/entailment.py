"""Entailment between two texts, by the reader of a model set or by a given checkpoint: what decides a mistake's severity (SEScore §3.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification

from rome.exceptions import InputError
from rome.features.analyser.config import EMBEDDED, SETS
from rome.features.analyser.pieces import batches_of
from rome.features.model_files import MANIFEST
from rome.train.synthesis.checkpoints import checkpoint_name, config_and_tokenizer, window_of
from rome.train.synthesis.reader_judge import load_reader_judge

__all__ = ["Classes", "Entailment", "TransformerEntailment", "load_entailment"]

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

    spec : a local folder, or the hub name of a model that is on this machine; nothing is downloaded.
    Raises ModelMissingError when it is not there, with the command that gets it; InputError, naming it, when it is of another kind.
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

    threads : of the reader. Raises what TransformerEntailment raises, and ModelMissingError for a set without a reader.
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
