"""From raw text to sentences, words and trees: Stanza's pipeline, loaded from local files only, run in bulk.

All texts go through each stage together, yet no text can influence another: a blank line keeps the tokenizer from reading
across, and every later stage looks at one sentence at a time. Tagger and parser read the trunk through its memory, so the
features find the states already there.
"""

from __future__ import annotations

import json
import logging
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stanza
import torch
from stanza.models.common.doc import Document
from stanza.models.common.foundation_cache import BertRecord, FoundationCache
from stanza.resources.common import ResourcesFileNotFoundError

from rome.exceptions import ModelMissingError

from .memo import MemoisedTrunk

__all__ = ["ParsedSentence", "ParsedWord", "Parser", "Token", "TokenizedTexts"]

TRUNK_NAME = "rome-trunk"
MODELS = {"tokenize": "tokenizer", "mwt": "mwt", "pos": "tagger", "lemma": "lemmatizer", "depparse": "parser"}
LONGEST_SENTENCE = 200
"""Tokens; what the tokenizer leaves longer is cut, because the parser's memory grows with the square."""
BREAK = "\n\n"
STUB = {"en": {"lang_name": "English", "default_processors": {}, "default_dependencies": {}}}


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
        batch_size: int = 3000,
        package_dir: Path | None = None,
    ) -> None:
        self.batch_size = batch_size
        with _quiet():
            if package_dir is not None:
                self._pipeline = _package_pipeline(Path(package_dir), batch_size)
            else:
                self._pipeline = _embedded_pipeline(_model_files(folder), trunk, tokenizer, batch_size)
        self._pipeline.processors["tokenize"].trainer.args["batch_size"] = 128

    def tokenize(self, texts: Sequence[str]) -> TokenizedTexts:
        """Split texts into sentences, tokens and words; texts without a visible character get no sentence."""
        starts, position = [], 0
        for text in texts:
            starts.append(position)
            position += len(text) + len(BREAK)
        document = Document([], text=BREAK.join(texts))
        if document.text.strip():
            with _quiet(), torch.no_grad():
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
        document = tokenized.document
        with _quiet(), torch.no_grad():
            for name in ("pos", "lemma", "depparse"):
                document = self._pipeline.processors[name].process(document)
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


def _model_files(folder: Path | None) -> dict[str, Path]:
    """The file of each processor's model below a folder. Raises ModelMissingError naming the first that is absent."""
    paths = {processor: Path(folder or ".") / name / f"{name}.pt" for processor, name in MODELS.items()}
    for path in paths.values():
        if not path.is_file():
            raise ModelMissingError(f"{path} is missing: reinstall rome-metric, or run `rome train parser --out {folder}`")
    return paths


def _embedded_pipeline(paths: dict[str, Path], trunk: MemoisedTrunk | None, tokenizer: Any, batch_size: int) -> stanza.Pipeline:
    """Stanza's pipeline over our own files; the trunk and its tokenizer are handed over in Stanza's cache."""
    if trunk is None or tokenizer is None:
        raise ValueError("the embedded parser reads the encoder: give it the trunk and the tokenizer")
    tokenizer.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    cache = FoundationCache()
    cache.bert[TRUNK_NAME] = BertRecord(trunk, tokenizer, {})
    options = {f"{processor}_model_path": str(path) for processor, path in paths.items()}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "resources.json").write_text(json.dumps(STUB))
        return _pipeline(folder, batch_size, allow_unknown_language=True, foundation_cache=cache, **options)


def _package_pipeline(folder: Path, batch_size: int) -> stanza.Pipeline:
    """Stanza's own English package. Raises ModelMissingError when the directory does not hold it."""
    command = """python -c "import stanza; stanza.download('en')" """.strip()
    try:
        return _pipeline(str(folder), batch_size)
    except (FileNotFoundError, ResourcesFileNotFoundError, KeyError) as error:
        raise ModelMissingError(f"Stanza's English package is not complete in {folder}: get it with `{command}`") from error


def _pipeline(folder: str, batch_size: int, **options: Any) -> stanza.Pipeline:
    """A quiet pipeline of the five processors on the CPU that downloads nothing."""
    return stanza.Pipeline(
        "en",
        dir=folder,
        processors=",".join(MODELS),
        download_method=None,
        use_gpu=False,
        verbose=False,
        depparse_batch_size=batch_size,
        **options,
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Stanza from logging below an error, and leave its logger as it was."""
    logger = logging.getLogger("stanza")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
