"""Score in Spark by a function for ``DataFrame.mapInArrow``. Spark distributes the partitions and retries lost ones."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial
from typing import Any

from rome.integrations.columns import ROW_COLUMNS, MakeMetric, RowOptions, ScoreBatches, own_metric

_LOADED: dict[str, ScoreBatches] = {}
"""The scorer of this process by its name, because Spark sends the function anew for each partition."""
_TYPES = {"float64": "double", "int32": "int", "string": "string", "list<string>": "array<string>"}


def score_frame(frame: Any, options: RowOptions = RowOptions(), *, metric: MakeMetric | None = None) -> Any:
    """Return the Spark DataFrame of results for one of pairs, evaluated lazily like any other.

    A row that cannot be scored has its message in the column ``error``. Spark writes the rows of a retried partition once only through its
    own writers. Raises InputError for an absent column.

    Parameters
    ----------
    options
        The columns to read.
    metric
        Makes the metric, once per Python worker of Spark; None uses RoMe().
    """
    options.check_columns(frame.columns)
    kinds = dict(frame.dtypes)
    columns = {name: kinds[name] for name in options.keep} | {name: _TYPES[kind] for name, kind in ROW_COLUMNS.items()}
    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    score = partial(_scored, uuid.uuid4().hex, metric or own_metric(), options)
    return frame.select(*options.wanted).mapInArrow(score, schema)


def _scored(name: str, make: MakeMetric, options: RowOptions, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the results of record batches; the metric is made at the first call, and that of another scorer is dropped."""
    import pyarrow as pa

    if name not in _LOADED:
        _LOADED.clear()
        _LOADED[name] = ScoreBatches(make, options)
    for batch in batches:
        yield from _LOADED[name](pa.Table.from_batches([batch])).to_batches()
