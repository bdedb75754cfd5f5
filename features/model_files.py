"""The files of a model set and their SHA-256 on record in its set.json, which `rome selfcheck` compares."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rome.exceptions import ModelMissingError

from .analyser.config import SETS, set_folder

MANIFEST, ANSWERS = "set.json", "selfcheck.json"
"""In the folder of a set: what it is, and the answers known of it."""
FORMAT = 1
_NO_MODEL = (MANIFEST, ANSWERS, "card.json")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Hold the content of set.json of a model set.

    Attributes
    ----------
    name
        Letters, digits, ``_`` and ``-``; part of signatures.
    settings
        By feature, the settings found for the set's trunk, where they differ from the defaults.
    files
        SHA-256 in hexadecimal digits of every model file, by its path in the set.
    """

    name: str
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def read_manifest(folder: Path) -> Manifest:
    """Read the set.json of a set. Raises ModelMissingError, with a remedy, when it is absent, damaged or of another format."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise ModelMissingError(f"{path} is missing, so {folder} is no model set: {remedy(folder)}")
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read(path: Path, _time: int) -> Manifest:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        number = content["format"]
        if number == FORMAT:
            name, settings, files = content["name"], content["settings"], content["files"]
            if not re.fullmatch(r"[\w-]+", name):
                raise ValueError(f"the name {name!r} has other characters than letters, digits, _ and -")
            own = {feature: dict(of.items()) for feature, of in settings.items()}
            return Manifest(name, own, {str(n): str(sha) for n, sha in files.items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelMissingError(f"{path} is damaged ({error}): {remedy(path.parent)}") from error
    raise ModelMissingError(
        f"{path} has format {number!r} and this version of rome-metric reads format {FORMAT}: use the version that the model set was "
        f"made for, or {remedy(path.parent)}"
    )


def remedy(folder: Path) -> str:
    """Return the remedy for a damaged or incomplete set."""
    if Path(folder) in map(set_folder, SETS):
        return "reinstall rome-metric"
    return f"put it right, or if its files are as they should be record it with `rome selfcheck --record --models {folder}`"


def files_below(folder: Path) -> list[Path]:
    """Return every file of a folder, sorted, in folders that are links too."""
    found = (Path(top, name) for top, _, names in os.walk(folder, followlinks=True) for name in names)
    return sorted(path for path in found if path.is_file())


def file_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every model file of a folder by relative path; cards, set.json and selfcheck.json are no models."""
    paths = [path for path in files_below(folder) if path.name not in _NO_MODEL]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def record_files(folder: Path) -> Path:
    """Write the hashes of the model files into the set's set.json and return its path.

    Name and settings stay; a folder without a readable set.json gets one, with its own name and no settings.
    """
    path = Path(folder) / MANIFEST
    try:
        known: dict[str, Any] = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    content = {"format": FORMAT, "name": known.get("name", Path(folder).name), "settings": known.get("settings", {})}
    content["files"] = file_hashes(folder)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path
