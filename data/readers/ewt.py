"""UD English EWT (Silveira et al. 2014), or any CoNLL-U file: sentences with words, lemmas and Penn tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.lines import shown, text_lines
from rome.exceptions import InputError

__all__ = ["TreebankSentence", "TreebankWord", "columns_of", "parts_of", "read_conllu"]

COLUMNS = 10


@dataclass(frozen=True, slots=True)
class TreebankWord:
    """One surface word: form, lemma, Penn tag, and whether white space follows it."""

    form: str
    lemma: str
    xpos: str
    space_after: bool


@dataclass(frozen=True, slots=True)
class TreebankSentence:
    """One sentence as its authors wrote it, and its words in order."""

    text: str
    words: tuple[TreebankWord, ...]


def read_conllu(path: Path) -> Iterator[TreebankSentence]:
    """Yield the sentences of a CoNLL-U file; words of a multi-word token such as *do* + *n't* stay apart, without white space.

    Where the words of a multi-word token do not spell it, the token itself is taken as one word. Raises InputError naming the
    line that does not have ten columns, or where a multi-word token names words that are not there.
    """
    rows: list[tuple[str, list[str]]] = []
    text = ""
    for number, line in enumerate(text_lines(path), start=1):
        if line.startswith("# text = "):
            text = line[len("# text = ") :]
        elif line and not line.startswith("#"):
            rows.append((f"{path}:{number}", columns_of(line, f"{path}:{number}")))
        elif not line and rows:
            yield TreebankSentence(text, tuple(_words(rows)))
            rows = []
    if rows:
        yield TreebankSentence(text, tuple(_words(rows)))


def columns_of(line: str, place: str) -> list[str]:
    """The ten columns of a word's line. Raises InputError naming the place of a line that has others."""
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        raise InputError(f"{place}: '{shown(line, 40)}' does not have ten columns: it is not a CoNLL-U file")
    return columns


def parts_of(number: str, by_number: Mapping[str, list[str]], place: str) -> list[list[str]]:
    """The rows of the words that a multi-word token's number, such as 2-3, names. Raises InputError where there are none."""
    first, _, last = number.partition("-")
    if not (first.isdecimal() and last.isdecimal() and len(last) < 9 and 0 <= int(last) - int(first) < len(by_number)):
        raise InputError(f"{place}: {shown(number)} is no range of words of this sentence: it is not a CoNLL-U file")
    parts = [by_number.get(str(n)) for n in range(int(first), int(last) + 1)]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        raise InputError(f"{place}: {number} names words that this sentence does not have: it is not a CoNLL-U file")
    return found


def _words(rows: Sequence[tuple[str, list[str]]]) -> Iterator[TreebankWord]:
    by_number = {row[0]: row for _, row in rows}
    covered: set[str] = set()
    for place, row in rows:
        number, form, space = row[0], row[1], "SpaceAfter=No" not in row[9]
        if "-" in number:
            parts = parts_of(number, by_number, place)
            covered.update(part[0] for part in parts)
            if "".join(part[1] for part in parts) != form:
                yield TreebankWord(form, form.lower(), parts[0][4], space)
                continue
            for part in parts:
                yield TreebankWord(part[1], part[2], part[4], space and part is parts[-1])
        elif "." not in number and number not in covered:
            yield TreebankWord(form, row[2], row[4], space)
