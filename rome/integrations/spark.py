"""Scoring in Spark: a function for ``DataFrame.mapInPandas``. Spark shares out the partitions and tries those again that were lost."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rome.batch.rows import MakeMetric, RowOptions, own_metric, score_rows
from rome.exceptions import InputError

if TYPE_CHECKING:
    from rome.metric import RoMe

Frames = Iterator[Any]
_LOADED: dict[str, RoMe] = {}
"""The metric of this process, under the name of the scorer that it belongs to: Spark sends the function anew for each partition."""

_TYPES = {"float64": "double", "int32": "int", "string": "string", "list<string>": "array<string>"}


def scorer(options: RowOptions = RowOptions(), *, metric: MakeMetric | None = None) -> Callable[[Frames], Frames]:
    """A function for ``frame.mapInPandas(scorer(options), result_schema(frame, options))``.

    A row that cannot be scored has its message in the column ``error``. With exact scoring the bits of a row do not depend on partitions,
    retries or the size of Arrow's batches. Spark does not look for two rows of one key, and a partition that is tried again after its results
    were written somewhere else than through Spark's own writers is written twice.

    Parameters
    ----------
    options
        Columns, and how rows are scored.
    metric
        Makes the metric, once in each Python worker of Spark, which keeps it for further partitions; None takes RoMe().
    """
    make, name = metric or own_metric(), uuid.uuid4().hex

    def score(frames: Frames) -> Frames:
        own = loaded(name, make)
        for frame in frames:
            columns = {column: _values(frame[column]) for column in options.wanted if column in frame.columns}
            yield type(frame)(score_rows(columns, own, options), dtype=object)

    return score


def _values(column: Any) -> list[Any]:
    """The values of a pandas column; what pandas makes of Spark's null, NaN, is None again."""
    return [None if isinstance(value, float) and value != value else value for value in column.tolist()]


def loaded(name: str, make: MakeMetric) -> RoMe:
    """The metric of this process for a scorer, made at the first call; that of another scorer is let go."""
    if name not in _LOADED:
        _LOADED.clear()
        _LOADED[name] = make()
    return _LOADED[name]


def result_schema(frame: Any, options: RowOptions = RowOptions()) -> str:
    """The schema of the results for a Spark DataFrame, as Spark's own language of types.

    Raises InputError for a column that the frame lacks.
    """
    options.check_columns(frame.columns)
    kinds = dict(frame.dtypes)
    kept = {name: kinds[name] for name in options.keep}
    own = {name: _TYPES[kind] for name, kind in options.results.items()}
    return ", ".join(f"`{name}` {kind}" for name, kind in {"key": "string", **kept, **own}.items())


def score_frame(
    frame: Any, options: RowOptions = RowOptions(), *, metric: MakeMetric | None = None, check_keys: bool = True
) -> Any:
    """The Spark DataFrame of results for one of pairs, lazy as Spark's own.

    Raises InputError for a column that the frame lacks and for a key that two rows have.

    Parameters
    ----------
    check_keys
        Count the keys of the key column, where there is one, now, and refuse two rows of one key.
    """
    schema = result_schema(frame, options)
    if options.key is not None and check_keys:
        twice = frame.groupBy(options.key).count().filter("count > 1").dropna(subset=[options.key]).limit(1).collect()
        if twice:
            raise InputError(
                f"{twice[0]['count']} rows have the {options.key} {twice[0][options.key]!r}: a key must name one row"
            )
    return frame.mapInPandas(scorer(options, metric=metric), schema)
