"""The model files that the package carries: their bytes are those recorded at release, or nothing reads them."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

from rome.exceptions import ModelMissingError

from .analyser.config import embedded_folder

__all__ = ["MANIFEST", "checked"]

MANIFEST = "selfcheck.json"
"""In the folder of the models; its entry ``files`` holds the SHA-256 of each by relative path."""
_REMEDY = "reinstall rome-metric, or after training models of your own record them with `rome selfcheck --record`"


def checked(path: Path) -> Path:
    """The path itself, once sure that the file is whole: its SHA-256 is the recorded one.

    A file outside the package's own folder is its owner's business and passes, as does one that is not there, which whoever
    opens it reports. Each file is hashed once a process, again when its size or time changes.

    Raises ModelMissingError that names the file when it is damaged, not recorded, or the record itself is missing or damaged.
    """
    path, folder = Path(path), embedded_folder()
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return path
    name, manifest = path.resolve().relative_to(folder.resolve()).as_posix(), folder / MANIFEST
    if not manifest.is_file():
        raise ModelMissingError(f"{manifest} is missing: {_REMEDY}")
    expected = _recorded(manifest, manifest.stat().st_mtime_ns).get(name)
    if expected is None:
        raise ModelMissingError(f"{path} is not among the files recorded in {manifest}: {_REMEDY}")
    state = path.stat()
    found = _sha256(path, state.st_size, state.st_mtime_ns)
    if found != expected:
        raise ModelMissingError(f"{path} is damaged (SHA-256 {found[:16]} where {expected[:16]} is recorded): {_REMEDY}")
    return path


@lru_cache(maxsize=4)
def _recorded(manifest: Path, _: int) -> dict[str, str]:
    """The hashes by relative path."""
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return {str(name): str(digest) for name, digest in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelMissingError(f"{manifest} is damaged ({error}): {_REMEDY}") from error


@lru_cache(maxsize=256)
def _sha256(path: Path, _size: int, _time: int) -> str:
    """The file's hash in hexadecimal digits."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
