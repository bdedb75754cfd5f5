"""Words for places in a text: what a filler and a likelihood are, and how one is loaded by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.model_set import file_digest

TOP_K = 4
"""Candidates a place (SEScore §3.2: top-k sampling with k = 4)."""


@dataclass(frozen=True, slots=True)
class FillRequest:
    """Characters ``text[start:end]`` are to be replaced by one word or span; an empty span is the place of an insertion.

    Raises InputError for a place outside its text.
    """

    text: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end <= len(self.text):
            raise InputError(f"characters {self.start} to {self.end} lie outside {self.text[:40]!r}: give a place in the text")

    @property
    def original(self) -> str:
        """What stands there now."""
        return self.text[self.start : self.end]


class Likelihood(Protocol):
    """Tells how probable the words are that stand in their places.

    Attributes
    ----------
    signature
        Every choice that changes them: model and settings in one line.
    """

    signature: str

    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """For each place the probability in [0, 1] of its characters, given the rest of the text; 1 for an empty place."""


class Filler(Protocol):
    """Proposes fillings.

    Attributes
    ----------
    signature
        Every choice that changes them: model and settings in one line.
    spans
        Whether it fills with phrases, else with one word.
    """

    signature: str
    spans: bool

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """For each place the top-k candidates with probabilities in [0, 1], best first; never what stands there now, maybe none."""


class LanguageFiller(Filler, Likelihood, Protocol):
    """Both in one: every language model that is loaded here can do both."""


class EmbeddedFiller:
    """The masked head on the embedded trunk: one whole word of letters or of digits; offline."""

    spans = False

    def __init__(self, head: Any, top_k: int = TOP_K, digest: str = "") -> None:
        self.head, self.top_k = head, top_k
        self.signature = f"embedded{digest and '@' + digest}#top{top_k}"

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """The most probable words, what stands there left out."""
        found = self.head.fill(requests, self.top_k + 1)
        return [other_words(candidates, request, self.top_k) for candidates, request in zip(found, requests, strict=True)]

    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """The probability of what stands in each place, masked as a whole; the product over its pieces."""
        return [float(value) for value in self.head.likelihood(requests)]


def load_filler(spec: str, device: str = "cpu", top_k: int = TOP_K) -> LanguageFiller:
    """The filler that ``spec`` names: ``embedded``, a local folder, or the hub name of a model that is on this machine.

    A masked language model fills with one word, a sequence-to-sequence model (text infilling: BART, mBART, T5) with a phrase.
    Nothing is downloaded. Raises ModelMissingError when there is no such model, with the command that gets it, and InputError,
    naming the checkpoint, when it is of a kind that fills no gaps.
    """
    if top_k < 1:
        raise InputError(f"top_k={top_k} leaves no candidate: take 1 or more, 4 is SEScore's")
    trained = _trained(spec)
    if trained is not None:
        from rome.features.analyser.fill_head import load_fill_head

        return EmbeddedFiller(load_fill_head(trained), top_k, file_digest(trained))
    from rome.train.synthesis.language_models import load_language_model

    return load_language_model(spec, device, top_k)


def _trained(spec: str) -> Path | None:
    """The folder of a head that `rome train fill` wrote: the embedded one, or the one that spec names; None where spec is another model."""
    folder = set_folder("small") / "fill" if spec == "embedded" else Path(spec)
    if (folder / "fill.safetensors").is_file():
        return folder
    if spec == "embedded":
        raise ModelMissingError(
            "this version has no embedded model that fills gaps: give --fill FOLDER, a checkpoint that transformers loads or what "
            "`rome train fill --out FOLDER` wrote"
        )
    return None


def other_words(candidates: Sequence[tuple[str, float]], request: FillRequest, top_k: int) -> list[tuple[str, float]]:
    """The first ``top_k`` candidates that are not what stands there already, casing aside."""
    return [(word, p) for word, p in candidates if word.casefold() != request.original.casefold()][:top_k]


def rounded(probability: float) -> float:
    """Four significant digits: batches of other sizes differ in the sixth, so they seldom differ in what is kept."""
    return float(f"{probability:.4g}")
