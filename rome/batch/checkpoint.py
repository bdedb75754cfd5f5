"""What a run has finished so far, in a folder: one file a part, which appears whole or not at all; what is there is not made again."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from rome.exceptions import InputError
from rome.storage.files import atomic_path

PLAN, TEMPORARY = "_plan.json", ".part-"


def located(path: str | PathLike[str]) -> tuple[Any, str]:
    """The file system (a pyarrow.fs.FileSystem) and the path in it of a path or an address such as ``s3://bucket/folder``."""
    import pyarrow as pa
    from pyarrow import fs

    text = os.fspath(path)
    if "://" not in text:
        return fs.LocalFileSystem(), os.path.abspath(text)
    try:
        return fs.FileSystem.from_uri(text)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"{text} names no file system that can be reached ({error}): give a path, or check the address"
        ) from error


class Checkpoint:
    """A folder, on this machine or any file system that Arrow knows, of the finished parts of one run.

    ``_plan.json`` says what is made. Files whose names begin with ``.`` or ``_`` are no parts. One run at a time may write to it.

    Parameters
    ----------
    path
        The folder, made when it is missing.
    ending
        That of the parts' names.
    """

    def __init__(self, path: str | PathLike[str], ending: str) -> None:
        self.path, self.ending = str(path), ending
        self.system, self.place = located(path)

    def name(self, number: int) -> str:
        """The file of a part."""
        return f"part-{number:06d}.{self.ending}"

    def begin(self, description: Mapping[str, Any]) -> set[int]:
        """Make the folder ready; the numbers of the parts that an earlier run of the same description has made.

        Raises InputError when the folder holds other things or the parts of another run, or cannot be made.
        """
        try:
            self.system.create_dir(self.place, recursive=True)
            found = self.names()
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be made, to hold what is finished ({error}): choose another output, or move what is there"
            ) from error
        if PLAN in found:
            self._same(description)
        elif any(not name.startswith(".") for name in found):
            raise InputError(f"{self.path} holds other files: give a folder of its own to the results")
        self.clean()
        if PLAN not in found:
            self.write(PLAN, json.dumps(description, indent=1).encode())
        return {int(name.split(".")[0].removeprefix("part-")) for name in found if name.startswith("part-")}

    def _same(self, description: Mapping[str, Any]) -> None:
        """Refuse to go on with another run than the one that was begun."""
        before, now = json.loads(self.read(PLAN)), json.loads(json.dumps(description))
        keys = [key for key in {**now, **before} if now.get(key) != before.get(key)]
        if keys:
            raise InputError(
                f"{self.path} was begun with other data or options ({', '.join(keys)} differ): "
                "finish that run, give another output, or delete the folder to begin anew"
            )

    def names(self) -> set[str]:
        """The files of the folder."""
        from pyarrow.fs import FileSelector

        return {file.base_name for file in self.system.get_file_info(FileSelector(self.place))}

    def clean(self) -> None:
        """Remove what a process that was killed had begun to write."""
        for name in self.names():
            if name.startswith((TEMPORARY, f".{PLAN}")):
                self.system.delete_file(f"{self.place}/{name}")

    def read(self, name: str) -> bytes:
        """The content of a file."""
        with self.system.open_input_file(f"{self.place}/{name}") as stream:
            return bytes(stream.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all; what stood there is replaced."""
        if self.system.type_name == "local":
            with atomic_path(Path(self.place) / name) as path:
                path.write_bytes(content)
            return
        temporary = f"{self.place}/{TEMPORARY}{uuid.uuid4().hex}"
        with self.system.open_output_stream(temporary) as stream:
            stream.write(content)
        self.system.move(temporary, f"{self.place}/{name}")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Make the folder, on this machine, and let nobody else write to it meanwhile. Raises InputError when another run does."""
        lock = FileLock(Path(self.place) / ".lock", timeout=0)
        try:
            Path(self.place).mkdir(exist_ok=True)
            lock.acquire()
        except Timeout as error:
            raise InputError(f"{self.path} is being written by another run: wait for it, or choose another output") from error
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be made ({error.strerror}): choose an output in a folder that exists and is writable"
            ) from error
        try:
            yield
        finally:
            lock.release()
