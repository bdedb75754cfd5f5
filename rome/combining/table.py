"""FeatureTable: the four features of many candidates as plain columns, and their Parquet file.

A row is one candidate, a hypothesis against one reference: several references of a segment are several rows with the same
``segment``. The file holds the signature of the features, so a net can refuse numbers it was not trained for, and a checksum of
every page and of the whole content, so damage is reported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.exceptions import InputError, RomeError, StoreError
from rome.features.values import FEATURES
from rome.storage.files import atomic_path

if TYPE_CHECKING:
    import pyarrow as pa

WIDTH = len(FEATURES)
NUMBERS = (*FEATURES, *(f"{name}_raw" for name in FEATURES))
"""The names of the columns of ``values`` and ``raw``."""
FORMAT_KEY, FORMAT, UNCHECKED = b"rome.feature_table", b"3", (b"1", b"2")
DIGEST_KEY = b"rome.digest"
ROW_GROUP = 1 << 18
REMEDY = "make it with `rome features` or FeatureTable.save"


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The four features of n candidates; checked when made, never changed.

    An empty table (n = 0) is allowed. Raises InputError when lengths, shapes or ranges do not fit.

    Attributes
    ----------
    segment
        (n,) int64, the number of the segment; the rows of one segment are adjacent.
    reference
        (n,) int32, the number of the reference in its segment, from 0.
    values
        (n, 4) float64 in [0, 1], the features in the order of FEATURES, 1 is best.
    raw
        (n, 4) float64, the raw quantities behind the values, in ``units``.
    units
        Unit of each raw column.
    signature
        Every choice that changed a number, ``key:value|key:value``; empty when unknown.
    flags
        (n,) uint32 or None; bit i means that ``flag_names[i]`` holds for the row (such as ``empty_hypothesis``).
    """

    segment: NDArray[np.int64]
    reference: NDArray[np.int32]
    values: NDArray[np.float64]
    raw: NDArray[np.float64]
    units: tuple[str, ...] = ("",) * WIDTH
    signature: str = ""
    flags: NDArray[np.uint32] | None = None
    flag_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Bring the columns to their types and check them."""
        set_ = object.__setattr__
        set_(self, "segment", _column(self.segment, np.int64, "segment"))
        set_(self, "reference", _column(self.reference, np.int32, "reference"))
        set_(self, "values", _matrix(self.values, "values"))
        set_(self, "raw", _matrix(self.raw, "raw"))
        set_(self, "units", tuple(self.units))
        set_(self, "flag_names", tuple(self.flag_names))
        if self.flags is not None:
            set_(self, "flags", _column(self.flags, np.uint32, "flags"))
        columns = (self.reference, self.values, self.raw) + (() if self.flags is None else (self.flags,))
        if any(len(column) != len(self.segment) for column in columns):
            raise InputError("the columns of a feature table must have one length: give each candidate one row in every column")
        if len(self) and (self.segment.min() < 0 or self.reference.min() < 0):
            raise InputError("segment and reference numbers of a feature table must be 0 or more, got a negative one")
        outside = np.argwhere(~((self.values >= 0.0) & (self.values <= 1.0)))
        if len(outside):
            row, column = outside[0]
            name, value = FEATURES[column], self.values[row, column]
            raise InputError(f"the feature {name} must be in [0, 1], got {value} in row {row}: measure that segment again")
        if not np.isfinite(self.raw).all():
            raise InputError("the raw values of a feature table must be finite: measure the features again")

    def __len__(self) -> int:
        """Return the number of candidates (rows)."""
        return len(self.segment)

    def __eq__(self, other: object) -> bool:
        """Compare every column, the units, the flags and the signature."""
        if not isinstance(other, FeatureTable) or self.described() != other.described():
            return False
        mine, others = self.to_dict(), other.to_dict()
        return all(np.array_equal(mine[name], others[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def described(self) -> tuple[str, tuple[str, ...], tuple[str, ...], bool]:
        """Return what two tables must share to be joined: signature, units, names of the flags, whether there are flags."""
        return self.signature, self.units, self.flag_names, self.flags is not None

    def __getitem__(self, rows: slice | NDArray[Any]) -> FeatureTable:
        """Return the table of some rows, by slice, index array or mask."""
        flags = None if self.flags is None else self.flags[rows]
        picked = self.segment[rows], self.reference[rows], self.values[rows], self.raw[rows]
        return FeatureTable(*picked, self.units, self.signature, flags, self.flag_names)

    @staticmethod
    def concat(tables: Sequence[FeatureTable]) -> FeatureTable:
        """Join tables row by row and keep the segment numbers. Raises InputError for different signatures or units."""
        for table in tables[1:]:
            _check_alike(tables[0], table)
        names = ["segment", "reference", "values", "raw"] + ([] if tables[0].flags is None else ["flags"])
        joined: dict[str, Any] = {name: np.concatenate([getattr(table, name) for table in tables]) for name in names}
        return replace(tables[0], **joined)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name: segment, reference, the four features, their ``_raw`` columns, and flags when there are any."""
        columns: dict[str, NDArray[Any]] = {"segment": self.segment, "reference": self.reference}
        columns |= dict(zip(NUMBERS, (*self.values.T, *self.raw.T), strict=True))
        return columns if self.flags is None else columns | {"flags": self.flags}

    def flags_of(self, row: int) -> tuple[str, ...]:
        """Return the names of the flags of one row; empty when there are none."""
        mask = 0 if self.flags is None else int(self.flags[row])
        return tuple(name for bit, name in enumerate(self.flag_names) if mask >> bit & 1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the table as one Parquet file, all or nothing. Raises StoreError when the path cannot be written."""
        FeatureTable.save_batches(path, [self])

    @staticmethod
    def save_batches(path: str | PathLike[str], tables: Iterable[FeatureTable]) -> int:
        """Write tables one after the other into one Parquet file, all or nothing; return the number of rows.

        Only one of them needs to be in memory. Raises InputError for none or when they are not alike, StoreError when writing fails.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        rest, rows = iter(tables), 0
        first = next(rest, None)
        if first is None:
            raise InputError(f"{path}: no feature table was given to write")
        schema, digest = _schema(first), _digest(first)
        with (
            atomic_path(path, refusal=StoreError) as temporary,
            pq.ParquetWriter(str(temporary), schema, compression="zstd", write_page_checksum=True) as writer,
        ):
            for table in chain([first], rest):
                _check_alike(first, table)
                writer.write_table(pa.table(table.to_dict(), schema=schema), row_group_size=ROW_GROUP)
                digest.update(_content(table))
                rows += len(table)
            writer.add_key_value_metadata({DIGEST_KEY: digest.hexdigest()})
        return rows

    @staticmethod
    def load(path: str | PathLike[str]) -> FeatureTable:
        """Read what `save` or `rome features` wrote. Raises InputError for any other file, StoreError when it is damaged."""
        return FeatureTable.concat(list(_read(path, ROW_GROUP)))

    @staticmethod
    def iter_batches(path: str | PathLike[str], rows: int = ROW_GROUP) -> Iterator[FeatureTable]:
        """Yield tables of about ``rows`` rows, by segment and reference; the rows of a segment stay together. Raises as `load`.

        Every page is verified before its rows are yielded, the file as a whole after the last. A file in another order is read whole.
        """
        held: FeatureTable | None = None
        for table in _read(path, rows) if _in_order(path) else [_loaded_in_order(path)]:
            table = table if held is None else FeatureTable.concat([held, table])
            breaks = np.flatnonzero(np.diff(table.segment))
            cut = int(breaks[-1]) + 1 if breaks.size else 0
            if cut:
                yield table[:cut]
            held = table[cut:]
        if held is not None and len(held):
            yield held


def _check_alike(first: FeatureTable, other: FeatureTable) -> None:
    """Raise InputError unless both tables share signature, units and flags."""
    if first.described() != other.described():
        raise InputError(
            "these feature tables were made differently and cannot be joined: measure them under one configuration "
            f"({first.described()} and {other.described()})"
        )


def _column(given: ArrayLike, kind: Any, name: str) -> NDArray[Any]:
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"the column {name} of a feature table must be one whole number per row, got {array.dtype} {array.shape}"
        )
    return np.ascontiguousarray(array, dtype=kind)


