"""Workers: results in order, and no worker is left behind."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from rome.batch.workers import run_in_order
from rome.exceptions import InputError, StoreError

from block_metric import doubled


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A folder in which workers leave marks."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def gone(marks: Path, patience: float = 60.0) -> bool:
    """True when every process that left a mark is gone."""
    until = time.monotonic() + patience
    workers = [int(file.name.split("-")[0]) for file in marks.iterdir() if file.name[0].isdigit()]
    while time.monotonic() < until:
        if not any(psutil.pid_exists(worker) and psutil.Process(worker).status() != "zombie" for worker in workers):
            return bool(workers)
        time.sleep(0.02)
    return False


def test_results_come_in_order_and_workers_go(marks: Path) -> None:
    """The same results with one process and with three; when the last one is there, no worker is."""
    tasks = list(range(50))
    assert list(run_in_order(partial(doubled, marks), tasks)) == [2 * task for task in tasks]
    for file in marks.iterdir():
        file.unlink()
    assert list(run_in_order(partial(doubled, marks), tasks, workers=3)) == [2 * task for task in tasks]
    assert len(list(marks.iterdir())) <= 3 and gone(marks)
    assert list(run_in_order(partial(doubled, marks), [], workers=2)) == []


def test_a_worker_that_is_killed_ends_the_run(marks: Path) -> None:
    """With an error that names a remedy, and no worker is left."""
    with pytest.raises(StoreError, match=r"a worker was killed.*: take fewer workers"):
        list(run_in_order(partial(doubled, marks), ["9", 2], workers=2))
    assert gone(marks)


def test_an_error_of_a_task_is_raised_as_itself(marks: Path) -> None:
    """With its type and message, and no worker is left."""
    with pytest.raises(InputError, match=r"^this one is wrong$"):
        list(run_in_order(partial(doubled, marks), [1, "wrong", 3], workers=2))
    assert gone(marks)


def test_few_tasks_are_read_ahead(marks: Path) -> None:
    """Tasks are taken as results are, so that memory does not grow with their number; closing early leaves no worker."""
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = run_in_order(partial(doubled, marks), tasks(), workers=2)
    assert [next(results) for _ in range(3)] == [0, 2, 4]
    assert len(taken) <= 3 + 2 * 3
    results.close()
    assert gone(marks)


ORPHANS = """
import sys
from functools import partial
from pathlib import Path
from block_metric import doubled
from rome.batch.workers import run_in_order

if __name__ == "__main__":
    results = run_in_order(partial(doubled, Path(sys.argv[1])), range(100), workers=2)
    next(results)
    print("going", flush=True)
    sys.stdin.read()
"""


def test_no_worker_outlives_a_killed_parent(marks: Path, tmp_path: Path) -> None:
    """Kill -9 of the parent gives it no chance to end its workers: they see it and end themselves."""
    script = tmp_path / "parent.py"
    script.write_text(f"import sys; sys.path.append({str(Path(__file__).parent)!r})\n{ORPHANS}")
    with subprocess.Popen(
        [sys.executable, "-I", str(script), str(marks)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "going\n"
        process.kill()
    assert gone(marks)
