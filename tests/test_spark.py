"""Scoring in Spark, in two local threads with real Python workers."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rome.exceptions import InputError
from rome.integrations.columns import RowOptions, score_rows
from rome.integrations.spark import score_frame

from paced_metric import PacedMetric, processes

pytest.importorskip("pyspark", reason="Spark is not installed: pip install pyspark")
pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs a Java runtime, version 17 or newer")

OPTIONS = RowOptions(keep=("id", "n"))
SCHEMA = "id string, reference array<string>, hypothesis string, n double"
ROWS: list[dict[str, Any]] = [
    {"id": f"row {n}", "reference": [f"Cat {n}.", "A cat."], "hypothesis": f"Dog {n}.", "n": None if n == 5 else n * 0.5}
    for n in range(24)
]
ROWS[3]["hypothesis"] = None
ROWS[4]["reference"] = None
ROWS[6]["hypothesis"] = "fail"
ROWS[7]["reference"] = ["a", None]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A local Spark with two threads."""
    from pyspark.sql import SparkSession

    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    patch = pytest.MonkeyPatch()
    for name, value in {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }.items():
        patch.setenv(name, value)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "512m")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
    builder = builder.config(
        "spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    )  # less work for a short life
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    patch.undo()


def test_partitions_and_batches_change_nothing(tmp_path: Path, spark: Any) -> None:
    """Six partitions in batches of three rows: the rows, bad ones too, of a single process; one metric a Python worker."""
    marks = tmp_path / "marks"
    marks.mkdir()
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    alone = score_rows(columns, PacedMetric(marks), OPTIONS)
    frame = spark.createDataFrame([tuple(row.values()) for row in ROWS], SCHEMA).repartition(6)
    results = score_frame(frame, OPTIONS, metric=partial(PacedMetric, marks))
    results.write.parquet(str(tmp_path / "out"))
    found = {row["id"]: row.asDict() for row in spark.read.parquet(str(tmp_path / "out")).collect()}
    assert len(found) == len(ROWS)
    assert found == {row[0]: dict(zip(alone, row, strict=True)) for row in zip(*alone.values(), strict=True)}
    assert sum(row["error"] is not None for row in found.values()) == 4
    workers = [process for process in processes(marks) if process != os.getpid()]
    assert 1 <= len(workers) == len(set(workers)) <= 2
    with pytest.raises(InputError, match="ref must be a column"):
        score_frame(frame, RowOptions(reference="ref"))
