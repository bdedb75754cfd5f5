"""Files and streams: plain text read line by line with every fault placed, and files written whole or not at all."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rome.exceptions import InputError

__all__ = ["STANDARD_INPUT", "atomic_path", "open_output", "read_lines"]

STANDARD_INPUT = "-"
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: str) -> list[str]:
    """The lines of a UTF-8 file, or of standard input for ``-``, without their line ends.

    A line ends with LF or CR LF and nothing else, so that a rare separator inside a text never makes two segments of it. A
    byte order mark is dropped, gzip is recognised by its first bytes, an empty file has no lines, and a final line end starts
    no new line.

    Raises InputError that names the file, the line where it can, and the remedy.
    """
    content = _unzipped(_content(path), path)
    if content.startswith(_UTF16):
        raise InputError(f"{named(path)} is UTF-16, not UTF-8: convert it, `iconv -f utf-16 -t utf-8`")
    rows = content.removeprefix(_BOM).split(b"\n")
    if rows[-1] == b"":
        rows.pop()
    return [_decoded(row.removesuffix(b"\r"), path, number) for number, row in enumerate(rows, start=1)]


def named(path: str) -> str:
    """How messages call a file."""
    return "standard input" if path == STANDARD_INPUT else path


def _content(path: str) -> bytes:
    """Every byte of a file or of standard input."""
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except IsADirectoryError as error:
        raise InputError(f"{path} is a directory: name a file in it") from error
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: check the name and the working directory") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check its permissions") from error


def _unzipped(content: bytes, path: str) -> bytes:
    """The content itself, decompressed when it is gzip."""
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{named(path)} is a damaged gzip file ({error}): compress or copy it again") from error


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

    The file is opened at once, so a wrong name is reported before anything is computed. A name ending in ``.gz`` is compressed.
    Raises InputError when it cannot be written.
    """
    if path is None or path == STANDARD_INPUT:
        yield sys.stdout
        return
    with atomic_path(path) as temporary:
        opener = gzip.open if path.endswith(".gz") else open
        with opener(temporary, "wt", encoding="utf-8", newline="\n") as stream:
            yield stream


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside the wanted one that takes its place when the block ends well, and vanishes when it does not.

    A link is followed, and what is no ordinary file (a pipe, a device) is written directly. Raises InputError, with the remedy,
    when the path is a directory or its folder is missing or not writable.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path} is a directory: name a file in it to write to")
    if target.exists() and not target.is_file():
        yield target
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): choose a folder that exists and is writable") from error
    try:
        yield Path(name)
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    """The permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
