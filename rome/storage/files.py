"""Files and streams: plain text read line by line with every fault placed, and files written whole or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, TextIO

from rome.exceptions import InputError, RomeError
from rome.storage.bounded_gzip import as_input_error, long_lines_refused, unpacked

STANDARD_INPUT = "-"
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BINARY = {
    b"PK\x03\x04": "an Excel, Word or ZIP file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
    b"\x89PNG": "a picture",
    b"SQLite format 3": "a database",
}
"""How files begin that are given in place of texts now and then."""
_LONGEST = 1 << 26
"""Bytes of a line; no line of texts that can be scored comes near it."""
_KEPT = 48
"""Characters of a file's name that stand in its temporary one, whose length has a bound."""
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def read_lines(path: str) -> list[str]:
    """The lines of a UTF-8 file, or of standard input for ``-``, without their line ends.

    A line ends with LF or CR LF and nothing else, so that a rare separator inside a text never makes two segments of it. A
    byte order mark is dropped, gzip is recognised by its first bytes, an empty file has no lines, and a final line end starts
    no new line.

    Raises InputError that names the file, the line where it can, and the remedy.
    """
    with open_lines(path) as lines:
        return list(lines)


@contextmanager
def open_lines(path: str) -> Iterator[Iterator[str]]:
    """The lines of a file, one in memory at a time; see `read_lines`. A faulty one raises InputError when it is reached.

    What cannot be read from any place (standard input, a pipe) is copied to a temporary file first, whose size bounds what it may unpack to.
    """
    with ExitStack() as stack:
        stream: IO[bytes] = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(opened(path))
        if path == STANDARD_INPUT or not stream.seekable():
            copy = stack.enter_context(tempfile.TemporaryFile())
            with as_input_error(named(path)):
                shutil.copyfileobj(stream, copy)
            stream = copy
        yield _each_line(stream, path)


def _each_line(stream: IO[bytes], path: str) -> Iterator[str]:
    """The lines of a file that can be read from any place."""
    remedy = "give one segment a line"
    with as_input_error(named(path)):
        rows = long_lines_refused(unpacked(stream, named(path)), named(path), _LONGEST, remedy)
        for number, row in enumerate(rows, start=1):
            if number == 1:
                if row.startswith(_UTF16):
                    raise InputError(f"{named(path)} is UTF-16, not UTF-8: convert it, `iconv -f utf-16 -t utf-8`")
                kind = next((kind for begin, kind in _BINARY.items() if row.startswith(begin)), None)
                if kind is not None:
                    raise InputError(f"{named(path)} is {kind}, not text: save it as CSV, or as one text a line")
                row = row.removeprefix(_BOM)
                if not row:
                    return
            yield _decoded(row.removesuffix(b"\n").removesuffix(b"\r"), path, number)


def named(path: str) -> str:
    """How messages call a file."""
    return "standard input" if path == STANDARD_INPUT else path


def opened(path: str) -> BinaryIO:
    """A file opened for reading, or what is wrong with its name."""
    try:
        return open(path, "rb")
    except IsADirectoryError as error:
        raise InputError(f"{path} is a directory: name a file in it") from error
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: check the name and the working directory") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check its permissions") from error


def _decoded(row: bytes, path: str, number: int) -> str:
    """One line as text."""
    try:
        return row.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{named(path)}:{number}: byte 0x{row[error.start]:02x} at byte {error.start + 1} of the line is not UTF-8: "
            "convert the file, for instance `iconv -f latin1 -t utf-8`"
        ) from error


@contextmanager
def open_output(path: str | None) -> Iterator[TextIO]:
    """A text stream to standard output (None or ``-``) or to a file that appears under its name only when complete.

    The file is opened at once, so a wrong name is reported before anything is computed. A name ending in ``.gz`` is compressed,
    the same text to the same bytes. Raises InputError when it cannot be written.
    """
    if path is None or path == STANDARD_INPUT:
        yield sys.stdout
        return
    with atomic_path(path) as temporary, open(temporary, "wb") as raw:
        if path.endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed, _text(packed) as stream:
                yield stream
        else:
            with _text(raw) as stream:
                yield stream


def _text(raw: IO[bytes] | gzip.GzipFile) -> TextIO:
    """UTF-8 with line feeds, over bytes."""
    return io.TextIOWrapper(raw, encoding="utf-8", newline="\n")


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, refusal: type[RomeError] = InputError) -> Iterator[Path]:
    """A temporary path beside the wanted one that takes its place when the block ends well, and vanishes when it does not.

    The content is on the disk before the name is: whatever ends the process or the machine, the old file stands, or the new one,
    whole. (A killed process leaves its temporary file, ``.NAME.*.part``, which may be deleted.) A link is followed,
    an existing file keeps its permissions, and what is no ordinary file (a pipe, a device) is written directly.

    Raises ``refusal``, with the remedy, when the path is a directory, its folder is missing or not writable, or the disk is full.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise refusal(f"{path} is a directory: name a file in it to write to")
    with _room_left(path, refusal):
        if target.exists() and not target.is_file():
            yield target
            return
        try:
            temporary = _temporary_beside(target)
        except OSError as error:
            raise refusal(
                f"{path} cannot be written ({error.strerror}): choose a folder that exists and is writable"
            ) from error
        try:
            yield temporary
            _sync(temporary)
            os.replace(temporary, target)
            _sync_folder(target.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _room_left(path: str | os.PathLike[str], refusal: type[RomeError]) -> Iterator[None]:
    """A disk that is full meanwhile raises ``refusal``."""
    try:
        yield
    except OSError as error:
        if isinstance(error, RomeError) or error.errno not in _NO_ROOM:
            raise
        raise refusal(f"{path} cannot be written ({error.strerror}): free some space or choose another disk") from error


def _temporary_beside(target: Path) -> Path:
    """A new empty file in the same folder, with the permissions of the target or those that a new file gets."""
    path = target.with_name(f".{target.name[:_KEPT]}.{secrets.token_hex(8)}.part")
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600))
    if mode is not None:
        os.chmod(path, mode)
    return path


def _sync(path: Path) -> None:
    """Wait until the file's content is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Wait until the names in the folder are on the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
