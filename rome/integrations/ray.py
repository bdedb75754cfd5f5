"""Scoring on many machines with Ray Data: each worker loads the models once and scores the rows that reach it.

Ray shares out the work, starts workers and starts them again when they die. Rows that cannot be scored are reported in their
column ``error``; see `rome.batch.rows` for the columns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from os import PathLike
from typing import Any

from rome.batch.checkpoint import located
from rome.batch.parts import OutputFolder, Summary, score_part
from rome.batch.plan import PART_ROWS, make_plan
from rome.batch.row_files import Part, input_files, kind_of
from rome.batch.rows import MakeMetric, RowOptions, arrow_schema, own_metric, score_rows
from rome.exceptions import InputError
from rome.features.packages import import_failed
from rome.progress import progress_bar


class ScoreBatches:
    """What each worker of `score_dataset` runs: made once, called with every batch."""

    def __init__(self, metric: MakeMetric, options: RowOptions) -> None:
        self.metric, self.options = metric(), options

    def __call__(self, batch: Any) -> Any:
        """A pyarrow.Table of results for a pyarrow.Table of rows."""
        import pyarrow as pa

        columns = {name: batch.column(name).to_pylist() for name in self.options.wanted if name in batch.column_names}
        schema = arrow_schema(self.options, {name: batch.schema.field(name).type for name in self.options.keep})
        return pa.table(score_rows(columns, self.metric, self.options), schema=schema)


class ScoreParts:
    """What each worker of `score_files` runs: made once, called with one part at a time."""

    def __init__(self, metric: MakeMetric, options: RowOptions, source: str, output: str, output_format: str) -> None:
        self.metric, self.options, self.output = metric(), options, OutputFolder(output, output_format)
        self.source = located(source)[0]

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Score and write the part that the row describes."""
        part = Part(**row)
        with self.output.attempt(part):
            score_part(part, self.metric, self.options, self.output, self.source)
        return {"rows": part.rows}


def score_dataset(
    dataset: Any,
    options: RowOptions = RowOptions(),
    *,
    metric: MakeMetric | None = None,
    workers: int | None = None,
    batch_size: int = 64,
    check_keys: bool = True,
) -> Any:
    """A ray.data.Dataset of results for a ray.data.Dataset of pairs, one row a row: lazy, as Ray's own operations are.

    A row is scored again when its worker dies and appears once in what the dataset gives. A sink of Ray writes what it has when the driver
    dies, and runs anew: for a run that goes on where it was killed see `score_files`. Raises InputError for a missing column and for a key that
    two rows have, ModelMissingError without Ray.

    Parameters
    ----------
    options
        Columns, and how rows are scored.
    metric
        Makes the metric, once in each worker; None takes RoMe().
    workers
        How many; None takes one less than the cluster has processors, because reading and writing need one.
    batch_size
        Rows that reach a worker at once; with exact scoring it changes no bit of the results.
    check_keys
        Read the key column, where there is one, now, and refuse two rows of one key.
    """
    _ray()
    present = dataset.columns()
    if present is not None:
        options.check_columns(present)
    if options.key is not None and check_keys:
        _refuse_duplicates(dataset, options.key)
    return dataset.map_batches(
        ScoreBatches,
        batch_size=batch_size,
        batch_format="pyarrow",
        fn_constructor_kwargs={"metric": metric or own_metric(), "options": options},
        **_pool(workers),
    )


