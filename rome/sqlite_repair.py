"""What a store does with a damaged SQLite file: notice it, save its rows, keep it under another name, all under a lock."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from rome.exceptions import StoreError
from rome.files import sync_folder

__all__ = ["BUSY_SECONDS", "folder_lock", "identity", "is_damage", "is_store", "patiently", "rescued", "say", "set_aside"]

BUSY_SECONDS = 60.0
_DAMAGE = ("malformed", "not a database", "unsupported file format", "constraint failed", "too big")
_MAGIC = b"SQLite format 3\0"
_OWNER = slice(68, 72)
_VERSIONS = slice(18, 20)
_PAGES = slice(28, 32)
_PAGE = 4096
_STEPS = 24


def say(line: str) -> None:
    """One line on stderr, in the place of a progress bar that stands there.

    Written without the bar's own lock: processes share it, and one that was killed would hold it for ever.
    """
    if sys.stderr is not None:
        place = "\r\x1b[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{place}rome: {' '.join(line.split())}\n")


def patiently(action: Callable[[], object]) -> None:
    """Act again while the file is locked: SQLite itself waits for most locks, but not for those of a change of mode."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            action()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def identity(path: Path) -> tuple[int, int] | None:
    """What tells the file that now has this name from another that had it or will have it; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_damage(path: Path, error: sqlite3.Error) -> bool:
    """Whether SQLite says that the content of the file is wrong, not that the disk, a lock or a permission is in the way."""
    found = str(error)
    if "readonly" in found:
        return any(byte > 2 for byte in _header(path)[_VERSIONS])  # the header's version decides that, too
    return any(word in found for word in _DAMAGE)


def is_store(path: Path, owner: int) -> bool:
    """Whether a damaged file is surely no other program's: by the owner's number, by its zeros, or by pages as a store has them."""
    header = _header(path)
    if not any(header) or header[_OWNER] == owner.to_bytes(4, "big"):
        return True
    if len(header) < _OWNER.stop:
        return header.startswith(_MAGIC[: len(header)])
    return not header.startswith(_MAGIC) and _has_pages(path)


def _has_pages(path: Path) -> bool:
    """Whether the second and the third page look like the roots of a table and of an index, where every store has them."""
    with open(path, "rb") as stream:
        kinds = [(stream.seek(place * _PAGE), stream.read(1))[1] for place in (1, 2)]
    return path.stat().st_size % _PAGE == 0 and kinds[0] in (b"\x05", b"\x0d") and kinds[1] in (b"\x02", b"\x0a")


def _header(path: Path) -> bytes:
    """The first bytes of a file that SQLite cannot use. (Never of one in use: closing it would drop this process's locks.)"""
    with suppress(OSError), open(path, "rb") as stream:
        return stream.read(100)
    return b""


@contextmanager
def folder_lock(path: Path, *, alone: bool) -> Iterator[None]:
    """Nobody opens a store of this folder while one of them is replaced. Raises StoreError when that takes too long.

    The lock ends with its process. Where the system or the file system knows no such locks there is none.
    """
    try:
        import fcntl

        handle = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    except (ImportError, OSError):  # on Windows an open file cannot be replaced anyway
        yield
        return
    try:
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > end:
                    raise StoreError(f"the store {path} was busy for {BUSY_SECONDS:.0f} seconds: try again") from error
                time.sleep(0.01)
            except OSError:
                break
        yield
    finally:
        os.close(handle)


def rescued(old: sqlite3.Connection, table: str) -> Iterator[tuple[object, object]]:
    """Keys and rows that can be read at all; a stretch that cannot is left out, in steps that double until rows come again."""
    query = f"SELECT rowid, key, value FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"
    first, step = 0, 1
    while step < 1 << _STEPS and first < 1 << 62:
        try:
            for number, key, row in old.execute(query, (first,)):
                if number >= first:
                    first, step = number + 1, 1
                    yield key, row
            return
        except sqlite3.Error:
            first, step = first + step, 2 * step


def set_aside(path: Path, rescue: Callable[[sqlite3.Connection, sqlite3.Connection], int]) -> tuple[Path, int]:
    """Keep the file under a new name, with its log, and give its name to a fresh one that `rescue(old, fresh)` fills.

    Returns the new name and what rescue returned. The name always has a file: a process killed in between leaves the old one.
    """
    real = Path(os.path.realpath(path))
    fresh = real.with_name(f"{real.name}.rebuilt")
    for rest in (fresh, Path(f"{fresh}-journal")):
        rest.unlink(missing_ok=True)  # of a process that was killed here
    try:
        with closing(sqlite3.connect(real, timeout=BUSY_SECONDS, isolation_level=None)) as old:
            old.text_factory = bytes
            with suppress(sqlite3.Error):
                old.execute("PRAGMA writable_schema=ON")  # reads what is left of a file that was cut short; nothing is written
                old.execute("BEGIN IMMEDIATE")  # nobody else writes into it any more
            with closing(sqlite3.connect(fresh)) as new:
                kept = rescue(old, new)
                if not kept:
                    with _first_page_from(fresh, real) as mended:
                        kept = rescue(mended, new)
            os.chmod(fresh, os.stat(real).st_mode & 0o777)
            aside = _kept(real)
            for log in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(f"{real}{log}", f"{aside}{log}")
            os.replace(fresh, real)
            sync_folder(real.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"the store {path} is damaged and cannot be replaced ({error}): free some space, or move it away"
        ) from error
    finally:
        fresh.unlink(missing_ok=True)
    return aside, kept


@contextmanager
def _first_page_from(fresh: Path, real: Path) -> Iterator[sqlite3.Connection]:
    """A copy of a damaged file under the first page of a fresh one: what the file is and where its table stands is always the same."""
    copy = real.with_name(f"{real.name}.copied")
    try:
        shutil.copyfile(real, copy)
        with open(fresh, "rb") as stream:
            first = bytearray(stream.read(_PAGE))
        first[_PAGES] = (copy.stat().st_size // _PAGE).to_bytes(4, "big")
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{real}-wal", f"{copy}-wal")
            first[_VERSIONS] = b"\x02\x02"  # there is a log to be read as well
        with open(copy, "r+b") as stream:
            stream.write(first)
        with closing(sqlite3.connect(copy, isolation_level=None)) as mended:
            mended.text_factory = bytes
            with suppress(sqlite3.Error):
                mended.execute("PRAGMA writable_schema=ON")
            yield mended
    finally:
        for end in ("", "-wal", "-shm"):
            Path(f"{copy}{end}").unlink(missing_ok=True)


def _kept(real: Path) -> Path:
    """A second name for the file, one that nothing had."""
    number = 1
    while True:
        aside = real.with_name(f"{real.name}.damaged-{number}")
        try:
            os.link(real, aside)
            return aside
        except FileExistsError:
            number += 1
