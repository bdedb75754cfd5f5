"""CoLA, the Corpus of Linguistic Acceptability (Warstadt et al. 2019): sentences from the literature with expert judgements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.lines import text_lines
from rome.exceptions import InputError

__all__ = ["Judgement", "read_cola"]

COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Judgement:
    """One sentence, the code of its source, and whether experts call it acceptable."""

    text: str
    acceptable: bool
    source: str


def read_cola(path: Path) -> Iterator[Judgement]:
    """Yield the judgements of one raw CoLA file: tab-separated source, label (0 or 1), mark, sentence.

    Raises InputError naming the line that does not have these four columns or is not UTF-8.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS or columns[1] not in ("0", "1"):
            raise InputError(f"{path}:{number} is not a CoLA line (source, 0 or 1, mark, sentence): get the raw files")
        yield Judgement(columns[3], columns[1] == "1", columns[0])
