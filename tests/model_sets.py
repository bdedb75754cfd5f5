"""Model sets beside the package's: folders of links to the files of `small`, in which a test changes what it is about."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rome.features.analyser.config import SHARED, set_folder
from rome.features.model_files import ANSWERS, MANIFEST, record_files


def linked_set(
    folder: Path, *, name: str = "other", but: Iterable[str] = (), settings: Mapping[str, Any] | None = None
) -> Path:
    """`small` as a set of another name, without some of its parts, with other settings; as `base` with the parts that sets share."""
    shutil.copytree(
        set_folder("small"), folder, copy_function=os.symlink, ignore=lambda _, names: {MANIFEST, ANSWERS} & set(names)
    )
    for part in SHARED if name == "base" else ():
        (folder / part).symlink_to(set_folder("base") / part)
    for part in but:
        shutil.rmtree(folder / part)
    settings = manifest(set_folder("small"))["settings"] if settings is None else settings
    rewritten(folder, format=1, name=name, settings=settings)
    record_files(folder)
    return folder


def manifest(folder: Path) -> dict[str, Any]:
    """The set.json of a set; empty where there is none."""
    path = folder / MANIFEST
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return content


def rewritten(folder: Path, **changes: Any) -> None:
    """Change entries of a set's set.json."""
    (folder / MANIFEST).write_text(json.dumps(manifest(folder) | changes), encoding="utf-8")


def replaced(path: Path, content: bytes) -> None:
    """Put other bytes in the place of a linked file."""
    path.unlink()
    path.write_bytes(content)
