"""Compressed files, read whole or line by line: what is in them, or one line that says why not, before memory or time are gone."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

import pytest

from rome.data.readers.lines import text_lines
from rome.exceptions import InputError
from rome.results import corpus as stored
from rome.results.corpus import iter_scores
from rome.storage import files
from rome.storage.files import open_lines, read_lines

MIB = 1 << 20


def by_line(path: str) -> list[str]:
    """The lines as `rome score` reads them."""
    with open_lines(path) as lines:
        return list(lines)


def from_standard_input(path: str) -> list[str]:
    """The lines of what can be read only once, under the file's own name."""
    with pytest.MonkeyPatch.context() as patch, open(path, "rb") as stream:
        patch.setattr("sys.stdin", TextIOWrapper(stream))
        patch.setattr(files, "named", lambda _: path)
        return read_lines("-")


READERS: list[Callable[[str], list[str]]] = [read_lines, by_line, from_standard_input, text_lines]


@contextmanager
def memory_below(most: int) -> Iterator[None]:
    """Fail when Python takes more than so many bytes meanwhile."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def bomb(path: Path, piece: bytes, count: int) -> str:
    """A gzip file of many equal pieces."""
    with gzip.open(path, "wb") as stream:
        for _ in range(count):
            stream.write(piece)
    return str(path)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("line", [b"a" * 999 + b"\n", b"a" * 1000])
def test_a_bomb_is_refused_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[str], list[str]], line: bytes
) -> None:
    """Many short lines or one endless one: refused at the bound, here lowered from 64 MiB, however the file is read."""
    monkeypatch.setattr(files, "_ROOM", 2 * MIB)
    path = bomb(tmp_path / "b.gz", line, 8000)
    with memory_below(12 * MIB), pytest.raises(InputError, match=r"b\.gz unpacks to over 200 times its size"):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_ordinary_compressed_text_passes(tmp_path: Path, read: Callable[[str], list[str]]) -> None:
    """Up to 64 MiB may be as repetitive as it likes; several members are read one after the other."""
    path = bomb(tmp_path / "a.gz", b"the same line\n", 50_000)
    with open(path, "ab") as stream:
        stream.write(gzip.compress(b"last\n", mtime=0))
    assert read(path) == ["the same line"] * 50_000 + ["last"]


@pytest.mark.parametrize(
    "content", [gzip.compress(b"\n" * 999, mtime=0)[:-9], gzip.compress(b"\n", mtime=0)[:12], b"\x1f\x8b", b"\x1f\x8b\x08\0x", b"\xfd7zXZ\0"]
)
@pytest.mark.parametrize("read", [*READERS, lambda path: list(iter_scores(path))])
def test_damaged_compression_is_named(tmp_path: Path, read: Callable[[str], list[str]], content: bytes) -> None:
    """A file that ends too early or is no archive after its first bytes."""
    (tmp_path / "d.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"d\.gz is a damaged gzip or xz file .*: compress or copy it again"):
        read(str(tmp_path / "d.gz"))


@pytest.mark.parametrize("read", READERS)
def test_a_line_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[str], list[str]]
) -> None:
    """A plain file too: no line of texts comes near 64 MiB (here lowered)."""
    monkeypatch.setattr(files, "_LONGEST", MIB)
    (tmp_path / "a.txt").write_bytes(b"short\n" + b"x" * (8 * MIB))
    with (
        memory_below(6 * MIB),
        pytest.raises(InputError, match=r"a\.txt:2: the line has over 1 MiB: give one segment per line"),
    ):
        read(str(tmp_path / "a.txt"))
    (tmp_path / "a.txt").write_bytes(b"x" * (MIB - 1) + b"\n" + b"y" * MIB)
    assert [len(line) for line in read(str(tmp_path / "a.txt"))] == [MIB - 1, MIB]


def test_a_stored_score_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrices of long texts repeat themselves, so of stored scores each line has a bound, and not the whole."""
    monkeypatch.setattr(stored, "_LONGEST", MIB)
    path = bomb(tmp_path / "s.jsonl.gz", b" " * 1000, 20_000)
    with memory_below(6 * MIB), pytest.raises(InputError, match=r"s\.jsonl\.gz:1: the line has over 1 MiB: write it without"):
        list(iter_scores(path))
    assert list(iter_scores(bomb(tmp_path / "blank.jsonl.gz", b"\n", 200_000))) == []
