"""One SQLite file of keys and values, shared by processes and threads: what was written stays, what is damaged is not returned."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from rome.exceptions import StoreError
from rome.sqlite_repair import BUSY_SECONDS, folder_lock, identity, is_damage, is_store, patiently, rescued, say, set_aside

__all__ = ["KeyValueFile"]

_KEYS_A_QUERY = 500  # below SQLite's limit of 999 variables in older builds
_SEAL = 8
_REPLACEMENTS = 3  # enough, and an end where a network's file system numbers files anew at every look
_UNSEALED = 1
"""The format whose rows had no seal."""
Self = TypeVar("Self", bound="KeyValueFile")
Result = TypeVar("Result")


class KeyValueFile:
    """A SQLite file with one table of keys (at most 64 bytes) and values (bytes); the base of every store.

    path : the file; it is made when it is missing, its folder is not.
    A subclass sets TABLE (its name) and APPLICATION_ID (written into the file's header), and FORMAT when its values change.

    Every value stands under a checksum of key and value, verified on reading: a row that does not fit is absent, so it is computed
    and written again. A file whose structure is damaged is kept under another name, NAME.damaged-1, and a new one begun with every
    row that still fits. A file of format 1, whose rows had no such checksum, is brought to this format in one transaction. Each is said in one
    line on stderr. A process killed at any moment loses at most the write it was in; after a power cut the last writes may be
    missing, those before are not.

    Raises StoreError, with a remedy, when the file cannot be opened, read or written or is not such a store.
    """

    TABLE = "items"
    APPLICATION_ID = 0
    FORMAT = 2  # one changed bit makes no 1 of it

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file and open it, so that a wrong path is reported now and not after the first batch."""
        self.path = Path(path)
        self._lock = threading.RLock()
        self._open: tuple[int, sqlite3.Connection] | None = None
        self._inherited: list[sqlite3.Connection] = []  # never used nor closed: they belong to the parent process
        self._identity: tuple[int, int] | None = None
        self._do(lambda connection: None)

    def read(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Key and value of the keys that are there and whole."""
        rows = self._do(lambda connection: self._selected(connection, keys))
        found = [(key, value) for key, row in rows if (value := _opened(key, row)) is not None]
        if len(found) < len(rows):
            self._look(len(rows) - len(found), len(rows))
        return found

    def write(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep these keys and values, all or none; what is there already is overwritten."""
        sealed = [(key, _sealed(key, value)) for key, value in rows]

        def insert(connection: sqlite3.Connection) -> bool:
            with connection:
                connection.executemany(f"INSERT OR REPLACE INTO {self.TABLE} (key, value) VALUES (?, ?)", sealed)
            return identity(self.path) == self._identity  # else the file was replaced meanwhile: into the new one as well

        for _ in range(_REPLACEMENTS):
            if self._do(insert):
                return

    def close(self) -> None:
        """Close the file; the next call would open it again."""
        with self._lock:
            if self._open and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

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

    def unsealed(self, key: bytes, row: bytes) -> bytes | None:
        """The value in a row of format 1, or None when it is damaged."""
        return row

    def _do(self, action: Callable[[sqlite3.Connection], Result]) -> Result:
        """Act on the connection, one thread at a time; a damaged file is replaced and acted on once more. Raises StoreError."""
        with self._lock:
            try:
                return action(self._connection())
            except sqlite3.Error as error:
                if not is_damage(self.path, error):
                    raise StoreError(_explain(self.path, error)) from error
                self._renew(error)
            try:
                return action(self._connection())
            except sqlite3.Error as error:
                raise StoreError(_explain(self.path, error)) from error

    def _connection(self) -> sqlite3.Connection:
        """This process's connection to the file that now has the name: a child process and a replaced file need a new one."""
        if self._open is not None and self._open[0] != os.getpid():
            self._inherited.append(self._open[1])
            self._open = None
        if self._open is not None and identity(self.path) != self._identity:
            self.close()  # SQLite leaves the new file's log alone: it looks whether its own file still has the name
        if self._open is None:
            self._open = (os.getpid(), self._connect())
        return self._open[1]

    def _connect(self) -> sqlite3.Connection:
        """Open the file in WAL mode and make the table when it is missing."""
        path = self.path
        if path.is_dir():
            raise StoreError(f"the store {path} is a directory: name a file in it, such as {path / 'analyses.sqlite'}")
        if not path.parent.is_dir():
            raise StoreError(f"the store {path} cannot be made: its folder {path.parent} does not exist, make it first")
        with folder_lock(path, alone=False):
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
            connection.text_factory = bytes  # damage may turn a blob into a text
            self._identity = identity(path)
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the table in a new file, bring an older file to this format, refuse another program's and a newer one."""
        connection.execute("BEGIN")  # one snapshot: another process may be making the table just now
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        connection.execute("COMMIT")
        made = f"CREATE TABLE {self.TABLE} (key BLOB PRIMARY KEY, value BLOB NOT NULL)".encode()
        table, index = self.TABLE.encode(), f"sqlite_autoindex_{self.TABLE}_1".encode()
        whole = sorted(schema, key=str) == sorted([(b"table", table, table, made), (b"index", index, table, None)], key=str)
        if schema and (owner, version, whole) != (self.APPLICATION_ID, self.FORMAT, True):
            self._reconcile(connection, owner == self.APPLICATION_ID, version, whole)
        patiently(lambda: connection.execute("PRAGMA journal_mode=WAL"))
        connection.execute("PRAGMA synchronous=NORMAL")
        if not schema:
            self._make_table(connection)

    def _reconcile(self, connection: sqlite3.Connection, ours: bool, version: int, whole: bool) -> None:
        """Decide what a file is whose header or table is not as this version makes them."""
        if whole and ours and version == _UNSEALED:
            return self._upgrade(connection)
        if whole and self._fits(connection):
            return self._sign(connection)  # only the header is damaged
        if not ours:
            raise StoreError(f"{self.path} is a SQLite file of another program: name another file for the store")
        if version != self.FORMAT:
            raise StoreError(
                f"the store {self.path} has format {version}, this version of RoMe writes {self.FORMAT}: name another file"
            )
        raise sqlite3.DatabaseError("its table is malformed")

    def _look(self, damaged: int, count: int) -> None:
        """After damaged rows: a file whose structure is damaged as well is replaced before anything else is written into it."""

        def check(connection: sqlite3.Connection) -> None:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != b"ok":
                raise sqlite3.DatabaseError(f"malformed, {verdict.decode(errors='replace')}"[:100])

        before = self._identity
        self._do(check)
        if self._identity == before:
            say(f"the store {self.path} held {damaged} damaged {'row' if damaged == 1 else 'rows'} of {count}: made again")

    def _fits(self, connection: sqlite3.Connection) -> bool:
        """Whether one of the first rows is under our seal."""
        rows = connection.execute(f"SELECT key, value FROM {self.TABLE} LIMIT 20").fetchall()
        return any(_opened(key, row) is not None for key, row in rows)

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Seal the rows of format 1, all or none; one that is damaged already is left to be made again."""

        def sealed(key: bytes, row: bytes) -> bytes:
            value = self.unsealed(key, row)
            return b"" if value is None else _sealed(key, value)

        whole = "typeof(key) = 'blob' AND length(key) BETWEEN 1 AND 64 AND typeof(value) = 'blob'"

        connection.create_function("rome_sealed", 2, sealed, deterministic=True)
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone()[0] != _UNSEALED:
                return  # another process was faster
            connection.execute(f"UPDATE {self.TABLE} SET value = CASE WHEN {whole} THEN rome_sealed(key, value) ELSE x'' END")
            connection.execute(f"PRAGMA user_version={self.FORMAT}")
        say(f"the store {self.path} was brought from format {_UNSEALED} to format {self.FORMAT}")

    def _sign(self, connection: sqlite3.Connection) -> None:
        """Write the header again."""
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id={self.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={self.FORMAT}")
        say(f"the store {self.path} had a damaged header: written again")

    def _make_table(self, connection: sqlite3.Connection) -> None:
        """Make the table and sign the file, in one transaction."""
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {self.TABLE} (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
            connection.execute(f"PRAGMA application_id={self.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={self.FORMAT}")

    def _selected(self, connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, object]]:
        """Keys and rows as they stand in the file."""
        found: list[tuple[bytes, object]] = []
        for start in range(0, len(keys), _KEYS_A_QUERY):
            some = keys[start : start + _KEYS_A_QUERY]
            query = f"SELECT key, value FROM {self.TABLE} WHERE key IN ({','.join('?' * len(some))})"
            found += connection.execute(query, some).fetchall()
        return found

    def _renew(self, error: sqlite3.Error) -> None:
        """Keep the damaged file under another name and begin a new one with the rows that still fit."""
        self.close()
        with folder_lock(self.path, alone=True):
            if identity(self.path) != self._identity:
                return  # another process was faster
            if not is_store(self.path, self.APPLICATION_ID):
                raise StoreError(f"{self.path} is damaged or is not a store of RoMe ({error}): name another file") from error
            aside, kept = set_aside(self.path, self._rescue)
        say(
            f"the store {self.path} was damaged ({error}): it is kept as {aside}, {kept} rows were saved, the rest is made again"
        )

    def _rescue(self, old: sqlite3.Connection, fresh: sqlite3.Connection) -> int:
        """Fill a new file with the rows of a damaged one that fit their seals; how many."""
        self._make_table(fresh)
        with fresh:
            rows = ((key, row) for key, row in rescued(old, self.TABLE) if _opened(key, row) is not None)
            fresh.executemany(f"INSERT OR IGNORE INTO {self.TABLE} (key, value) VALUES (?, ?)", rows)
        return int(fresh.execute(f"SELECT count(*) FROM {self.TABLE}").fetchone()[0])


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
    if "full" in found:
        return f"the store {path} cannot grow ({found}): free some space, or name a file on another disk"
    if "I/O" in found:
        return f"the store {path} cannot be read or written ({found}): free some space or check the disk, or name a file on another"
    if "locked" in found:
        return f"the store {path} was busy for {BUSY_SECONDS:.0f} seconds ({found}): end the process that holds it"
    return f"the store {path} is damaged or is not a store of RoMe ({found}): name another file"
