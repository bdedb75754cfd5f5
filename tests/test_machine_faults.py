"""What a command says and how it ends when the machine refuses: real full disks, missing libraries, too little memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rome.cli import main
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable

resource = pytest.importorskip("resource", reason="limits and streams as POSIX has them")
ROME = "import sys; from rome.cli import main; sys.exit(main(sys.argv[1:]))"
RESCORE = ("rescore", "f.parquet", "--net", "net.safetensors", "--format", "tsv")
Done = subprocess.CompletedProcess[str]
Start = Callable[..., Done]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """A command of RoMe in a process of its own, in a folder with a table of features and a net; the shell may redirect its streams."""
    values = np.full((4000, 4), 0.5)
    FeatureTable(np.arange(4000), np.zeros(4000, np.int32), values, values).save(tmp_path / "f.parquet")
    Combiner(np.ones((2, 4)), np.zeros(2), np.ones(2), np.array(0.0)).save(tmp_path / "net.safetensors")

    def run(*words: str, streams: str = "", program: str = ROME, largest: int | None = None, **given: str) -> Done:
        def limited() -> None:
            if largest is not None:  # Python ignores the signal that comes with it, so that writing more fails
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

        command = ["sh", "-c", f'"$@" {streams}', "sh", sys.executable, "-c", program, *words]
        return subprocess.run(
            command, cwd=tmp_path, env=os.environ | given, preexec_fn=limited, capture_output=True, text=True, check=False
        )

    return run


def one_line(done: Done, *said: str, code: int = 3) -> bool:
    """Whether a process ended with the code and said this in one line, and nothing else."""
    parts = [done.returncode == code, done.stderr.startswith("rome: error: "), done.stderr.count("\n") == 1]
    assert all([*parts, *(part in done.stderr for part in said)]), (done.returncode, done.stderr)
    return True


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk(start: Start, tmp_path: Path) -> None:
    """As standard output and as the output file; the file that stood there before stays as it was."""
    assert one_line(start(*RESCORE, streams="> /dev/full"), "No space left on device", "free some space")
    assert one_line(start(*RESCORE, "-o", "/dev/full"), "/dev/full cannot be written (No space left on device)")
    (tmp_path / "kept.tsv").write_text("before")
    done = start(*RESCORE, "-o", "kept.tsv", largest=1 << 14)
    assert one_line(done, "kept.tsv cannot be written (File too large): free some space") and done.stdout == ""
    assert (tmp_path / "kept.tsv").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["f.parquet", "kept.tsv", "net.safetensors"]
    assert start("score", "none.txt", "hyp.txt", streams="2> /dev/full").returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("words", [("--help",), ("score", "--help"), ("--version",), ("--print-completion", "bash")])
def test_help_that_cannot_be_written(start: Start, words: tuple[str, ...]) -> None:
    """It is an error like any other."""
    assert one_line(start(*words, streams="> /dev/full", PYTHONUNBUFFERED=""), "No space left on device")


STORE = """
import sys, types
import numpy as np
from rome.cli import main
from rome.features.values import Analysis
from rome.storage.analysis_store import AnalysisStore

def score_pairs(pairs):
    numbers = np.random.default_rng(0).random((1, 1 << 18), np.float32)
    AnalysisStore("analyses.sqlite").put_many([Analysis("A cat.", (), (), numbers, numbers[0])], identity="m")

metric = types.SimpleNamespace(signature="", score_pairs=score_pairs)
sys.exit(main(["score", "--examples"], metric=lambda _: metric))
"""


def test_a_full_disk_under_a_store(start: Start) -> None:
    """What SQLite says of it, and what to do."""
    assert one_line(start(program=STORE, largest=1 << 18), "the store analyses.sqlite cannot be written", "free some space")


def test_a_reader_of_errors_that_went_away() -> None:
    """It changes no exit code; what a reader of the output does is in tests/test_cli.py."""
    process = subprocess.Popen([sys.executable, "-I", "-c", ROME, "score", "none.txt", "hyp.txt"], stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait() == 2


@pytest.mark.skipif(sys.platform != "linux", reason="the endings of Linux's libraries")
def test_a_library_that_cannot_be_loaded(start: Start, tmp_path: Path) -> None:
    """A package that is there, whose shared library is not: the library's name."""
    (tmp_path / "packages" / "torch").mkdir(parents=True)
    (tmp_path / "packages" / "torch" / "__init__.py").write_text("import broken")
    (tmp_path / "packages" / "broken.abi3.so").touch()
    done = start("explain", "--example", "0", "--models", "small", PYTHONPATH=str(tmp_path / "packages"))
    assert one_line(done, "cannot be loaded", "broken.abi3.so: file too short")


SHORT = """
import resource, sys
from pathlib import Path
from rome.cli import main
import pyarrow.fs, rome.cli.tables, tqdm

taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (1 << 26), -1))
sys.exit(main(["score", "pairs.json"]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads its size from /proc")
def test_too_little_memory(start: Start, tmp_path: Path) -> None:
    """Where Python finds no more of it: what may help."""
    row = '{"reference": "A cat sat.", "hypothesis": "A dog sat."}'
    (tmp_path / "pairs.json").write_text(f"[{row}" + f",\n{row}" * 400_000 + "]")
    assert one_line(start(program=SHORT), "there is not enough memory")


def test_whatever_else_goes_wrong(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The last handler: one line and an exit code that nothing else has; where it came from, on demand."""

    def faulty(_: object) -> Any:
        raise LookupError("a\tlong\n" + "story " * 1000)

    assert main(["score", "--examples"], metric=faulty) == 4
    said = capsys.readouterr().err
    assert (
        said.startswith("rome: error: a fault of RoMe's own (LookupError: a long story")
        and said.count("\n") == 1
        and len(said) < 500
    )
    monkeypatch.setenv("ROME_TRACEBACK", "1")
    assert main(["score", "--examples"], metric=faulty) == 4
    said = capsys.readouterr().err
    assert (
        said.startswith("Traceback") and "in faulty" in said and "rome: error: a fault of RoMe's own" in said.splitlines()[-1]
    )
