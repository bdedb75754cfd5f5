"""Keep analyses in a SQLite file, so that no text passes the models twice.

An analysis is stored as the arrays ``header`` (zlib of UTF-8 JSON), ``vectors``, ``probabilities`` and ``states`` in the safetensors format.
Vectors are float16, to which the analyser rounds them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np
from safetensors.numpy import load, save

from rome.exceptions import StoreError
from rome.features.values import Analysis, Sentence, Word

APPLICATION_ID = 0x526F4D65
"""Mark of a store in the header of a SQLite file: "RoMe"."""
BUSY_SECONDS = 60.0
_CHECKSUM = 8
_DAMAGE = ("no such", "has no column", "unsupported file format")
"""Messages of an OperationalError that mean a damaged file; other ones mean a disk, a lock or a permission."""
_PACKING = b"\0safetensors\0"
_WORD_COLUMNS = ("text", "lemma", "upos", "xpos", "feats", "head", "relation", "start", "end", "sentence")
Result = TypeVar("Result")


class AnalysisStore:
    """A SQLite file of analyses by text and model identity; several processes and threads may share it.

    Nothing is pickled. Every row has a checksum, and a row with a wrong one is missing, so it is computed and written again. A damaged file is
    renamed to NAME.damaged-1, and a new one is created. A file that may not be written is only read. One line on stderr reports each of
    these. The file may be deleted when no process uses it.

    Raises StoreError, with a remedy, when the file cannot be opened, read or written or is not such a store.

    Parameters
    ----------
    path
        The file; it is created when it is missing, its folder is not.

    Examples
    --------
    >>> with AnalysisStore("analyses.sqlite") as store:           # doctest: +SKIP
    ...     known = store.get_many(["A cat sat."], identity="embedded-en-1")
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._do(lambda _: None)  # report a wrong path now and not after the first batch

    def get_many(self, texts: Iterable[str], *, identity: str) -> dict[str, Analysis]:
        """Return the analyses known for these texts under this model identity; unknown and damaged ones are absent."""
        wanted = {_key(text, identity): text for text in texts}
        query = "SELECT key, value FROM analyses WHERE key = ?"
        rows = self._do(lambda connection: [row for key in wanted for row in connection.execute(query, (key,))])
        whole = [(key, row[_CHECKSUM:]) for key, row in rows if isinstance(row, bytes) and row == _sealed(key, row[_CHECKSUM:])]
        if damaged := len(rows) - len(whole):
            _say(f"the store {self.path} has {damaged} damaged rows among {len(rows)}: computed again")
        return {wanted[key]: unpack(wanted[key], body) for key, body in whole}

    def put_many(self, analyses: Iterable[Analysis], *, identity: str) -> None:
        """Keep these analyses under this model identity, all or none, replacing those of known texts; a read-only file stays as it is."""
        if self._is_read_only():
            return
        keyed = ((_key(analysis.text, identity), pack(analysis)) for analysis in analyses)
        rows = [(key, _sealed(key, body)) for key, body in keyed]
        query = "INSERT OR REPLACE INTO analyses (key, value) VALUES (?, ?)"
        self._do(lambda connection: connection.executemany(query, rows))

    def __len__(self) -> int:
        """Return the number of values."""
        return int(self._do(lambda connection: connection.execute("SELECT count(*) FROM analyses").fetchone()[0]))

    def __enter__(self) -> AnalysisStore:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: the file is open only while it is read or written."""

    def _is_read_only(self) -> bool:
        """Return True for an existing file that cannot be written; SQLite needs to write beside it, too."""
        file = Path(os.path.realpath(self.path))
        return file.is_file() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))

    def _do(self, action: Callable[[sqlite3.Connection], Result], *, again: bool = True) -> Result:
        """Act in one transaction on a connection of its own; set a damaged file aside and act once more."""
        identity = _identity(self.path)
        try:
            with closing(self._connect()) as connection, connection:
                self._prepare(connection)
                return action(connection)
        except sqlite3.Error as error:
            if not again:
                self._refuse(error)
            if _identity(self.path) == identity:  # otherwise another process has replaced it
                self._set_aside(error)
        return self._do(action, again=False)

    def _connect(self) -> sqlite3.Connection:
        """Open the file, which is created when it is missing."""
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise StoreError(f"store must be a file in a folder that exists, got {self.path}. Make the folder first")
        if self._is_read_only():
            _say_once(f"the store {self.path} cannot be written: it is read, and nothing is added")
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
        connection.text_factory = bytes  # damage may change a blob into a text
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the table in a new file; refuse another program's file and another format."""
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.executescript(
                "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS analyses (key BLOB PRIMARY KEY, value BLOB NOT NULL);"
                f"PRAGMA application_id={APPLICATION_ID}; COMMIT"
            )
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError(f"{self.path} is a SQLite file of another program: name another file for the store")

    def _set_aside(self, error: sqlite3.Error) -> None:
        """Rename a damaged store; refuse another file and another error."""
        real = os.path.realpath(self.path)
        if not _is_damage(error) or self._is_read_only() or _owner(real) != APPLICATION_ID:
            self._refuse(error)
        aside = next(name for n in count(1) if not os.path.exists(name := f"{real}.damaged-{n}"))
        try:
            os.replace(real, aside)
        except FileNotFoundError:  # another process has done so
            return
        except OSError as problem:
            remedy = "give its folder write permission, or name another file"
            raise StoreError(f"the store {self.path} cannot be replaced ({problem}): {remedy}") from problem
        _say(f"the store {self.path} was damaged ({error}): it is now {aside}, and a new one was begun")

    def _refuse(self, error: sqlite3.Error) -> NoReturn:
        if _is_damage(error):
            message = f"the store {self.path} is damaged or is not a store of RoMe ({error}): name another file"
            raise StoreError(message) from error
        remedy = "free some space, check its permissions, or name another file"
        raise StoreError(f"the store {self.path} cannot be written ({error}): {remedy}") from OSError(errno.EIO, str(error))


