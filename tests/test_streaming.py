"""Scoring in blocks: the same bytes whatever the number of workers and interruptions, and memory that does not grow."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.batch.blocks import MOST_CHARACTERS, MOST_PAIRS, check_rows, cut_blocks
from rome.batch.checkpoint import Checkpoint
from rome.cli import main
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.exceptions import InputError
from rome.reports.tables import corpus_footer, corpus_row
from rome.storage.pair_files import PairRow

from block_metric import SMALL, BlockMetric, make

PROGRAM = Path(__file__).parent / "block_metric.py"
Run = Callable[..., int]


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """250 pairs in three blocks, with ids and notes, the same hypothesis in every block."""
    rows = [
        {"id": f"s\t{n}", "note": f"n{n % 3}", "reference": f"reference {n} “é”", "hypothesis": f"hypothesis {n % 7}"}
        for n in range(250)
    ]
    monkeypatch.setattr("rome.batch.blocks.MOST_PAIRS", SMALL)
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Where workers leave their marks."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def rome(marks: Path) -> Run:
    """Run a command with a metric that other processes can make; its exit code."""
    return lambda *words: main([str(word) for word in words], metric=partial(make, marks=marks))


ROW = st.builds(
    lambda references, hypothesis: PairRow(references, hypothesis, "a:1"),
    st.lists(st.text("ab", min_size=1, max_size=3).map(lambda text: text * 6_000), min_size=1, max_size=9),
    st.text("ab", max_size=3).map(lambda text: text * 6_000),
)


@given(st.lists(ROW, max_size=20))
def test_blocks_are_the_rows(rows: list[PairRow]) -> None:
    """Every row once, in order, numbered from 0, no block beyond its limits but for a single long row, and one where all is wanted."""
    blocks = list(cut_blocks(rows))
    assert [pair.hypothesis for block in blocks for pair in block.pairs] == [row.hypothesis for row in rows]
    assert [pair.segment for block in blocks for pair in block.pairs] == list(range(len(rows)))
    for block in blocks:
        size = sum(len(text) for pair in block.pairs for text in (*pair.references, pair.hypothesis))
        assert len(block.pairs) == 1 or size <= MOST_CHARACTERS
    assert len(list(cut_blocks(rows, whole=True))) == min(1, len(rows))


def test_blocks_hold_so_many_pairs_at_most() -> None:
    """Short pairs end a block by their number."""
    rows = [PairRow(["a"], "b", f"x:{n}") for n in range(2 * MOST_PAIRS + 1)]
    assert [len(block.pairs) for block in cut_blocks(rows)] == [MOST_PAIRS, MOST_PAIRS, 1]
    bad = [*rows, PairRow([" "], "b", "x:last")]
    with pytest.raises(InputError, match="^x:last: reference 1 is empty"):
        check_rows(bad, StringIO())


@pytest.mark.parametrize("name", ["table", "tsv", "json", "jsonl"])
def test_every_format_is_the_same_in_blocks(
    rome: Run, pairs: Path, marks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """To standard output and to a file, with one process and, lines and tables, with two; table and JSON as results in memory print them."""
    assert rome("score", pairs, "--format", name) == 0
    printed = capsys.readouterr().out
    for workers in (1, 2) if name in ("jsonl", "table") else (1,):
        assert rome("score", pairs, "--format", name, "--output", tmp_path / "out", "--workers", workers) == 0
        assert (tmp_path / "out").read_text(encoding="utf-8") == printed
    rows = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    metric = BlockMetric(marks)
    result = metric.score(references=[[row["reference"]] for row in rows], hypotheses=[row["hypothesis"] for row in rows])
    if name == "table":
        cells = [corpus_row(segment, row["note"], whole=True) for segment, row in zip(result, rows, strict=True)]
        assert [line.split()[:6] for line in printed.splitlines()[2 : 2 + len(rows)]] == [row[:6] for row in cells]
        assert printed.endswith(f"\n{corpus_footer(len(result), result.score, result.signature)}\n")
    if name == "json":
        whole = result.to_dict(evidence=False)
        whole["segments"] = [{"id": row["id"]} | segment for row, segment in zip(rows, whole["segments"], strict=True)]
        found = json.loads(printed)
        assert found["segments"] == whole["segments"] and set(found) == set(whole)
        assert found["score"] == pytest.approx(whole["score"]) and found["components"] == pytest.approx(whole["components"])
    if name == "tsv":
        assert {line.count("\t") for line in printed.splitlines()} == {17}
    assert not list(tmp_path.glob("*.partial"))


def test_features_in_blocks(rome: Run, pairs: Path, tmp_path: Path) -> None:
    """The table of many blocks numbers its segments through, whatever the number of workers."""
    for workers in (1, 2):
        assert rome("features", pairs, "--output", tmp_path / f"{workers}.parquet", "--workers", workers) == 0
    table = FeatureTable.load(tmp_path / "1.parquet")
    assert table.segment.tolist() == list(range(250)) and table == FeatureTable.load(tmp_path / "2.parquet")


@pytest.mark.parametrize("name", ["table", "tsv", "json", "jsonl"])
def test_rescoring_in_pieces_is_rescoring(
    rome: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """However few rows are read at a time, also where a segment's references stand in several pieces; each row is combined once."""
    chance, path = np.random.default_rng(0), tmp_path / "features.parquet"
    values, rows = chance.random((100, 4)), np.arange(100)
    FeatureTable(rows // 3, rows % 3, values, values, signature=Combiner.load().feature_signature).save(path)
    printed, combined, combine = [], [], Combiner.combine
    monkeypatch.setattr(Combiner, "combine", lambda net, table: (combined.append(len(table)), combine(net, table))[1])
    for batch in (1 << 17, 7, 1):
        monkeypatch.setattr("rome.cli.tables.BATCH", batch)
        assert rome("rescore", path, "--format", name) == 0
        printed.append(capsys.readouterr().out)
    assert len(set(printed)) == 1
    assert sum(combined) == 3 * 100  # each row once
    if name == "json":
        assert len(json.loads(printed[0])["segments"]) == 34


def test_what_was_begun_and_not_finished_counts_as_not_done(tmp_path: Path) -> None:
    """Half-written parts are cleared away; finished ones are found again, whatever their order."""
    kept = Checkpoint(tmp_path / "out.partial", "jsonl")
    kept.path.mkdir()
    assert kept.begin({"what": "a test"}) == set()
    for number in (0, 2):
        kept.write(kept.name(number), b"line\n")
    (tmp_path / "out.partial" / ".part-000001.jsonl.0123.part").write_text("half a li")
    assert Checkpoint(tmp_path / "out.partial", "jsonl").begin({"what": "a test"}) == {0, 2}
    assert kept.names() == {"_plan.json", "part-000000.jsonl", "part-000002.jsonl"}


def test_another_run_is_not_gone_on_with(
    rome: Run, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other pairs, other options, or other files: one line that says so, and what is there stays."""
    kept = tmp_path / "out.partial"
    monkeypatch.setattr("rome.cli.tables.write_lines", _interrupted)
    assert rome("score", pairs, "--output", tmp_path / "out") == 130
    capsys.readouterr()
    monkeypatch.undo()
    before = sorted(kept.iterdir())
    pairs.write_text(pairs.read_text() + pairs.read_text().splitlines()[0])
    for words, keys in (((), "(pairs differ)"), (("--format", "tsv"), "(pairs, format differ)")):
        assert rome("score", pairs, "--output", tmp_path / "out", *words) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and "other data or options" in err and keys in err
        assert sorted(kept.iterdir()) == before
    shutil.rmtree(kept)
    for begin in (Path.mkdir, Path.touch):
        begin(kept)
        notes = kept / "notes" if kept.is_dir() else kept
        notes.write_text("mine")
        assert rome("score", pairs, "--output", tmp_path / "out") == 2
        err = capsys.readouterr().err
        assert ("contains other files" in err or "cannot be created" in err) and notes.read_text() == "mine"
        shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
    assert not (tmp_path / "out").exists()


def _interrupted(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def test_two_runs_do_not_share_an_output(rome: Run, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second one is told."""
    with Checkpoint(tmp_path / "out.partial", "jsonl").alone():
        assert rome("score", pairs, "--output", tmp_path / "out") == 2
        assert (tmp_path / "out.partial").is_dir()
    assert "is being written by another run" in capsys.readouterr().err


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda kill: kill.name)
def test_interrupted_runs_end_with_the_same_bytes(
    rome: Run, pairs: Path, marks: Path, tmp_path: Path, kill: signal.Signals, workers: int
) -> None:
    """Ctrl-C, SIGTERM and kill -9 after the first block: no output yet, no process left, and the same command ends it."""
    words = ["score", str(pairs), "--format", "jsonl", "--workers", str(workers), "--output"]
    assert rome(*words[:4], "--output", tmp_path / "whole") == 0
    output, kept = tmp_path / "out", tmp_path / "out.partial"
    program = [sys.executable, str(PROGRAM), str(marks), "0.01", *words, str(output)]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as process:
        while not (kept / "part-000000.jsonl").exists():
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(kill)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == (-9 if kill == signal.SIGKILL else 130)
    assert not output.exists() and kept.exists()
    assert rome(*words, output) == 0
    assert output.read_bytes() == (tmp_path / "whole").read_bytes() and not kept.exists()


MEASURED = """
import resource, sys
sys.path.append({tests!r})
from functools import partial
from pathlib import Path
import rome.batch.blocks
from block_metric import SMALL, make
from rome.cli import main
rome.batch.blocks.MOST_PAIRS = SMALL
code = main(sys.argv[2:], metric=partial(make, marks=Path(sys.argv[1])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(code)
"""


@pytest.mark.parametrize("words", [("score", "--format", "jsonl"), ("features",)], ids="-".join)
def test_memory_does_not_grow_with_the_pairs(tmp_path: Path, marks: Path, words: tuple[str, ...]) -> None:
    """Eight times as many pairs take no more memory than a few blocks' worth."""
    peaks = []
    for count in (1_000, 8_000):
        pairs = tmp_path / f"{count}.tsv"
        pairs.write_text("reference\thypothesis\n" + "".join(f"reference {n}\thypothesis {n}\n" for n in range(count)))
        command = [sys.executable, "-I", "-c", MEASURED.format(tests=str(PROGRAM.parent)), str(marks), words[0], str(pairs)]
        done = subprocess.run(
            [*command, *words[1:], "--output", str(tmp_path / "out")], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] < peaks[0] + 10, peaks
