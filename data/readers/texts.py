"""Published texts: WikiSplit (Botha et al. 2018), the WMT general translation tasks, and CoLA's judgements (Warstadt et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.lines import json_objects, number, text_lines, texts_of
from rome.exceptions import InputError


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
            raise InputError(f"{place}: outputs is no object of texts by system: fetch the file again")
        references = texts_of(item["reference"], place, "reference")
        segment = int(number(item["segment"], place, "segment"))
        judged = item["lp"] == "zh-en" and "wmt22" in Path(path).name
        yield TranslatedSegment(str(item["lp"]), segment, references, tuple(sorted(outputs.items())), judged)


COLUMNS = 4


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
        if len(columns) != COLUMNS or columns[1] not in ("0", "1"):
            raise InputError(f"{path}:{count} is not a CoLA line (source, 0 or 1, mark, sentence): get the raw files")
        yield LabelledSentence(columns[3], columns[1] == "1", columns[0])