def score_files(
    source: str | PathLike[str],
    output: str | PathLike[str],
    options: RowOptions = RowOptions(),
    *,
    metric: MakeMetric | None = None,
    workers: int | None = None,
    output_format: str | None = None,
    part_rows: int = PART_ROWS,
    progress: bool | None = None,
) -> Summary:
    """Score a Parquet or JSON-lines file, or a folder of them, into a folder of part files; every row is there once.

    A part appears whole or not at all, and ``_SUCCESS`` when all are there. A run that was killed is gone on with by calling this
    again: the parts that are there stay, the rest is made. With other data or options that is refused. Without a key column the key
    of a row is ``FILE:ROW#DIGEST``, its place from 1 and its texts. Connects to the Ray that runs, or to RAY_ADDRESS, or starts one
    for the time of the call.
    Raises InputError for what is wrong with the arguments, a missing column, a key that two rows have and data that change meanwhile;
    StoreError for files that cannot be read or have lost rows; ModelMissingError without Ray.

    Parameters
    ----------
    source, output
        Paths, or addresses such as ``s3://bucket/folder``, that every machine of the cluster reaches.
    output_format
        "parquet" or "jsonl"; None takes that of the source.
    part_rows
        Rows of a part, less of long texts.
    metric, workers
        As in `score_dataset`.
    progress
        True, False, or None for a bar on stderr when that is a terminal.
    """
    ray = _ray()
    make = metric or own_metric()
    written = output_format or kind_of(input_files(source)[1][0]) or ""
    folder = OutputFolder(output, written)
    plan = make_plan(source, options, signature=getattr(make(), "signature", ""), output_format=written, part_rows=part_rows)
    done = folder.begin(plan.description)
    wanted = sorted((part for part in plan.parts if part.number not in done), key=lambda part: -part.work)
    if wanted:
        settings = {"metric": make, "options": options, "source": str(source), "output": str(output), "output_format": written}
        here = plan.rows - sum(part.rows for part in wanted)
        with _connected(ray), progress_bar(progress, plan.rows, done=here, unit="row") as bar:
            for row in _run(ray, wanted, settings, workers):
                bar.update(row["rows"])
    return folder.finish(plan, len(done))


def _run(ray: Any, parts: Sequence[Part], settings: dict[str, Any], workers: int | None) -> Iterator[dict[str, Any]]:
    """Let the workers score the parts, the heaviest first so that none is left over at the end; what each part gives."""
    context = ray.data.DataContext.get_current()
    bars, context.enable_progress_bars = context.enable_progress_bars, False
    try:
        dataset = ray.data.from_items([asdict(part) for part in parts], override_num_blocks=len(parts))
        pool = _pool(None if workers is None else min(workers, len(parts)), most=len(parts))
        yield from dataset.map(ScoreParts, fn_constructor_kwargs=settings, **pool).iter_rows()
    finally:
        context.enable_progress_bars = bars


def _pool(workers: int | None, *, most: int | None = None) -> dict[str, Any]:
    """How Ray is to run the workers: none waits for a processor that another holds, and one is left for reading and writing."""
    import ray

    if workers is not None and workers < 1:
        raise InputError(f"workers={workers} cannot score: give 1 or more")
    processors = float(ray.cluster_resources().get("CPU", 1))
    size = workers or max(1, min(int(processors) - 1, most or int(processors)))
    strategy = ray.data.ActorPoolStrategy(size=size, max_tasks_in_flight_per_actor=1 if most else 2)
    return {"compute": strategy, "num_cpus": min(1.0, max(processors - 1, 0.5) / size)}


def _refuse_duplicates(dataset: Any, key: str) -> None:
    """Raise InputError when two rows of a dataset have one key."""
    import pyarrow as pa

    batches = dataset.select_columns([key]).iter_batches(batch_size=None, batch_format="pyarrow")
    table = pa.concat_tables(batches, promote_options="permissive")
    counts = table.group_by(key).aggregate([([], "count_all")])
    twice = counts.filter(pa.compute.greater(counts["count_all"], 1)).drop_null()
    if len(twice):
        value, count = twice[key][0].as_py(), twice["count_all"][0].as_py()
        raise InputError(f"{count} rows have the {key} {value!r}: a key must name one row")


@contextmanager
def _connected(ray: Any) -> Iterator[None]:
    """A connection to Ray; one that was made here, with a quiet local Ray where there is no other, is closed again."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS") or "local"
    ray.init(address=address, log_to_driver=False, **({"include_dashboard": False} if address == "local" else {}))
    try:
        yield
    finally:
        ray.shutdown()


def _ray() -> Any:
    """Ray with Ray Data, or the command that installs it."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise import_failed(error, "scoring with Ray", '"rome-metric[models,ray]"') from error
    return ray
