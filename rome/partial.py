"""What a run has done so far, in a file beside its output, so that an interrupted run goes on where it stopped.

The file is text: a line that describes the run, then for every finished block a line with its checksum and its lines. What does not fit
its checksum, and all that follows, counts as not done.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from rome.exceptions import InputError
from rome.file_lock import locked

__all__ = ["Partial"]

_MARK = b'{"rome_partial": 1, '


class Partial:
    """The finished blocks of one run.

    path : the file, made when it is missing; None keeps them in a temporary file, for an output that cannot be gone on with.
    output : how messages call what the file stands beside.

    One run at a time may have it open. Raises InputError when it cannot be written, is another program's file, or another run's.
    """

    def __init__(self, path: Path | None, output: str = "the output") -> None:
        self.path = path
        self.blocks = 0
        self._file = tempfile.TemporaryFile() if path is None else _opened(path, output)
        self._first = self._end = 0
        self._own = self._file.seek(0, os.SEEK_END) == 0

    def begin(self, description: Mapping[str, Any]) -> int:
        """Say what is computed; the number of blocks that an earlier run of the same has finished.

        Raises InputError when the file holds the beginning of something else.
        """
        wanted = json.dumps({"rome_partial": 1, **description}).encode() + b"\n"
        self._file.seek(0)
        line = self._file.readline()
        if line.endswith(b"\n") or not wanted.startswith(line[: len(_MARK)]):
            self._check(line, description)
            self._first = self._end = len(line)
            while self._valid_block():
                self.blocks, self._end = self.blocks + 1, self._file.tell()
            self._file.truncate(self._end)
        else:
            self._file.truncate(0)
            self._file.seek(0)
            self._file.write(wanted)
            self._first = self._end = len(wanted)
            self._flush()
        self._own = True
        return self.blocks

    def _check(self, line: bytes, description: Mapping[str, Any]) -> None:
        """Refuse what is not the beginning of this run."""
        try:
            before = json.loads(line) if line.startswith(_MARK) else None
        except ValueError:
            before = None
        if before is None:
            raise InputError(f"{self.path} is in the way: it would hold what is done so far; move it, or choose another output")
        known = json.loads(json.dumps(description))
        keys = [key for key in known if known[key] != before.get(key)]
        if keys:
            raise InputError(
                f"{self.path} was begun with other pairs or options ({', '.join(keys)} differ): "
                "finish that run, or delete the file to begin anew"
            )

    def _valid_block(self) -> bool:
        """Read one block; False at the end and at the first one that is not whole."""
        self._file.seek(self._end)
        line = self._file.readline()
        try:
            head = json.loads(line)
            if not line.endswith(b"\n") or head["block"] != self.blocks or not 0 <= head["bytes"] <= self._left():
                return False
            content = self._file.read(head["bytes"])
            return bool(head["bytes"] == len(content) and head["digest"] == _digest(self.blocks, content))
        except (ValueError, TypeError, KeyError, RecursionError):
            return False

    def _left(self) -> int:
        """Bytes between here and the end of the file."""
        return os.fstat(self._file.fileno()).st_size - self._file.tell()

    def append(self, lines: Sequence[str]) -> None:
        """Keep the lines of the next block; when this returns they are on disk."""
        content = "".join(f"{line}\n" for line in lines).encode("utf-8")
        head = {"block": self.blocks, "bytes": len(content), "digest": _digest(self.blocks, content)}
        self._file.seek(self._end)
        self._file.write(json.dumps(head).encode() + b"\n" + content)
        self._flush()
        self.blocks, self._end = self.blocks + 1, self._file.tell()

    def _flush(self) -> None:
        self._file.flush()
        if self.path is not None:
            os.fsync(self._file.fileno())

    def lines(self) -> Iterator[str]:
        """Every line of every finished block, in order, without its line end."""
        self._file.seek(self._first)
        at = self._first
        while at < self._end:
            head = self._file.readline()
            left = int(json.loads(head)["bytes"])
            at += len(head) + left
            while left > 0:
                line = self._file.readline()
                left -= len(line)
                yield line[:-1].decode("utf-8")

    def close(self, *, done: bool) -> None:
        """Close the file; it is removed when the run is done, and when nothing in it was worth keeping."""
        self._file.close()
        if self.path is not None and self._own and (done or self.path.stat().st_size <= self._first):
            self.path.unlink(missing_ok=True)


def _digest(block: int, content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16, salt=block.to_bytes(8, "big")).hexdigest()


def _opened(path: Path, output: str) -> IO[bytes]:
    """The file, for this run alone."""
    try:
        file = open(path, "r+b" if path.exists() else "x+b")
    except OSError as error:
        raise InputError(
            f"{output} cannot be written ({error.strerror}): choose a folder that exists and is writable"
        ) from error
    if locked(file.fileno()) is False:
        file.close()
        raise InputError(f"{path} is being written by another run: wait for it, or choose another output")
    return file
