"""From raw text to sentences, words and trees: Stanza's models, loaded from local files only, run in bulk.

All texts go through each stage together, yet no text can influence another: the tokenizer reads one paragraph at a time, and every
later stage looks at one sentence at a time. Tagger and parser read the trunk through its memory, so the features find the states
already there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from .bulk import Bulk, Stages, can_feed
from .memo import MemoisedTrunk
from .parsed import ParsedSentence, ParsedWord, Token
from .stanza_documents import StanzaDocuments
from .stanza_pipeline import embedded_pipeline, package_pipeline, quiet
from .tokens import LONGEST_SENTENCE

__all__ = ["LONGEST_SENTENCE", "ParsedSentence", "ParsedWord", "Parser", "Token", "TokenizedTexts"]

SURROGATE = re.compile("[\ud800-\udfff]")
LONG_RUN = re.compile(r"[!-~]{1000,}")


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """The texts after the first step, with what the parser's way of parsing keeps of it."""

    texts: tuple[str, ...]
    found: Any


class Parser:
    """Parses texts with the embedded models, or with Stanza's own English package.

    folder : holds tokenizer/, mwt/, tagger/, lemmatizer/ and parser/, each with one .pt file of the same name.
    trunk, tokenizer : the frozen encoder (a MemoisedTrunk) and its word-piece tokenizer; only the embedded models read them.
    batch_size : words that the parser takes at once.
    package_dir : a directory of Stanza's own models; folder, trunk and tokenizer are then not used.

    Raises ModelMissingError, with the command that gets them, when model files are absent.
    """

    def __init__(
        self,
        folder: Path | None = None,
        trunk: MemoisedTrunk | None = None,
        tokenizer: Any = None,
        *,
        batch_size: int = 1000,
        package_dir: Path | None = None,
    ) -> None:
        self._steps: Bulk | StanzaDocuments
        with quiet():
            if package_dir is not None:
                self._pipeline = package_pipeline(Path(package_dir), batch_size)
            else:
                self._pipeline = embedded_pipeline(folder, trunk, tokenizer, batch_size)
            processors = self._pipeline.processors
            if trunk is not None and package_dir is None and can_feed(processors):
                self._steps = Bulk(Stages(processors), trunk, tokenizer)
            else:
                self._steps = StanzaDocuments(processors, batch_size)

    def beside(self, trunk: MemoisedTrunk, tokenizer: Any) -> Parser | None:
        """A parser for another thread that shares this one's models, with a memory of the trunk of its own; None when they cannot be shared."""
        if not isinstance(self._steps, Bulk):
            return None
        other = copy(self)
        other._steps = Bulk(self._steps.stages, trunk, tokenizer)
        return other

    def tokenize(self, texts: Sequence[str]) -> TokenizedTexts:
        """Split texts into sentences, tokens and words; texts without a visible character get no sentence."""
        with quiet(), torch.no_grad():
            return TokenizedTexts(tuple(texts), self._steps.tokenize([_readable(text) for text in texts]))

    def parse(self, texts: TokenizedTexts | Sequence[str]) -> list[list[ParsedSentence]]:
        """Tag, lemmatise and parse; one list of sentences for each text, in order, empty for an empty text."""
        tokenized = texts if isinstance(texts, TokenizedTexts) else self.tokenize(texts)
        with quiet(), torch.no_grad():
            return self._steps.parse(tokenized.texts, tokenized.found)


def _readable(text: str) -> str:
    """The text as the models can read it, every character in its place."""
    return LONG_RUN.sub(_interrupted, SURROGATE.sub("\ufffd", text))


def _interrupted(run: re.Match[str]) -> str:
    """A long run of visible ASCII characters with every 500th made foreign, its length kept.

    Stanza's expressions for addresses take a time that grows with the square of such a run.
    """
    return "".join("\u00e9" if number % 500 == 499 else letter for number, letter in enumerate(run.group()))
