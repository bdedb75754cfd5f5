"""Scoring with Ray Data on a local cluster of two workers: each row once, also when a worker is killed."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rome.exceptions import InputError
from rome.integrations.columns import RowOptions, score_rows

from paced_metric import PacedMetric, processes

pytest.importorskip("ray", reason='Ray is not installed: pip install "rome-metric[ray]"')
pytest.importorskip("ray.data", reason='Ray Data is not installed: pip install "rome-metric[ray]"')

KEYED = RowOptions(keep=("id", "n"))
ROWS = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A local Ray with two processors and little memory; when it is shut down, no process of it stays."""
    import psutil
    import ray

    here = str(Path(__file__).parent)
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])  # workers must find paced_metric
    patch = pytest.MonkeyPatch()
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_worker_niceness": "0"}
    for name, value in {"PYTHONPATH": paths, **quiet}.items():
        patch.setenv(name, value)
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    patch.chdir(folder)  # workers import from where Ray was started, and the top of the checkout hides the installed package
    settings: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "configure_logging": False}
    settings |= {"num_cpus": 2, "object_store_memory": 100 * 2**20, "_temp_dir": folder}
    try:
        ray.init(address="local", **settings)
    except Exception:  # a busy machine: Ray gives itself 30 seconds to start
        ray.shutdown()
        ray.init(address="local", **settings)
    ray.data.DataContext.get_current().enable_progress_bars = False
    started = psutil.Process().children(recursive=True)
    yield ray
    started += [process for process in psutil.Process().children(recursive=True) if process not in started]
    ray.shutdown()
    patch.undo()
    _, alive = psutil.wait_procs(started, timeout=5)
    for process in alive:  # Ray's own agents and dying workers take up to a minute to notice on a busy machine
        process.kill()
    _, alive = psutil.wait_procs(alive, timeout=60)
    shutil.rmtree(folder, ignore_errors=True)
    assert alive == []


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two files of pairs, some of them bad."""
    (tmp_path / "in").mkdir()
    rows: list[dict[str, Any]] = [
        {"id": f"row {n}", "reference": [f"Cat {n} sat.", "A cat sat."], "hypothesis": f"Cat {n} ran.", "n": n}
        for n in range(ROWS)
    ]
    for n in range(0, ROWS, 10):
        rows[n] |= ({"hypothesis": None}, {"reference": []}, {"hypothesis": "fail"})[n // 10 % 3]
    for file, part in enumerate((rows[:35], rows[35:])):
        pq.write_table(pa.Table.from_pylist(part), tmp_path / "in" / f"{file}.parquet")
    return tmp_path / "in"


def paced(tmp_path: Path, seconds: float = 0.0) -> tuple[Path, Callable[[], PacedMetric]]:
    """A maker of metrics, and the folder of the marks that they leave."""
    marks = tmp_path / f"marks{seconds}"
    marks.mkdir(exist_ok=True)
    return marks, partial(PacedMetric, marks, seconds)


def wait_for(condition: Callable[[], Any], seconds: float = 300.0) -> Any:
    """What the condition gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise TimeoutError("nothing happened")


def test_a_killed_worker_changes_no_row(tmp_path: Path, source: Path, cluster: Any) -> None:
    """SIGKILL to one of two workers while Ray reads and writes files: another takes its place, and every row is there once."""
    from rome.integrations.ray import score_dataset

    marks, make = paced(tmp_path, 0.03)
    here, killed = os.getpid(), []

    def kill() -> None:
        workers = wait_for(lambda: [process for process in processes(marks) if process != here])
        time.sleep(0.3)
        killed.append(workers[0])
        os.kill(workers[0], signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    score_dataset(cluster.data.read_parquet(str(source)), KEYED, metric=make, workers=2, batch_size=6).write_parquet(
        str(tmp_path / "out")
    )
    killer.join()
    assert len(killed) == 1
    results = {row["id"]: row for row in pq.read_table(tmp_path / "out").to_pylist()}
    rows = [row for file in sorted(source.iterdir()) for row in pq.read_table(file).to_pylist()]
    alone = score_rows({name: [row[name] for row in rows] for name in rows[0]}, paced(tmp_path)[1](), KEYED)
    assert pq.read_table(tmp_path / "out").num_rows == len(results) == ROWS
    assert [results[key]["score"] for key in alone["id"]] == alone["score"]
    assert sum(row["error"] is not None for row in results.values()) == ROWS // 10


def test_a_dataset_in_a_dataset_out(tmp_path: Path, cluster: Any) -> None:
    """At most two workers, each with one metric; rows, bad ones too, are a single process's, whatever the batches."""
    from rome.integrations.ray import score_dataset

    rows: list[dict[str, Any]] = [
        {"id": n, "reference": f"Cat {n}.", "hypothesis": f"Dog {n}.", "n": n * 0.5} for n in range(40)
    ]
    rows[7]["hypothesis"] = None
    rows[9]["reference"] = ""
    marks, make = paced(tmp_path)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    alone = score_rows(columns, make(), KEYED)
    dataset = cluster.data.from_items(rows, override_num_blocks=8)
    found = score_dataset(dataset, KEYED, metric=make, workers=2, batch_size=3).take_all()
    found.sort(key=lambda row: row["id"])
    assert found == [dict(zip(alone, row, strict=True)) for row in zip(*alone.values(), strict=True)]
    assert sum(row["error"] is not None for row in found) == 2
    workers = [process for process in processes(marks) if process != os.getpid()]
    assert 1 <= len(workers) == len(set(workers)) <= 2  # Ray may start one alone where the other would come too late
    with pytest.raises(InputError, match="ref must be a column"):
        score_dataset(dataset, RowOptions(reference="ref"), metric=make)
