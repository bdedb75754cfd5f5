"""Processes of the command line give large arrays back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FREED = """
import os, sys
from rome.cli.metric import give_back_large_arrays

def resident():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

def kept():
    arrays, small = [], []
    for _ in range(30):
        arrays.append(b"x" * (5 << 20))
        small.append(b"y" * 100_000)
    before = resident()
    arrays.clear()
    return resident() - before, small

if sys.argv[1] == "asked":
    give_back_large_arrays()
first, second = kept(), kept()
print(second[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc's")
def test_large_arrays_go_back_to_the_system(tmp_path: Path) -> None:
    """Freed among small objects that stay, all of their memory is given back, every time; the environment's own word is heeded."""

    def freed(word: str, **environment: str) -> int:
        told = {**os.environ, **environment}
        done = subprocess.run([sys.executable, "-c", FREED, word], cwd=tmp_path, env=told, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return -int(done.stdout)

    if freed("not asked") > 100:
        pytest.skip("this C library gives them back anyhow")
    assert freed("asked") >= 145
    assert freed("asked", MALLOC_MMAP_THRESHOLD_="30000000") < 100
