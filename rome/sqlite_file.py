"""One SQLite file of keys and values, shared by processes and threads, that refuses other programs' files."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from rome.exceptions import StoreError

__all__ = ["KeyValueFile"]

_KEYS_A_QUERY = 500  # below SQLite's limit of 999 variables in older builds
_BUSY_SECONDS = 60.0
Self = TypeVar("Self", bound="KeyValueFile")


class KeyValueFile:
    """A SQLite file with one table of keys and values (bytes); the base of every store.

    path : the file; it is made when it is missing, its folder is not.
    A subclass sets TABLE (its name), APPLICATION_ID (written into the file's header) and FORMAT (a number that changes with the values).

    Raises StoreError, with a remedy, when the file cannot be opened, read or written or is not such a store.
    """

    TABLE = "items"
    APPLICATION_ID = 0
    FORMAT = 1

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file and open it, so that a wrong path is reported now and not after the first batch."""
        self.path = Path(path)
        self._lock = threading.RLock()
        self._open: tuple[int, sqlite3.Connection] | None = None
        with self._errors():
            self._connection()

    def read(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Key and value of the keys that are there."""
        found: list[tuple[bytes, bytes]] = []
        with self._errors():
            for start in range(0, len(keys), _KEYS_A_QUERY):
                some = keys[start : start + _KEYS_A_QUERY]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, value FROM {self.TABLE} WHERE key IN ({marks})"
                found += self._connection().execute(query, some).fetchall()
        return found

    def write(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep these keys and values, all or none; what is there already is overwritten."""
        with self._errors(), self._connection() as connection:
            connection.executemany(f"INSERT OR REPLACE INTO {self.TABLE} (key, value) VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file; the next call would open it again."""
        with self._lock:
            if self._open and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

    def __len__(self) -> int:
        """The number of values in the file."""
        with self._errors():
            return int(self._connection().execute(f"SELECT count(*) FROM {self.TABLE}").fetchone()[0])

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

    def _connection(self) -> sqlite3.Connection:
        """This process's connection; a connection must not be carried across a fork, so a child opens its own."""
        if self._open is None or self._open[0] != os.getpid():
            self._open = (os.getpid(), self._connect())
        return self._open[1]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """One thread at a time, and every SQLite error as a StoreError with a remedy."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise StoreError(_explain(self.path, error)) from error

    def _connect(self) -> sqlite3.Connection:
        """Open the file in WAL mode and make the table when it is missing."""
        path = self.path
        if path.is_dir():
            raise StoreError(f"the store {path} is a directory: name a file in it, such as {path / 'analyses.sqlite'}")
        if not path.parent.is_dir():
            raise StoreError(f"the store {path} cannot be made: its folder {path.parent} does not exist, make it first")
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Refuse another program's file; make the table in a new one."""
        connection.execute("BEGIN")  # one snapshot: another process may be making the table just now
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        connection.execute("COMMIT")
        if tables and owner != self.APPLICATION_ID:
            raise StoreError(f"{self.path} is a SQLite file of another program: name another file for the store")
        if tables and version != self.FORMAT:
            raise StoreError(
                f"the store {self.path} has format {version}, this version of RoMe writes {self.FORMAT}: name another file"
            )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        if not tables:
            self._make_table(connection)

    def _make_table(self, connection: sqlite3.Connection) -> None:
        """Make the table and sign the file, in one transaction."""
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {self.TABLE} (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
            connection.execute(f"PRAGMA application_id={self.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={self.FORMAT}")


def _explain(path: Path, error: sqlite3.Error) -> str:
    """What SQLite found, and what to do about it."""
    found = str(error)
    if "readonly" in found or "unable to open" in found:
        return f"the store {path} cannot be written ({found}): give the file and its folder write permission, or name another"
    if "full" in found:
        return f"the store {path} cannot grow ({found}): free some space, or name a file on another disk"
    if "locked" in found:
        return f"the store {path} was busy for {_BUSY_SECONDS:.0f} seconds ({found}): end the process that holds it"
    return f"the store {path} is damaged or is not a store of RoMe ({found}): delete it, or name another file"
