"""Score columns of texts: what the integrations share.

`score_columns` raises an error for a row that cannot be scored. `score_rows`, for many machines, reports it in the row's own column ``error``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from rome.checks import CheckedPair, EmptyReference, check_pairs
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.metric import RoMe
from rome.results import CorpusScore, SegmentScore
from rome.results.displayed import plain

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_COLUMNS = ("score", *FEATURES)
COLUMNS: dict[str, str] = {
    **dict.fromkeys(DEFAULT_COLUMNS, "float64"),
    **dict.fromkeys((*(f"{name}_raw" for name in FEATURES), *(f"{name}_contribution" for name in FEATURES)), "float64"),
    "reference_index": "int32",
    "flags": "list<string>",
    "signature": "string",
}
"""All columns of a scored row, with their Arrow types: the score and the four components in [0, 1], their raw quantities, their
contributions, which add up to score minus 1, the index of the best reference, flags (in data frames one text with commas) and signature."""
LONGEST = 10_000
"""Default limit for the characters of a text: about 1,800 words, some ten seconds of one core and 1.2 GB."""
ROWS_AT_ONCE = 1000
"""Most rows that are scored together, because their evidence is in memory."""
_ROW_FAULTS = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""Errors of the metric that one row may cause; others, such as a missing model or a full disk, end the run."""
MakeMetric = Callable[[], RoMe]
"""Makes the metric; called once in each worker, so it must be picklable: a class, a function, a partial."""


@lru_cache(maxsize=1)
def default_metric() -> RoMe:
    """Return the metric with the default settings, one per process, for integrations that are given none."""
    return RoMe(progress=False)


def own_metric(**options: Any) -> MakeMetric:
    """Return a maker of RoMe(**options) for workers: silent, and with one thread each unless options contain others."""
    return partial(RoMe, **{"progress": False, "threads": 1, **options})


def refuse_batches(metric: Any, what: str) -> None:
    """Raise InputError for a metric whose scores depend on the other segments of a call, where calls are mere batches."""
    if _depends_on_batch(metric):
        raise InputError(
            f'{what} scores batch by batch, and with idf="references" a score depends on its batch: use idf="embedded"'
        )


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
    labels: Sequence[Any] | None = None,
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
    labels
        Names of the rows for messages, besides their numbers from 0.
    """
    rows = list(zip(references, hypotheses, strict=True))
    gaps = {n: names[0] if _is_missing(row[0]) else names[1] for n, row in enumerate(rows) if any(map(_is_missing, row))}
    if missing == "error" and gaps:
        shown = ", ".join(f"{gaps[n]} of {_row_name(n, labels)}" for n in list(gaps)[:5])
        more = f" and {len(gaps) - 5} more" if len(gaps) > 5 else ""
        raise InputError(
            f'a text is missing, {shown}{more}: fill or drop these rows, or pass missing="null" to score the others'
        )
    result: dict[str, list[Any]] = {name: [None] * len(rows) for name in columns}
    if len(gaps) == len(rows):
        return result
    metric = default_metric() if metric is None else metric
    pairs = [checked_row(n, row, metric, names, f"{_row_name(n, labels)}: ") for n, row in enumerate(rows) if n not in gaps]
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


def check_columns(columns: Sequence[str], missing: str) -> None:
    """Raise InputError for an unknown column or rule."""
    unknown = [name for name in ([columns] if isinstance(columns, str) else columns) if name not in COLUMNS]
    if isinstance(columns, str) or unknown or not columns:
        given = repr(unknown[0]) if unknown else repr(columns)
        raise InputError(f"columns must be a list of some of {', '.join(COLUMNS)}, got {given}")
    if missing not in ("error", "null"):
        raise InputError(f'missing must be "error" or "null", got {missing!r}')


def check_names(present: Sequence[str], needed: Mapping[str, str], added: Sequence[str]) -> None:
    """Raise InputError unless every needed column is present, and none of the added ones; ``needed`` is argument -> column."""
    for argument, name in needed.items():
        if name not in present:
            choice = ", ".join(map(str, present)) or "(none)"
            raise InputError(f"{argument} must be a column of the frame, one of {choice}, got {name!r}")
    if len(set(added)) != len(added):
        raise InputError(f"columns must name each column once, got {list(added)}")
    clashes = [name for name in added if name in present]
    if clashes:
        raise InputError(
            f"the frame has a column {', '.join(clashes)} already: drop or rename it, or choose prefix=, such as 'rome_'"
        )


def _is_missing(value: Any) -> bool:
    """Return True for None and nan."""
    return value is None or (isinstance(value, float) and value != value)


def _row_name(row: int, labels: Sequence[Any] | None) -> str:
    """Return ``row 3``, with its label where that differs."""
    label = str(row if labels is None else labels[row])
    return f"row {row}" if label == str(row) else f"row {row} (index {label})"


@dataclass(frozen=True)
class RowOptions:
    """The columns to read, and how rows are scored.

    Raises InputError for a limit below 1 and for names that clash.

    Attributes
    ----------
    reference, hypothesis
        Columns of texts; a reference may be a list of texts.
    key
        A column of texts or whole numbers that identifies each row; None uses a digest of the texts.
    keep
        Columns that are copied to the results.
    evidence
        Add a column ``evidence``, JSON.
    longest
        Characters of the longest text that is scored.
    """

    reference: str = "reference"
    hypothesis: str = "hypothesis"
    key: str | None = None
    keep: tuple[str, ...] = ()
    evidence: bool = False
    longest: int = LONGEST

    def __post_init__(self) -> None:
        """Check what can be checked without data."""
        if self.longest < 1:
            raise InputError(f"longest must be at least 1 character, got {self.longest}")
        clash = [name for name in self.keep if name in {"key", "error", "evidence", *COLUMNS} or self.keep.count(name) > 1]
        if clash:
            raise InputError(
                f"keep must name columns once that are not in the results, got {clash[0]!r}. Rename it in the data"
            )

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the columns to read."""
        return tuple(dict.fromkeys([self.reference, self.hypothesis, *([self.key] if self.key else []), *self.keep]))

    @property
    def results(self) -> dict[str, str]:
        """Return the columns of every row besides its key and the copied ones, with their Arrow types.

        Of a row that cannot be scored, all are null but ``error``, its message.
        """
        return COLUMNS | {"error": "string"} | ({"evidence": "string"} if self.evidence else {})

    def check_columns(self, present: Sequence[str]) -> None:
        """Raise InputError unless every needed column is present."""
        missing = [name for name in self.wanted if name not in present]
        if missing:
            raise InputError(f"the data has no column {missing[0]!r}: name one of {', '.join(map(repr, present))}")


