"""Scoring with Ray Data on a local cluster of two workers: each row once, whoever is killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
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

from rome.batch.parts import OutputFolder, score_part
from rome.batch.plan import make_plan
from rome.batch.row_files import input_files
from rome.batch.rows import RowOptions, own_metric, score_rows
from rome.exceptions import InputError

from paced_metric import PacedMetric, processes

pytest.importorskip("ray", reason='Ray is not installed: pip install "rome-metric[ray]"')
pytest.importorskip("ray.data", reason='Ray Data is not installed: pip install "rome-metric[ray]"')

KEYED = RowOptions(key="id", keep=("n",))
ROWS = 120


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A local Ray with two processors and little memory; when it is shut down, no process of it stays."""
    import psutil
    import ray

    here = str(Path(__file__).parent)
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])  # workers must find paced_metric
    patch = pytest.MonkeyPatch()
    for name, value in {"PYTHONPATH": paths, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}.items():
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
        rows[n] |= ({"hypothesis": None}, {"reference": []}, {"hypothesis": "fail"}, {"hypothesis": "x" * 10_001})[n // 10 % 4]
    for file, part in enumerate((rows[:70], rows[70:])):
        pq.write_table(pa.Table.from_pylist(part), tmp_path / "in" / f"{file}.parquet")
    return tmp_path / "in"


def paced(tmp_path: Path, seconds: float = 0.0) -> tuple[Path, Callable[[], PacedMetric]]:
    """A maker of metrics, and the folder of the marks that they leave."""
    marks = tmp_path / f"marks{seconds}"
    marks.mkdir(exist_ok=True)
    return marks, partial(PacedMetric, marks, seconds)


def single_process(source: Path, folder: Path, make: Callable[[], PacedMetric]) -> dict[str, bytes]:
    """The files that one process writes, part by part."""
    metric, output = make(), OutputFolder(folder, "parquet")
    plan = make_plan(source, KEYED, signature=metric.signature, output_format="parquet", part_rows=6)
    output.begin(plan.description)
    for part in plan.parts:
        score_part(part, metric, KEYED, output, input_files(source)[0])
    output.finish(plan, 0)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file by name."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def wait_for(condition: Callable[[], Any], seconds: float = 300.0) -> Any:
    """What the condition gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise TimeoutError("nothing happened")


def test_a_killed_worker_changes_no_byte(tmp_path: Path, source: Path, cluster: Any) -> None:
    """SIGKILL to one of two workers in mid-run: another takes its place, and every file is that of a single process."""
    from rome.integrations.ray import score_files

    marks, make = paced(tmp_path, 0.03)
    here, killed = os.getpid(), []

    def kill() -> None:
        wait_for(lambda: list((tmp_path / "out").glob("part-*")))
        workers = [process for process in processes(marks) if process != here]
        killed.append(workers[-1])
        os.kill(workers[-1], signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    summary = score_files(source, tmp_path / "out", KEYED, metric=make, workers=2, part_rows=6, progress=False)
    killer.join()
    assert len(killed) == 1
    workers = [process for process in processes(marks) if process != here]
    assert killed[0] in workers
    assert len(set(workers)) == len(workers) >= 2  # two when it died between two parts and the other worker made the rest
    assert (summary.rows, summary.errors, summary.resumed) == (ROWS, ROWS // 10, 0)
    assert contents(tmp_path / "out") == single_process(source, tmp_path / "single", paced(tmp_path)[1])
    table = pq.read_table(tmp_path / "out")
    assert sorted(table.column("key").to_pylist()) == sorted(f"row {n}" for n in range(ROWS))


def test_a_killed_driver_is_gone_on_with(tmp_path: Path, source: Path, cluster: Any) -> None:
    """SIGKILL to the whole run: only whole files are there; the next call makes the rest and keeps what was made."""
    from rome.integrations.ray import score_files

    marks, make = paced(tmp_path, 0.03)
    script = (
        "import sys; from functools import partial; from pathlib import Path; "
        "from paced_metric import PacedMetric; from rome.integrations.ray import RowOptions, score_files; "
        "score_files(sys.argv[1], sys.argv[2], RowOptions(key='id', keep=('n',)), workers=2, part_rows=6, progress=False, "
        "metric=partial(PacedMetric, Path(sys.argv[3]), 0.03))"
    )
    arguments = [str(source), str(tmp_path / "out"), str(marks)]
    environment = {**os.environ, "RAY_ADDRESS": cluster.get_runtime_context().gcs_address}
    driver = subprocess.Popen([sys.executable, "-c", script, *arguments], env=environment, cwd=tmp_path)
    try:
        wait_for(lambda: len(list((tmp_path / "out").glob("part-*"))) >= 3 or driver.poll() is not None)
    finally:
        driver.kill()
    assert driver.wait() == -signal.SIGKILL
    expected = single_process(source, tmp_path / "single", paced(tmp_path)[1])
    made = {name: content for name, content in contents(tmp_path / "out").items() if name.startswith("part-")}
    assert len(made) >= 3
    assert made.items() <= expected.items()
    kept = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in made}
    summary = score_files(source, tmp_path / "out", KEYED, metric=make, workers=2, part_rows=6, progress=False)
    assert summary.resumed >= len(made)
    assert {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in made} == kept
    assert contents(tmp_path / "out") == expected
    again = score_files(source, tmp_path / "out", KEYED, metric=make, part_rows=6, progress=False)
    assert again.resumed == again.parts


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
    found.sort(key=lambda row: int(row["key"]))
    assert found == [dict(zip(alone, row, strict=True)) for row in zip(*alone.values(), strict=True)]
    assert sum(row["error"] is not None for row in found) == 2
    workers = [process for process in processes(marks) if process != os.getpid()]
    assert 1 <= len(workers) == len(set(workers)) <= 2  # Ray may start one alone where the other would come too late
    with pytest.raises(InputError, match="2 rows have the id 3"):
        score_dataset(cluster.data.from_items([*rows, rows[3]]), KEYED, metric=make)
    with pytest.raises(InputError, match="no column 'ref'"):
        score_dataset(dataset, RowOptions(reference="ref"), metric=make)


def test_the_models_are_loaded_once_in_a_worker(tmp_path: Path, cluster: Any) -> None:
    """The real metric over several batches: one load, and the bits of a single process."""
    from rome.integrations.ray import score_dataset

    marks = tmp_path / "marks"
    marks.mkdir()

    def counted() -> Any:
        import rome.features.analyser.analyser as home

        class Counted(home.Analyser):
            def __init__(self, *arguments: Any, **options: Any) -> None:
                tempfile.mkstemp(dir=marks)
                super().__init__(*arguments, **options)

        home.Analyser = Counted  # type: ignore[misc]
        return own_metric(models="small")()

    rows = [
        ("Shakespeare wrote the play Macbeth in 1606.", "The play Macbeth was written by Shakespeare."),
        ("My neighbour's dog barks at every passing car.", "The dog barks at every car."),
        (["The results were good.", "Results were pleasing."], "Result was pleasing."),
        ("It rains.", ""),
    ]
    items = [{"id": n, "reference": r if isinstance(r, list) else [r], "hypothesis": h} for n, (r, h) in enumerate(rows)]
    dataset = cluster.data.from_items(items[::-1], override_num_blocks=4)
    options = RowOptions(key="id", evidence=True)
    found = sorted(
        score_dataset(dataset, options, metric=counted, workers=1, batch_size=2).take_all(), key=lambda row: row["key"]
    )
    assert len(list(marks.iterdir())) == 1
    alone = score_rows({name: [item[name] for item in items] for name in items[0]}, own_metric(models="small")(), options)
    assert found == [dict(zip(alone, row, strict=True)) for row in zip(*alone.values(), strict=True)]
    assert json.loads(found[0]["evidence"])["errors"]["errors"]
