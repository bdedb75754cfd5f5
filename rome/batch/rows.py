"""Columns in, columns out: the scoring of one batch of rows that every engine for many machines shares.

A row that cannot be scored is reported in its own column ``error`` and never stops the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rome.batch.blocks import cut
from rome.checks import check_pairs
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.results.serialisation import plain

if TYPE_CHECKING:
    import pyarrow as pa

    from rome.metric import RoMe
    from rome.results import SegmentScore

__all__ = ["COLUMNS", "LONGEST", "MakeMetric", "RowOptions", "arrow_schema", "own_metric", "score_columns"]


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
    exact
        Analyse each text alone, so that the bits of a row depend on nothing but the row, on one kind of processor and with one thread for
        linear algebra (OMP_NUM_THREADS=1, which Ray sets in its workers). False analyses the texts of a batch together: about twice as fast,
        the same to within 1e-6.
    evidence
        Add a column ``evidence``, JSON.
    longest
        Characters of the longest text that is scored.
    """

    reference: str = "reference"
    hypothesis: str = "hypothesis"
    key: str | None = None
    keep: tuple[str, ...] = ()
    exact: bool = True
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
    own = [pa.field(name, types[kind]) for name, kind in COLUMNS.items()]
    return pa.schema([pa.field("key", pa.string(), nullable=False), *passed, *own, *_evidence_field(options, pa)])


def _evidence_field(options: RowOptions, pa: Any) -> list[Any]:
    return [pa.field("evidence", pa.string())] if options.evidence else []


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


def score_columns(
    columns: Mapping[str, Sequence[Any]],
    metric: RoMe,
    options: RowOptions = RowOptions(),
    *,
    keys: Sequence[str] | None = None,
    faults: Sequence[str | None] | None = None,
) -> dict[str, list[Any]]:
    """Score a batch: columns of plain values in, the columns of `arrow_schema` out, one row a row and in order.

    Raises InputError for a missing column and for a metric whose scores depend on the other rows (``idf="references"``).

    Parameters
    ----------
    keys
        Names of the rows where no column has them.
    faults
        Messages of rows that are known to be bad, None for the others.
    """
    options.check_columns(list(columns))
    if getattr(metric, "idf", "") == "references":
        raise InputError('idf="references" makes a score depend on the other rows of its batch: use the embedded table')
    texts = [_Row(*pair) for pair in zip(columns[options.reference], columns[options.hypothesis], strict=True)]
    given = columns[options.key] if options.key else [None] * len(texts)
    names = list(keys) if keys is not None else [row.digest for row in texts]
    problems: list[str | None] = list(faults) if faults is not None else [None] * len(texts)
    empty = getattr(metric, "empty_reference", "error")
    for n, row in enumerate(texts):
        if options.key:
            named = key_text(given[n])
            names[n] = names[n] if named is None else named
            problems[n] = problems[n] or (_bad_key(options.key, given[n]) if named is None else None)
        problems[n] = problems[n] or row.problem(options, empty)
    good = [n for n, problem in enumerate(problems) if problem is None]
    found: list[SegmentScore | str | None] = list(problems)
    for group in cut(good, lambda n: len(texts[n].texts), TEXTS_AT_ONCE):
        for n, result in zip(group, _scored([texts[n] for n in group], metric, options.exact), strict=True):
            found[n] = result
    rows = [_values(result, options.evidence) for result in found]
    out: dict[str, list[Any]] = {"key": names, **{name: list(columns[name]) for name in options.keep}}
    return out | {name: [row.get(name) for row in rows] for name in (*COLUMNS, *(["evidence"] if options.evidence else []))}


class _Row:
    """One row as it was given, lists and arrays brought to plain lists."""

    def __init__(self, reference: Any, hypothesis: Any) -> None:
        self.given = plain_list(reference)
        self.hypothesis = hypothesis
        self.references = [self.given] if isinstance(self.given, str) else self.given

    @property
    def texts(self) -> list[str]:
        """All texts of a row that was found good."""
        return [*self.references, self.hypothesis]

    @property
    def digest(self) -> str:
        """32 hexadecimal digits of the texts: the same row has the same ones everywhere."""
        content = json.dumps([self.given, self.hypothesis], default=lambda value: type(value).__name__)
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    def problem(self, options: RowOptions, empty: Any) -> str | None:
        """What is wrong with the row, or None."""
        try:
            check_pairs([self.given], [self.hypothesis], empty_reference=empty)
        except InputError as error:
            return _of_row(error)
        for name, text in (*(("reference", text) for text in self.references), ("hypothesis", self.hypothesis)):
            if len(text) > options.longest:
                return f"{name} has {len(text)} characters, more than {options.longest}: split the text, or give longest="
        return None


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


def _bad_key(column: str, value: Any) -> str:
    return f"the key {column} is {value!r:.40}: give each row a text or a whole number of its own"


def _of_row(error: InputError) -> str:
    """The message about a lone row, without the number that it had in its call."""
    return str(error).replace("references[0]", "reference").replace("hypotheses[0]", "hypothesis")


def _scored(rows: Sequence[_Row], metric: RoMe, exact: bool) -> list[SegmentScore | str]:
    """The score of each row, or the message of what it did to the metric."""
    try:
        return list(_score(rows, metric, exact))
    except _ROW_FAULTS as error:
        if len(rows) == 1:
            return [_of_row(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"]
        return [result for row in rows for result in _scored([row], metric, exact)]


def _score(rows: Sequence[_Row], metric: RoMe, exact: bool) -> Iterator[SegmentScore]:
    """Score the rows together; when exact each text was analysed alone before, or, of a metric that shows no analyses, each row is."""
    analyse = getattr(metric, "analyse", None)
    if exact and analyse is None:
        for row in rows:
            yield from metric.score(references=[row.references], hypotheses=[row.hypothesis])
        return
    if exact and analyse is not None:
        for text in dict.fromkeys(text for row in rows for text in row.texts):
            analyse([text])
    yield from metric.score(references=[row.references for row in rows], hypotheses=[row.hypothesis for row in rows])


def _values(result: SegmentScore | str | None, evidence: bool) -> dict[str, Any]:
    """The values of one row by column; what is absent is null."""
    if result is None or isinstance(result, str):
        return {"error": result}
    row: dict[str, Any] = {"score": result.score, "reference_index": result.reference_index}
    row |= {part.name: part.value for part in result.components} | {f"{part.name}_raw": part.raw for part in result.components}
    row |= {f"{name}_contribution": share for name, share in zip(FEATURES, result.contributions, strict=True)}
    row |= {"flags": list(result.flags), "signature": result.signature}
    if evidence:
        parts = {name: getattr(result.evidence, name) for name in FEATURES}
        row["evidence"] = json.dumps(plain(parts), ensure_ascii=False)
    return row
