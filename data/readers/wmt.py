"""Segments of the WMT general translation tasks into English: references and real systems' outputs, without judgements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rome.data.sources import read_jsonl

__all__ = ["TranslatedSegment", "read_wmt"]


@dataclass(frozen=True, slots=True)
class TranslatedSegment:
    """One source segment in English: its human references and the systems' outputs in the order of the systems' names."""

    language_pair: str
    segment: int
    references: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]


def read_wmt(path: Path) -> Iterator[TranslatedSegment]:
    """Yield the segments of one file of WMT texts, in the order of the file."""
    for item in read_jsonl(path):
        outputs = tuple(sorted(item["outputs"].items()))
        yield TranslatedSegment(item["lp"], int(item["segment"]), tuple(item["reference"]), outputs)
