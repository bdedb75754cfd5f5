"""Tags and trees of Stanza's sentences from the encoder's states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .encoder import EmbeddedEncoder, SentenceStates
from .parsed import word_places
from .pieces import Encoded, touched
from .spelling import spellings_of
from .tree_head import ParsedTree, TreeHead, WordPlaces

__all__ = ["Reading", "TreeReader"]


class Reading(NamedTuple):
    """What is known of one sentence: the trunk's states of its text, its tags and its tree."""

    states: SentenceStates
    tree: ParsedTree


class TreeReader:
    """Reads sentences as they stand in the text, in one pass of the trunk. encoder, head : of one model set."""

    def __init__(self, encoder: EmbeddedEncoder, head: TreeHead) -> None:
        self.encoder, self.head = encoder, head

    def read(self, documents: Sequence[Any]) -> list[Reading]:
        """A reading of every sentence of Stanza's documents, in order; the words of each must be known."""
        sentences = [sentence for document in documents for sentence in document.sentences]
        states = self.encoder.read([sentence.text for sentence in sentences])
        layers = [each.whole(self.head.sizes["mixed"]) for each in states]
        places = [_places(sentence, each.pieces) for sentence, each in zip(sentences, states, strict=True)]
        return [Reading(*found) for found in zip(states, self.head.parse(layers, places), strict=True)]


def _places(sentence: Any, pieces: Encoded) -> WordPlaces:
    """Which rows of the states belong to each word: those of the pieces that share a character with it, the beginning mark for none."""
    begin: int = sentence.tokens[0].start_char
    spans: list[tuple[int, int]] = []
    place: list[int] = []
    for token in sentence.tokens:
        start, end = token.start_char - begin, token.end_char - begin
        spans += word_places(sentence.text[start:end], [word.text for word in token.words], start)
        place += range(len(token.words))
    first, last = touched(pieces.spans, spans) + (1 if pieces.spans else [[0], [1]])
    spellings = spellings_of([sentence.text[start:end] for start, end in spans])
    return WordPlaces(first.tolist(), last.tolist(), place, spellings)
