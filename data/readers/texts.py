"""Published texts: WikiSplit (Botha et al. 2018), the WMT general translation tasks, CoLA's judgements (Warstadt et al. 2019), and
treebanks in CoNLL-U such as UD English EWT (Silveira et al. 2014)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from rome.data.readers.lines import json_objects, number, text_lines, texts_of
from rome.exceptions import InputError
from rome.storage.rows import shown


def read_wikipedia(path: Path) -> Iterator[str]:
    """Yield every sentence of the file: the long one, then its shorter parts. Raises InputError naming the line that has not both."""
    for place, item in json_objects(path, ("text", "split")):
        if not isinstance(item["text"], str) or not isinstance(item["split"], list):
            raise InputError(f"{place}: text is a text and split a list of texts: fetch the file again")
        yield item["text"]
        yield from texts_of(item["split"], place, "split")


@dataclass(frozen=True, slots=True)
class TranslatedSegment:
    """One source segment in English: its human references and the systems' outputs in the order of the systems' names.

    Attributes
    ----------
    judged_elsewhere
        Whether items that judge final figures share its text (WMT22 from Chinese): nothing may learn from it.
    """

    language_pair: str
    segment: int
    references: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    judged_elsewhere: bool = False


def read_wmt(path: Path) -> Iterator[TranslatedSegment]:
    """Yield the segments of one file of WMT texts, in the order of the file. Raises InputError naming the line that is none."""
    for place, item in json_objects(path, ("lp", "segment", "reference", "outputs")):
        outputs = item["outputs"]
        if not isinstance(outputs, dict) or not all(isinstance(text, str) for text in outputs.values()):
            raise InputError(f"{place}: outputs must be an object of texts by system. Fetch the file again")
        references = texts_of(item["reference"], place, "reference")
        segment = int(number(item["segment"], place, "segment"))
        judged = item["lp"] == "zh-en" and "wmt22" in Path(path).name
        yield TranslatedSegment(str(item["lp"]), segment, references, tuple(sorted(outputs.items())), judged)


COLA_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """One sentence, the code of its source, and whether experts call it acceptable."""

    text: str
    acceptable: bool
    source: str


def read_cola(path: Path) -> Iterator[LabelledSentence]:
    """Yield the judgements of one raw CoLA file: tab-separated source, label (0 or 1), mark, sentence.

    Raises InputError naming the line that does not have these four columns or is not UTF-8.
    """
    for count, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        columns = line.split("\t")
        if len(columns) != COLA_COLUMNS or columns[1] not in ("0", "1"):
            raise InputError(f"{path}:{count} is not a CoLA line (source, 0 or 1, mark, sentence): get the raw files")
        yield LabelledSentence(columns[3], columns[1] == "1", columns[0])


CONLLU_COLUMNS = 10
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
    """Yield the sentences of a CoNLL-U file; empty nodes (8.1) are not words.

    Raises InputError naming the line that does not have ten columns, whose word does not follow in the sentence's text, or whose number
    or head is none of a word of the sentence.
    """
    for text, rows in _sentences(path):
        yield TreeSentence(text, tuple(_tree_words(text, rows)))


def _sentences(path: Path) -> Iterator[tuple[str, Rows]]:
    """Yield the text and the lines of each sentence."""
    rows: list[tuple[str, list[str]]] = []
    text = ""
    for count, line in enumerate([*text_lines(path), ""], start=1):
        if line.startswith("# text = "):
            text = line.removeprefix("# text = ")
        elif line and not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != CONLLU_COLUMNS:
                raise InputError(f"{path}:{count}: '{shown(line, 40)}' does not have ten columns: it is not a CoNLL-U file")
            rows.append((f"{path}:{count}", columns))
        elif not line and rows:
            yield text, rows
            rows, text = [], ""


def _tokens(rows: Rows) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield place, columns and words (the columns of each) of every token, without empty nodes."""
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
    """Return the rows of the words in the number of a multi-word token, such as 2-3. Raises InputError where there are none."""
    first, _, last = number.partition("-")
    if not (first.isdecimal() and last.isdecimal() and len(last) < 9 and 0 <= int(last) - int(first) < len(by_number)):
        raise InputError(f"{place}: {shown(number)} must be a range of words of this sentence. Give a CoNLL-U file")
    parts = [by_number.get(str(n)) for n in range(int(first), int(last) + 1)]
    results = [part for part in parts if part is not None]
    if len(results) < len(parts):
        raise InputError(f"{place}: {number} names words that this sentence does not have: it is not a CoNLL-U file")
    return results


def spans_of_parts(token: str, parts: list[str], start: int) -> list[tuple[int, int]]:
    """Return the place of each part of a token: side by side when the parts spell the token, else all of it."""
    if len("".join(parts)) != len(token) or "".join(parts).lower() != token.lower():
        return [(start, start + len(token))] * len(parts)
    return list(pairwise(accumulate(map(len, parts), initial=start)))


def _tree_words(text: str, rows: Rows) -> Iterator[TreeWord]:
    """Yield the words of one sentence, each token after the previous one."""
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
    """Return the number of a word's head, 0 for the root."""
    if not (number.isdecimal() and len(number) < 9 and int(number) <= words):
        raise InputError(f"{place}: the head {shown(number)} must be a word of the sentence. Give a CoNLL-U file")
    return int(number)
