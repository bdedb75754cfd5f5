"""What the parser gives: sentences with their tokens, words and trees, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["ParsedSentence", "ParsedWord", "Token", "parsed_sentence"]

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
    """One sentence, ``text[start:end]``, with its tokens and words in reading order; never empty."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    words: tuple[ParsedWord, ...]


def parsed_sentence(
    text: str, spans: Sequence[tuple[int, int]], forms: Iterable[Sequence[str]], columns: Iterable[Columns]
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
        places = [(start, end)] if whole else _places(surface, pieces, start)
        for form, piece, (left, right) in zip(group, pieces, places, strict=True):
            lemma, upos, xpos, feats, head, relation = next(known)
            if lemma is None or (whole and form != piece and " " not in piece):  # the models read something else
                lemma = piece
            upos, xpos, feats = _or(upos, "X"), _or(xpos, ""), _or(feats, "")
            words.append(ParsedWord(piece, lemma, upos, xpos, feats, head, relation, left, right))
    return ParsedSentence(tokens[0].start, tokens[-1].end, tuple(tokens), tuple(words))


def _or(tag: str | None, instead: str) -> str:
    """The tag, or something instead where there is none."""
    return instead if not tag or tag == "_" else tag


def _places(token: str, pieces: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Where each piece of a token lies: side by side when the pieces add up to the token, else all over the whole token."""
    if "".join(pieces).lower() != token.lower() or sum(map(len, pieces)) != len(token):
        return [(start, start + len(token))] * len(pieces)
    spans = []
    for piece in pieces:
        spans.append((start, start + len(piece)))
        start += len(piece)
    return spans