def _matrix(given: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != WIDTH:
        raise InputError(
            f"{name} of a feature table must have the shape (n, {WIDTH}), columns {', '.join(FEATURES)}; got {array.shape}"
        )
    return np.ascontiguousarray(array)


# the file


def _read(path: str | PathLike[str], rows: int) -> Iterator[FeatureTable]:
    """Yield an empty table, then the rows of the file; raise StoreError at the end when they are not those that were written."""
    import pyarrow as pa

    with _opened(path) as file:
        empty = _from_arrow(file.schema_arrow.empty_table(), path)
        digest, metadata = _digest(empty), file.metadata.metadata
        yield empty
        for group in range(file.num_row_groups):  # one at a time: Arrow keeps all requested groups in memory
            for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
                table = _from_arrow(pa.Table.from_batches([batch], schema=file.schema_arrow), path)
                digest.update(_content(table))
                yield table
        if metadata[FORMAT_KEY] not in UNCHECKED and metadata.get(DIGEST_KEY) != digest.hexdigest().encode():
            raise StoreError(f"the feature table {path} is damaged (its content does not fit its checksum): {REMEDY} again")


def _in_order(path: str | PathLike[str]) -> bool:
    """Return True when the rows of the file are ordered by segment and reference."""
    with _opened(path) as file:
        table = file.read(columns=["segment", "reference"])
    segment, reference = table["segment"].to_numpy(), table["reference"].to_numpy()
    back = (segment[1:] == segment[:-1]) & (reference[1:] < reference[:-1])
    return not (back | (segment[1:] < segment[:-1])).any()


def _loaded_in_order(path: str | PathLike[str]) -> FeatureTable:
    table = FeatureTable.load(path)
    return table[np.lexsort((table.reference, table.segment))]


def _digest(table: FeatureTable) -> Any:
    """Return a checksum of what all rows share, to which their contents are added."""
    return hashlib.blake2b(repr(table.described()).encode(), digest_size=16)


def _content(table: FeatureTable) -> bytes:
    """Return the rows one after the other as bytes, so that a checksum does not depend on the batches."""
    return np.column_stack(list(table.to_dict().values())).astype("<f8").tobytes()


def _schema(table: FeatureTable) -> pa.Schema:
    import pyarrow as pa

    fields = [pa.field(name, type, nullable=False) for name, type in _types(table.flags is not None).items()]
    metadata = {
        FORMAT_KEY: FORMAT,
        b"rome.signature": table.signature.encode(),
        b"rome.units": "|".join(table.units).encode(),
        b"rome.flag_names": "|".join(table.flag_names).encode(),
    }
    return pa.schema(fields, metadata=metadata)


def _types(flags: bool) -> dict[str, pa.DataType]:
    """Return the types of the columns."""
    import pyarrow as pa

    numbers = dict.fromkeys(NUMBERS, pa.float64())
    return {"segment": pa.int64(), "reference": pa.int32(), **numbers, **({"flags": pa.uint32()} if flags else {})}


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[Any]:
    """Yield the opened Parquet file, known to be a feature table; an error while it is read becomes StoreError. Raises InputError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        fault = "is a directory" if Path(path).is_dir() else "does not exist"
        raise InputError(f"the feature table {path} {fault}: name a Parquet file; {REMEDY}")
    errors = pa.ArrowException, OSError, UnicodeDecodeError
    try:
        file = pq.ParquetFile(str(path), page_checksum_verification=True)
        schema = file.schema_arrow
    except errors as error:
        raise InputError(f"{path} is not a feature table (not a readable Parquet file): {REMEDY}") from error
    with file:
        try:
            _check_schema(schema, path)
            yield file
        except errors as error:
            if isinstance(error, (RomeError, MemoryError)):
                raise
            raise StoreError(f"the feature table {path} is damaged ({str(error)[:120]!r}): {REMEDY} again") from error


def _check_schema(schema: pa.Schema, path: str | PathLike[str]) -> None:
    """Raise InputError unless a file with this schema is a feature table of a format that this version reads."""

    kind = (schema.metadata or {}).get(FORMAT_KEY)
    if kind is None:
        raise InputError(f"{path} is a Parquet file, but not a feature table of RoMe: {REMEDY}")
    if kind not in (FORMAT, *UNCHECKED):
        number = kind.decode(errors="replace")
        raise InputError(f"{path} must have at most the format {FORMAT.decode()}, got format {number}: upgrade rome-metric")
    types, wanted = dict(zip(schema.names, schema.types, strict=True)), _types("flags" in schema.names)
    if types != wanted or len(schema) != len(wanted):
        columns = ", ".join(f"{name}: {kind}" for name, kind in wanted.items())
        given = ", ".join(f"{name}: {kind}" for name, kind in zip(schema.names, schema.types, strict=True))
        raise InputError(f"the feature table {path} must have the columns {columns}, got {given}: {REMEDY} again")


def _from_arrow(read: pa.Table, path: str | PathLike[str]) -> FeatureTable:
    metadata = read.schema.metadata or {}
    signature, units, flag_names = (
        metadata.get(f"rome.{key}".encode(), b"").decode() for key in ("signature", "units", "flag_names")
    )
    try:
        return FeatureTable(
            read["segment"].to_numpy(),
            read["reference"].to_numpy(),
            np.stack([read[name].to_numpy() for name in FEATURES], axis=1),
            np.stack([read[f"{name}_raw"].to_numpy() for name in FEATURES], axis=1),
            tuple(units.split("|")) if units else ("",) * WIDTH,
            signature,
            read["flags"].to_numpy() if "flags" in read.schema.names else None,
            tuple(flag_names.split("|")) if flag_names else (),
        )
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"the feature table {path} is not valid: {error}") from error
