"""From raw text to sentences, words and trees, by a pipeline of Stanza's.

All texts go through each stage together, yet no text influences another: the tokenizer reads one paragraph at a time, and every
later stage looks at one sentence at a time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from stanza import Document, Pipeline

from .encoder import EmbeddedEncoder, SentenceStates
from .parsed import ParsedSentence, parsed_sentence
from .stanza_pipeline import embedded_pipeline, package_pipeline
from .tree_head import load_tree_head
from .tree_reader import TreeReader

__all__ = ["LONGEST_SENTENCE", "Parser", "embedded_parser", "package_parser", "readable"]

LONGEST_SENTENCE = 200
"""Tokens; what the tokenizer leaves longer is cut, because what looks for trees grows with the square."""
LONG_TEXT = 900
"""Characters. The tokenizer reads longer paragraphs in windows and fills up those of one batch to the same length: each text alone."""
SURROGATE = re.compile("[\ud800-\udfff]")
LONG_RUN = re.compile(r"[!-~]{1000,}")


class Parser:
    """Parses texts with a pipeline of Stanza's. reader : whose readings the pipeline's tags and trees come from, if they do."""

    def __init__(self, pipeline: Pipeline, reader: TreeReader | None = None) -> None:
        self.pipeline, self.reader = pipeline, reader

    @torch.no_grad()
    def parse(self, texts: Sequence[str]) -> list[list[ParsedSentence]]:
        """Sentences, words, tags, lemmas and trees; one list of sentences for each text, empty without a visible character."""
        documents = self._tokenized([readable(text) for text in texts])
        self.pipeline.process([document for document in documents if document.sentences], "mwt,pos,lemma,depparse")
        states = iter(self._states(documents))
        return [
            [_parsed(sentence, text, next(states)) for sentence in document.sentences]
            for text, document in zip(texts, documents, strict=True)
        ]

    def _states(self, documents: Sequence[Document]) -> list[SentenceStates | None]:
        """What the trunk gave for each sentence, when the pipeline read it."""
        if self.reader is None:
            return [None] * sum(len(document.sentences) for document in documents)
        states = [reading.states for reading in self.reader.read(documents)]
        self.reader.forget()
        return list(states)

    def _tokenized(self, texts: Sequence[str]) -> list[Document]:
        """A document a text with its sentences and tokens, long sentences cut."""
        documents = [Document([], text=text) for text in texts]
        groups = [[document] for document in documents if len(document.text) > LONG_TEXT]
        groups.append([document for document in documents if len(document.text) <= LONG_TEXT])
        for group in groups:  # empty texts at both ends, so that every text has a blank line on both sides
            self.pipeline.processors["tokenize"].bulk_process([Document([], text=""), *group, Document([], text="")])
        return [_cut(document) for document in documents]


def embedded_parser(folder: Path, encoder: EmbeddedEncoder, trees: Path | None = None) -> Parser:
    """The parser of a model set.

    folder : holds tokenizer/, mwt/, lemmatizer/ and, unless that of another is given, trees/. encoder : whose states the trees are
    found from. Raises ModelMissingError, with what to do, when a model's file is absent.
    """
    reader = TreeReader(encoder, load_tree_head(trees or Path(folder) / "trees"))
    return Parser(embedded_pipeline(folder, reader), reader)


def package_parser(folder: Path) -> Parser:
    """Stanza's own English package, from its directory. Raises ModelMissingError, with Stanza's command, when it is not there."""
    return Parser(package_pipeline(folder))


def readable(text: str) -> str:
    """The text as the models can read it, every character in its place."""
    return LONG_RUN.sub(_interrupted, SURROGATE.sub("\ufffd", text))


def _interrupted(run: re.Match[str]) -> str:
    """A long run of visible ASCII characters with every 500th made foreign, its length kept.

    Stanza's expressions for addresses take a time that grows with the square of such a run.
    """
    return "".join("\u00e9" if number % 500 == 499 else letter for number, letter in enumerate(run.group()))


def _cut(document: Document) -> Document:
    """The document with sentences of more than LONGEST_SENTENCE tokens in even parts."""
    if all(len(sentence.tokens) <= LONGEST_SENTENCE for sentence in document.sentences):
        return document
    parts = []
    for sentence in document.to_dict():
        count = -(-len(sentence) // LONGEST_SENTENCE)
        size = -(-len(sentence) // count)
        for start in range(0, len(sentence), size):
            parts.append([{**token, "id": (n,)} for n, token in enumerate(sentence[start : start + size], 1)])
    return Document(parts, document.text)


def _parsed(sentence: Any, text: str, states: SentenceStates | None) -> ParsedSentence:
    """One of Stanza's sentences as a plain value."""
    return parsed_sentence(
        text,
        [(token.start_char, token.end_char) for token in sentence.tokens],
        [[word.text for word in token.words] for token in sentence.tokens],
        [(word.lemma, word.upos, word.xpos, word.feats, int(word.head), word.deprel) for word in sentence.words],
        states,
    )
