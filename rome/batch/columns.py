"""Which columns go in and which come out, whatever engine carries them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rome.exceptions import InputError
from rome.features.values import FEATURES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COLUMNS", "LONGEST", "RowOptions", "arrow_schema"]

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

    reference, hypothesis : columns of texts; a reference may be a list of texts. key : a column of texts or whole numbers that
        names each row; None takes a digest of the texts. keep : columns that are passed on.
    exact : analyse each text alone, so that the bits of a row depend on nothing but the row, on one kind of processor and with one
        thread for linear algebra (OMP_NUM_THREADS=1, which Ray sets in its workers). False analyses the texts of a batch
        together: about twice as fast, the same to within 1e-6.
    evidence : add a column ``evidence``, JSON. longest : characters of the longest text that is scored.
    Raises InputError for a bound below 1 and for names that clash.
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
