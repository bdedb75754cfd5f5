"""The values of the corruptions: words with their white space, and a corrupted text with its wrong places marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Corruption", "Token", "render", "tokenise"]

PATTERN = re.compile(
    r"(?i:\b(?:can)(?=not\b))|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|m|re|ve|ll|d)\b|\w+(?:[.,:/]\w+)*(?:-\w+)*|\.\.\.|[^\w\s]"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its text, whether white space follows, its Penn tag ("" = unknown), and what a corruption did to it.

    wrong : this word is not the right one in its place.
    unsure : the word is untouched but stands beside the mistake; nothing should be learned from it.
    """

    text: str
    space: bool = True
    tag: str = ""
    wrong: bool = False
    unsure: bool = False

    def put(self, text: str, tag: str | None = None) -> Token:
        """The same place with another word in it, marked wrong."""
        return replace(self, text=text, tag=self.tag if tag is None else tag, wrong=True)

    def blame(self) -> Token:
        """The same word, marked wrong."""
        return replace(self, wrong=True)

    def doubt(self) -> Token:
        """The same word, marked as uncertain."""
        return replace(self, unsure=True)


@dataclass(frozen=True, slots=True)
class Corruption:
    """A text after one operation.

    operation : name of the operation; "" when the text is untouched.
    ungrammatical : True when the sentence is no longer acceptable English, False when it is, None when it may still be.
    words : indices of the wrong words among the new text's tokens; spans : their characters ``text[start:end]``.
    unsure_spans : words beside the mistake that are neither right nor wrong.
    """

    text: str
    operation: str
    ungrammatical: bool | None
    words: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    unsure_spans: tuple[tuple[int, int], ...] = ()


def tokenise(text: str) -> list[Token]:
    """Split a text into words and punctuation marks; contractions come apart as in the Penn treebank. Joining them gives the
    text again, with every run of white space as one blank."""
    found = list(PATTERN.finditer(text))
    nexts = [match.start() for match in found[1:]] + [len(text)]
    return [Token(match.group(), space=match.end() < following) for match, following in zip(found, nexts, strict=False)]


def render(tokens: Sequence[Token], operation: str = "", ungrammatical: bool | None = False) -> Corruption:
    """Join tokens into a text and find the characters of those marked wrong or unsure."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    position = 0
    for token in tokens:
        spans.append((position, position + len(token.text)))
        parts.append(token.text + (" " if token.space else ""))
        position += len(parts[-1])
    wrong = tuple(i for i, token in enumerate(tokens) if token.wrong)
    unsure = tuple(spans[i] for i, token in enumerate(tokens) if token.unsure and not token.wrong)
    return Corruption("".join(parts).rstrip(), operation, ungrammatical, wrong, tuple(spans[i] for i in wrong), unsure)
