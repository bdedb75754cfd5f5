"""From raw text to sentences, words and trees: Stanza's pipeline, loaded from local files only, run in bulk.

All texts go through each stage together, yet no text can influence another: a blank line keeps the tokenizer from reading
across, and every later stage looks at one sentence at a time. Tagger and parser read the trunk through its memory, so the
features find the states already there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from stanza.models.common.doc import Document

from .memo import MemoisedTrunk
from .stanza_pipeline import embedded_pipeline, package_pipeline, quiet
from .trees import attach_words, scores_arcs

__all__ = ["ParsedSentence", "ParsedWord", "Parser", "Token", "TokenizedTexts"]

LONGEST_SENTENCE = 200
"""Tokens; what the tokenizer leaves longer is cut, because the parser's memory grows with the square."""
BREAK = "\n\n"
"""Between two texts: no sentence, and nothing the tokenizer looks at, reaches across a blank line."""
SURROGATE = re.compile("[\ud800-\udfff]")
LONG_RUN = re.compile(r"[!-~]{1000,}")


@dataclass(frozen=True, slots=True)
class Token:
    """One surface token, ``text[start:end]`` of its text; it stands for ``words[first:last]`` of its sentence."""

    text: str
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ParsedWord:
    """One syntactic word; head is 1-based within the sentence and 0 for the root, start and end are offsets into the text.

    The words of a multi-word token divide its characters when their texts add up to it, else each has the whole span.
    """

    text: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """One sentence, ``text[start:end]``, with its tokens and words in reading order; never empty."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    words: tuple[ParsedWord, ...]


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """The texts after the first step: one Stanza document for all, and where each text begins in it."""

    texts: tuple[str, ...]
    starts: tuple[int, ...]
    document: Document


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
        self.batch_size = batch_size
        with quiet():
            if package_dir is not None:
                self._pipeline = package_pipeline(Path(package_dir), batch_size)
            else:
                self._pipeline = embedded_pipeline(folder, trunk, tokenizer, batch_size)
        self._pipeline.processors["tokenize"].trainer.args["batch_size"] = 128

    def tokenize(self, texts: Sequence[str]) -> TokenizedTexts:
        """Split texts into sentences, tokens and words; texts without a visible character get no sentence."""
        starts, position = [], 0
        for text in texts:
            starts.append(position)
            position += len(text) + len(BREAK)
        document = Document([], text=LONG_RUN.sub(_interrupted, SURROGATE.sub("\ufffd", BREAK.join(texts))))
        if document.text.strip():
            with quiet(), torch.no_grad():
                document = self._pipeline.processors["tokenize"].process(document)
                _cut_long_sentences(document)
                _unmark_foreign_tokens(document, self._pipeline.processors["mwt"].vocab)
                if document.sentences:
                    document = self._pipeline.processors["mwt"].process(document)
        return TokenizedTexts(tuple(texts), tuple(starts), document)

    def parse(self, texts: TokenizedTexts | Sequence[str]) -> list[list[ParsedSentence]]:
        """Tag, lemmatise and parse; one list of sentences for each text, in order, empty for an empty text."""
        tokenized = texts if isinstance(texts, TokenizedTexts) else self.tokenize(texts)
        result: list[list[ParsedSentence]] = [[] for _ in tokenized.texts]
        if not tokenized.document.sentences:
            return result
        document, processors = tokenized.document, self._pipeline.processors
        with quiet(), torch.no_grad():
            document = processors["lemma"].process(processors["pos"].process(document))
            if scores_arcs(processors["depparse"]):
                attach_words(processors["depparse"], document, self.batch_size)
            else:
                document = processors["depparse"].process(document)
        for sentence in document.sentences:
            index = bisect_right(tokenized.starts, sentence.tokens[0].start_char) - 1
            result[index].append(_parsed(sentence, tokenized.texts[index], tokenized.starts[index]))
        return result


def _parsed(sentence: Any, text: str, offset: int) -> ParsedSentence:
    """One Stanza sentence as a plain value, its offsets counted from the beginning of its own text."""
    tokens: list[Token] = []
    words: list[ParsedWord] = []
    for token in sentence.tokens:
        start, end = token.start_char - offset, token.end_char - offset
        tokens.append(Token(text[start:end], start, end, len(words), len(words) + len(token.words)))
        whole = len(token.words) == 1
        pieces = [text[start:end]] if whole else [word.text for word in token.words]
        for word, piece, (left, right) in zip(token.words, pieces, _spans(text[start:end], pieces, start), strict=True):
            lemma = piece if word.lemma is None or (whole and word.text != piece and " " not in piece) else word.lemma
            tags = (word.upos or "X", word.xpos or "", word.feats or "")
            words.append(ParsedWord(piece, lemma, *tags, int(word.head), word.deprel, left, right))
    return ParsedSentence(tokens[0].start, tokens[-1].end, tuple(tokens), tuple(words))


def _spans(token: str, pieces: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Where each piece of a token lies: side by side when the pieces add up to the token, else all over the whole token."""
    if "".join(pieces).lower() != token.lower() or sum(map(len, pieces)) != len(token):
        return [(start, start + len(token))] * len(pieces)
    spans = []
    for piece in pieces:
        spans.append((start, start + len(piece)))
        start += len(piece)
    return spans


def _interrupted(run: re.Match[str]) -> str:
    """A long run of visible ASCII characters with every 500th made foreign, its length kept.

    Stanza's expressions for addresses take a time that grows with the square of such a run.
    """
    return "".join("\u00e9" if number % 500 == 499 else letter for number, letter in enumerate(run.group()))


def _cut_long_sentences(document: Document) -> None:
    """Cut sentences of more than LONGEST_SENTENCE tokens into even parts, in place."""
    if all(len(sentence.tokens) <= LONGEST_SENTENCE for sentence in document.sentences):
        return
    parts = []
    for sentence in document.to_dict():
        count = -(-len(sentence) // LONGEST_SENTENCE)
        size = -(-len(sentence) // count)
        for start in range(0, len(sentence), size):
            part = sentence[start : start + size]
            parts.append([{**token, "id": (number,)} for number, token in enumerate(part, 1)])
    document._process_sentences(parts)


def _unmark_foreign_tokens(document: Document, vocabulary: Any) -> None:
    """Keep tokens whole that have a letter the expander never saw: it would guess, and lose that letter."""
    for sentence in document.sentences:
        for token in sentence.tokens:
            if token.misc and "MWT=Yes" in token.misc and not all(letter in vocabulary for letter in token.text):
                token.misc = None
