"""Score columns of texts: what the integrations share.

`score_columns` raises an error for a row that cannot be scored. `score_rows`, for many machines, reports it in the row's own column ``error``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rome.checks import CheckedPair, EmptyReference, check_pairs
from rome.combining.combiner import MEASURES
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.metric import RoMe
from rome.reports.segment import SEVERITIES
from rome.results import CorpusScore, SegmentScore

DEFAULT_COLUMNS = MEASURES
COLUMNS: dict[str, str] = {
    **dict.fromkeys(DEFAULT_COLUMNS, "float64"),
    **dict.fromkeys((*(f"{name}_raw" for name in FEATURES), *(f"{name}_contribution" for name in FEATURES)), "float64"),
    **dict.fromkeys((f"{severity}_count" for severity in SEVERITIES), "int32"),
    "reference_index": "int32",
    "flags": "list<string>",
    "signature": "string",
}
"""All columns of a scored row, with their Arrow types: the score, the four components, completeness and faithfulness, each in [0, 1], raw
quantities of the components, their contributions, which add up to score minus 1, the numbers of errors by severity, the index of the best
reference, flags (in data frames one text with commas) and signature."""
ROW_COLUMNS = COLUMNS | {"error": "string"}
"""Columns of `score_rows`. Of a row that cannot be scored, all are null but ``error``, its message."""
ROWS_AT_ONCE = 1000
"""Most rows that are scored together, because their evidence is in memory."""
_ROW_FAULTS = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""Errors of the metric that one row may cause; others, such as a missing model or a full disk, end the run."""
MakeMetric = Callable[[], RoMe]
"""Makes the metric; called once in each worker, so it must be picklable: a class, a function, a partial."""


_METRICS: list[RoMe] = []


def default_metric(**options: Any) -> RoMe:
    """Return RoMe(**options), one per process and options, for integrations that are given no metric."""
    made = RoMe(**{"progress": False, **options})
    _METRICS.extend([] if any(metric.config == made.config for metric in _METRICS) else [made])
    return next(metric for metric in _METRICS if metric.config == made.config)


def own_metric(**options: Any) -> MakeMetric:
    """Return a maker of RoMe(**options) for workers: silent, and with one thread each unless options contain others."""
    return partial(RoMe, **{"progress": False, "threads": 1, **options})


def refuse_batches(metric: Any, what: str) -> None:
    """Raise InputError for a metric whose scores depend on the other segments of a call, where calls are mere batches."""
    if _depends_on_batch(metric):
        reason = 'with idf="references" a score depends on its batch'
        raise InputError(f'{what} scores batch by batch, and {reason}: use idf="embedded"')


def _depends_on_batch(metric: Any) -> bool:
    return getattr(metric, "idf", "embedded") == "references"


def score_columns(
    metric: Any,
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    *,
    columns: Sequence[str] = DEFAULT_COLUMNS,
    missing: str = "error",
    names: tuple[str, str] = ("reference", "hypothesis"),
) -> dict[str, list[Any]]:
    """Return columns with one value per row; ``columns`` and ``missing`` must have been checked.

    Raises InputError that names the row; no rows give empty columns.

    Parameters
    ----------
    metric
        A RoMe, or an object with its ``score_pairs``; None uses the one with default settings.
    missing
        "error" refuses a row whose reference or hypothesis is missing (None or nan), "null" gives None in all its columns.
    names
        Names of the two columns for messages.
    """
    rows = list(zip(references, hypotheses, strict=True))
    gaps = {n for n, row in enumerate(rows) if any(map(_is_missing, row))}
    if missing == "error" and gaps:
        first = min(gaps)
        name = names[0] if _is_missing(rows[first][0]) else names[1]
        remedy = 'fill or drop these rows, or pass missing="null" to score the others'
        raise InputError(f"texts must not be missing, got none in {name} of row {first}. Missing in {len(gaps)} rows: {remedy}")
    result: dict[str, list[Any]] = {name: [None] * len(rows) for name in columns}
    if len(gaps) == len(rows):
        return result
    metric = default_metric() if metric is None else metric
    pairs = [checked_row(n, row, metric, names, f"row {n}: ") for n, row in enumerate(rows) if n not in gaps]
    size = len(pairs) if _depends_on_batch(metric) else ROWS_AT_ONCE
    for start in range(0, len(pairs), size):
        scored = metric.score_pairs(pairs[start : start + size])
        values = scored.columns() | {"signature": [scored.signature] * len(scored)}
        for name in columns:
            for pair, value in zip(pairs[start : start + size], values[name], strict=True):
                result[name][pair.segment] = value
    return result


def checked_row(
    number: int, row: Sequence[Any], metric: Any, names: Sequence[str] = ("reference", "hypothesis"), place: str = ""
) -> CheckedPair:
    """Return the checked pair of a row (reference, hypothesis). Raises InputError with the place and the names of the columns."""
    empty: EmptyReference = getattr(metric, "empty_reference", "error")
    reference, hypothesis = row
    try:
        return check_pairs([plain_list(reference)], [hypothesis], empty_reference=empty, first=number)[0]
    except InputError as error:
        message = str(error).replace(f"references[{number}]", names[0]).replace(f"hypotheses[{number}]", names[1])
        raise InputError(f"{place}{message}") from error


