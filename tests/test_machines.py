"""RoMe as a guest: in other programs, with streams that are not UTF-8, on systems that are not POSIX."""

from __future__ import annotations

import io
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rome.cli import main
from rome.cli.pairs import example_pairs
from rome.integrations.running import RunningScore
from rome.metric import RoMe

torch = pytest.importorskip("torch")

REFERENCES, HYPOTHESES = zip(*[(row.references, row.hypothesis) for row in example_pairs()[:12]], strict=True)


@contextmanager
def setting(name: str, value: object) -> Iterator[None]:
    """One of torch's settings of the whole process, put back at the end."""
    with ExitStack() as stack:
        stack.callback(getattr(torch, f"set_{name}"), getattr(torch, f"get_{name}")())
        getattr(torch, f"set_{name}")(value)
        yield


CONDITIONS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "float64": lambda: setting("default_dtype", torch.float64),
    "bfloat16": lambda: setting("default_dtype", torch.bfloat16),
    "NumPy raises": lambda: np.errstate(all="raise"),
    "inference mode": torch.inference_mode,
    "gradients": torch.enable_grad,
    "no gradients": torch.no_grad,
    "deterministic": lambda: setting("deterministic_debug_mode", "error"),
    "another device": lambda: torch.device("meta"),
    "one thread": lambda: setting("num_threads", 1),
    "coarse products": lambda: setting("float32_matmul_precision", "medium"),
}


@contextmanager
def unchanged(*conditions: Callable[[], AbstractContextManager[Any]]) -> Iterator[None]:
    """Under these conditions; afterwards every random state and every setting is as it was."""
    with ExitStack() as stack:
        for condition in conditions:
            stack.enter_context(condition())
        before = state()
        yield
        assert state() == before


def state() -> list[Any]:
    """Every random state, and everything that a condition sets."""
    settings = "default_dtype default_device num_threads float32_matmul_precision deterministic_debug_mode".split()
    states = [random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist(), np.geterr()]
    modes = [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu")]
    return [*states, *modes, torch.get_autocast_dtype("cpu"), *(getattr(torch, f"get_{name}")() for name in settings)]


def scores(metric: RoMe) -> list[float]:
    return [segment.score for segment in metric.score(references=REFERENCES, hypotheses=HYPOTHESES)]


@pytest.fixture(scope="module")
def plain() -> RoMe:
    """The small set with its models loaded in a program that sets nothing."""
    return RoMe(models="small", progress=False)


@pytest.fixture(scope="module")
def expected(plain: RoMe) -> list[float]:
    return scores(plain)


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_what_a_program_sets_changes_no_score(condition: Any, plain: RoMe, expected: list[float], tmp_path: Path) -> None:
    """The scores are the plain ones, and so is what a store keeps."""
    metric, later = (RoMe(models="small", progress=False, store=tmp_path / "analyses.sqlite") for _ in range(2))
    metric._analyses._analyser = plain._analyses.load()
    with unchanged(condition):
        found = scores(metric)
    assert found == scores(later) == pytest.approx(expected, abs=2e-5)
    assert later._analyses._analyser is None


def test_every_way_to_score_is_guarded(expected: list[float]) -> None:
    """With all conditions at once, from loading the models on: calls of one segment in threads, features, a training loop."""
    metric = RoMe(models="small", progress=False)
    running = RunningScore(metric)
    with unchanged(*CONDITIONS.values()), ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(metric.score, references=[r], hypotheses=[h]) for r, h in zip(REFERENCES, HYPOTHESES, strict=True)]
        assert [call.result().score for call in calls] == pytest.approx(expected, abs=2e-5)
        table = metric.features(references=REFERENCES, hypotheses=HYPOTHESES)
        running.update(references=REFERENCES, predictions=HYPOTHESES)
    assert metric.combiner.score(table) == pytest.approx(expected, abs=2e-5)
    assert running.compute()["score"] == pytest.approx(np.mean(expected), abs=2e-5)


# Output that is not UTF-8

ENCODINGS: list[dict[str, str]] = [
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]
TEXTS = ("Café Łódź ≠ 😍 costs 5 €.", "Café Łódź ≠ 🤮 costs 6 €.")
COMMANDS = (
    f"explain --reference '{TEXTS[0]}' --hypothesis '{TEXTS[1]}' --models small",
    "explain --from one.jsonl --row 0 --format html",
    "compare one.jsonl other.jsonl",
    "check --scores other.jsonl",
    "report --scores one=one.jsonl other=other.jsonl --format text",
    "score Łódź.txt",
)


@pytest.fixture(scope="module")
def folder(plain: RoMe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scores of two systems."""
    folder = tmp_path_factory.mktemp("texts")
    for name, text in zip(("one", "other"), TEXTS, strict=True):
        plain.score(references=[TEXTS[0]], hypotheses=[text]).save(folder / f"{name}.jsonl")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_the_output_is_utf_8_whatever_the_locale(command: str, folder: Path) -> None:
    """Every command writes the same bytes, and ends in the same way, as where all is UTF-8."""
    words = [sys.executable, "-P", "-c", "import sys; from rome.cli import main; sys.exit(main())", *shlex.split(command)]
    found = []
    for settings in ({}, *ENCODINGS[2 if "--models" in words else 0 :]):
        environment = {**os.environ, "PYTHONUTF8": "1", **settings}
        done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, check=False)
        assert done.stderr.count(b"\n") == (done.returncode == 2), done
        found.append((done.returncode, done.stdout.decode("utf-8")))
    code, out = found[0]
    assert found == found[:1] * len(found) and code in (0, 1, 2) and out.isascii() == (code == 2)


@pytest.mark.parametrize(
    ("encoding", "shown"), [("cp1252", "Café \\u0141"), ("ascii", "Caf\\xe9 \\u0141"), ("utf-8", "Café Łódź")]
)
def test_a_terminal_keeps_its_encoding(encoding: str, shown: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it cannot show is written as its code."""
    terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["explain", "--from", str(folder / "other.jsonl"), "--row", "0"]) == 0
    assert shown in terminal.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


# Other systems

ELSEWHERE = """
import importlib, os, pkgutil, signal, sys

def faults():
    import rome
    for module in pkgutil.walk_packages(rome.__path__, "rome."):
        try:
            importlib.import_module(module.name)
        except (ImportError, rome.RomeError) as error:
            yield f"{module.name}: {error}"

def audit(event, arguments):
    if event == "open" and str(arguments[0]).startswith(("/proc", "/dev")):
        raise RuntimeError(f"{arguments[0]} is read")

before = {*faults()}  # other packages are imported now and stay
for name in [name for name in sys.modules if name.partition(".")[0] == "rome"]:
    del sys.modules[name]
sys.modules |= dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"))
for module, names in ((os, "fork sched_getaffinity getuid register_at_fork mkfifo"), (signal, "SIGKILL SIGALRM SIGHUP SIGPIPE")):
    for name in names.split():
        vars(module).pop(name, None)
sys.addaudithook(audit)
print({*faults()} - before)
"""


def test_no_module_needs_posix_to_be_imported() -> None:
    """Every module is imported without what Windows lacks."""
    done = subprocess.run([sys.executable, "-P", "-c", ELSEWHERE], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
