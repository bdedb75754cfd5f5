"""Compressed blocks: what a page carries and unpacks only when it is wanted."""

from __future__ import annotations

import base64
import json
import tempfile
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from rome.page.folding import fold

__all__ = ["BLOCK", "FragmentBlocks", "clean", "packed", "packed_json"]

BLOCK = 64
"""Explanations of one block. They share their words, so a block takes less than its parts; one is opened by unpacking its whole block."""

_LEVEL = 9


def clean(text: str) -> str:
    """The text as any UTF-8 file can hold it: half a surrogate pair becomes the replacement character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def packed(content: str) -> str:
    """Deflated (zlib, RFC 1950) and in base64, so that nothing of a text can be seen by an HTML parser."""
    return base64.b64encode(zlib.compress(clean(content).encode("utf-8"), _LEVEL)).decode("ascii")


def packed_json(value: Any) -> str:
    """A plain value, packed; keys in the order given."""
    return packed(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


class FragmentBlocks:
    """Takes explanations one by one and gives them back as packed blocks of BLOCK; they wait in a temporary file, not in memory."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._file = tempfile.TemporaryFile("w+", encoding="ascii", newline="\n")
        self.count = 0

    def __enter__(self) -> FragmentBlocks:
        """The blocks themselves."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """The temporary file vanishes."""
        self._file.close()

    def add(self, fragment: str) -> None:
        """Take one explanation."""
        self._waiting.append(fragment)
        self.count += 1
        if len(self._waiting) == BLOCK:
            self._write()

    def _write(self) -> None:
        self._file.write(packed(fold(self._waiting)) + "\n")
        self._waiting.clear()

    def __iter__(self) -> Iterator[str]:
        """Every block, in order."""
        if self._waiting:
            self._write()
        self._file.seek(0)
        for line in self._file:
            yield line.rstrip("\n")
