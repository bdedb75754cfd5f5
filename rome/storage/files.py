"""Read text files line by line, compressed or not, with every fault placed; write files whole or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import json
import lzma
import os
import secrets
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO

from rome.exceptions import InputError, RomeError

STANDARD_INPUT = "-"
_BOM = b"\xef\xbb\xbf"
_PACKED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file), b"\xfd7zXZ\0": lzma.LZMAFile}
"""What unpacks a file, by its first bytes."""
_PARQUET = b"PAR1"
_FOREIGN = {b"\xff\xfe": "UTF-16 text", b"\xfe\xff": "UTF-16 text", b"PK\x03\x04": "an Excel, Word or ZIP file"}
"""First bytes of files that are sometimes given in place of texts."""
_LONGEST = 1 << 26
"""Bytes of a line; no line of texts that can be scored is nearly as long."""
_ROOM, _MOST_RATIO = 1 << 26, 200
"""Bytes that any compressed file may unpack to, and how many times its own size a larger one may: texts reach about 20, a bomb 1,000."""
_KEPT = 48
"""Characters of a file's name in the name of its temporary file, whose length is limited."""
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def named(path: str) -> str:
    """Return the name of a file for messages."""
    return "standard input" if path == STANDARD_INPUT else path


def read_lines(path: str) -> list[str]:
    """Return the lines of a UTF-8 file, or of standard input for ``-``, without their line ends.

    Only LF and CR LF end a line, so that a rare separator inside a text never splits a segment. A byte order mark is dropped, gzip and xz
    are recognised by their first bytes, an empty file has no lines, and a final line end starts no new line.

    Raises InputError that names the file, the line where it can, and the remedy.
    """
    with open_lines(path) as lines:
        return list(lines)


@contextmanager
def open_lines(path: str) -> Iterator[Iterator[str]]:
    """Open a file and yield its lines, one in memory at a time; see `read_lines`. A faulty line raises InputError when it is reached.

    Standard input and pipes are copied to a temporary file first, whose size limits what it may unpack to.
    """
    with ExitStack() as stack:
        with as_input_error(named(path)):
            stream: IO[bytes] = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(open(path, "rb"))
            if path == STANDARD_INPUT or not stream.seekable():
                copy = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(stream, copy)
                stream = copy
        yield text_lines(stream, named(path))


def text_lines(stream: IO[bytes], name: str) -> Iterator[str]:
    """Yield the lines of a seekable UTF-8 file, see `read_lines`, or the rows of a Parquet file as lines of JSON."""
    stream.seek(0)
    if stream.read(len(_PARQUET)) == _PARQUET:
        yield from _parquet_rows(stream, name)
        return
    for number, row in enumerate(raw_lines(stream, name, _LONGEST, "give one segment per line"), start=1):
        if number == 1:
            kind = next((kind for mark, kind in _FOREIGN.items() if row.startswith(mark)), None)
            if kind is not None:
                raise InputError(f"{name} is {kind}, not UTF-8 text: save it as CSV or plain text in UTF-8")
            row = row.removeprefix(_BOM)
            if not row:
                return
        try:
            yield row.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            place = f"{name}:{number}: byte 0x{row[error.start]:02x} at byte {error.start + 1} of the line"
            remedy = "convert the file, for instance `iconv -f latin1 -t utf-8`"
            raise InputError(f"{place} is not UTF-8: {remedy}") from error


