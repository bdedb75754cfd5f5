"""Where the development data lies: beside the checkout, or where ROME_DATA points."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rome.data.readers.lines import json_objects
from rome.exceptions import InputError


def data_folder() -> Path:
    """The folder that holds the public development data.

    Taken from the environment variable ROME_DATA; without it, ``../shared/data`` beside the working directory or beside the
    checkout that this file lies in. Raises InputError, with the remedy, when neither exists.
    """
    named = os.environ.get("ROME_DATA")
    candidates = (
        [Path(named)]
        if named
        else [Path.cwd().parent / "shared" / "data", Path(__file__).resolve().parents[2] / "shared" / "data"]
    )
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise InputError(f"no development data at {candidates[-1]}: set ROME_DATA to the folder that holds it")


def data_file(relative: str) -> Path:
    """The path of one file of the development data, such as ``cola/in_domain_train.tsv``; InputError when it is absent."""
    path = data_folder() / relative
    if not path.exists():
        raise InputError(f"{path} is missing: set ROME_DATA to a folder that holds {relative}")
    return path


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield one dictionary a line from a JSON-lines file, gzipped or plain. Raises InputError naming the line that holds none."""
    for _, row in json_objects(path):
        yield row
