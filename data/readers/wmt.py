"""Segments of the WMT general translation tasks into English: references and real systems' outputs, without judgements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.lines import json_objects, number, texts_of
from rome.exceptions import InputError

__all__ = ["TranslatedSegment", "read_wmt"]


@dataclass(frozen=True, slots=True)
class TranslatedSegment:
    """One source segment in English: its human references and the systems' outputs in the order of the systems' names.

    judged_elsewhere : whether items that judge final figures share its text (WMT22 from Chinese): nothing may learn from it.
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