def plain_list(value: Any) -> Any:
    """Return a list for an array or tuple of texts, anything else as it is."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def check_columns(columns: Sequence[str], missing: str, known: Iterable[str] = COLUMNS) -> None:
    """Raise InputError for an unknown or repeated column, or an unknown rule."""
    if isinstance(columns, str) or not columns or set(columns) - set(known) or len(set(columns)) < len(columns):
        raise InputError(f"columns must be a list of some of {', '.join(known)}, each once, got {columns!r}")
    if missing not in ("error", "null"):
        raise InputError(f'missing must be "error" or "null", got {missing!r}')


def check_names(present: Sequence[str], needed: Mapping[str, str], added: Sequence[str] = ()) -> None:
    """Raise InputError unless every needed column is present, and none of the added ones; ``needed`` is argument -> column."""
    for argument, name in needed.items():
        if name not in present:
            raise InputError(f"{argument} must be a column, one of {', '.join(map(str, present))}, got {name!r}")
    clashes = [name for name in added if name in present]
    if clashes:
        raise InputError(f"new columns must not exist, got {', '.join(clashes)}. Drop or rename, or give prefix=")


def _is_missing(value: Any) -> bool:
    """Return True for None and nan."""
    return value is None or (isinstance(value, float) and value != value)


@dataclass(frozen=True)
class RowOptions:
    """The columns to read. Raises InputError for names that clash.

    Attributes
    ----------
    reference, hypothesis
        Columns of texts; a reference may be a list of texts.
    keep
        Columns that are copied to the results, such as one that identifies each row.
    """

    reference: str = "reference"
    hypothesis: str = "hypothesis"
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check what can be checked without data."""
        clash = [name for name in self.keep if name in ROW_COLUMNS]
        if clash:
            raise InputError(f"keep must name columns that are not in the results, got {clash[0]!r}. Rename it in the data")

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the columns to read."""
        return tuple(dict.fromkeys([self.reference, self.hypothesis, *self.keep]))

    def check_columns(self, present: Sequence[str]) -> None:
        """Raise InputError unless every needed column is present."""
        check_names(present, {name: name for name in self.wanted})


def score_rows(columns: Mapping[str, Sequence[Any]], metric: RoMe, options: RowOptions = RowOptions()) -> dict[str, list[Any]]:
    """Score columns of plain values and return the kept columns and ROW_COLUMNS, one row per row and in order.

    Raises
    ------
    InputError
        When a column is missing, or the scores of the metric depend on the other rows (``idf="references"``).
    """
    options.check_columns(list(columns))
    refuse_batches(metric, "score_rows")
    rows = zip(columns[options.reference], columns[options.hypothesis], strict=True)
    results: list[SegmentScore | CheckedPair | str] = [_checked(n, row, metric) for n, row in enumerate(rows)]
    pairs = [pair for pair in results if isinstance(pair, CheckedPair)]
    for start in range(0, len(pairs), ROWS_AT_ONCE):
        some = pairs[start : start + ROWS_AT_ONCE]
        for pair, result in zip(some, _scored(some, metric), strict=True):
            results[pair.segment] = result
    values = [_values(result) for result in results]
    copied = {name: list(columns[name]) for name in options.keep}
    return copied | {name: [row.get(name) for row in values] for name in ROW_COLUMNS}


def _checked(number: int, row: Sequence[Any], metric: RoMe) -> CheckedPair | str:
    """Return the checked row, or the message of what is wrong with it."""
    try:
        return checked_row(number, row, metric)
    except InputError as error:
        return str(error)


def _scored(pairs: Sequence[CheckedPair], metric: RoMe) -> list[SegmentScore | str]:
    """Return the score of each pair, or the message of the error that it raised in the metric."""
    try:
        return list(metric.score_pairs(pairs))
    except _ROW_FAULTS as error:
        if len(pairs) == 1:
            return [str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"]
        return [result for pair in pairs for result in _scored([pair], metric)]


def _values(result: SegmentScore | CheckedPair | str) -> dict[str, Any]:
    """Return the values of one row by column."""
    if not isinstance(result, SegmentScore):
        return {"error": result}
    row = {name: value for name, (value,) in CorpusScore((result,)).columns().items()}
    return row | {"flags": list(result.flags), "signature": result.signature}


class ScoreBatches:
    """Score Arrow tables of rows in a worker: made once, called with every batch."""

    def __init__(self, metric: MakeMetric, options: RowOptions) -> None:
        self.metric, self.options = metric(), options

    def __call__(self, batch: Any) -> Any:
        """Return a pyarrow.Table of results for a pyarrow.Table of rows."""
        import pyarrow as pa

        types = {"float64": pa.float64(), "int32": pa.int32(), "string": pa.string(), "list<string>": pa.list_(pa.string())}
        columns = {name: batch.column(name).to_pylist() for name in self.options.wanted}
        kept = [batch.schema.field(name) for name in self.options.keep]
        schema = pa.schema([*kept, *(pa.field(name, types[kind]) for name, kind in ROW_COLUMNS.items())])
        return pa.table(score_rows(columns, self.metric, self.options), schema=schema)
