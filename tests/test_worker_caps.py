"""No more workers than work and processors, and no more threads than processors, whatever was asked for."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from rome.cli import main
from rome.features.analyser.config import most_threads, processors

from block_metric import SMALL, make

MANY = str(10**9)


@pytest.mark.parametrize(("count", "workers", "most"), [(SMALL, "6", 1), (9 * SMALL, "6", 6), (9 * SMALL, MANY, 9)])
def test_workers(
    count: int, workers: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One block is done in this process; more than there are processors never start."""
    monkeypatch.setattr("rome.batch.blocks.MOST_PAIRS", SMALL)
    (tmp_path / "marks").mkdir()
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("reference\thypothesis\n" + "".join(f"A cat {n}.\tA dog {n}.\n" for n in range(count)))
    words = ["score", str(pairs), "--format", "tsv", "--workers", workers]
    assert main(words, metric=partial(make, marks=tmp_path / "marks")) == 0
    out, _ = capsys.readouterr()
    assert len(out.splitlines()) == count + 1
    started = {file.name.split("-")[0] for file in (tmp_path / "marks").iterdir()} - {str(os.getpid())}
    assert len(started) <= min(most, processors()) and (count > SMALL or not started)


def test_threads() -> None:
    """A number that no machine has is that of the processors."""
    assert [most_threads(asked) for asked in (10**9, 1, None)] == [processors(), 1, None]