def _say(line: str) -> None:
    """Write one line to stderr."""
    if sys.stderr is not None:
        sys.stderr.write(f"rome: {' '.join(line.split())}\n")


_say_once = cache(_say)


def _is_damage(error: sqlite3.Error) -> bool:
    return not isinstance(error, sqlite3.OperationalError) or any(word in str(error) for word in _DAMAGE)


def _owner(path: str) -> int:
    """Return the application id in the header of a SQLite file."""
    with open(path, "rb") as file:
        return int.from_bytes(file.read(72)[68:], "big")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes the file that now has this name from an earlier or later one; None when there is none."""
    with suppress(OSError):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return None


def _sealed(key: bytes, value: bytes) -> bytes:
    """Return the value behind its checksum, which depends on the key, too: no row replaces another one's."""
    return hashlib.blake2b(value, digest_size=_CHECKSUM, key=key).digest() + value


def _key(text: str, identity: str) -> bytes:
    """Return 24 bytes that identify a text under a model identity and the way of packing."""
    return hashlib.blake2b(identity.encode("utf-8") + _PACKING + text.encode("utf-8"), digest_size=24).digest()


def pack(analysis: Analysis) -> bytes:
    """Return the analysis as bytes, without its text, which is the key of the row."""
    header = {
        "words": [[getattr(word, column) for word in analysis.words] for column in _WORD_COLUMNS],
        "sentences": [[sentence.start, sentence.end, sentence.acceptability_probability] for sentence in analysis.sentences],
    }
    compressed = zlib.compress(json.dumps(header, ensure_ascii=False).encode("utf-8"))
    arrays = {
        "header": np.frombuffer(compressed, np.uint8),
        "vectors": analysis.vectors.astype(np.float16),
        "probabilities": analysis.word_probabilities,
        "states": analysis.states.astype(np.float16),
    }
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def unpack(text: str, body: bytes) -> Analysis:
    """Return the analysis of a text from the bytes of `pack`, whose checksum must have been verified."""
    arrays = load(body)
    header = json.loads(zlib.decompress(arrays["header"].tobytes()))
    return Analysis(
        text=text,
        sentences=tuple(Sentence(*row) for row in header["sentences"]),
        words=tuple(Word(*row) for row in zip(*header["words"], strict=True)),
        vectors=arrays["vectors"].astype(np.float32),
        word_probabilities=arrays["probabilities"].astype(np.float32),
        states=arrays["states"],
    )
