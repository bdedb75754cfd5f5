"""Temporary files beside their targets: as long as one is being written it is locked, and what a killed process left is found and removed."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rome.file_lock import locked

__all__ = ["temporary_beside"]

_KEPT = 48
"""Characters of the target's name that stand in the temporary one, whose length has a bound."""


@contextmanager
def temporary_beside(target: Path) -> Iterator[Path]:
    """A new empty file ``.NAME.*.part`` in the same folder, with the permissions of the target or those that a new file gets.

    It is gone at the end unless it was moved. Files of that name whose process was killed are removed first; those of a process
    that is still writing stay. Raises OSError when the folder does not allow it.
    """
    _remove_left(target)
    path, handle = _made(target)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _made(target: Path) -> tuple[Path, int]:
    """A new file and what holds its lock; made again when another process took it for a leftover before it was locked."""
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    while True:
        path = target.with_name(f".{target.name[:_KEPT]}.{secrets.token_hex(8)}.part")
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600)
        locked(handle)
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)
    if mode is not None:
        os.chmod(path, mode)
    return path, handle


def _remove_left(target: Path) -> None:
    """Remove the temporary files of this target that nobody is writing, where the system can tell."""
    if not hasattr(os, "O_NOFOLLOW"):
        return
    name = re.compile(rf"\.{re.escape(target.name[:_KEPT])}\.[0-9a-f]{{16}}\.part")
    with suppress(OSError):
        for path in [Path(entry.path) for entry in os.scandir(target.parent) if name.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    """Remove an ordinary file unless a process holds its lock."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if locked(handle):
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)
