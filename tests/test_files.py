"""Files: every fault has its file, line and remedy, and an output is whole or not there."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import lzma
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.combining.combiner import Combiner
from rome.exceptions import InputError, StoreError
from rome.results.systems import read_systems
from rome.storage.files import atomic_path, open_output, read_lines
from rome.storage.pair_files import read_pairs

LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"))


def write(folder: Path, name: str, content: bytes) -> str:
    """A file with this content; its path."""
    (folder / name).write_bytes(content)
    return str(folder / name)


@given(st.lists(LINE))
def test_lines_come_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    """Whatever separators Unicode knows stay inside a line; only line feeds end one."""
    content = "".join(f"{line}\n" for line in lines).encode()
    if content.startswith(b"\x1f\x8b") or lines[:1] and lines[0].startswith("\ufeff"):
        return
    assert read_lines(write(tmp_path_factory.mktemp("lines"), "a.txt", content)) == lines


@pytest.mark.parametrize(
    "content",
    [b"a\nb\n", b"a\nb", b"a\r\nb\r\n", b"\xef\xbb\xbfa\nb\n", gzip.compress(b"a\nb\n", mtime=0), lzma.compress(b"a\nb\n")],
)
def test_usual_ways_to_write_lines_are_one(tmp_path: Path, content: bytes) -> None:
    """With or without a last line end, with Windows line ends, with a byte order mark, compressed: the same two lines."""
    assert read_lines(write(tmp_path, "a.txt", content)) == ["a", "b"]


def test_empty_file_and_blank_lines(tmp_path: Path) -> None:
    """An empty file has no lines; a blank line is an (empty) text."""
    assert read_lines(write(tmp_path, "a.txt", b"")) == []
    assert read_lines(write(tmp_path, "a.txt", b"\na\n\n")) == ["", "a", ""]


def test_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads standard input, and its faults are placed too."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert read_lines("-") == ["a", "b"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff\n")))
    with pytest.raises(InputError, match="standard input:2: byte 0xff"):
        read_lines("-")


def test_parallel_files_make_segments(tmp_path: Path) -> None:
    """Two files of references give every segment two references, and a place that names line and files."""
    paths = [write(tmp_path, name, content) for name, content in (("a", b"r1\nr2\n"), ("b", b"s1\ns2\n"), ("h", b"h1\n\n"))]
    (texts,) = read_systems(paths[:2], [("one", paths[2])]).rows
    assert [(row.references, row.hypothesis) for row in texts] == [(["r1", "s1"], "h1"), (["r2", "s2"], "")]
    assert texts[1].place == "+".join(paths) + ":2"
    with pytest.raises(InputError, match="a has 2 lines and .*c has 1"):
        read_systems(paths[:1], [("one", write(tmp_path, "c", b"h1\n"))])


def test_tsv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    """Both forms give the same texts and ids; an empty further reference in TSV is none; blank JSON lines are skipped."""
    tsv = "id\treference\thypothesis\treference_2\nx\ta\tb\tc\ny\td\t\t\n"
    jsonl = '{"id": "x", "reference": ["a", "c"], "hypothesis": "b"}\n\n{"id": "y", "reference": "d", "hypothesis": ""}\n'
    one, other = (read_pairs(write(tmp_path, name, text.encode())) for name, text in (("a.tsv", tsv), ("a.jsonl", jsonl)))
    for rows in (one, other):
        assert [(row.references, row.hypothesis, row.id) for row in rows] == [(["a", "c"], "b", "x"), (["d"], "", "y")]
        assert [row.note for row in rows] == ["", ""]
    assert [row.place.rpartition(":")[2] for row in (*one, *other)] == ["2", "3", "1", "3"]


QUOTED = [
    ('He said "hi".', 'He said "yes".'),
    ('"I came," she said.', '"I came."'),
    ("a\tb", 'a "b"'),
    ('"', '5" pipes'),
    ('""', "plain, text"),
]


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
def test_a_table_with_tabs_is_read_as_it_was_written(tmp_path: Path, quoting: Any) -> None:
    """By pandas, which writes the excel-tab dialect, however much it quotes; and raw, where quotation marks are plain characters."""
    table = pd.DataFrame(QUOTED, columns=["reference", "hypothesis"])
    written = table.to_csv(sep="\t", index=False, quoting=quoting)
    rows = read_pairs(write(tmp_path, "a.tsv", written.encode()))
    assert [(row.references[0], row.hypothesis) for row in rows] == QUOTED
    raw = [pair for pair in QUOTED if "\t" not in pair[0]]
    content = "".join("\t".join(pair) + "\n" for pair in [("reference", "hypothesis"), *raw])
    rows = read_pairs(write(tmp_path, "b.tsv", content.encode()))
    assert [(row.references[0], row.hypothesis) for row in rows] == raw


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize(("pair", "line"), [(("a\nb", "c"), "[34]"), (("a", "b\nc"), "[34]"), (("a", "b\n\nc"), "[35]")])
def test_a_line_break_in_a_table_with_tabs_is_refused(tmp_path: Path, quoting: Any, pair: tuple[str, str], line: str) -> None:
    """The message names one of its lines."""
    table = pd.DataFrame([("x", "y"), pair, ("u", "v")], columns=["reference", "hypothesis"])
    written = table.to_csv(sep="\t", index=False, quoting=quoting)
    with pytest.raises(InputError, match=rf"a\.tsv:{line}: .*line break"):
        read_pairs(write(tmp_path, "a.tsv", written.encode()))


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_output_appears_whole_or_not_at_all(tmp_path: Path, name: str) -> None:
    """After an error the old content stands and no temporary file is left; after success the new one stands."""
    path = tmp_path / name
    opener = gzip.open if name.endswith(".gz") else open
    with open_output(str(path)) as stream:
        stream.write("old\n")
    with pytest.raises(KeyboardInterrupt):
        with open_output(str(path)) as stream:
            stream.write("new\n")
            raise KeyboardInterrupt
    with opener(path, "rt") as stream:
        assert stream.read() == "old\n"
    assert os.listdir(tmp_path) == [name]


def test_output_keeps_links_and_permissions(tmp_path: Path) -> None:
    """A link stays a link to the new content, and a file keeps its permissions."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with open_output(str(link)) as stream:
        stream.write("new")
    assert link.is_symlink() and target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_output_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    """A directory and a missing folder are reported before anything is computed; a device is written directly."""
    for path, message in ((tmp_path, "is a directory"), (tmp_path / "none" / "a", "choose a folder that exists")):
        with pytest.raises(InputError, match=message):
            with open_output(str(path)):
                pytest.fail("the block must not run")
    with atomic_path(os.devnull) as path:
        assert path == Path(os.devnull)


