"""Score pairs on many machines with Ray Data: each worker loads the models once and scores the rows that reach it.

Ray reads, distributes, retries and writes. A row that cannot be scored has its message in the column ``error``. See `rome.batch.rows` for the
columns.
"""

from __future__ import annotations

from typing import Any

from rome.batch.rows import MakeMetric, RowOptions, arrow_schema, own_metric, score_rows
from rome.exceptions import InputError
from rome.features.packages import import_failed


class ScoreBatches:
    """Score batches in a worker of `score_dataset`: made once, called with every batch."""

    def __init__(self, metric: MakeMetric, options: RowOptions) -> None:
        self.metric, self.options = metric(), options

    def __call__(self, batch: Any) -> Any:
        """Return a pyarrow.Table of results for a pyarrow.Table of rows."""
        import pyarrow as pa

        columns = {name: batch.column(name).to_pylist() for name in self.options.wanted if name in batch.column_names}
        schema = arrow_schema(self.options, {name: batch.schema.field(name).type for name in self.options.keep})
        return pa.table(score_rows(columns, self.metric, self.options), schema=schema)


def score_dataset(
    dataset: Any,
    options: RowOptions = RowOptions(),
    *,
    metric: MakeMetric | None = None,
    workers: int | None = None,
    batch_size: int = 64,
    check_keys: bool = True,
) -> Any:
    """Return a ray.data.Dataset of results for a ray.data.Dataset of pairs, one row per row, lazily as Ray's own operations.

    A row is scored again when its worker dies and appears once in the dataset.

    Parameters
    ----------
    options
        Columns and bounds.
    metric
        Makes the metric, once per worker; None uses RoMe().
    workers
        Number of workers; None uses one less than the number of processors in the cluster, because reading and writing need one.
    batch_size
        Rows that a worker scores at once.
    check_keys
        Read the key column now, if there is one, and refuse two rows with one key.

    Raises
    ------
    InputError
        When a column is missing or two rows have one key.
    ModelMissingError
        When Ray is not installed.
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


def _pool(workers: int | None) -> dict[str, Any]:
    """Return Ray's settings for the workers, which leave one processor for reading and writing: without one, Ray waits forever."""
    import ray

    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    processors = float(ray.cluster_resources().get("CPU", 1))
    size = workers or max(1, int(processors) - 1)
    return {"compute": ray.data.ActorPoolStrategy(size=size), "num_cpus": min(1.0, max(processors - 1, 0.5) / size)}


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


def _ray() -> Any:
    """Return Ray with Ray Data. Raise ModelMissingError with the install command when it is not installed."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise import_failed(error, "scoring with Ray", '"rome-metric[models,ray]"') from error
    return ray
