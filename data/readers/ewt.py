"""UD English EWT (Silveira et al. 2014), or any CoNLL-U file: sentences with words, lemmas and Penn tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rome.exceptions import InputError

__all__ = ["TreebankSentence", "TreebankWord", "read_conllu"]

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
    file when a line does not have ten columns.
    """
    with Path(path).open(encoding="utf-8") as lines:
        rows: list[list[str]] = []
        text = ""
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("# text = "):
                text = line[len("# text = ") :]
            elif line and not line.startswith("#"):
                rows.append(_columns(line, path))
            elif not line and rows:
                yield TreebankSentence(text, tuple(_words(rows)))
                rows = []
        if rows:
            yield TreebankSentence(text, tuple(_words(rows)))


def _columns(line: str, path: Path) -> list[str]:
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        raise InputError(f"{path}: '{line[:40]}' does not have ten columns: it is not a CoNLL-U file")
    return columns


def _words(rows: list[list[str]]) -> Iterator[TreebankWord]:
    by_number = {row[0]: row for row in rows}
    covered: set[str] = set()
    for row in rows:
        number, form, space = row[0], row[1], "SpaceAfter=No" not in row[9]
        if "-" in number:
            first, last = (int(part) for part in number.split("-"))
            parts = [by_number[str(n)] for n in range(first, last + 1)]
            covered.update(part[0] for part in parts)
            if "".join(part[1] for part in parts) != form:
                yield TreebankWord(form, form.lower(), parts[0][4], space)
                continue
            for part in parts:
                yield TreebankWord(part[1], part[2], part[4], space and part is parts[-1])
        elif "." not in number and number not in covered:
            yield TreebankWord(form, row[2], row[4], space)
