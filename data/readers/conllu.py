"""CoNLL-U files such as UD English EWT (Silveira et al. 2014): sentences with their trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.lines import text_lines
from rome.exceptions import InputError
from rome.storage.rows import shown

COLUMNS = 10
Rows = Sequence[tuple[str, list[str]]]
"""``file:line`` and the ten columns of each line of a sentence."""


@dataclass(frozen=True, slots=True)
class TreeWord:
    """One syntactic word.

    Attributes
    ----------
    head
        1-based number of the governing word, 0 for the root.
    start, end
        The word's characters in the sentence's text; words of a multi-word token divide its characters where they spell it, else each has all
        of them.
    place
        Number within its token, from 0.
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
    for text, rows in _sentences(path):
        yield TreeSentence(text, tuple(_tree_words(text, rows)))


def _sentences(path: Path) -> Iterator[tuple[str, Rows]]:
    """The text and the lines of each sentence."""
    rows: list[tuple[str, list[str]]] = []
    text = ""
    for number, line in enumerate([*text_lines(path), ""], start=1):
        if line.startswith("# text = "):
            text = line.removeprefix("# text = ")
        elif line and not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != COLUMNS:
                raise InputError(f"{path}:{number}: '{shown(line, 40)}' does not have ten columns: it is not a CoNLL-U file")
            rows.append((f"{path}:{number}", columns))
        elif not line and rows:
            yield text, rows
            rows, text = [], ""


def _tokens(rows: Rows) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Place, columns and words (the columns of each) of every token; empty nodes are left out."""
    by_number = {row[0]: row for _, row in rows}
    covered: set[str] = set()
    for place, row in rows:
        if "-" in row[0]:
            parts = _parts(row[0], by_number, place)
            covered.update(part[0] for part in parts)
            yield place, row, parts
        elif "." not in row[0] and row[0] not in covered:
            yield place, row, [row]


def _parts(number: str, by_number: Mapping[str, list[str]], place: str) -> list[list[str]]:
    """The rows of the words that a multi-word token's number, such as 2-3, names. Raises InputError where there are none."""
    first, _, last = number.partition("-")
    if not (first.isdecimal() and last.isdecimal() and len(last) < 9 and 0 <= int(last) - int(first) < len(by_number)):
        raise InputError(f"{place}: {shown(number)} is no range of words of this sentence: it is not a CoNLL-U file")
    parts = [by_number.get(str(n)) for n in range(int(first), int(last) + 1)]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        raise InputError(f"{place}: {number} names words that this sentence does not have: it is not a CoNLL-U file")
    return found


def spans_of_parts(token: str, parts: list[str], start: int) -> list[tuple[int, int]]:
    """Where each part of a token lies: side by side when the parts spell the token, else all over it."""
    if len("".join(parts)) != len(token) or "".join(parts).lower() != token.lower():
        return [(start, start + len(token))] * len(parts)
    spans = []
    for part in parts:
        spans.append((start, start + len(part)))
        start += len(part)
    return spans


def _tree_words(text: str, rows: Rows) -> Iterator[TreeWord]:
    """The words of one sentence, each token where it follows the one before it."""
    words = sum("." not in row[0] and "-" not in row[0] for _, row in rows)
    at = count = 0
    for place, row, parts in _tokens(rows):
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
