"""Translation there and back through two local checkpoints (BLEURT §4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM

from rome.train.synthesis.language_models import Use, load_checkpoint, window_of
from rome.train.synthesis.pairs import batches

TRANSLATION = Use(
    "does not translate",
    "a sequence-to-sequence translation model",
    lambda config, _: config.is_encoder_decoder,
    lambda _: AutoModelForSeq2SeqLM,
)


class Translator:
    """One direction of translation by a sequence-to-sequence checkpoint on this machine; nothing is downloaded.

    Raises what load_checkpoint raises.

    Parameters
    ----------
    beams
        Width of the search for the most likely translation.
    batch
        Texts at a time, device : where it computes; both change the speed only.
    """

    def __init__(self, folder: str | Path, *, beams: int = 4, batch: int = 16, device: str = "cpu") -> None:
        self.folder, self.beams, self.batch = str(folder), beams, batch
        self.model, self.tokenizer, name = load_checkpoint(self.folder, TRANSLATION, device)
        self.window = window_of(self.model, self.tokenizer)
        self.signature = f"{name}|beams:{beams}"

    def fits(self, text: str) -> bool:
        """Whether the whole text can be read at once."""
        return len(self.tokenizer(text, verbose=False).input_ids) <= self.window

    @torch.no_grad()
    def translate(self, texts: Sequence[str]) -> list[str | None]:
        """The most likely translation of each text by beam search; of a blank text, the empty text; None for one beyond the window."""
        found: dict[str, str | None] = {text: None if text.strip() else "" for text in texts}
        fitting = sorted((text for text in found if text.strip() and self.fits(text)), key=len)
        for rows in batches(fitting, self.batch):
            encoded = self.tokenizer(rows, return_tensors="pt", padding=True).to(self.model.device)
            produced = self.model.generate(
                input_ids=encoded["input_ids"],
                attention_mask=encoded["attention_mask"],
                num_beams=self.beams,
                do_sample=False,
                max_length=None,
                max_new_tokens=self.window - 1,
            )
            made = self.tokenizer.batch_decode(produced, skip_special_tokens=True)
            found.update(zip(rows, map(str.strip, made), strict=True))
        return [found[text] for text in texts]


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
        foreign = self.forward.translate(texts)
        again = iter(self.backward.translate([text for text in foreign if text is not None]))
        return [None if text is None else next(again) for text in foreign]