def _parquet_rows(stream: IO[bytes], name: str) -> Iterator[str]:
    """Yield the rows of a Parquet file as lines of JSON, a thousand in memory at a time."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with as_input_error(name), ParquetFile(stream) as table:
            for batch in table.iter_batches(1000):
                yield from (json.dumps(row, ensure_ascii=False, default=str) for row in batch.to_pylist())
    except ArrowException as error:
        raise InputError(f"{name} is a damaged Parquet file ({error}): write or copy it again") from error


def raw_lines(stream: IO[bytes], name: str, longest: int, remedy: str, *, bounded: bool = True) -> Iterator[bytes]:
    """Yield the lines of a seekable file, compressed or not, each with its end.

    Raises InputError before a line of over ``longest`` bytes is in memory.

    Parameters
    ----------
    bounded
        First refuse a compressed file that unpacks to over 64 MiB and over 200 times its size.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    start = stream.read(8)
    stream.seek(0)
    unpack = next((unpack for mark, unpack in _PACKED.items() if start.startswith(mark)), None)
    content = stream if unpack is None else unpack(stream)
    with as_input_error(name):
        if unpack is not None and bounded:
            most = max(_ROOM, _MOST_RATIO * size)
            while part := content.read(1 << 20):
                most -= len(part)
                if most < 0:
                    raise InputError(f"{name} unpacks to over {_MOST_RATIO} times its size: unpack it yourself if you trust it")
            content.seek(0)
        for number, line in enumerate(iter(lambda: content.readline(longest + 1), b""), start=1):
            if len(line) > longest:
                raise InputError(f"{name}:{number}: the line has over {longest >> 20} MiB: {remedy}")
            yield line


@contextmanager
def as_input_error(name: str) -> Iterator[None]:
    """Raise an error while a file is opened or read as an InputError that names it."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise InputError(f"{name} is a damaged gzip or xz file ({error}): compress or copy it again") from error
    except IsADirectoryError as error:
        raise InputError(f"{name} is a directory: name a file in it") from error
    except FileNotFoundError as error:
        raise InputError(f"{name} does not exist: check the name and the working directory") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror or error}): check the name and its permissions") from error


@contextmanager
def open_output(path: str | None) -> Iterator[TextIO]:
    """Open a text stream to standard output (None or ``-``) or to a file that appears under its name only when complete.

    The file is opened at once, so a wrong name is reported before anything is computed. A name ending in ``.gz`` is compressed,
    the same text to the same bytes. Raises InputError when it cannot be written.
    """
    if path is None or path == STANDARD_INPUT:
        yield sys.stdout
        return
    with ExitStack() as stack:
        temporary = stack.enter_context(atomic_path(path))
        raw: BinaryIO | gzip.GzipFile = stack.enter_context(open(temporary, "wb"))
        if path.endswith(".gz"):
            raw = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline="\n"))


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, refusal: type[RomeError] = InputError) -> Iterator[Path]:
    """Yield a temporary path beside the wanted one that replaces it when the block succeeds, and is removed when it fails.

    The content is on the disk before the name is: whatever ends the process or the machine, the old or the new file is whole. (A killed
    process leaves its temporary file, ``.NAME.*.part``, which may be deleted.) A link is followed, an existing file keeps its
    permissions, and a pipe or a device is written directly.

    Raises ``refusal``, with the remedy, when the path is a directory, its folder is missing or not writable, or the disk is full.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise refusal(f"{path} is a directory: name a file in it to write to")
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        temporary = target.with_name(f".{target.name[:_KEPT]}.{secrets.token_hex(8)}.part")
        try:  # with the permissions of the target or those of a new file
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if target.exists() else 0o666))
            if target.exists():
                shutil.copymode(target, temporary)
        except OSError as error:
            remedy = "choose a folder that exists and is writable"
            raise refusal(f"{path} cannot be written ({error.strerror}): {remedy}") from error
        try:
            yield temporary
            _sync(temporary, os.O_RDWR)
            os.replace(temporary, target)
            with suppress(OSError):  # not every system can do that with a folder
                _sync(target.parent, os.O_RDONLY)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if isinstance(error, RomeError) or error.errno not in _NO_ROOM:
            raise
        raise refusal(f"{path} cannot be written ({error.strerror}): free some space or choose another disk") from error


def _sync(path: Path, flags: int) -> None:
    """Wait until the content of a file or the names in a folder are on the disk."""
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
