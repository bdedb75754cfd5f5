"""Score data frames of pandas, polars and Arrow through narwhals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rome.checks import hints
from rome.exceptions import InputError
from rome.features.packages import needed
from rome.integrations.columns import COLUMNS, DEFAULT_COLUMNS, check_columns, check_names, plain_list, score_columns

if TYPE_CHECKING:
    import polars

    from rome.results import CorpusScore

Frame = TypeVar("Frame")


@hints
def score_frame(
    frame: Frame,
    metric: Any = None,
    *,
    reference: str = "reference",
    hypothesis: str = "hypothesis",
    columns: Sequence[str] = DEFAULT_COLUMNS,
    prefix: str = "",
    missing: Literal["error", "null"] = "error",
) -> Frame:
    """Return the frame with the scores as further columns; rows, order, index and the other columns stay as they are.

    An empty frame gets empty columns. Raises InputError, naming the row, for what `RoMe.score` refuses, for an absent column, and for a
    new column that exists already; ModelMissingError without narwhals.

    Parameters
    ----------
    frame
        A pandas or polars DataFrame, or a pyarrow Table.
    metric
        A RoMe; None uses the one with default settings.
    reference, hypothesis
        The columns of texts; that of the references may contain lists of texts.
    columns
        The columns to add, each name after ``prefix``: ``score``, the four features, ``completeness`` and ``faithfulness``; also
        ``semantic_raw`` (before scaling to [0, 1]) and ``semantic_contribution``, likewise for the others; ``critical_count``,
        ``major_count``, ``minor_count``, ``reference_index``, ``flags``, ``signature``.
    missing
        "error" refuses a row without reference or hypothesis; "null" leaves its new columns empty. An empty text is not missing.
    """
    check_columns(columns, missing)
    table = _opened(frame)
    check_names(table.columns, {"reference": reference, "hypothesis": hypothesis}, [f"{prefix}{name}" for name in columns])
    texts = [_texts(table[name]) for name in (reference, hypothesis)]
    scores = score_columns(metric, *texts, columns=columns, missing=missing, names=(reference, hypothesis))
    return _with_columns(table, scores, prefix)


def texts_of_frame(frame: Any, *, reference: str = "reference", hypothesis: str = "hypothesis") -> tuple[list[Any], list[Any]]:
    """Return the two columns of a frame as lists; see `score_frame` for frames and errors."""
    table = _opened(frame)
    check_names(table.columns, {"reference": reference, "hypothesis": hypothesis})
    return _texts(table[reference]), _texts(table[hypothesis])


def frame_rows(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame as dictionaries of Python values, None for an empty cell; see `score_frame` for errors."""
    table = _opened(frame)
    columns = [_texts(table[name]) for name in table.columns]
    return [dict(zip(table.columns, cells, strict=True)) for cells in zip(*columns, strict=True)]


def to_polars(result: CorpusScore) -> polars.DataFrame:
    """Return one row per segment, with the columns of ``result.to_dataframe()``. Raises ModelMissingError without polars."""
    with needed("to_polars", "polars"):
        import polars
    columns = result.columns()
    types: dict[str, Any] = dict.fromkeys(columns, polars.Float64)
    types |= {name: polars.String for name in ("reference", "hypothesis", "flags", "scorer") if name in columns}
    types |= {name: polars.Int64 for name in columns if name in ("segment", "reference_index") or name.endswith("_count")}
    return polars.DataFrame(columns, schema=types)


def _opened(frame: Any) -> Any:
    """Return the frame as narwhals' DataFrame. Raises InputError for anything but a frame in memory, ModelMissingError without narwhals."""
    with needed("reading a data frame", "narwhals"):
        import narwhals as nw
    try:
        return nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"the frame has two columns of one name: rename one ({' '.join(str(error).split())})") from error
    except TypeError as error:
        remedy = " Call .collect() on it first." if hasattr(frame, "collect") else ""
        kinds = "a pandas or polars DataFrame or a pyarrow Table"
        raise InputError(f"frame must be {kinds}, got {type(frame).__name__}.{remedy}") from error


def _texts(column: Any) -> list[Any]:
    """Return the cells as Python values: a text, a list of texts, or None for an empty cell."""
    return [None if gap else plain_list(value) for value, gap in zip(column.to_list(), column.is_null().to_list(), strict=True)]


def _with_columns(table: Any, columns: dict[str, list[Any]], prefix: str) -> Any:
    """Return the native frame with the columns added at its right end."""
    import narwhals as nw

    types = {"float64": nw.Float64, "int32": nw.Int64}
    series = []
    for name, values in columns.items():
        dtype = types.get(COLUMNS[name], nw.String)
        if None in values and dtype == nw.Int64 and table.implementation.is_pandas_like():  # NumPy has no missing integer
            dtype = nw.Float64
        series.append(nw.new_series(f"{prefix}{name}", values, dtype, backend=table.implementation))
    return nw.to_native(table.with_columns(*series))
