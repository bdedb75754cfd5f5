"""What the parser gives: sentences with their tokens, words and trees, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .encoder import SentenceStates

__all__ = ["ParsedSentence", "ParsedWord", "Token", "parsed_sentence", "word_places"]

Columns = tuple[str | None, str | None, str | None, str | None, int, str]
"""Lemma, universal tag, treebank tag, features, head and relation of a word; None or "_" where there is none."""


class Token(NamedTuple):
    """One surface token, ``text[start:end]`` of its text; it stands for ``words[first:last]`` of its sentence."""

    text: str
    start: int
    end: int
    first: int
    last: int


class ParsedWord(NamedTuple):
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
    """One sentence, ``text[start:end]``, with its tokens and words in reading order; never empty.

    states : what the trunk gave for its text, when the parser read that.
    """

    start: int
    end: int
    tokens: tuple[Token, ...]
    words: tuple[ParsedWord, ...]
    states: SentenceStates | None = field(default=None, compare=False, repr=False)


def parsed_sentence(
    text: str,
    spans: Sequence[tuple[int, int]],
    forms: Iterable[Sequence[str]],
    columns: Iterable[Columns],
    states: SentenceStates | None = None,
) -> ParsedSentence:
    """A sentence of ``text`` put together.

    spans : where each token stands. forms : the words of each token, as the models read them. columns : of each word, in order.
    """
    tokens: list[Token] = []
    words: list[ParsedWord] = []
    known = iter(columns)
    for (start, end), group in zip(spans, forms, strict=True):
        surface, whole = text[start:end], len(group) == 1
        tokens.append(Token(surface, start, end, len(words), len(words) + len(group)))
        pieces = [surface] if whole else group
        for form, piece, (left, right) in zip(group, pieces, word_places(surface, group, start), strict=True):
            lemma, upos, xpos, feats, head, relation = next(known)
            if lemma is None or (whole and form != piece and " " not in piece):  # the models read something else
                lemma = piece
            upos, xpos, feats = _or(upos, "X"), _or(xpos, ""), _or(feats, "")
            words.append(ParsedWord(piece, lemma, upos, xpos, feats, head, relation, left, right))
    return ParsedSentence(tokens[0].start, tokens[-1].end, tuple(tokens), tuple(words), states)


def word_places(token: str, words: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Where each word of a token that begins at ``start`` lies: side by side when they add up to the token, else all over all of it."""
    if len(words) == 1 or "".join(words).lower() != token.lower() or sum(map(len, words)) != len(token):
        return [(start, start + len(token))] * len(words)
    spans = []
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word)
    return spans


def _or(tag: str | None, instead: str) -> str:
    """The tag, or something instead where there is none."""
    return instead if not tag or tag == "_" else tag