def arrow_schema(options: RowOptions, kept: Mapping[str, pa.DataType] | None = None) -> pa.Schema:
    """Return the Arrow schema of the results; ``kept`` contains the types of the copied columns, text by default."""
    import pyarrow as pa

    types = {"float64": pa.float64(), "int32": pa.int32(), "string": pa.string(), "list<string>": pa.list_(pa.string())}
    copied = [pa.field(name, (kept or {}).get(name, pa.string())) for name in options.keep]
    own = [pa.field(name, types[kind]) for name, kind in options.results.items()]
    return pa.schema([pa.field("key", pa.string(), nullable=False), *copied, *own])


def score_rows(columns: Mapping[str, Sequence[Any]], metric: RoMe, options: RowOptions = RowOptions()) -> dict[str, list[Any]]:
    """Score columns of plain values and return the columns of `arrow_schema`, one row per row and in order.

    Raises
    ------
    InputError
        When a column is missing, or the scores of the metric depend on the other rows (``idf="references"``).
    """
    options.check_columns(list(columns))
    refuse_batches(metric, "score_rows")
    rows = list(zip(columns[options.reference], columns[options.hypothesis], strict=True))
    keys: list[str | None] = [_digest(*row) for row in rows]
    results: list[SegmentScore | CheckedPair | str] = [_checked(n, row, metric, options) for n, row in enumerate(rows)]
    for n, key in enumerate(columns[options.key] if options.key else ()):
        text = key_text(key)
        if text is None:
            results[n] = f"the key {options.key} must be a text or a whole number, another one for each row, got {key!r:.40}"
        keys[n] = text or keys[n]
    pairs = [pair for pair in results if isinstance(pair, CheckedPair)]
    for start in range(0, len(pairs), ROWS_AT_ONCE):
        some = pairs[start : start + ROWS_AT_ONCE]
        for pair, result in zip(some, _scored(some, metric), strict=True):
            results[pair.segment] = result
    values = [_values(result, options.evidence) for result in results]
    copied = {name: list(columns[name]) for name in options.keep}
    return {"key": keys, **copied, **{name: [row.get(name) for row in values] for name in options.results}}


def _digest(reference: Any, hypothesis: Any) -> str:
    """Return 32 hexadecimal digits that depend on the texts alone."""
    content = json.dumps([plain_list(reference), hypothesis], default=lambda value: type(value).__name__)
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def _checked(number: int, row: Sequence[Any], metric: RoMe, options: RowOptions) -> CheckedPair | str:
    """Return the checked row, or the message of what is wrong with it."""
    try:
        pair = checked_row(number, row, metric)
    except InputError as error:
        return str(error)
    for name, text in (*(("reference", text) for text in pair.references), ("hypothesis", pair.hypothesis)):
        if len(text) > options.longest:
            return f"{name} must have at most {options.longest} characters, got {len(text)}. Split the text, or set longest="
    return pair


def plain_list(value: Any) -> Any:
    """Return a list for an array or tuple of texts, anything else as it is."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def key_text(value: Any) -> str | None:
    """Return the key of a row as text; None unless it is a text that UTF-8 can encode or a whole number."""
    value = plain_list(value)
    if isinstance(value, str) and value and not any("\ud800" <= character <= "\udfff" for character in value):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _scored(pairs: Sequence[CheckedPair], metric: RoMe) -> list[SegmentScore | str]:
    """Return the score of each pair, or the message of the error that it raised in the metric."""
    try:
        return list(metric.score_pairs(pairs))
    except _ROW_FAULTS as error:
        if len(pairs) == 1:
            return [str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"]
        return [result for pair in pairs for result in _scored([pair], metric)]


def _values(result: SegmentScore | CheckedPair | str, evidence: bool) -> dict[str, Any]:
    """Return the values of one row by column."""
    if not isinstance(result, SegmentScore):
        return {"error": result}
    row = {name: value for name, (value,) in CorpusScore((result,)).columns().items()}
    row |= {"flags": list(result.flags), "signature": result.signature}
    return row | ({"evidence": json.dumps(plain(result.evidence), ensure_ascii=False)} if evidence else {})
