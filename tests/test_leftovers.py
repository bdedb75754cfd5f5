"""Temporary files: what a killed process left goes with the next writing of the same name, and nobody else's file does."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rome.combining.combiner import Combiner
from rome.exceptions import StoreError
from rome.files import atomic_path, open_output
from rome.leftovers import temporary_beside

pytest.importorskip("fcntl", reason="tells what a killed process left by locks that only POSIX has")

WRITES = """
import sys
from rome.files import open_output
with open_output(sys.argv[1]) as stream:
    stream.write("half")
    stream.flush()
    print("begun", flush=True)
    sys.stdin.read()
"""


def parts(folder: Path) -> list[str]:
    """The temporary files of a folder."""
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def begun(path: Path) -> subprocess.Popen[str]:
    """A process that is in the middle of writing a file."""
    process = subprocess.Popen([sys.executable, "-P", "-c", WRITES, path], stdin=-1, stdout=-1, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    return process


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """SIGKILL leaves one temporary file; the next writing of that name removes it, and the file is whole."""
    path = tmp_path / "out.tsv"
    with begun(path) as process:
        process.send_signal(signal.SIGKILL)
    assert len(parts(tmp_path)) == 1
    with open_output(str(path)) as stream:
        stream.write("whole")
    assert os.listdir(tmp_path) == ["out.tsv"] and path.read_text() == "whole"


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    """Two writers of one name at once: neither loses its file, the last one to end stands."""
    path = tmp_path / "out.tsv"
    with begun(path) as process:
        with open_output(str(path)) as stream:
            stream.write("first")
        assert path.read_text() == "first" and len(parts(tmp_path)) == 1
        process.communicate("")
    assert process.returncode == 0 and path.read_text() == "half" and parts(tmp_path) == []


def test_within_one_process_too(tmp_path: Path) -> None:
    """A second writing of the same name inside the first leaves the first one's file alone."""
    with atomic_path(tmp_path / "a") as outer:
        with atomic_path(tmp_path / "a") as inner:
            assert outer.exists() and inner != outer
        outer.write_text("outer")
    assert (tmp_path / "a").read_text() == "outer" and os.listdir(tmp_path) == ["a"]


def test_only_names_of_ours_are_removed(tmp_path: Path) -> None:
    """Other names, folders, pipes and links of such a name stay, and so does what a link leads to."""
    ours, others = f".a.{'0' * 16}.part", (f".b.{'0' * 16}.part", ".a.part", f".a.{'x' * 16}.part", f"a.{'0' * 16}.part")
    for name in (ours, *others):
        (tmp_path / name).touch()
    (tmp_path / "precious").write_text("mine")
    (tmp_path / f".a.{'1' * 16}.part").symlink_to(tmp_path / "precious")
    (tmp_path / f".a.{'2' * 16}.part").mkdir()
    os.mkfifo(tmp_path / f".a.{'3' * 16}.part")
    before = set(os.listdir(tmp_path))
    with temporary_beside(tmp_path / "a"):
        pass
    assert before - set(os.listdir(tmp_path)) == {ours} and (tmp_path / "precious").read_text() == "mine"


def test_a_file_that_was_taken_before_its_lock_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may take the new file for a leftover between its making and its lock: the writer notices."""
    from rome import leftovers

    lock, removed = leftovers.locked, []

    def raced(handle: int) -> bool:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        return lock(handle)

    monkeypatch.setattr(leftovers, "locked", raced)
    with temporary_beside(tmp_path / "a") as path:
        assert removed and path.exists() and path != removed[0]


def test_names_that_mean_something_to_an_expression(tmp_path: Path) -> None:
    """A target with brackets and stars in its name finds its own leftovers and no others."""
    (tmp_path / f".[a]*.{'0' * 16}.part").touch()
    (tmp_path / f".a.{'0' * 16}.part").touch()
    with temporary_beside(tmp_path / "[a]*"):
        pass
    assert os.listdir(tmp_path) == [f".a.{'0' * 16}.part"]


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
