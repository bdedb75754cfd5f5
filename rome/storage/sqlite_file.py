"""One SQLite file of keys and values, shared by processes and threads; what is damaged is not returned but made again."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cache
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from filelock import FileLock

from rome.exceptions import StoreError

BUSY_SECONDS = 60.0
_KEYS_A_QUERY = 500  # below SQLite's limit of 999 variables in older builds
_SEAL = 8
_OWNER = slice(68, 72)
"""Where a SQLite file's header has the application id."""
_DAMAGE = ("no such", "has no column", "unsupported file format")
Self = TypeVar("Self", bound="KeyValueFile")
Result = TypeVar("Result")


class KeyValueFile:
    """A SQLite file with one table of keys (at most 64 bytes) and values (bytes); the base of every store.

    Every value stands under a checksum of key and value, verified on reading: a row that does not fit is absent, so it is computed and written
    again. A file whose structure is damaged is set aside as NAME.damaged-1 and a new one begun. Each is said in one line on stderr. A process
    killed at any moment loses at most the write it was in. ``NAME.lock`` beside the file keeps two processes from making or replacing it at
    once. A file that may not be written, or lies in such a folder, is read all the same, and nothing is written; a line says so once.

    Raises StoreError, with a remedy, when the file cannot be opened, read or written or is not such a store.

    Parameters
    ----------
    path
        The file; it is made when it is missing, its folder is not. A subclass sets TABLE (its name) and APPLICATION_ID (written into the file's
        header), and FORMAT when its values change.
    """

    TABLE = "items"
    APPLICATION_ID = 0
    FORMAT = 2

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file and open it once, so that a wrong path is reported now and not after the first batch."""
        self.path = Path(path)
        self._do(lambda connection: None)

    def read(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Key and value of the keys that are there and whole."""
        rows = self._do(lambda connection: self._selected(connection, keys))
        found = [(key, value) for key, row in rows if (value := _opened(key, row)) is not None]
        if damaged := len(rows) - len(found):
            _say(f"the store {self.path} held {damaged} damaged {'row' if damaged == 1 else 'rows'} of {len(rows)}: made again")
        return found

    @property
    def read_only(self) -> bool:
        """Whether the file is there and may only be read; SQLite writes beside it too."""
        file = os.path.realpath(self.path)
        is_closed = not (os.access(file, os.W_OK) and os.access(os.path.dirname(file), os.W_OK))
        with suppress(OSError):  # another process may be setting it aside
            return is_closed and os.path.isfile(file) and os.path.getsize(file) > 0
        return False

    def write(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep these keys and values, all or none; what is there already is overwritten. In a file that is read-only nothing is kept."""
        if self.read_only:
            return
        sealed = [(key, _sealed(key, value)) for key, value in rows]

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(f"INSERT OR REPLACE INTO {self.TABLE} (key, value) VALUES (?, ?)", sealed)

        self._do(insert)

    def close(self) -> None:
        """Nothing to do: the file is open only while it is read or written."""

    def __len__(self) -> int:
        """The number of values in the file."""
        return int(self._do(lambda connection: connection.execute(f"SELECT count(*) FROM {self.TABLE}").fetchone()[0]))

    def __bool__(self) -> bool:
        """True: an empty store is still a store."""
        return True

    def __enter__(self: Self) -> Self:
        """The store itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file."""
        self.close()

    def __repr__(self) -> str:
        """Name the file."""
        return f"{type(self).__name__}({str(self.path)!r})"

    def _do(self, action: Callable[[sqlite3.Connection], Result]) -> Result:
        """Act on a connection of its own; a damaged file is replaced and acted on once more. Raises StoreError."""
        identity = _identity(self.path)
        try:
            with closing(self._connected()) as connection:
                return action(connection)
        except sqlite3.Error as error:
            if not _is_damage(error) and _identity(self.path) == identity:  # not replaced meanwhile
                raise StoreError(_explain(self.path, error)) from error
            self._set_aside(error, identity)
        try:
            with closing(self._connected()) as connection:
                return action(connection)
        except sqlite3.Error as error:
            raise StoreError(_explain(self.path, error)) from error

    def _connected(self) -> sqlite3.Connection:
        """Open the file and make its table when it is new; one process at a time makes it."""
        path = self.path
        if path.is_dir():
            raise StoreError(f"the store {path} is a directory: name a file in it, such as {path / 'analyses.sqlite'}")
        if not path.parent.is_dir():
            raise StoreError(f"the store {path} cannot be made: its folder {path.parent} does not exist, make it first")
        if self.read_only:
            return self._connected_for_reading()
        is_new = not path.exists() or not path.stat().st_size
        with self._alone() if is_new else nullcontext():
            return self._prepared(path)

    def _connected_for_reading(self) -> sqlite3.Connection:
        """Open the file without changing it: with what stands in its log where that can be read, else as a file that never changes."""
        _say_once(f"the store {self.path} cannot be written: what it holds is used, nothing is added")
        file = Path(os.path.realpath(self.path))
        if os.path.exists(f"{file}-wal"):
            with suppress(sqlite3.OperationalError):
                return self._prepared(f"{file.as_uri()}?mode=ro", uri=True)
        return self._prepared(f"{file.as_uri()}?immutable=1", uri=True)

    def _prepared(self, file: Path | str, *, uri: bool = False) -> sqlite3.Connection:
        """A connection to what `_prepare` finds right."""
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, uri=uri)
        connection.text_factory = bytes  # damage may turn a blob into a text
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the table in a new file; refuse another program's file and another format."""
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute("PRAGMA journal_mode=WAL")
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"CREATE TABLE IF NOT EXISTS {self.TABLE} (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
                connection.execute(f"PRAGMA application_id={self.APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version={self.FORMAT}")
        connection.execute("PRAGMA synchronous=NORMAL")
        if connection.execute("PRAGMA application_id").fetchone()[0] != self.APPLICATION_ID:
            raise StoreError(f"{self.path} is a SQLite file of another program: name another file for the store")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != self.FORMAT:
            raise StoreError(
                f"the store {self.path} has format {version}, this version of RoMe writes {self.FORMAT}: name another file"
            )

    def _selected(self, connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, object]]:
        """Keys and rows as they stand in the file."""
        found: list[tuple[bytes, object]] = []
        for start in range(0, len(keys), _KEYS_A_QUERY):
            some = keys[start : start + _KEYS_A_QUERY]
            query = f"SELECT key, value FROM {self.TABLE} WHERE key IN ({','.join('?' * len(some))})"
            found += connection.execute(query, some).fetchall()
        return found

    def _set_aside(self, error: sqlite3.Error, identity: tuple[int, int] | None) -> None:
        """Give the damaged file, and its log, another name; the next call begins a new one."""
        if self.read_only:
            raise StoreError(_explain(self.path, error)) from error
        with self._alone():
            if _identity(self.path) != identity:
                return  # another process was faster
            real = os.path.realpath(self.path)
            with open(real, "rb") as stream:
                if stream.read(_OWNER.stop)[_OWNER] != self.APPLICATION_ID.to_bytes(4, "big"):
                    raise StoreError(_explain(self.path, error)) from error
            aside = next(name for n in count(1) if not os.path.exists(name := f"{real}.damaged-{n}"))
            for end in ("-wal", "-shm", ""):
                with suppress(FileNotFoundError):
                    os.replace(f"{real}{end}", f"{aside}{end}")
        _say(f"the store {self.path} was damaged ({error}): it is set aside as {aside}, and a new one begun")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process makes or replaces the file meanwhile. Raises StoreError when the folder does not allow it."""
        try:
            with FileLock(f"{os.path.realpath(self.path)}.lock", timeout=BUSY_SECONDS):
                yield
        except OSError as error:
            raise StoreError(
                f"the store {self.path} cannot be made or replaced ({error}): give its folder write permission, or name another file"
            ) from error


def _say(line: str) -> None:
    """One line on stderr, in the place of a progress bar that stands there."""
    if sys.stderr is not None:
        place = "\r\x1b[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{place}rome: {' '.join(line.split())}\n")


@cache
def _say_once(line: str) -> None:
    _say(line)


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells the file that now has this name from another that had it or will have it; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the content of the file is wrong, not a disk, a lock or a permission in the way (OperationalError)."""
    return not isinstance(error, sqlite3.OperationalError) or any(word in str(error) for word in _DAMAGE)


def _sealed(key: bytes, value: bytes) -> bytes:
    """The value behind its checksum, into which the key goes: no row is taken for another's."""
    return hashlib.blake2b(value, digest_size=_SEAL, key=key).digest() + value


def _opened(key: object, row: object) -> bytes | None:
    """The value of a row, or None when its checksum does not fit."""
    if not isinstance(key, bytes) or not isinstance(row, bytes) or not 0 < len(key) <= 64:
        return None
    value = row[_SEAL:]
    return value if row[:_SEAL] == hashlib.blake2b(value, digest_size=_SEAL, key=key).digest() else None


def _explain(path: Path, error: sqlite3.Error) -> str:
    """What SQLite found, and what to do about it."""
    found = str(error)
    if "readonly" in found or "unable to open" in found:
        return f"the store {path} cannot be written ({found}): give the file and its folder write permission, or name another"
    if "full" in found or "I/O" in found:
        return f"the store {path} cannot be written ({found}): free some space or check the disk, or name a file on another"
    if "locked" in found:
        return f"the store {path} was busy for {BUSY_SECONDS:.0f} seconds ({found}): end the process that holds it"
    return f"the store {path} is damaged or is not a store of RoMe ({found}): name another file"
