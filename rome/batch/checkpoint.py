"""Keep the finished parts of a run in a folder, one file per part, each written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from rome.exceptions import InputError
from rome.storage.files import atomic_path

PLAN = "_plan.json"


class Checkpoint:
    """The folder of the finished parts of one run, which a later run of the same description continues.

    ``_plan.json`` describes the run. One run at a time may write to the folder.

    Parameters
    ----------
    path
        The folder, which `alone` creates when it is missing.
    ending
        Extension of the parts' file names.
    """

    def __init__(self, path: str | os.PathLike[str], ending: str) -> None:
        self.path, self.ending = Path(path), ending

    def name(self, number: int) -> str:
        """Return the file name of a part."""
        return f"part-{number:06d}.{self.ending}"

    def begin(self, description: Mapping[str, Any]) -> set[int]:
        """Return the numbers of the parts that an earlier run of the same description has finished.

        Raises InputError when the folder contains other files or the parts of another run.
        """
        names = self.names()
        if PLAN in names:
            before, now = json.loads(self.read(PLAN)), json.loads(json.dumps(description))
            if keys := [key for key in {**now, **before} if now.get(key) != before.get(key)]:
                remedy = "finish that run, give another output, or delete the folder to begin anew"
                raise InputError(f"{self.path} was begun with other data or options ({', '.join(keys)} differ): {remedy}")
        elif any(not name.startswith(".") for name in names):
            raise InputError(f"{self.path} contains other files: give the results a folder of their own")
        else:
            self.write(PLAN, json.dumps(description, indent=1).encode())
        for name in names:
            if name.endswith(".part"):  # of a killed process
                (self.path / name).unlink()
        return {int(name.split(".")[0].removeprefix("part-")) for name in names if name.startswith("part-")}

    def names(self) -> set[str]:
        """Return the names of the files in the folder."""
        return set(os.listdir(self.path))

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all, replacing an existing one."""
        with atomic_path(self.path / name) as path:
            path.write_bytes(content)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Create the folder and lock it against other runs; remove it afterwards when it contains no part.

        Raises InputError when another run is writing to it.
        """
        lock = FileLock(self.path / ".lock", timeout=0)
        try:
            self.path.mkdir(exist_ok=True)
            lock.acquire()
        except Timeout as error:
            raise InputError(f"{self.path} is being written by another run: wait for it, or choose another output") from error
        except OSError as error:
            remedy = "choose an output in a folder that exists and is writable, or move the file of this name"
            raise InputError(f"{self.path}, for the finished blocks, cannot be created ({error.strerror}): {remedy}") from error
        try:
            yield
        finally:
            if self.path.is_dir() and self.names() <= {".lock", PLAN}:
                shutil.rmtree(self.path, ignore_errors=True)
            lock.release()
