"""Data frames in and out: pandas, polars and Arrow tables alike, through narwhals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rome.exceptions import InputError
from rome.features.packages import import_failed
from rome.integrations.columns import DEFAULT_COLUMNS, check_columns, check_names, score_columns

if TYPE_CHECKING:
    import polars

    from rome.results import CorpusScore

Frame = TypeVar("Frame")
_TEXT, _WHOLE = ("flags", "signature"), ("reference_index",)


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
    """The same frame with the scores as further columns: rows, order, index and the other columns stay as they are.

    An empty frame gets empty columns. Raises InputError, naming the row, for what `RoMe.score` refuses, for a column that is absent, and for a
    new one that is there already; ModelMissingError without narwhals.

    Parameters
    ----------
    frame
        A pandas or polars DataFrame, or a pyarrow Table.
    metric
        A RoMe; None takes the one with default settings.
    reference, hypothesis
        The columns of texts; the one of references may hold lists of texts.
    columns
        What is added, each name after ``prefix``: ``score`` and the four features; also ``semantic_raw`` (before it was brought to [0, 1]) and
        ``semantic_contribution``, likewise the others; ``reference_index``, ``flags``, ``signature``.
    missing
        "error" refuses a row without reference or hypothesis; "null" leaves its new columns empty. An empty text is no missing one.
    """
    check_columns(columns, missing)
    table = _opened(frame)
    check_names(table.columns, {"reference": reference, "hypothesis": hypothesis}, [f"{prefix}{name}" for name in columns])
    texts = [_texts(table[name]) for name in (reference, hypothesis)]
    found = score_columns(
        metric,
        *texts,
        columns=columns,
        missing=missing,
        names=(reference, hypothesis),
        labels=getattr(table.to_native(), "index", None),
    )
    return _with_columns(table, {f"{prefix}{name}": (name, values) for name, values in found.items()})


def texts_of_frame(frame: Any, *, reference: str = "reference", hypothesis: str = "hypothesis") -> tuple[list[Any], list[Any]]:
    """The two columns of a frame as lists; see `score_frame` for what a frame is and what is raised."""
    table = _opened(frame)
    check_names(table.columns, {"reference": reference, "hypothesis": hypothesis}, [])
    return _texts(table[reference]), _texts(table[hypothesis])


def frame_rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries of Python values, None where a cell is empty; see `score_frame` for what is raised."""
    table = _opened(frame)
    columns = [_texts(table[name]) for name in table.columns]
    return [dict(zip(table.columns, cells, strict=True)) for cells in zip(*columns, strict=True)]


def to_polars(result: CorpusScore) -> polars.DataFrame:
    """One row a segment, with the columns of ``result.to_dataframe()``. Raises ModelMissingError without polars."""
    try:
        import polars
    except ImportError as error:
        raise import_failed(error, "to_polars", "polars") from error
    text, whole = ("reference", "hypothesis", "flags", "scorer"), ("segment", "reference_index")
    kinds: Any = {True: polars.String, False: polars.Float64}
    columns = result.columns()
    schema = {name: polars.Int64 if name in whole else kinds[name in text] for name in columns}
    return polars.DataFrame(columns, schema=schema)


def _narwhals() -> Any:
    """The package that reads every kind of frame. Raises ModelMissingError, with the install line, when it is not there."""
    try:
        import narwhals
    except ImportError as error:
        raise import_failed(error, "reading a data frame", "narwhals") from error
    return narwhals


def _opened(frame: Any) -> Any:
    """The frame in narwhals' hands. Raises InputError for what is no frame in memory."""
    nw = _narwhals()
    try:
        return nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            f"the frame has two columns of one name: rename one of them ({' '.join(str(error).split())})"
        ) from error
    except TypeError as error:
        remedy = (
            "call .collect() on it first"
            if hasattr(frame, "collect")
            else "give a pandas or polars DataFrame, or a pyarrow Table"
        )
        raise InputError(f"a frame of type {type(frame).__name__} cannot be scored: {remedy}") from error


def _texts(column: Any) -> list[Any]:
    """The cells as Python values: a text, a list of texts, or None where the cell is empty."""
    values = column.to_list()
    gaps = column.is_null().to_list()
    return [
        None if gap else value.tolist() if hasattr(value, "tolist") else value for value, gap in zip(values, gaps, strict=True)
    ]


def _with_columns(table: Any, found: dict[str, tuple[str, list[Any]]]) -> Any:
    """The native frame with the columns added at its right end."""
    nw = _narwhals()
    series = []
    for name, (kind, values) in found.items():
        whole = kind in _WHOLE and (
            None not in values or not table.implementation.is_pandas_like()
        )  # NumPy has no missing integer
        dtype = nw.String if kind in _TEXT else nw.Int64 if whole else nw.Float64
        series.append(nw.new_series(name, values, dtype, backend=table.implementation))
    return nw.to_native(table.with_columns(*series))
