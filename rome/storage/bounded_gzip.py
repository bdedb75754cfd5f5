"""Compressed files read as what they hold, as long as that is not out of proportion."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

from rome.exceptions import InputError

_GZIP = b"\x1f\x8b"
_ROOM, _MOST_RATIO = 1 << 26, 200
"""Bytes that any gzip file may unpack to, and how many times its own size a larger one may: texts reach about 20, a bomb 1,000."""


def unpacked(stream: IO[bytes], name: str, *, bounded: bool = True) -> BinaryIO:
    """The content of a file that can be read from any place, from its beginning; gzip is recognised by its first bytes.

    Parameters
    ----------
    name
        How messages call the file.
    bounded
        False sets no bound to the whole, for whoever bounds each line. Reading raises InputError before more is unpacked than 64 MiB and than
        200 times the size of the file.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    zipped = stream.read(len(_GZIP)) == _GZIP
    stream.seek(0)
    if not zipped:
        return cast(BinaryIO, stream)
    packed = gzip.GzipFile(fileobj=stream)
    if not bounded:
        return cast(BinaryIO, packed)
    return io.BufferedReader(_Bounded(packed, max(_ROOM, _MOST_RATIO * size), name))


class _Bounded(io.RawIOBase):
    """Gives what the packed file holds until that becomes too much."""

    def __init__(self, packed: gzip.GzipFile, most: int, name: str) -> None:
        self._packed, self._left, self._name = packed, most, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._packed.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise InputError(f"{self._name} unpacks to over {_MOST_RATIO} times its size: unpack it yourself if you trust it")
        return count


def long_lines_refused(stream: BinaryIO, name: str, most: int, remedy: str) -> Iterator[bytes]:
    """The lines of a file, each with its end. Raises InputError with file and line before one of over ``most`` bytes is in memory."""
    number = 0
    while line := stream.readline(most + 1):
        number += 1
        if len(line) > most:
            raise InputError(f"{name}:{number}: the line has over {most >> 20} MiB: {remedy}")
        yield line


@contextmanager
def as_input_error(name: str) -> Iterator[None]:
    """What goes wrong while a file is read becomes an InputError that names it."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name} is a damaged gzip file ({error}): compress or copy it again") from error
    except FileNotFoundError as error:
        raise InputError(f"{name} does not exist: check the name and the working directory") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror or error}): check the name and the file") from error
