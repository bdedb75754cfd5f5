"""Trees of a CoNLL-U treebank such as UD English EWT: every word with its tags, head, relation and place in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.ewt import columns_of, parts_of
from rome.data.readers.lines import shown, text_lines
from rome.exceptions import InputError

__all__ = ["TreeSentence", "TreeWord", "read_trees", "spans_of_parts"]


@dataclass(frozen=True, slots=True)
class TreeWord:
    """One syntactic word.

    head : 1-based number of the governing word, 0 for the root. start, end : the word's characters in the sentence's text; words of
    a multi-word token divide its characters where they spell it, else each has all of them. place : number within its token, from 0.
    """

    form: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    start: int
    end: int
    place: int


@dataclass(frozen=True, slots=True)
class TreeSentence:
    """One sentence as its authors wrote it, and its words in order."""

    text: str
    words: tuple[TreeWord, ...]


def read_trees(path: Path) -> Iterator[TreeSentence]:
    """Yield the sentences of a CoNLL-U file; empty nodes (8.1) are no words.

    Raises InputError naming the line that does not have ten columns, whose word does not follow in the sentence's text, or whose number
    or head is none of a word of the sentence.
    """
    rows: list[tuple[str, list[str]]] = []
    text = ""
    for number, line in enumerate([*text_lines(path), ""], start=1):
        if line.startswith("# text = "):
            text = line.removeprefix("# text = ")
        elif line and not line.startswith("#"):
            rows.append((f"{path}:{number}", columns_of(line, f"{path}:{number}")))
        elif not line and rows:
            yield TreeSentence(text, tuple(_words(text, rows)))
            rows, text = [], ""


def spans_of_parts(token: str, parts: list[str], start: int) -> list[tuple[int, int]]:
    """Where each part of a token lies: side by side when the parts spell the token, else all over it."""
    if len("".join(parts)) != len(token) or "".join(parts).lower() != token.lower():
        return [(start, start + len(token))] * len(parts)
    spans = []
    for part in parts:
        spans.append((start, start + len(part)))
        start += len(part)
    return spans


def _words(text: str, rows: Sequence[tuple[str, list[str]]]) -> Iterator[TreeWord]:
    """The words of one sentence, each token where it follows the one before it."""
    by_number = {row[0]: row for _, row in rows}
    words = sum("." not in number and "-" not in number for number in by_number)
    covered: set[str] = set()
    at = count = 0
    for place, row in rows:
        if "." in row[0] or row[0] in covered:
            continue
        parts = [row]
        if "-" in row[0]:
            parts = parts_of(row[0], by_number, place)
            covered.update(part[0] for part in parts)
        at = len(text) - len(text[at:].lstrip())
        if not text.startswith(row[1], at):
            raise InputError(f"{place}: '{shown(row[1], 40)}' does not follow in the sentence's text: fetch the file again")
        spans = spans_of_parts(row[1], [part[1] for part in parts], at)
        at += len(row[1])
        for within, (part, span) in enumerate(zip(parts, spans, strict=True)):
            count += 1
            if part[0] != str(count):
                raise InputError(f"{place}: {shown(part[0])} is not the number of the next word: it is not a CoNLL-U file")
            yield TreeWord(part[1], part[3], part[4], part[5], _head(part[6], words, place), part[7], *span, within)


def _head(number: str, words: int, place: str) -> int:
    """The number of a word's head, 0 for the root."""
    if not (number.isdecimal() and len(number) < 9 and int(number) <= words):
        raise InputError(f"{place}: the head {shown(number)} is no word of the sentence: it is not a CoNLL-U file")
    return int(number)