def test_compressed_output_depends_on_its_text_alone(tmp_path: Path) -> None:
    """The same text gives the same bytes at another time and under another name; nothing of the temporary name is in them."""
    contents = []
    for name in ("a.gz", "b.gz"):
        with open_output(str(tmp_path / name)) as stream:
            stream.write("a line\n")
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1] and contents[0][4:8] == bytes(4)


def test_new_output_has_the_permissions_of_a_new_file(tmp_path: Path) -> None:
    """The umask decides, as for any file; a private file is never readable for others, not even while it is written."""
    private, new = tmp_path / "private", tmp_path / "new"
    private.touch(0o600)
    before = os.umask(0o027)
    try:
        for path, mode in ((private, 0o600), (new, 0o640)):
            with atomic_path(path) as temporary:
                assert temporary.stat().st_mode & 0o777 == mode
            assert path.stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)


def test_a_link_that_leads_nowhere_gets_its_file(tmp_path: Path) -> None:
    """The output stands where the link points, also when nothing was there; a name as long as the system allows is no obstacle."""
    link, target = tmp_path / "link", tmp_path / ("n" * 255)
    link.symlink_to(target)
    with open_output(str(link)) as stream:
        stream.write("new")
    assert link.is_symlink() and target.read_text() == "new"


def test_content_is_on_the_disk_before_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is flushed to the disk, then it is renamed, then its folder is flushed: a power cut leaves no empty file."""
    order: list[str] = []
    for name in ("fsync", "replace"):
        function = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, name=name, function=function: (order.append(name), function(*args))[1])
    with open_output(str(tmp_path / "a")) as stream:
        stream.write("new")
    assert order == ["fsync", "replace", "fsync"]


def test_two_writers_of_one_name(tmp_path: Path) -> None:
    """A second writing inside the first leaves the first one's file alone; the last one to end stands."""
    with atomic_path(tmp_path / "a") as outer:
        with atomic_path(tmp_path / "a") as inner:
            assert outer.exists() and inner != outer
        outer.write_text("outer")
    assert (tmp_path / "a").read_text() == "outer" and os.listdir(tmp_path) == ["a"]


def test_a_net_is_saved_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fills in the middle, the old net stands, nothing is left over, and the error names the remedy."""
    path, net = tmp_path / "net.safetensors", Combiner(np.eye(4), np.zeros(4), np.ones(4), np.array(-2.0))
    net.save(path)
    before, write = path.read_bytes(), Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        write(self, data[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match="free some space"):
        net.save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["net.safetensors"]
