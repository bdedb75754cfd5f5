"""Score pairs on many machines with Ray Data: each worker loads the models once and scores the rows that reach it.

Ray reads, distributes, retries and writes. A row that cannot be scored has its message in the column ``error``; see
`rome.integrations.columns` for the columns.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from rome.exceptions import InputError
from rome.features.packages import import_failed
from rome.integrations.columns import MakeMetric, RowOptions, arrow_schema, own_metric, score_rows


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
    """Return a ray.data.Dataset of results for a ray.data.Dataset of pairs, one row per row, evaluated lazily like any other.

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
    try:
        import ray.data
    except ImportError as error:
        raise import_failed(error, "scoring with Ray", '"rome-metric[models,ray]"') from error
    options.check_columns(dataset.columns() or options.wanted)
    if options.key is not None and check_keys:
        _refuse_duplicates(dataset, options.key)
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    processors = float(ray.cluster_resources().get("CPU", 1))
    size = workers or max(1, int(processors) - 1)
    return dataset.map_batches(
        ScoreBatches,
        batch_size=batch_size,
        batch_format="pyarrow",
        fn_constructor_kwargs={"metric": metric or own_metric(), "options": options},
        compute=ray.data.ActorPoolStrategy(size=size),
        num_cpus=min(1.0, max(processors - 1, 0.5) / size),  # leave one to reading and writing, or Ray waits forever
    )


def _refuse_duplicates(dataset: Any, key: str) -> None:
    """Raise InputError when two rows of a dataset have one key."""
    batches = dataset.select_columns([key]).iter_batches(batch_size=None, batch_format="pyarrow")
    counts = Counter(value for batch in batches for value in batch.column(key).to_pylist() if value is not None)
    for value, count in counts.most_common(1):
        if count > 1:
            raise InputError(f"{count} rows have the {key} {value!r}: a key must identify one row")
