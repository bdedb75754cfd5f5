"""Processes of the command line give large arrays back, keep what was compiled for few shapes alone, and load their models at once."""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rome.cli.metric import load_at_once
from rome.exceptions import ModelMissingError
from rome.metric import RoMe

FREED = """
import os, sys
from rome.cli.metric import keep_memory_flat

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
    keep_memory_flat()
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


SHAPES = """
import os, sys
import torch
from rome.cli.metric import keep_memory_flat

def resident():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 10

keep_memory_flat()
layer = torch.nn.LSTM(64, 64, batch_first=True)
with torch.no_grad():
    for length in range(1, 800):
        layer(torch.zeros(1, length, 64))
        if length == 100:
            before = resident()
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_what_was_compiled_for_shapes_is_forgotten(tmp_path: Path) -> None:
    """Seven hundred shapes after the first hundred hold less memory than where the environment lets all be kept."""
    pytest.importorskip("torch")

    def grown(**environment: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", SHAPES], cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    everything = grown(ONEDNN_PRIMITIVE_CACHE_CAPACITY="1024")
    if everything < 4000:
        pytest.skip("this torch compiles nothing for shapes")
    assert grown() < everything / 2


LOADED = """
import argparse, gc, json, sys
from rome import RoMe
from rome.cli.metric import load_at_once

options = argparse.Namespace(**{"store": None, "workers": 1, **json.loads(sys.argv[1])})
metric = RoMe(models="small", store=options.store)
load_at_once(metric, options)
print(gc.isenabled(), gc.get_freeze_count() > 200_000, "stanza" in sys.modules)
"""


@pytest.mark.parametrize(
    ("options", "told"),
    (("{}", "True True True"), ('{"store": "here.sqlite"}', "True False False"), ('{"workers": 2}', "True False False")),
)
def test_models_are_loaded_at_once_where_they_are_needed(tmp_path: Path, options: str, told: str) -> None:
    """The collector leaves what is loaded alone and goes on; a store may know all texts, and workers load for themselves."""
    pytest.importorskip("stanza", reason="needs the extra models")
    done = subprocess.run([sys.executable, "-c", LOADED, options], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == (told, 0), done.stderr


def test_the_collector_goes_on_where_models_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is raised, and garbage is collected as before; what stands in for a metric is left alone."""

    def missing(_: object) -> None:
        assert not gc.isenabled()
        raise ModelMissingError("no models")

    options = argparse.Namespace(store=None)
    monkeypatch.setattr(RoMe, "load", missing)
    with pytest.raises(ModelMissingError, match="no models"):
        load_at_once(RoMe(models="small"), options)
    load_at_once("a metric of a test", options)
    assert gc.isenabled()
