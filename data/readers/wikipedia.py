"""WikiSplit (Botha et al. 2018): Wikipedia sentences, each with the simpler sentences it was split into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rome.data.sources import read_jsonl

__all__ = ["read_wikipedia"]


def read_wikipedia(path: Path) -> Iterator[str]:
    """Yield every sentence of the file: the long one, then its shorter parts."""
    for item in read_jsonl(path):
        yield item["text"]
        yield from item["split"]
