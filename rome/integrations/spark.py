"""Score in Spark by a function for ``DataFrame.mapInPandas``. Spark distributes the partitions and retries lost ones."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rome.exceptions import InputError
from rome.integrations.columns import MakeMetric, RowOptions, own_metric, score_rows

if TYPE_CHECKING:
    from rome.metric import RoMe

Frames = Iterator[Any]
_LOADED: dict[str, RoMe] = {}
"""The metric of this process by the name of its scorer, because Spark sends the function anew for each partition."""

_TYPES = {"float64": "double", "int32": "int", "string": "string", "list<string>": "array<string>"}


def scorer(options: RowOptions = RowOptions(), *, metric: MakeMetric | None = None) -> Callable[[Frames], Frames]:
    """Return a function for ``frame.mapInPandas(scorer(options), result_schema(frame, options))``.

    A row that cannot be scored has its message in the column ``error``. Spark does not look for two rows with one key, and writes the rows
    of a retried partition once only through its own writers.

    Parameters
    ----------
    options
        Columns and limits.
    metric
        Makes the metric, once per Python worker of Spark; None uses RoMe().
    """
    make, name = metric or own_metric(), uuid.uuid4().hex

    def score(frames: Frames) -> Frames:
        own = loaded(name, make)
        for frame in frames:
            columns = {column: _values(frame[column]) for column in options.wanted if column in frame.columns}
            yield type(frame)(score_rows(columns, own, options), dtype=object)

    return score


def _values(column: Any) -> list[Any]:
    """Return the values of a pandas column, with None for NaN, which pandas makes of Spark's null."""
    return [None if isinstance(value, float) and value != value else value for value in column.tolist()]


def loaded(name: str, make: MakeMetric) -> RoMe:
    """Return the metric of this process for a scorer, made at the first call; that of another scorer is dropped."""
    if name not in _LOADED:
        _LOADED.clear()
        _LOADED[name] = make()
    return _LOADED[name]


def result_schema(frame: Any, options: RowOptions = RowOptions()) -> str:
    """Return the schema of the results for a Spark DataFrame as DDL. Raises InputError for an absent column."""
    options.check_columns(frame.columns)
    kinds = dict(frame.dtypes)
    kept = {name: kinds[name] for name in options.keep}
    own = {name: _TYPES[kind] for name, kind in options.results.items()}
    return ", ".join(f"`{name}` {kind}" for name, kind in {"key": "string", **kept, **own}.items())


def score_frame(
    frame: Any, options: RowOptions = RowOptions(), *, metric: MakeMetric | None = None, check_keys: bool = True
) -> Any:
    """Return the Spark DataFrame of results for one of pairs, evaluated lazily like any other.

    Raises InputError for an absent column and for a key that two rows have.

    Parameters
    ----------
    check_keys
        Count the keys of the key column now, if there is one, and refuse two rows with one key.
    """
    schema = result_schema(frame, options)
    if options.key is not None and check_keys:
        twice = frame.groupBy(options.key).count().filter("count > 1").dropna(subset=[options.key]).limit(1).collect()
        if twice:
            count, value = twice[0]["count"], twice[0][options.key]
            raise InputError(f"{count} rows have the {options.key} {value!r}: a key must identify one row")
    return frame.mapInPandas(scorer(options, metric=metric), schema)
