"""Columns in, columns out: the scoring of one batch of rows that every engine for many machines shares.

A row that cannot be scored is reported in its own column ``error`` and never stops the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rome.batch.blocks import cut
from rome.checks import CheckedPair, EmptyReference, check_pairs
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.results import CorpusScore, SegmentScore
from rome.results.displayed import plain

if TYPE_CHECKING:
    import pyarrow as pa

    from rome.metric import RoMe


LONGEST = 10_000
"""Characters of the longest text that is scored unless another bound is given: about 1,800 words, some ten seconds of one core and 1.2 GB."""

COLUMNS: dict[str, str] = {
    "score": "float64",
    **dict.fromkeys((*FEATURES, *(f"{n}_raw" for n in FEATURES), *(f"{n}_contribution" for n in FEATURES)), "float64"),
    "reference_index": "int32",
    "flags": "list<string>",
    "signature": "string",
    "error": "string",
}
"""What every scored row has beside its key, with the Arrow type: the score and the four components in [0, 1], their raw quantities, their
contributions, which add up to score minus 1, the reference that scored best (from 0), flags, signature, and the message of a row
that could not be scored. Then all others are null; of a scored row ``error`` is."""


@dataclass(frozen=True)
class RowOptions:
    """Which columns hold what, and how rows are scored.

    Raises InputError for a bound below 1 and for names that clash.

    Attributes
    ----------
    reference, hypothesis
        Columns of texts; a reference may be a list of texts.
    key
        A column of texts or whole numbers that names each row; None takes a digest of the texts.
    keep
        Columns that are passed on.
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
            raise InputError(
                f"longest={self.longest} lets no text pass: give the number of characters of the longest text to score"
            )
        clash = [name for name in self.keep if name in {"key", "evidence", *COLUMNS} or self.keep.count(name) > 1]
        if clash:
            raise InputError(
                f"keep names {clash[0]!r}, which is a column of the results or named twice: rename it in the data first"
            )

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to read."""
        return tuple(dict.fromkeys([self.reference, self.hypothesis, *([self.key] if self.key else []), *self.keep]))

    @property
    def results(self) -> dict[str, str]:
        """What every row has beside its key and the columns that are passed on, with the Arrow type."""
        return COLUMNS | ({"evidence": "string"} if self.evidence else {})

    def check_columns(self, present: Sequence[str]) -> None:
        """Raise InputError when a column that is needed is not among those present."""
        missing = [name for name in self.wanted if name not in present]
        if missing:
            raise InputError(
                f"the data has no column {missing[0]!r}: it has {', '.join(map(repr, present))}; name the right one"
            )


def arrow_schema(options: RowOptions, kept: Mapping[str, pa.DataType] | None = None) -> pa.Schema:
    """The Arrow schema of the results; ``kept`` gives the types of the columns that are passed on, text by default."""
    import pyarrow as pa

    types = {"float64": pa.float64(), "int32": pa.int32(), "string": pa.string(), "list<string>": pa.list_(pa.string())}
    passed = [pa.field(name, (kept or {}).get(name, pa.string())) for name in options.keep]
    own = [pa.field(name, types[kind]) for name, kind in options.results.items()]
    return pa.schema([pa.field("key", pa.string(), nullable=False), *passed, *own])


TEXTS_AT_ONCE = 1000
"""Texts that a metric is given together, at most, because it keeps them in memory."""
_ROW_FAULTS = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""What a single row may do to a metric; a missing model or a full disk is no fault of a row and stops the run."""


MakeMetric = Callable[[], "RoMe"]
"""Makes the metric; called once in each worker, so it must be something that can be sent there: a class, a function, a partial."""


def own_metric(**options: Any) -> MakeMetric:
    """A maker of RoMe(**options) for workers: silent, and one thread each unless options say otherwise."""
    from rome.metric import RoMe

    return partial(RoMe, **{"progress": False, "threads": 1, **options})


def score_rows(
    columns: Mapping[str, Sequence[Any]],
    metric: RoMe,
    options: RowOptions = RowOptions(),
) -> dict[str, list[Any]]:
    """Score columns of plain values and return the columns of `arrow_schema`, one row per row and in order.

    Raises
    ------
    InputError
        When a column is missing, or the scores of the metric depend on the other rows (``idf="references"``).
    """
    options.check_columns(list(columns))
    if getattr(metric, "idf", "") == "references":
        raise InputError('idf="references" makes a score depend on the other rows of its batch: use the embedded table')
    texts = [
        (plain_list(given), text) for given, text in zip(columns[options.reference], columns[options.hypothesis], strict=True)
    ]
    names = [_digest(*row) for row in texts]
    results: list[SegmentScore | CheckedPair | str] = []
    for n, row in enumerate(texts):
        results.append(_checked(n, *row, options.longest, getattr(metric, "empty_reference", "error")))
        if options.key:
            given = columns[options.key][n]
            if (named := key_text(given)) is None:
                results[n] = (
                    f"the key {options.key} must be a text or a whole number of its own for each row, got {given!r:.40}"
                )
            names[n] = named or names[n]
    good = [pair for pair in results if isinstance(pair, CheckedPair)]
    for group in cut(good, lambda pair: 1 + len(pair.references), TEXTS_AT_ONCE):
        for pair, result in zip(group, _scored(group, metric), strict=True):
            results[pair.segment] = result
    rows = [_values(result, options.evidence) for result in results]
    out: dict[str, list[Any]] = {"key": names, **{name: list(columns[name]) for name in options.keep}}
    return out | {name: [row.get(name) for row in rows] for name in options.results}


def _digest(reference: Any, hypothesis: Any) -> str:
    """32 hexadecimal digits of the texts: the same row has the same ones everywhere."""
    content = json.dumps([reference, hypothesis], default=lambda value: type(value).__name__)
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def _checked(n: int, reference: Any, hypothesis: Any, longest: int, empty: EmptyReference) -> CheckedPair | str:
    """The row, or what is wrong with it."""
    try:
        (pair,) = check_pairs([reference], [hypothesis], empty_reference=empty, first=n)
    except InputError as error:
        return str(error).replace(f"references[{n}]", "reference").replace(f"hypotheses[{n}]", "hypothesis")
    for name, text in (*(("reference", text) for text in pair.references), ("hypothesis", pair.hypothesis)):
        if len(text) > longest:
            return f"{name} has {len(text)} characters, more than {longest}: split the text, or give longest="
    return pair


def plain_list(value: Any) -> Any:
    """A list for an array or tuple of texts, anything else as it is."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def key_text(value: Any) -> str | None:
    """The key of a row as text; None for what is neither a text (of characters that UTF-8 has) nor a whole number."""
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
    """The values of one row by column; what is absent is null."""
    if not isinstance(result, SegmentScore):
        return {"error": result}
    row = {name: value for name, (value,) in CorpusScore((result,)).columns().items()}
    row |= {"flags": list(result.flags), "signature": result.signature}
    return row | ({"evidence": json.dumps(plain(result.evidence), ensure_ascii=False)} if evidence else {})
