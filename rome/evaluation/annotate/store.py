"""The file of ratings: every save is one appended line, on the disk before it is called saved."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rome.evaluation.annotate.records import Record, read_records, split_lines
from rome.exceptions import InputError, StoreError

__all__ = ["RatingsFile"]


class RatingsFile:
    """An append-only file of records that one process at a time holds open.

    Opening keeps every complete line. What a torn write left at the end is moved to ``FILE.torn``, so that the file stays
    readable and nothing is thrown away. notes : what was found and done, for the user. records : what stood in the file.

    Raises InputError when the file cannot be opened, is held by another process, or has a line that is no record.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.notes: list[str] = []
        self._lock = threading.Lock()
        with _opening(path):
            new = not Path(path).exists()
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        self._file: int | None = file
        try:
            _hold(file, path)
            if new:
                _sync_folder(path)
            self._mend()
            self.records: list[Record] = read_records(path)[0]
        except BaseException:
            self.close()
            raise

    def append(self, line: str) -> None:
        """Write one line; when this returns it is on the disk. Raises StoreError, with the file as it was, when it cannot be."""
        with self._lock:
            if self._file is None:
                raise StoreError(f"{self.path} is closed: start `rome annotate` again")
            before = os.fstat(self._file).st_size
            try:
                _write(self._file, line.encode("utf-8") + b"\n")
                os.fsync(self._file)
            except OSError as error:
                os.ftruncate(self._file, before)
                raise StoreError(
                    f"{self.path} cannot be written ({error.strerror}): make room; the page tries again"
                ) from error

    def close(self) -> None:
        """Give the file back, after a save that is under way."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = None

    def _mend(self) -> None:
        """Let the file end with a line end; keep what is no whole line elsewhere."""
        content = Path(self.path).read_bytes()
        lines, torn = split_lines(content)
        if torn:
            aside = f"{self.path}.torn"
            with _opening(aside), open(aside, "ab") as stream:
                stream.write(torn + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.truncate(self.path, len(content) - len(torn))
            self.notes.append(f"{self.path}:{len(lines) + 1}: a torn last line of {len(torn)} bytes was moved to {aside}")
        elif content and not content.endswith(b"\n"):
            self.append("")


@contextmanager
def _opening(path: str) -> Iterator[None]:
    """Say which file could not be opened."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): choose a file in a folder that exists") from error


def _write(file: int, content: bytes) -> None:
    """Write everything, however little the system takes at once."""
    while content:
        content = content[os.write(file, content) :]


def _hold(file: int, path: str) -> None:
    """Keep other processes of this tool out, where the system can; the hold ends with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows: whole lines are appended all the same
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(f"{path} is open in another `rome annotate`: use its page, or name another --output") from error


def _sync_folder(path: str) -> None:
    """Put the new file's name on the disk too, where the system lets a folder be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    folder = os.open(Path(path).absolute().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
