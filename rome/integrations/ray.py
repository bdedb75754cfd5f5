"""Score pairs on many machines with Ray Data: each worker loads the models once and scores the rows that reach it.

Ray reads, distributes, retries and writes. A row that cannot be scored has its message in the column ``error``; see
`rome.integrations.columns` for the columns.
"""

from __future__ import annotations

from typing import Any

from rome.exceptions import InputError
from rome.features.packages import needed
from rome.integrations.columns import MakeMetric, RowOptions, ScoreBatches, own_metric


def score_dataset(
    dataset: Any,
    options: RowOptions = RowOptions(),
    *,
    metric: MakeMetric | None = None,
    workers: int | None = None,
    batch_size: int = 64,
) -> Any:
    """Return a ray.data.Dataset of results for a ray.data.Dataset of pairs, one row per row, evaluated lazily like any other.

    A row is scored again when its worker dies and appears once in the dataset.

    Parameters
    ----------
    options
        The columns to read.
    metric
        Makes the metric, once per worker; None uses RoMe().
    workers
        Number of workers; None uses one less than the number of processors in the cluster, because reading and writing need one.
    batch_size
        Rows that a worker scores at once.

    Raises
    ------
    InputError
        When a column is missing.
    ModelMissingError
        When Ray is not installed.
    """
    with needed("scoring with Ray", '"rome-metric[models,ray]"'):
        import ray.data
    options.check_columns(dataset.columns() or options.wanted)
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
