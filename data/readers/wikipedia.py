"""WikiSplit (Botha et al. 2018): Wikipedia sentences, each with the simpler sentences it was split into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rome.data.readers.lines import json_objects, texts_of
from rome.exceptions import InputError

__all__ = ["read_wikipedia"]


def read_wikipedia(path: Path) -> Iterator[str]:
    """Yield every sentence of the file: the long one, then its shorter parts. Raises InputError naming the line that has not both."""
    for place, item in json_objects(path, ("text", "split")):
        if not isinstance(item["text"], str) or not isinstance(item["split"], list):
            raise InputError(f"{place}: text is a text and split a list of texts: fetch the file again")
        yield item["text"]
        yield from texts_of(item["split"], place, "split")
