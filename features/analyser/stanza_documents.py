"""Parsing with Stanza's processors as they are, from document to document: for Stanza's own package.

Slower than `features/analyser/bulk.py`, which feeds the embedded models, and the measure of what that must give.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .parsed import ParsedSentence, parsed_sentence
from .stanza_library import Document
from .tokens import LONGEST_SENTENCE
from .trees import attach_words, scores_arcs

__all__ = ["StanzaDocuments"]

BREAK = "\n\n"
"""Between two texts: no sentence, and nothing the tokenizer looks at, reaches across a blank line."""


class StanzaDocuments:
    """All texts as one Stanza document. processors : Stanza's five loaded processors. batch_size : words that the parser takes at once."""

    def __init__(self, processors: Any, batch_size: int) -> None:
        self._processors, self._batch_size = processors, batch_size
        processors["tokenize"].trainer.args["batch_size"] = 128

    def tokenize(self, texts: Sequence[str]) -> Any:
        """A Stanza document with the sentences, tokens and words of all texts."""
        document = Document([], text=BREAK.join(texts))
        if document.text.strip():
            document = self._processors["tokenize"].process(document)
            _cut_long_sentences(document)
            _unmark_foreign_tokens(document, self._processors["mwt"].vocab)
            if document.sentences:
                document = self._processors["mwt"].process(document)
        return document

    def parse(self, texts: Sequence[str], document: Any) -> list[list[ParsedSentence]]:
        """Tag, lemmatise and parse the document of these texts: a list of sentences for each."""
        result: list[list[ParsedSentence]] = [[] for _ in texts]
        if not document.sentences:
            return result
        processors = self._processors
        document = processors["lemma"].process(processors["pos"].process(document))
        if scores_arcs(processors["depparse"]):
            attach_words(processors["depparse"], document, self._batch_size)
        else:
            document = processors["depparse"].process(document)
        starts = [0]
        for text in texts:
            starts.append(starts[-1] + len(text) + len(BREAK))
        for sentence in document.sentences:
            index = bisect_right(starts, sentence.tokens[0].start_char) - 1
            result[index].append(_parsed(sentence, texts[index], starts[index]))
        return result


def _parsed(sentence: Any, text: str, offset: int) -> ParsedSentence:
    """One Stanza sentence as a plain value, its offsets counted from the beginning of its own text."""
    return parsed_sentence(
        text,
        [(token.start_char - offset, token.end_char - offset) for token in sentence.tokens],
        [[word.text for word in token.words] for token in sentence.tokens],
        [(word.lemma, word.upos, word.xpos, word.feats, int(word.head), word.deprel) for word in sentence.words],
    )


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
