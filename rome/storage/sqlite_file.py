"""Keep keys and values in one SQLite file that processes and threads share; damaged values are missing and are computed again."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import NoReturn, TypeVar

from filelock import FileLock

from rome.exceptions import StoreError

BUSY_SECONDS = 60.0
_KEYS_A_QUERY = 500  # below SQLite's limit of 999 variables in older builds
_SEAL = 8
_OWNER = slice(68, 72)
"""Where the header of a SQLite file has the application id."""
_DAMAGE = ("no such", "has no column", "unsupported file format")
"""What SQLite says of a damaged file in an OperationalError, which otherwise means a disk, a lock or a permission."""
Self = TypeVar("Self", bound="KeyValueFile")
Result = TypeVar("Result")


class KeyValueFile:
    """A SQLite file with one table of keys (at most 64 bytes) and values (bytes); the base of every store.

    Every value has a checksum of key and value: a row that does not fit it is missing. A damaged file is set aside as NAME.damaged-1, and a
    new one is begun. A file that may not be written is read, and nothing is added. One line on stderr reports each of these.

    Parameters
    ----------
    path
        The file; it is created when it is missing, its folder is not. A subclass sets TABLE (its name) and APPLICATION_ID (written into the
        file's header), and FORMAT when its values change.

    Raises
    ------
    StoreError
        When the file cannot be opened, read or written, or is not such a store.
    """

    TABLE = "items"
    APPLICATION_ID = 0
    FORMAT = 2

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._do(lambda _: None)  # a wrong path is reported now and not after the first batch

    def read(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Return key and value of the keys that are there and whole."""

        def select(connection: sqlite3.Connection) -> list[tuple[bytes, object]]:
            rows: list[tuple[bytes, object]] = []
            for start in range(0, len(keys), _KEYS_A_QUERY):
                some = keys[start : start + _KEYS_A_QUERY]
                query = f"SELECT key, value FROM {self.TABLE} WHERE key IN ({','.join('?' * len(some))})"
                rows += connection.execute(query, some).fetchall()
            return rows

        rows = self._do(select)
        whole = [(key, row[_SEAL:]) for key, row in rows if isinstance(row, bytes) and row == _sealed(key, row[_SEAL:])]
        if damaged := len(rows) - len(whole):
            _say(f"the store {self.path} held {damaged} damaged {'row' if damaged == 1 else 'rows'} of {len(rows)}: made again")
        return whole

    def write(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep these keys and values, all or none, and replace those that are there; a read-only file is left as it is."""
        if self._read_only():
            return
        sealed = [(key, _sealed(key, value)) for key, value in rows]

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(f"INSERT OR REPLACE INTO {self.TABLE} (key, value) VALUES (?, ?)", sealed)

        self._do(insert)

    def __len__(self) -> int:
        """Return the number of values."""
        return int(self._do(lambda connection: connection.execute(f"SELECT count(*) FROM {self.TABLE}").fetchone()[0]))

    def __enter__(self: Self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: the file is open only while it is read or written."""

    def _read_only(self) -> bool:
        """Return True when the file is there and may only be read; SQLite writes beside it too."""
        file = os.path.realpath(self.path)
        is_closed = not (os.access(file, os.W_OK) and os.access(os.path.dirname(file), os.W_OK))
        with suppress(OSError):  # another process may be setting it aside
            return is_closed and os.path.isfile(file) and os.path.getsize(file) > 0
        return False

    def _do(self, action: Callable[[sqlite3.Connection], Result], *, again: bool = True) -> Result:
        """Act on a connection of its own; set a damaged file aside and act once more. Raises StoreError."""
        identity = _identity(self.path)
        try:
            with closing(self._connected()) as connection:
                self._prepare(connection)
                return action(connection)
        except sqlite3.Error as error:
            is_damaged = not isinstance(error, sqlite3.OperationalError) or any(word in str(error) for word in _DAMAGE)
            if not again or not (is_damaged or _identity(self.path) != identity):  # or replaced meanwhile
                self._refuse(error, is_damaged)
            self._set_aside(error, identity)
        return self._do(action, again=False)

    def _connected(self) -> sqlite3.Connection:
        """Open the file, which is created when it is missing."""
        path = self.path
        if path.is_dir():
            raise StoreError(f"the store {path} is a directory: name a file in it, such as {path / 'analyses.sqlite'}")
        if not path.parent.is_dir():
            raise StoreError(f"the store {path} cannot be made: its folder {path.parent} does not exist, make it first")
        name = str(path)
        if is_read_only := self._read_only():
            _say_once(f"the store {path} cannot be written: what it holds is used, nothing is added")
            name = f"{Path(os.path.realpath(path)).as_uri()}?immutable=1"
        connection = sqlite3.connect(name, timeout=BUSY_SECONDS, uri=is_read_only)
        connection.text_factory = bytes  # damage may turn a blob into a text
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the table in a new file; refuse another program's file and another format."""
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"CREATE TABLE IF NOT EXISTS {self.TABLE} (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
                connection.execute(f"PRAGMA application_id={self.APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version={self.FORMAT}")
        if connection.execute("PRAGMA application_id").fetchone()[0] != self.APPLICATION_ID:
            raise StoreError(f"{self.path} is a SQLite file of another program: name another file for the store")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != self.FORMAT:
            raise StoreError(f"the store {self.path} must have format {self.FORMAT}, got format {version}: name another file")

    def _set_aside(self, error: sqlite3.Error, identity: tuple[int, int] | None) -> None:
        """Rename the damaged file and its log, unless another process has done so."""
        real = os.path.realpath(self.path)
        if self._read_only():
            self._refuse(error, is_damaged=True)
        try:
            with FileLock(f"{real}.lock", timeout=BUSY_SECONDS):
                if _identity(self.path) != identity:
                    return
                if Path(real).read_bytes()[_OWNER] != self.APPLICATION_ID.to_bytes(4, "big"):
                    self._refuse(error, is_damaged=True)
                aside = next(name for n in count(1) if not os.path.exists(name := f"{real}.damaged-{n}"))
                for end in ("-journal", "-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        os.replace(f"{real}{end}", f"{aside}{end}")
        except OSError as problem:
            if isinstance(problem, StoreError):
                raise
            raise StoreError(
                f"the store {self.path} cannot be replaced ({problem}): give its folder write permission, or name another file"
            ) from problem
        _say(f"the store {self.path} was damaged ({error}): it is set aside as {aside}, and a new one begun")

    def _refuse(self, error: sqlite3.Error, is_damaged: bool) -> NoReturn:
        if is_damaged:
            raise StoreError(
                f"the store {self.path} is damaged or is not a store of RoMe ({error}): name another file"
            ) from error
        message = (
            f"the store {self.path} cannot be written ({error}): free some space, check its permissions, or name another file"
        )
        raise StoreError(message) from OSError(errno.EIO, str(error))


def _say(line: str) -> None:
    """Write one line to stderr, over a progress bar."""
    if sys.stderr is not None:
        place = "\r\x1b[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{place}rome: {' '.join(line.split())}\n")


_say_once = cache(_say)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes the file that now has this name from an earlier or later one; None when there is none."""
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None


def _sealed(key: object, value: bytes) -> bytes:
    """Return the value behind its checksum, which covers the key, too: no row is taken for another's."""
    if not isinstance(key, bytes) or not 0 < len(key) <= 64:
        return b""
    return hashlib.blake2b(value, digest_size=_SEAL, key=key).digest() + value
