"""Analyses on disk, so that a text that was analysed once never meets the models again."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from rome.exceptions import StoreError
from rome.features.values import Analysis
from rome.packing import DamagedRow, pack, unpack

__all__ = ["AnalysisStore"]

_APPLICATION_ID = 0x526F4D65  # "RoMe", written into the file's header
_FORMAT = 1
_KEYS_A_QUERY = 500  # below SQLite's limit of 999 variables in older builds
_BUSY_SECONDS = 60.0


class AnalysisStore:
    """A SQLite file of analyses, keyed by text and model identity; several processes and threads may share it.

    path : the file; it is made when it is missing, its folder is not.

    Nothing is pickled. A row whose checksum does not fit counts as missing, so it is computed and written again.
    Raises StoreError, with a remedy, when the file cannot be opened, read or written or is not such a store.

    >>> with AnalysisStore("analyses.sqlite") as store:           # doctest: +SKIP
    ...     known = store.get_many(["A cat sat."], identity="embedded-en-1")
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file and open it, so that a wrong path is reported now and not after the first batch."""
        self.path = Path(path)
        self._lock = threading.RLock()
        self._open: tuple[int, sqlite3.Connection] | None = None
        with self._errors():
            self._connection()

    def get_many(self, texts: Iterable[str], *, identity: str) -> dict[str, Analysis]:
        """The analyses known for these texts under this model identity; unknown and damaged ones are simply absent."""
        wanted = {_key(text, identity): text for text in texts}
        found: dict[str, Analysis] = {}
        with self._errors():
            for key, row in self._rows(list(wanted)):
                try:
                    found[wanted[key]] = unpack(wanted[key], row)
                except DamagedRow:
                    continue
        return found

    def put_many(self, analyses: Iterable[Analysis], *, identity: str) -> None:
        """Keep these analyses under this model identity, all or none; a text that is known already is overwritten."""
        rows = [(_key(analysis.text, identity), pack(analysis)) for analysis in analyses]
        with self._errors(), self._connection() as connection:
            connection.executemany("INSERT OR REPLACE INTO analyses (key, value) VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file; the next call would open it again."""
        with self._lock:
            if self._open and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

    def __len__(self) -> int:
        """The number of analyses in the file, of all model identities."""
        with self._errors():
            return int(self._connection().execute("SELECT count(*) FROM analyses").fetchone()[0])

    def __bool__(self) -> bool:
        """True: an empty store is still a store."""
        return True

    def __enter__(self) -> AnalysisStore:
        """The store itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file."""
        self.close()

    def __repr__(self) -> str:
        """Name the file."""
        return f"AnalysisStore({str(self.path)!r})"

    def _rows(self, keys: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Read key and value of the known keys."""
        for start in range(0, len(keys), _KEYS_A_QUERY):
            some = keys[start : start + _KEYS_A_QUERY]
            marks = ",".join("?" * len(some))
            yield from self._connection().execute(f"SELECT key, value FROM analyses WHERE key IN ({marks})", some).fetchall()

    def _connection(self) -> sqlite3.Connection:
        """This process's connection; a connection must not be carried across a fork, so a child opens its own."""
        if self._open is None or self._open[0] != os.getpid():
            self._open = (os.getpid(), _connect(self.path))
        return self._open[1]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """One thread at a time, and every SQLite error as a StoreError with a remedy."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise StoreError(_explain(self.path, error)) from error


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file in WAL mode and make the table when it is missing."""
    if path.is_dir():
        raise StoreError(f"the store {path} is a directory: name a file in it, such as {path / 'analyses.sqlite'}")
    if not path.parent.is_dir():
        raise StoreError(f"the store {path} cannot be made: its folder {path.parent} does not exist, make it first")
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse another program's file; make the table in a new one."""
    connection.execute("BEGIN")  # one snapshot: another process may be making the table just now
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("COMMIT")
    if tables and owner != _APPLICATION_ID:
        raise StoreError(f"{path} is a SQLite file of another program: name another file for the store")
    if tables and version != _FORMAT:
        raise StoreError(f"the store {path} has format {version}, this version of RoMe writes {_FORMAT}: name another file")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    if not tables:
        _make_table(connection)


def _make_table(connection: sqlite3.Connection) -> None:
    """Make the table and sign the file, in one transaction."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE IF NOT EXISTS analyses (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
        connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={_FORMAT}")


def _key(text: str, identity: str) -> bytes:
    """24 bytes that stand for a text under a model identity."""
    digest = hashlib.blake2b(identity.encode("utf-8"), digest_size=24)
    digest.update(b"\0")
    digest.update(text.encode("utf-8"))
    return digest.digest()


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
