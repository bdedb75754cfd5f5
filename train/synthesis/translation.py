"""Translation there and back through two local checkpoints: back-translated texts and their likelihoods (BLEURT §4.1, §4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.model_set import file_digest

__all__ = ["RoundTrip", "Translator"]


class Translator:
    """One direction of translation by a sequence-to-sequence checkpoint in a local folder; nothing is downloaded.

    Raises ModelMissingError when the folder holds no checkpoint, InputError when it holds one of another kind.

    Parameters
    ----------
    beams
        Width of the search for the most likely translation.
    batch
        Texts at a time, device : where it computes; both change the speed only.
    """

    def __init__(self, folder: str | Path, *, beams: int = 4, batch: int = 16, device: str = "cpu") -> None:
        self.folder, self.beams, self.batch, self.device = Path(folder), beams, batch, device
        self.model, self.tokenizer = _load(self.folder)
        self.model.to(device)
        positions = getattr(self.model.config, "max_position_embeddings", None) or 512
        self.window = int(min(self.tokenizer.model_max_length, positions))
        self.signature = f"{self.folder.name}@{file_digest(self.folder)}|beams:{beams}"

    def fits(self, text: str) -> bool:
        """Whether the whole text can be read at once."""
        return len(self.tokenizer(text, verbose=False).input_ids) <= self.window

    @torch.no_grad()
    def translate(self, texts: Sequence[str]) -> list[str]:
        """The most likely translation of each text by beam search; of a blank text, the empty text.

        Raises InputError for a text beyond the model's window.
        """
        found = {text: "" for text in texts}
        for rows in self._batches([text for text in found if text.strip()]):
            produced = self.model.generate(
                **self._encoded(rows), num_beams=self.beams, do_sample=False, max_length=None, max_new_tokens=self.window - 1
            )
            found.update(zip(rows, self.tokenizer.batch_decode(produced, skip_special_tokens=True), strict=True))
        return [found[text].strip() for text in texts]

    @torch.no_grad()
    def log_likelihood(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.float64]:
        """log P(target | source) / number of the target's tokens, its end included: (n,), at most 0; NaN where a text does not fit."""
        result = np.full(len(sources), np.nan)
        fitting = [n for n, (a, b) in enumerate(zip(sources, targets, strict=True)) if self.fits(a) and self.fits(b)]
        for start in range(0, len(fitting), self.batch):
            rows = fitting[start : start + self.batch]
            labels = self._labels([targets[n] for n in rows]).to(self.device)
            logits = self.model(**self._encoded([sources[n] for n in rows]), labels=labels).logits
            known = labels != -100
            logs = torch.log_softmax(logits.double(), -1).gather(-1, labels.clamp_min(0)[..., None])[..., 0]
            result[rows] = ((logs * known).sum(1) / known.sum(1)).cpu().numpy()
        return result

    def _batches(self, texts: Sequence[str]) -> list[list[str]]:
        ordered = sorted(texts, key=len)
        return [ordered[start : start + self.batch] for start in range(0, len(ordered), self.batch)]

    def _encoded(self, texts: Sequence[str]) -> dict[str, Tensor]:
        for text in texts:
            if not self.fits(text):
                raise InputError(
                    f"{text[:40]!r}... is longer than the {self.window} tokens that {self.folder} reads: shorten it"
                )
        encoded = self.tokenizer(list(texts), return_tensors="pt", padding=True)
        return {name: encoded[name].to(self.device) for name in ("input_ids", "attention_mask")}

    def _labels(self, texts: Sequence[str]) -> Tensor:
        """(b, L) token ids, -100 where a row has ended."""
        encoded = self.tokenizer(text_target=list(texts), return_tensors="pt", padding=True)
        return encoded.input_ids.masked_fill(encoded.attention_mask == 0, -100)


class RoundTrip:
    """English to another language and back.

    Parameters
    ----------
    language
        Its short name, such as fr.
    """

    def __init__(self, language: str, forward: Translator, backward: Translator) -> None:
        self.language, self.forward, self.backward = language, forward, backward
        self.signature = f"en-{language}:{forward.signature}|{language}-en:{backward.signature}"

    @staticmethod
    def load(language: str, forward: str | Path, backward: str | Path, **options: Any) -> RoundTrip:
        """From two local folders, with the options of Translator, which also raises what is wrong."""
        there, back = (Translator(folder, **options) for folder in (forward, backward))
        return RoundTrip(language, there, back)

    def back(self, texts: Sequence[str]) -> list[str | None]:
        """Each text translated there and back (appendix A.1); None for a text beyond a model's window."""
        fitting = list(dict.fromkeys(text for text in texts if self.forward.fits(text)))
        foreign = dict(zip(fitting, self.forward.translate(fitting), strict=True))
        readable = [text for text in fitting if self.backward.fits(foreign[text])]
        again = dict(zip(readable, self.backward.translate([foreign[text] for text in readable]), strict=True))
        return [again.get(text) for text in texts]

    def likelihood(self, texts: Sequence[str], targets: Sequence[str]) -> NDArray[np.float64]:
        """log P(target | text) / |target|, with the best foreign text standing for all of them (§4.2): (n,), NaN where one does not fit."""
        fitting = [n for n, text in enumerate(texts) if self.forward.fits(text)]
        result = np.full(len(texts), np.nan)
        foreign = self.forward.translate([texts[n] for n in fitting])
        result[fitting] = self.backward.log_likelihood(foreign, [targets[n] for n in fitting])
        return result


def _load(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

    if not folder.is_dir():
        raise ModelMissingError(
            f"no translation checkpoint at {folder}: download one (`hf download NAME --local-dir {folder}`)"
        )
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ModelMissingError(
            f"{folder} holds no checkpoint that transformers reads: name a folder with config.json"
        ) from error
    if not config.is_encoder_decoder:
        raise InputError(
            f"{folder} is a {config.model_type} checkpoint, not a translation model: name a sequence-to-sequence one"
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).strip().splitlines()[0][:120]
        raise ModelMissingError(
            f"the translation checkpoint {folder} cannot be loaded ({reason}): download it whole"
        ) from error
    return model.eval().requires_grad_(False), tokenizer
